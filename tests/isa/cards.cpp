// Every card, from the one list: examples pass or break the rule they name; run writes its dst and nothing else, the
// same bytes each time; cost does not fall when an operand grows.
#include <catch2/catch.hpp>
#include <set>

#include "isa/isa.h"
#include "isa/threads.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

constexpr int64_t kWindow = 16 * 1024;  // bytes of each SBUF partition that examples' results lie in

template <class Visit>
void for_each_card(Visit&& visit) {
  [&]<class... C>(std::tuple<C...>*) { (visit(static_cast<C*>(nullptr)), ...); }(static_cast<Isa*>(nullptr));
}

Engine default_engine(EngineSet set) {
  for (int e = 0; e < kEngines; ++e)
    if (set.has(static_cast<Engine>(e))) return static_cast<Engine>(e);
  return Engine::sync;
}
// The first built-in machine that has the card.
template <class C>
const Spec& machine_of() {
  return C::since > Generation::trn2 ? builtin_spec(C::since) : trn2();
}
// An engine that accepts these arguments, for cards whose engines differ in reach.
template <class C>
Engine accepting_engine(const typename C::Args& args) {
  for (int e = 0; e < kEngines; ++e)
    if (C::engines.has(static_cast<Engine>(e)) && !C::check(args, static_cast<Engine>(e), machine_of<C>()))
      return static_cast<Engine>(e);
  return default_engine(C::engines);
}

// Small whole numbers that every dtype holds and every index accepts; a scale holds powers of two.
void fill_small(Machine& machine, const Access& a) {
  const bool scale = a.dtype == Dtype::float8_e8m0fnu;
  for (int64_t i = 0; i < a.elements(); ++i)
    machine.set(a, i, scale ? std::ldexp(1.0, static_cast<int>(i % 3)) : static_cast<double>((i * 7 + 3) % 8));
}

std::vector<std::byte> snapshot(Machine& m) {
  std::vector<std::byte> all;
  for (int p = 0; p < 128; ++p) all.insert(all.end(), m.sbuf.at(p, 0), m.sbuf.at(p, 0) + kWindow);
  for (int p = 0; p < 128; ++p) all.insert(all.end(), m.psum.at(p, 0), m.psum.at(p, 0) + kWindow);
  for (const auto& s : m.slots) all.insert(all.end(), s.begin(), s.end());
  return all;
}

// Place of a host byte in snapshot(); -1 outside the window.
int64_t place(Machine& m, const Access& a, const std::byte* p) {
  if (a.space == Space::hbm) {
    int64_t before = 2 * 128 * kWindow;
    for (uint32_t s = 0; s < a.buffer; ++s) before += static_cast<int64_t>(m.slots[s].size());
    return before + (p - m.slots[a.buffer].data());
  }
  PartitionedMemory& memory = a.space == Space::sbuf ? m.sbuf : m.psum;
  const int64_t distance = p - memory.at(0, 0), partition = distance / memory.pitch(),
                offset = distance % memory.pitch();
  if (offset >= kWindow) return -1;
  return (a.space == Space::psum ? 128 * kWindow : 0) + partition * kWindow + offset;
}

Access grown(Access a) {
  if (a.present() && a.ndim > 1) a.dims[a.ndim - 1].count *= 2;
  return a;
}
template <class C>
typename C::Args grown(typename C::Args args) {
  for_each_field<C>(args, [](std::string_view, auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Access>) value = grown(value);
    if constexpr (std::is_same_v<T, Pattern>) value[3].count *= 2;
  });
  return args;
}

int64_t bytes(const Transfer& t) { return t.rows * t.chunks * t.chunk_bytes; }

