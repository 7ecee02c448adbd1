#include "isa/assembly.h"

#include <utility>

#include "isa/canonical.h"
#include "isa/field_text.h"
#include "isa/isa.h"

namespace trn {
namespace {

template <class T>
std::string text_of(const T& value) {
  std::string s;
  print(s, value);
  return s;
}

// ---- arguments, by card ----

template <class C>
void print_args(std::string& out, const void* raw) {
  typename C::Args args;
  std::memcpy(static_cast<void*>(&args), raw, sizeof args);
  const typename C::Args defaults{};
  std::apply(
      [&](const auto&... field) {
        (
            [&] {
              const std::string value = text_of(args.*(field.member));
              if (value != text_of(defaults.*(field.member)))
                out.append(" ").append(field.name).append("=").append(value);
            }(),
            ...);
      },
      C::fields);
}

// Reads the value of `key` into args; false if the card has no such field.
template <class C>
bool scan_field(Scan& in, std::string_view key, typename C::Args& args, uint64_t& seen) {
  bool found = false;
  uint64_t bit = 1;
  for_each_field<C>(args, [&](std::string_view name, auto& value, std::string_view) {
    if (name == key) {
      if (seen & bit) in.fail("argument " + std::string(key) + " is given twice");
      seen |= bit;
      found = true;
      scan(in, value);
    }
    bit <<= 1;
  });
  return found;
}

// ---- what follows the arguments ----

void print_tail(std::string& out, const Program& p, const Instruction& i) {
  if (isa()[i.card].is_dma || i.queue) out += " queue=" + std::to_string(i.queue);
  const auto waits = p.waits_of(i);
  for (size_t w = 0; w < waits.size(); ++w) {
    out += (w ? ",s" : " wait=s") + std::to_string(waits[w].semaphore) + ">=" + std::to_string(waits[w].value);
    if (waits[w].is_dynamic()) out += '+' + std::to_string(waits[w].per) + "*r" + std::to_string(waits[w].reg);
  }
  if (i.update != Instruction::kNoUpdate) out += " post=s" + std::to_string(i.update);
  if (i.source) out += " from=" + std::to_string(i.source);
}

void scan_waits(Scan& in, Program& p, Instruction& i) {
  do {
    in.expect("s");
    const auto semaphore = in.number<uint16_t>("a semaphore");
    in.expect(">=");
    Wait w(semaphore, in.number<uint32_t>("a count"));
    if (in.take("+")) {
      w.per = in.number<uint8_t>("a count for each");
      in.expect("*");
      Register r;
      scan(in, r);
      w.reg = r.number;
    }
    p.waits.push_back(w);
    if (++i.waits == 0) in.fail("an instruction has at most 255 waits");
  } while (in.take(","));
}

bool scan_tail(Scan& in, std::string_view key, Program& p, Instruction& i) {
  if (key == "queue") {
    i.queue = in.number<uint8_t>("a queue");
  } else if (key == "wait") {
    if (i.waits) in.fail("wait is given twice");
    scan_waits(in, p, i);
  } else if (key == "post") {
    in.expect("s");
    i.update = in.number<uint16_t>("a semaphore");
    if (i.update == Instruction::kNoUpdate) in.fail("there is no such semaphore");
  } else if (key == "from") {
    i.source = in.number<uint32_t>("a source");
  } else {
    return false;
  }
  return true;
}

template <class C>
void scan_args(Scan& in, Program& p, Instruction& i) {
  typename C::Args args;
  uint64_t seen = 0;
  while (!in.at_end()) {
    const std::string_view key = in.word();
    in.expect("=");
    if (!scan_field<C>(in, key, args, seen) && !scan_tail(in, key, p, i))
      in.fail(std::string(C::name) + " has no argument named " + std::string(key));
  }
  i.args = p.push_args(args);
}

struct Text {
  void (*print_args)(std::string&, const void*);
  void (*scan_args)(Scan&, Program&, Instruction&);
};
template <class... C>
constexpr std::array<Text, sizeof...(C)> texts(std::type_identity<std::tuple<C...>>) {
  return {Text{&print_args<C>, &scan_args<C>}...};
}
constexpr auto kTexts = texts(std::type_identity<Isa>{});

// ---- lines ----

constexpr size_t kBytesPerLine = 64;

void print_slot(std::string& out, const Slot& s, size_t number) {
  out += "slot " + std::to_string(number) + ' ' + std::string(name(s.use)) + ' ' + quote(s.name) + ' ' +
         std::string(name(s.dtype)) + ' ' + std::to_string(s.bytes);
  if (s.use == SlotUse::constant || s.constant_offset) out += " @" + std::to_string(s.constant_offset);
  out += " [";
  for (size_t i = 0; i < s.shape.size(); ++i) out += (i ? "," : "") + std::to_string(s.shape[i]);
  out += "]\n";
}

void scan_slot(Scan& in, Program& p) {
  if (in.number<size_t>("a slot number") != p.slots.size()) in.fail("slots are numbered in order from 0");
  Slot s;
  in.skip_spaces();
  scan(in, s.use);
  in.skip_spaces();
  s.name = in.quoted();
  in.skip_spaces();
  scan(in, s.dtype);
  in.skip_spaces();
  s.bytes = in.number<int64_t>("a size in bytes");
  in.skip_spaces();
  if (in.take("@")) s.constant_offset = in.number<int64_t>("an offset");
  in.skip_spaces();
  in.expect("[");
  while (!in.take("]")) {
    if (!s.shape.empty()) in.expect(",");
    s.shape.push_back(in.number<int64_t>("a dimension"));
  }
  p.slots.push_back(std::move(s));
}

void scan_bytes(Scan& in, Program& p) {
  do {
    const std::string_view rest = in.rest();
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + std::min<size_t>(rest.size(), 2), byte, 16);
    if (error != std::errc{} || end != rest.data() + 2) in.fail("expected pairs of hexadecimal digits");
    p.constants.push_back(static_cast<std::byte>(byte));
    in.drop(2);
  } while (!in.at_end());
}

void scan_program(Scan& in, Program& p) {
  p.name = in.quoted();
  in.skip_spaces();
  in.expect("target");
  in.skip_spaces();
  p.target = in.quoted();
  in.skip_spaces();
  in.expect("cores");
  in.skip_spaces();
  p.cores = in.number<uint8_t>("a number of cores");
}

void scan_source(Scan& in, Program& p) {
  const auto number = in.number<size_t>("a source number");
  if (number >= p.sources.size() + 1 || (number < p.sources.size() && number != 0))
    in.fail("sources are numbered in order");
  in.skip_spaces();
  std::string text = in.quoted();
  if (number == 0)
    p.sources[0] = std::move(text);
  else
    p.sources.push_back(std::move(text));
}

void print_instruction(std::string& out, const Program& p, const Instruction& i) {
  out += 'c' + std::to_string(i.core) + '.' + std::string(name(i.engine)) + ' ' + std::string(isa()[i.card].name);
  kTexts[i.card].print_args(out, p.raw_args(i));
  print_tail(out, p, i);
}

void scan_instruction(Scan& in, Program& p) {
  Instruction i;
  i.core = in.number<uint8_t>("a core");
  in.expect(".");
  scan(in, i.engine);
  in.skip_spaces();
  const std::string_view name = in.word();
  const CardRow* card = card_named(name);
  if (!card) in.fail("there is no instruction named " + std::string(name));
  i.card = static_cast<uint16_t>(card - isa().data());
  i.first_wait = static_cast<uint32_t>(p.waits.size());
  kTexts[i.card].scan_args(in, p, i);
  p.instructions.push_back(i);
}

}  // namespace

