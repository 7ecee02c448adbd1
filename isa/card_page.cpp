#include "isa/card_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "isa/assembly.h"
#include "isa/by_engine.h"
#include "isa/isa.h"
#include "isa/table.h"

namespace trn {

namespace {

using Json = nlohmann::ordered_json;

struct ExampleDoc {
  std::string what, arguments;
  Engine engine;
  std::string rule;  // that refuses it; empty: legal
  Cost cost;
};
struct Page {
  const CardDoc* card;
  std::string refused;  // by this machine altogether
  std::vector<ExampleDoc> examples;
  std::vector<const SpecField*> numbers;  // that the time of a legal example rests on
};

bool same_time(const Cost& a, const Cost& b) {
  return a.busy == b.busy && a.latency == b.latency && a.preload == b.preload;
}

// The engine that takes these arguments, else the card's first.
template <class C>
Engine engine_for(const typename C::Args& args, const Spec& s) {
  Engine first = Engine::sync;
  for (int e = kEngines - 1; e >= 0; --e)
    if (C::engines.has(static_cast<Engine>(e))) first = static_cast<Engine>(e);
  for (int e = 0; e < kEngines; ++e)
    if (C::engines.has(static_cast<Engine>(e)) && !check_card<C>(args, static_cast<Engine>(e), s))
      return static_cast<Engine>(e);
  return first;
}

template <class C>
std::string arguments_of(const typename C::Args& args) {
  Program p;
  Instruction i;
  i.card = card_index<C>;
  i.args = p.push_args(args);
  p.instructions.push_back(i);
  return arguments(p, p.instructions.front());
}

// A DMA's time is the queues' and the engines', which the clock knows: all of their numbers.
template <class C>
bool rests_on(const SpecField& f, const std::vector<std::pair<typename C::Args, Engine>>& legal, const Spec& s) {
  if (C::is_dma) return f.name.starts_with("dma_") || f.name.starts_with("hbm_");
  Spec other = s;
  (other.*(f.member)).value = (s.*(f.member)).value * 1.25 + 1;
  return std::any_of(legal.begin(), legal.end(), [&](const auto& example) {
    return !same_time(C::cost(example.first, example.second, s), C::cost(example.first, example.second, other));
  });
}

template <class C>
Page page_of(const Spec& s) {
  Page page{&card_docs()[card_index<C>], {}, {}, {}};
  const Spec& machine = C::since > s.generation ? builtin_spec(C::since) : s;
  std::vector<std::pair<typename C::Args, Engine>> legal;
  for (const auto& e : C::examples()) {
    if (C::since > s.generation && page.refused.empty()) page.refused = check_card<C>(e.args, Engine::sync, s)->rule;
    const Engine engine = engine_for<C>(e.args, machine);
    const Verdict v = check_card<C>(e.args, engine, machine);
    page.examples.push_back({std::string(e.what), arguments_of<C>(e.args), engine, v ? v->rule : "", {}});
    if (v) continue;
    page.examples.back().cost = C::cost(e.args, engine, machine);
    legal.emplace_back(e.args, engine);
  }
  for (const SpecField& f : spec_fields())
    if (rests_on<C>(f, legal, machine)) page.numbers.push_back(&f);
  return page;
}

using MakePage = Page (*)(const Spec&);
template <class... C>
constexpr std::array<MakePage, sizeof...(C)> pages(std::type_identity<std::tuple<C...>>) {
  return {&page_of<C>...};
}
constexpr auto kPages = pages(std::type_identity<Isa>{});

std::string shown(double v) {
  std::ostringstream out;
  out.precision(6);
  out << v;
  return out.str();
}

std::string joined_engines(EngineSet set) {
  std::string text;
  for (int e = 0; e < kEngines; ++e)
    if (set.has(static_cast<Engine>(e))) text += (text.empty() ? "" : ", ") + std::string(name(static_cast<Engine>(e)));
  return text;
}

std::string generation(Generation g) {
  return std::string(name(g)) + " (NeuronCore-v" + std::to_string(static_cast<int>(g)) + ")";
}

std::string number(const SpecField& f, const Spec& s) {
  const Number& n = s.*(f.member);
  return shown(n.value) + (n.spread > 0 ? " +- " + shown(n.spread) : "") + ", " + std::string(name(n.provenance)) +
         ": " + std::string(n.source);
}

std::string time_of(const ExampleDoc& e, bool is_dma, const Spec& s) {
  if (is_dma) {
    const Transfer& t = e.cost.transfer;
    return std::to_string(t.rows) + " rows x " + std::to_string(t.chunks) + " x " + std::to_string(t.chunk_bytes) +
           " bytes, descriptors by " + (t.software ? "software" : "hardware");
  }
  const double clock = by_engine::ghz(e.engine, s);
  std::string text = "busy " + shown(e.cost.busy) + " cycles = " + shown(e.cost.busy / clock) + " ns, done after " +
                     shown(e.cost.latency / clock) + " ns";
  if (e.cost.table_load) text += ", plus an activation table load where the last one differs";
  return text;
}

const Page* find_page(std::string_view name, const Spec& s, Page& storage) {
  const CardRow* row = card_named(name);
  if (!row) return nullptr;
  storage = kPages[static_cast<size_t>(row - isa().data())](s);
  return &storage;
}

[[noreturn]] void unknown(std::string_view name) {
  throw Error(Fault::illegal,
              "there is no instruction, ALU operator or activation function of that name; `trnsim isa` lists them",
              std::string(name));
}

std::string operator_text(std::string_view wanted) {
  std::string text;
  if (const auto op = alu_named(wanted)) {
    const AluRow& r = info(*op);
    text += std::string(r.name) + ": ALU operator, " + (r.is_bitvec ? "bitvec" : "arithmetic") + ", " +
            std::to_string(r.arity) + (r.arity == 1 ? " operand" : " operands") + (r.reduces ? ", reduces" : "") +
            "\n  engines  " + joined_engines(r.engines) + "\n  source   " + std::string(r.source) + "\n";
  }
  if (const auto f = activation_named(wanted)) {
    const ActivationRow& r = info(*f);
    text += std::string(r.name) + ": activation function of the Scalar engine\n  published input range  [" +
            shown(r.least) + ", " + shown(r.most) + "]\n  table                  " +
            (r.table ? std::to_string(r.table) : "none needed") + "\n  source                 " +
            std::string(name(r.source)) + "\n";
  }
  if (text.empty()) unknown(wanted);
  return text;
}

void indented(std::ostringstream& out, std::string_view label, std::string_view text) {
  out << "  " << label << std::string(label.size() < 10 ? 10 - label.size() : 1, ' ') << text << "\n";
}

}  // namespace

std::string card_text(std::string_view wanted, const Spec& s) {
  Page storage;
  const Page* page = find_page(wanted, s, storage);
  if (!page) return operator_text(wanted);
  const CardDoc& c = *page->card;
  const Spec& machine = c.since > s.generation ? builtin_spec(c.since) : s;
  std::ostringstream out;
  out << c.name << "\n  " << c.doc << "\n\n";
  indented(out, "engines", joined_engines(c.engines) + (c.is_dma ? " (triggers; a DMA queue does the work)" : ""));
  indented(out, "since", generation(c.since));
  indented(out, "machine", machine.name + (page->refused.empty() ? "" : "; refused here: " + page->refused));
  indented(out, "status", name(c.status));
  indented(out, "source", c.source);

  size_t wide = 0;
  for (const FieldDoc& f : c.fields) wide = std::max(wide, f.name.size());
  out << "\nArguments\n";
  for (const FieldDoc& f : c.fields) {
    out << "  " << f.name << std::string(wide + 2 - f.name.size(), ' ') << f.type << (f.written ? ", written" : "");
    if (!f.initial.empty()) out << ", default " << f.initial;
    out << "\n" << std::string(wide + 4, ' ') << f.doc << "\n";
  }
  for (const bool legal : {true, false}) {
    out << "\n" << (legal ? "Legal" : "Refused") << " on " << machine.name << "\n";
    for (const ExampleDoc& e : page->examples) {
      if (e.rule.empty() != legal) continue;
      out << "  " << e.what << " (" << name(e.engine) << ")\n    " << e.arguments << "\n    "
          << (legal ? time_of(e, c.is_dma, machine) : "! " + e.rule) << "\n";
    }
  }
  out << "\nNumbers of " << machine.name << " that its time rests on\n";
  for (const SpecField* f : page->numbers) out << "  " << f->name << " = " << number(*f, machine) << "\n";
  return out.str();
}

std::string card_markdown(std::string_view wanted, const Spec& s) {
  Page storage;
  const Page* page = find_page(wanted, s, storage);
  if (!page) return "```\n" + operator_text(wanted) + "```\n";
  const CardDoc& c = *page->card;
  const Spec& machine = c.since > s.generation ? builtin_spec(c.since) : s;
  std::ostringstream out;
  out << "# " << c.name << "\n\n"
      << c.doc << "\n\n| | |\n|---|---|\n| engines | " << joined_engines(c.engines) << " |\n| since | "
      << generation(c.since) << " |\n| machine | " << machine.name << " |\n| status | " << name(c.status)
      << " |\n| source | " << c.source << " |\n";
  if (!page->refused.empty()) out << "\nRefused here: " << page->refused << "\n";
  out << "\n## Arguments\n\n| argument | type | default | |\n|---|---|---|---|\n";
  for (const FieldDoc& f : c.fields)
    out << "| " << f.name << (f.written ? " (written)" : "") << " | " << f.type << " | " << f.initial << " | " << f.doc
        << " |\n";
  out << "\n## Legal\n\n| example | engine | arguments | time |\n|---|---|---|---|\n";
  for (const ExampleDoc& e : page->examples)
    if (e.rule.empty())
      out << "| " << e.what << " | " << name(e.engine) << " | `" << e.arguments << "` | "
          << time_of(e, c.is_dma, machine) << " |\n";
  out << "\n## Refused\n\n| example | arguments | rule |\n|---|---|---|\n";
  for (const ExampleDoc& e : page->examples)
    if (!e.rule.empty()) out << "| " << e.what << " | `" << e.arguments << "` | " << e.rule << " |\n";
  out << "\n## Numbers that its time rests on\n\n| number | value | provenance | source |\n|---|---|---|---|\n";
  for (const SpecField* f : page->numbers) {
    const Number& n = machine.*(f->member);
    out << "| " << f->name << " | " << shown(n.value) << " | " << name(n.provenance) << " | " << n.source << " |\n";
  }
  return out.str();
}

std::string card_json(std::string_view wanted, const Spec& s) {
  Page storage;
  const Page* page = find_page(wanted, s, storage);
  if (!page) return Json{{"name", wanted}, {"text", operator_text(wanted)}}.dump(2) + "\n";
  const CardDoc& c = *page->card;
  const Spec& machine = c.since > s.generation ? builtin_spec(c.since) : s;
  Json fields = Json::array(), examples = Json::array(), numbers = Json::array();
  for (const FieldDoc& f : c.fields)
    fields.push_back(
        {{"name", f.name}, {"type", f.type}, {"default", f.initial}, {"written", f.written}, {"doc", f.doc}});
  for (const ExampleDoc& e : page->examples) {
    Json j = {{"what", e.what}, {"engine", name(e.engine)}, {"arguments", e.arguments}, {"legal", e.rule.empty()}};
    if (!e.rule.empty()) j["rule"] = e.rule;
    if (e.rule.empty() && c.is_dma) j["transfer"] = time_of(e, true, machine);
    if (e.rule.empty() && !c.is_dma) {
      const double clock = by_engine::ghz(e.engine, machine);
      j["busy_cycles"] = e.cost.busy;
      j["busy_ns"] = e.cost.busy / clock;
      j["latency_ns"] = e.cost.latency / clock;
    }
    examples.push_back(std::move(j));
  }
  for (const SpecField* f : page->numbers) {
    const Number& n = machine.*(f->member);
    numbers.push_back({{"name", f->name},
                       {"value", n.value},
                       {"spread", n.spread},
                       {"provenance", name(n.provenance)},
                       {"source", n.source}});
  }
  Json engines = Json::array();
  for (int e = 0; e < kEngines; ++e)
    if (c.engines.has(static_cast<Engine>(e))) engines.push_back(name(static_cast<Engine>(e)));
  const Json root = {{"name", c.name},
                     {"doc", c.doc},
                     {"source", c.source},
                     {"status", name(c.status)},
                     {"since", name(c.since)},
                     {"engines", std::move(engines)},
                     {"dma", c.is_dma},
                     {"machine", machine.name},
                     {"refused", page->refused},
                     {"arguments", std::move(fields)},
                     {"examples", std::move(examples)},
                     {"numbers", std::move(numbers)}};
  return root.dump(2) + "\n";
}

std::string isa_text(const Spec& s) {
  size_t wide = 0, engines = 0;
  for (const CardDoc& c : card_docs()) {
    wide = std::max(wide, c.name.size());
    engines = std::max(engines, joined_engines(c.engines).size());
  }
  std::ostringstream out;
  const auto padded = [](std::string_view text, size_t width) {
    return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ') + "  ";
  };
  out << "Instructions of " << s.name << " (`trnsim isa NAME` tells one)\n";
  for (const CardDoc& c : card_docs())
    out << "  " << padded(c.name, wide) << padded(joined_engines(c.engines), engines) << padded(name(c.status), 10)
        << (c.since > s.generation ? "[" + std::string(name(c.since)) + " only] " : "") << c.doc << "\n";
  out << "\nALU operators\n ";
  for (const AluRow& r : kAluOps) out << " " << r.name;
  out << "\n\nActivation functions\n ";
  for (const ActivationRow& r : kActivations) out << " " << r.name;
  out << "\n\nDtypes\n ";
  for (const DtypeInfo& d : kDtypes) out << " " << d.name;
  out << "\n";
  return out.str();
}

}  // namespace trn
