#include "isa/payload.h"

#include <algorithm>
#include <boost/crc.hpp>

#include "isa/bytes.h"
#include "isa/canonical.h"
#include "isa/enum_names.h"
#include "isa/isa.h"

namespace trn {
namespace {

constexpr char kMagic[8] = {'t', 'r', 'n', 's', 'i', 'm', 'P', '\n'};
constexpr uint32_t kVersion = 2;

uint32_t crc32(std::span<const std::byte> bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

// ---- one value of a field: its type's name, writing, reading ----

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, Access>)
    return "access";
  else if constexpr (std::is_same_v<T, Operand>)
    return "operand";
  else if constexpr (std::is_same_v<T, Pattern>)
    return "pattern";
  else if constexpr (std::is_same_v<T, ShuffleMask>)
    return "mask";
  else if constexpr (std::is_same_v<T, Register>)
    return "register";
  else if constexpr (std::is_same_v<T, RegisterOperand>)
    return "register operand";
  else if constexpr (std::is_same_v<T, RowColumn>)
    return "pair";
  else if constexpr (std::is_enum_v<T>)
    return "enum";
  else if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, int32_t>)
    return "int32";
  else if constexpr (std::is_same_v<T, float>)
    return "float";
  else {
    static_assert(std::is_same_v<T, double>, "a field type that files do not know yet");
    return "double";
  }
}

template <class T>
void write(ByteWriter& out, const T& value) {
  if constexpr (std::is_enum_v<T>)
    out.put(static_cast<uint8_t>(value));
  else
    out.put(value);
}

template <class T>
void read(ByteReader& in, T& value) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(enum_count<T> > 0 && sizeof(T) == 1);
    const auto n = in.get<uint8_t>();
    if (n >= enum_count<T>) in.fail("holds an unknown enumeration value");
    value = static_cast<T>(n);
  } else if constexpr (std::is_same_v<T, bool>) {
    const auto n = in.get<uint8_t>();
    if (n > 1) in.fail("holds a flag that is neither 0 nor 1");
    value = n;
  } else {
    value = in.get<T>();
  }
}

void write(ByteWriter& out, Register r) { out.put(r.number); }
void read(ByteReader& in, Register& r) {
  r.number = in.get<uint8_t>();
  if (r.number >= kRegisters) in.fail("names a register that no engine has");
}

void write(ByteWriter& out, RegisterOperand o) {
  out.put(static_cast<uint8_t>(o.reg));
  if (!o.is_register()) out.put(o.immediate);
}
void read(ByteReader& in, RegisterOperand& o) {
  o = {};
  o.reg = in.get<uint8_t>();
  if (!o.is_register()) o.immediate = in.get<int32_t>();
  if (o.is_register() && o.reg >= kRegisters) in.fail("names a register that no engine has");
}

void write(ByteWriter& out, const Wait& w) {
  out.put(w.semaphore);
  out.put(w.reg);
  out.put(w.per);
  out.put(w.value);
}
void read(ByteReader& in, Wait& w) {
  w.semaphore = in.get<uint16_t>();
  w.reg = in.get<uint8_t>();
  w.per = in.get<uint8_t>();
  w.value = in.get<uint32_t>();
  if (w.is_dynamic() ? w.reg >= kRegisters : w.per != 0) in.fail("holds a wait for a register that no engine has");
}

void write(ByteWriter& out, const Dim& d) {
  out.put(d.step);
  out.put(d.count);
}
void read(ByteReader& in, Dim& d) {
  d.step = in.get<int32_t>();
  d.count = in.get<int32_t>();
  if (d.is_dynamic() && d.reg() >= kRegisters) in.fail("names a register that no engine has");
}