std::string arguments(const Program& p, const Instruction& i) {
  std::string out;
  kTexts[i.card].print_args(out, p.raw_args(i));
  return out.empty() ? out : out.substr(1);
}

std::string to_assembly(const Program& p, uint32_t instruction) {
  std::string out;
  print_instruction(out, p, p.instructions[instruction]);
  return out;
}

std::string to_assembly(const Program& source) {
  const Program p = canonical(source);
  std::string out =
      "program " + quote(p.name) + " target " + quote(p.target) + " cores " + std::to_string(p.cores) + '\n';
  for (size_t i = 0; i < p.slots.size(); ++i) print_slot(out, p.slots[i], i);
  constexpr char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < p.constants.size(); ++i) {
    out += i % kBytesPerLine == 0 ? (i ? "\nbytes " : "bytes ") : "";
    const auto byte = static_cast<unsigned>(p.constants[i]);
    out += {digits[byte >> 4], digits[byte & 15]};
  }
  if (!p.constants.empty()) out += '\n';
  for (size_t i = 0; i < p.sources.size(); ++i)
    if (i || !p.sources[i].empty()) out += "source " + std::to_string(i) + ' ' + quote(p.sources[i]) + '\n';
  for (const Instruction& i : p.instructions) {
    print_instruction(out, p, i);
    out += '\n';
  }
  return out;
}

Program from_assembly(std::string_view text) {
  Program p;
  bool named = false;
  for (int number = 1; !text.empty(); ++number) {
    const size_t length = std::min(text.find('\n'), text.size());
    Scan in(text.substr(0, length), number);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (in.at_end()) continue;
    if (std::exchange(named, true) == false) {
      in.expect("program ");
      scan_program(in, p);
    } else if (in.take("slot ")) {
      scan_slot(in, p);
    } else if (in.take("bytes ")) {
      scan_bytes(in, p);
    } else if (in.take("source ")) {
      scan_source(in, p);
    } else if (in.take("c")) {
      scan_instruction(in, p);
    } else {
      in.fail("a line is program, slot, bytes, source, or an instruction such as c0.vector");
    }
    if (!in.at_end()) in.fail("unexpected text at the end of the line");
  }
  if (!named) throw Error(Fault::illegal, "assembly: there is no program line");
  return canonical(p);
}

}  // namespace trn