template <class C>
void check_run(const Example<typename C::Args>& e) {
  if (!e.broken.empty()) return;
  INFO(C::name << ": " << e.what);
  Machine machine({1 << 19, 1 << 19});
  for_each_access<C>(e.args, [&](const Access& a, bool) { fill_small(machine, a); });
  const Engine engine = accepting_engine<C>(e.args);
  const CoreMemory memory = machine.memory();
  const auto before = snapshot(machine);
  set_threads(1);
  run_card<C>(e.args, engine, memory);
  const auto after = snapshot(machine);

  std::vector<bool> may_change(before.size());
  for_each_access<C>(e.args, [&](const Access& a, bool written) {
    if (!written) return;
    for (int64_t i = 0; i < a.elements(); ++i) {
      const int64_t at = place(machine, a, machine.at(a, i));
      if (at < 0) continue;
      for (int b = 0; b < size_of(a.dtype); ++b) may_change[at + b] = true;
    }
  });
  int64_t strays = 0;
  for (size_t i = 0; i < before.size(); ++i) strays += before[i] != after[i] && !may_change[i];
  CHECK(strays == 0);

  for_each_access<C>(e.args, [&](const Access& a, bool) { fill_small(machine, a); });
  machine.engines = EngineState();
  set_threads(3);
  run_card<C>(e.args, engine, memory);
  CHECK(snapshot(machine) == after);
  set_threads(0);
}

}  // namespace

TEST_CASE("every card documents itself") {
  for_each_card([]<class C>(C*) {
    INFO(C::name);
    CHECK(!C::doc.empty());
    CHECK(C::source.find(flow_of<C> == Flow::none ? "nki.isa." : "nki.") == 0);
    int legal = 0, illegal = 0;
    for (const auto& e : C::examples()) ++(e.broken.empty() ? legal : illegal);
    CHECK(legal > 0);
    CHECK((illegal > 0 || flow_of<C> != Flow::none));  // some control cards take whatever is well-formed
    std::set<std::string_view> names;
    const typename C::Args args{};
    for_each_field<C>(args, [&](std::string_view name, const auto&, std::string_view doc) {
      CHECK(names.insert(name).second);
      CHECK(!doc.empty());
    });
  });
}

TEST_CASE("examples pass, or break the rule they name") {
  for_each_card([]<class C>(C*) {
    for (const auto& e : C::examples()) {
      INFO(C::name << ": " << e.what);
      const Engine engine = e.broken.empty() ? accepting_engine<C>(e.args) : default_engine(C::engines);
      const Verdict v = C::check(e.args, engine, machine_of<C>());
      INFO("verdict: " << (v ? v->rule : "legal"));
      if (e.broken.empty()) {
        CHECK(!v);
      } else {
        REQUIRE(v);
        CHECK(v->rule.starts_with(e.broken));
      }
    }
  });
}

TEST_CASE("a machine older than a card refuses it") {
  for_each_card([]<class C>(C*) {
    INFO(C::name);
    const auto args = C::examples().front().args;
    for (const Spec* s : {&trn1(), &inf2(), &trn2(), &trn3()}) {
      const Verdict v = check_card<C>(args, accepting_engine<C>(args), *s);
      const bool refused = v && v->rule.find(std::string(C::name) + " needs " + std::string(name(C::since))) == 0;
      CHECK(refused == (C::since > s->generation));
      if (refused) CHECK(v->rule.find("this machine is " + s->name) != std::string::npos);
    }
  });
}

TEST_CASE("an engine that a card does not name is refused") {
  for_each_card([]<class C>(C*) {
    for (int e = 0; e < kEngines; ++e) {
      if (C::engines.has(static_cast<Engine>(e))) continue;
      INFO(C::name << " on " << name(static_cast<Engine>(e)));
      CHECK(C::check(C::examples().front().args, static_cast<Engine>(e), machine_of<C>()));
    }
  });
}

TEST_CASE("run writes dst only, the same bytes each time and for any number of threads") {
  for_each_card([]<class C>(C*) {
    if constexpr (Runs<C>)
      for (const auto& e : C::examples()) check_run<C>(e);
  });
}

TEST_CASE("cost does not fall as operands grow") {
  for_each_card([]<class C>(C*) {
    for (const auto& e : C::examples()) {
      if (!e.broken.empty()) continue;
      INFO(C::name << ": " << e.what);
      const Engine engine = accepting_engine<C>(e.args);
      const Cost small = C::cost(e.args, engine, machine_of<C>()),
                 large = C::cost(grown<C>(e.args), engine, machine_of<C>());
      CHECK(large.busy >= small.busy);
      CHECK(large.latency >= small.latency);
      CHECK(large.flops >= small.flops);
      CHECK(bytes(large.transfer) >= bytes(small.transfer));
      if (C::is_dma) {
        CHECK(bytes(small.transfer) > 0);
      } else {
        CHECK((small.busy > 0 || flow_of<C> == Flow::label));
        CHECK(small.latency >= small.busy);
      }
    }
  });
}

}  // namespace trn::test