void write(ByteWriter& out, const Access& a) {
  write(out, a.space);
  if (!a.present()) return;
  write(out, a.dtype);
  out.put(a.ndim);
  out.put(a.partition);
  out.put(a.buffer);
  out.put(a.offset);
  for (int i = 0; i < a.ndim; ++i) write(out, a.dims[i]);
}
void read(ByteReader& in, Access& a) {
  a = {};
  read(in, a.space);
  if (!a.present()) return;
  read(in, a.dtype);
  a.ndim = in.get<uint8_t>();
  if (a.ndim > Access::kMaxDims) in.fail("holds an access pattern of too many dims");
  a.partition = in.get<uint8_t>();
  a.buffer = in.get<uint32_t>();
  a.offset = in.get<int64_t>();
  for (int i = 0; i < a.ndim; ++i) read(in, a.dims[i]);
}

void write(ByteWriter& out, const Operand& o) {
  write(out, o.tile);
  if (!o.is_tile()) out.put(o.immediate);
}
void read(ByteReader& in, Operand& o) {
  read(in, o.tile);
  o.immediate = o.is_tile() ? 0 : in.get<double>();
}

void write(ByteWriter& out, const Pattern& p) {
  for (const Dim& d : p) write(out, d);
}
void read(ByteReader& in, Pattern& p) {
  for (Dim& d : p) read(in, d);
}

void write(ByteWriter& out, const RowColumn& p) {
  for (const int32_t v : p) out.put(v);
}
void read(ByteReader& in, RowColumn& p) {
  for (int32_t& v : p) v = in.get<int32_t>();
}

void write(ByteWriter& out, const ShuffleMask& m) { out.bytes(m.data(), m.size()); }
void read(ByteReader& in, ShuffleMask& m) { std::memcpy(m.data(), in.bytes(m.size()).data(), m.size()); }

// ---- one card ----

struct Codec {
  std::string signature;  // "dst:access accumulate:bool"
  void (*write_args)(ByteWriter&, const void* args);
  uint32_t (*read_args)(ByteReader&, Program&);
};

template <class C>
Codec codec() {
  Codec c;
  const typename C::Args none{};
  for_each_field<C>(none, [&](std::string_view field, const auto& value, std::string_view) {
    if (!c.signature.empty()) c.signature += ' ';
    c.signature.append(field).append(":").append(type_name<std::remove_cvref_t<decltype(value)>>());
  });
  c.write_args = [](ByteWriter& out, const void* args) {
    for_each_field<C>(*static_cast<const typename C::Args*>(args),
                      [&](std::string_view, const auto& value, std::string_view) { write(out, value); });
  };
  c.read_args = [](ByteReader& in, Program& p) {
    typename C::Args args;
    for_each_field<C>(args, [&](std::string_view, auto& value, std::string_view) { read(in, value); });
    return p.push_args(args);
  };
  return c;
}

template <class... C>
std::array<Codec, sizeof...(C)> make_codecs(std::type_identity<std::tuple<C...>>) {
  return {codec<C>()...};
}
const auto& codecs() {
  static const auto all = make_codecs(std::type_identity<Isa>{});
  return all;
}

// ---- parts of a Program ----

void write(ByteWriter& out, const Slot& s) {
  out.text(s.name);
  write(out, s.use);
  write(out, s.dtype);
  out.put(s.bytes);
  out.put(s.constant_offset);
  out.put(static_cast<uint32_t>(s.shape.size()));
  for (const int64_t n : s.shape) out.put(n);
}
void read(ByteReader& in, Slot& s) {
  s.name = in.text();
  read(in, s.use);
  read(in, s.dtype);
  s.bytes = in.get<int64_t>();
  s.constant_offset = in.get<int64_t>();
  s.shape.resize(in.count(sizeof(int64_t)));
  for (int64_t& n : s.shape) n = in.get<int64_t>();
}

void write_instruction(ByteWriter& out, const Program& p, const Instruction& i, std::span<const uint16_t> place) {
  out.put(place[i.card]);
  write(out, i.engine);
  out.put(i.core);
  out.put(i.queue);
  out.put(i.update);
  out.put(i.source);
  out.put(i.waits);
  for (const Wait& w : p.waits_of(i)) write(out, w);
  codecs()[i.card].write_args(out, p.raw_args(i));
}

