#pragma once
#include "isa/isa.h"
#include "tests/sim/programs.h"

namespace trn::bench {

// Turns of ten instructions on all engines, two buffers deep: load, add, four products, copy out of PSUM, activation,
// iota, store. Each engine counts its completions; a consumer waits for a count. Tiles of 128 partitions and `columns`
// columns (128 to 512); legal, without hazards: each turn stores to a place of its own.
inline Program mixed(int64_t turns, int columns = 512) {
  using namespace trn::test;
  constexpr uint16_t loaded = 0, added = 1, multiplied = 2, copied = 3, activated = 4, counted = 5, stored = 6;
  const auto bf = Dtype::bfloat16, fp = Dtype::float32;
  const int64_t store_bytes = int64_t{128} * columns * 4;
  Program p;
  p.name = "mixed";
  p.slots.push_back({.name = "x", .use = SlotUse::input, .dtype = bf, .bytes = store_bytes / 2, .shape = {}});
  p.slots.push_back({.name = "y", .use = SlotUse::output, .dtype = fp, .bytes = store_bytes * turns, .shape = {}});
  for (int64_t turn = 0; turn < turns; ++turn) {
    const int64_t half = turn % 2 * 65536;
    const auto n = static_cast<uint32_t>(turn), two_before = n > 1 ? n - 1 : 0;
    const Access in = sbuf(bf, 128, half, columns), sum = sbuf(bf, 128, half + 2048, columns),
                 out = sbuf(fp, 128, half + 4096, columns), product = psum(fp, 128, turn % 2 * 2048, columns);
    add<DmaCopy>(p, Engine::sync, dma(in, hbm(bf, 0, 128, columns)), {{added, two_before}}, loaded);
    TensorTensor::Args twice{};
    twice.dst = sum;
    twice.data1 = twice.data2 = in;
    twice.op = AluOp::add;
    add<TensorTensor>(p, Engine::vector, twice, {{loaded, n + 1}, {multiplied, two_before}}, added);
    for (int part = 0; part < 4; ++part) {
      NcMatmul::Args m = matmul(product, sbuf(bf, 128, half + 2048 + part * (columns - 128) / 3 * 2, 128), sum);
      m.accumulate = part > 0;
      if (part == 0)
        add<NcMatmul>(p, Engine::tensor, m, {{added, n + 1}, {copied, two_before}});
      else
        add<NcMatmul>(p, Engine::tensor, m, {}, part == 3 ? multiplied : Instruction::kNoUpdate);
    }
    add<TensorCopy>(p, Engine::vector, copy(out, product), {{multiplied, n + 1}, {stored, two_before}}, copied);
    Activate::Args exp{};
    exp.dst = out;
    exp.data = out;
    exp.op = Activation::exp;
    add<Activate>(p, Engine::scalar, exp, {{copied, n + 1}}, activated);
    Iota::Args count{};
    count.dst = sbuf(Dtype::int32, 128, half + 8192, 64);
    count.pattern[0] = {1, 64};
    add<Iota>(p, Engine::gpsimd, count, {{counted, two_before}}, counted);
    Access place = hbm(fp, 1, 128, columns);
    place.offset = turn * store_bytes;
    add<DmaCopy>(p, Engine::scalar, dma(place, out), {{activated, n + 1}}, stored);
    p.instructions.back().queue = 1;
  }
  return p;
}

}  // namespace trn::bench
