#pragma once
#include <string>

#include "isa/examples.h"
#include "isa/isa.h"

namespace trn::test {

// Writes small Programs by hand: every instruction posts its own semaphore and waits for the one before it.
class Writer {
 public:
  explicit Writer(std::string name) { program_.name = std::move(name); }

  uint32_t slot(std::string name, SlotUse use, int64_t bytes, std::vector<int64_t> shape = {}) {
    program_.slots.push_back({std::move(name), use, Dtype::float32, bytes, 0, std::move(shape)});
    return static_cast<uint32_t>(program_.slots.size() - 1);
  }
  template <Card C>
  Writer& add(Engine engine, const typename C::Args& args) {
    Instruction i;
    i.card = card_index<C>;
    i.engine = engine;
    i.args = program_.push_args(args);
    const auto n = static_cast<uint16_t>(program_.instructions.size() % 200);
    if (!program_.instructions.empty()) {
      i.first_wait = static_cast<uint32_t>(program_.waits.size());
      i.waits = 1;
      const Instruction& before = program_.instructions.back();
      program_.waits.push_back({before.update, ++posted_[before.update]});
    }
    i.update = n;
    program_.instructions.push_back(i);
    return *this;
  }
  Program& program() { return program_; }

 private:
  Program program_;
  std::array<uint32_t, 256> posted_{};
};

inline constexpr int64_t kTileBytes = 128 * 16 * 4;

// c = a + b over [128, 16] float32.
inline Program add_program(std::string name = "add") {
  using namespace example;
  Writer w(std::move(name));
  const uint32_t a = w.slot("a", SlotUse::input, kTileBytes, {128, 16}),
                 b = w.slot("b", SlotUse::input, kTileBytes, {128, 16}),
                 c = w.slot("c", SlotUse::output, kTileBytes, {128, 16});
  const Access ta = sbuf(128, 16), tb = sbuf(128, 16, Dtype::float32, 64), tc = sbuf(128, 16, Dtype::float32, 128);
  w.add<DmaCopy>(Engine::sync, {.dst = ta, .src = hbm(128, 16, Dtype::float32, a)});
  w.add<DmaCopy>(Engine::sync, {.dst = tb, .src = hbm(128, 16, Dtype::float32, b)});
  w.add<TensorTensor>(Engine::vector, {.dst = tc, .data1 = ta, .data2 = tb, .op = AluOp::add});
  w.add<DmaCopy>(Engine::scalar, {.dst = hbm(128, 16, Dtype::float32, c), .src = tc});
  return w.program();
}

// x = x + 1 in place, through a scratch buffer and a constant of ones.
inline Program increment_program() {
  using namespace example;
  Writer w("increment");
  const uint32_t x = w.slot("x", SlotUse::inout, kTileBytes, {128, 16}), s = w.slot("s", SlotUse::scratch, kTileBytes),
                 ones = w.slot("ones", SlotUse::constant, kTileBytes);
  const std::vector<float> values(static_cast<size_t>(kTileBytes) / 4, 1.f);
  const auto bytes = std::as_bytes(std::span(values));
  w.program().constants.assign(bytes.begin(), bytes.end());
  const Access ta = sbuf(128, 16), tb = sbuf(128, 16, Dtype::float32, 64), tc = sbuf(128, 16, Dtype::float32, 128);
  w.add<DmaCopy>(Engine::sync, {.dst = ta, .src = hbm(128, 16, Dtype::float32, x)});
  w.add<DmaCopy>(Engine::sync, {.dst = hbm(128, 16, Dtype::float32, s), .src = ta});
  w.add<DmaCopy>(Engine::sync, {.dst = ta, .src = hbm(128, 16, Dtype::float32, s)});
  w.add<DmaCopy>(Engine::sync, {.dst = tb, .src = hbm(128, 16, Dtype::float32, ones)});
  w.add<TensorTensor>(Engine::vector, {.dst = tc, .data1 = ta, .data2 = tb, .op = AluOp::add});
  w.add<DmaCopy>(Engine::scalar, {.dst = hbm(128, 16, Dtype::float32, x), .src = tc});
  return w.program();
}

// y = table[index]: rows of 4 floats out of 8, by 16 int32 indices.
inline Program gather_program() {
  using namespace example;
  Writer w("gather");
  const uint32_t table = w.slot("table", SlotUse::input, 8 * 4 * 4), index = w.slot("index", SlotUse::input, 16 * 4),
                 y = w.slot("y", SlotUse::output, 16 * 4 * 4);
  const Access ids = sbuf(16, 1, Dtype::int32, 4096), rows = sbuf(16, 4);
  w.add<DmaCopy>(Engine::sync, {.dst = ids, .src = hbm(16, 1, Dtype::int32, index)});
  w.add<DmaCopy>(Engine::gpsimd, {.dst = rows, .src = hbm(8, 4, Dtype::float32, table), .index = ids});
  w.add<DmaCopy>(Engine::sync, {.dst = hbm(16, 4, Dtype::float32, y), .src = rows});
  return w.program();
}

// Copies its own tile so often that it takes a while on any machine.
inline Program long_program(int copies) {
  using namespace example;
  Writer w("long");
  const uint32_t x = w.slot("x", SlotUse::inout, kTileBytes);
  w.add<DmaCopy>(Engine::sync, {.dst = sbuf(128, 16), .src = hbm(128, 16, Dtype::float32, x)});
  for (int i = 0; i < copies; ++i)
    w.add<TensorCopy>(Engine::vector, {.dst = sbuf(128, 4096, Dtype::float32, 32768), .src = sbuf(128, 4096)});
  w.add<DmaCopy>(Engine::sync, {.dst = hbm(128, 16, Dtype::float32, x), .src = sbuf(128, 16)});
  return w.program();
}

// `steps` reciprocals of 16384 columns: more than 50 us each.
inline Program slow_program(int steps) {
  using namespace example;
  Writer w("slow");
  const uint32_t x = w.slot("x", SlotUse::inout, kTileBytes);
  w.add<DmaCopy>(Engine::sync, {.dst = sbuf(128, 16), .src = hbm(128, 16, Dtype::float32, x)});
  for (int i = 0; i < steps; ++i)
    w.add<Reciprocal>(Engine::vector, {.dst = sbuf(128, 16384, Dtype::float32, 65536), .data = sbuf(128, 16384)});
  w.add<DmaCopy>(Engine::sync, {.dst = hbm(128, 16, Dtype::float32, x), .src = sbuf(128, 16)});
  return w.program();
}

}  // namespace trn::test