void read_instruction(ByteReader& in, Program& p, std::span<const uint16_t> cards) {
  Instruction& i = p.instructions.emplace_back();
  const auto place = in.get<uint16_t>();
  if (place >= cards.size()) in.fail("holds an instruction of no card");
  i.card = cards[place];
  read(in, i.engine);
  i.core = in.get<uint8_t>();
  i.queue = in.get<uint8_t>();
  i.update = in.get<uint16_t>();
  i.source = in.get<uint32_t>();
  i.waits = in.get<uint8_t>();
  i.first_wait = static_cast<uint32_t>(p.waits.size());
  for (int w = 0; w < i.waits; ++w) read(in, p.waits.emplace_back());
  i.args = codecs()[i.card].read_args(in, p);
}

}  // namespace

std::vector<std::byte> serialise(const Program& source) {
  const Program p = canonical(source);
  ByteWriter out;
  out.text(p.name);
  out.text(p.target);
  out.put(p.cores);
  out.put(static_cast<uint32_t>(p.slots.size()));
  for (const Slot& s : p.slots) write(out, s);
  out.put(static_cast<uint64_t>(p.constants.size()));
  out.bytes(p.constants.data(), p.constants.size());

  std::vector<uint16_t> place(isa().size(), 0xFFFF), used;
  for (const Instruction& i : p.instructions) {
    if (place[i.card] != 0xFFFF) continue;
    place[i.card] = static_cast<uint16_t>(used.size());
    used.push_back(i.card);
  }
  out.put(static_cast<uint32_t>(used.size()));
  for (const uint16_t card : used) {
    out.text(isa()[card].name);
    out.text(codecs()[card].signature);
  }

  out.put(static_cast<uint32_t>(p.sources.size()));
  for (const std::string& s : p.sources) out.text(s);
  out.put(static_cast<uint32_t>(p.instructions.size()));
  for (const Instruction& i : p.instructions) write_instruction(out, p, i, place);

  const std::vector<std::byte> body = out.take();
  ByteWriter whole;
  whole.bytes(kMagic, sizeof kMagic);
  whole.put(kVersion);
  whole.put(crc32(body));
  whole.bytes(body.data(), body.size());
  return whole.take();
}

Program deserialise(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "the executable's Program");
  if (std::memcmp(in.bytes(sizeof kMagic).data(), kMagic, sizeof kMagic) != 0)
    in.fail("does not start with its magic bytes");
  if (const auto version = in.get<uint32_t>(); version != kVersion)
    throw Error(Fault::unsupported, "the executable's Program has format version " + std::to_string(version) +
                                        ", this trnsim reads " + std::to_string(kVersion) + ": compile it again");
  if (in.get<uint32_t>() != crc32(bytes.last(in.left()))) in.fail("is damaged: its checksum differs");

  Program p;
  p.name = in.text();
  p.target = in.text();
  p.cores = in.get<uint8_t>();
  p.slots.resize(in.count(1 + 2 * sizeof(int64_t)));
  for (Slot& s : p.slots) read(in, s);
  const auto constants = in.bytes(in.get<uint64_t>());
  p.constants.assign(constants.begin(), constants.end());

  std::vector<uint16_t> cards(in.count(2 * sizeof(uint32_t)));
  for (uint16_t& card : cards) {
    const std::string name = in.text(), signature = in.text();
    const CardRow* row = card_named(name);
    if (!row)
      throw Error(Fault::unsupported, "the executable uses an instruction that this trnsim does not have: " + name);
    card = static_cast<uint16_t>(row - isa().data());
    if (codecs()[card].signature != signature)
      throw Error(Fault::unsupported, "the executable was made by another version of trnsim: fields of " + name +
                                          " differ, compile it again");
  }

  p.sources.resize(in.count(sizeof(uint32_t)));
  for (std::string& s : p.sources) s = in.text();
  const uint32_t instructions = in.count(13);
  p.instructions.reserve(instructions);
  for (uint32_t i = 0; i < instructions; ++i) read_instruction(in, p, cards);
  if (in.left()) in.fail("has bytes after its end");
  return canonical(p);  // zero padding
}

}  // namespace trn
