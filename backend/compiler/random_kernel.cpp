#include "backend/compiler/random_kernel.h"

#include <algorithm>
#include <array>

#include "backend/compiler/pointwise.h"
#include "backend/compiler/transfer.h"

namespace trn::compiler {
namespace {

constexpr uint32_t kMultiply[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};
constexpr int kRounds = 10;
constexpr int64_t kBlocks = 512;  // per partition and tile

class Philox {
 public:
  Philox(TileBuilder& t, const View& seed) : t_(t), key_(t.sbuf(128, Dtype::uint32, {4})) {
    const auto step = static_cast<int32_t>(seed.strides[0]);
    t.load(key_, hbm_access(seed, 0, {{0, 128}, {step, 4}}));
    Access key = key_.columns(0, 2);
    for (auto& round : round_keys_) {
      round = key;
      const Tile next = t.sbuf(128, Dtype::uint32, {2});
      for (int i = 0; i < 2; ++i)
        scalar_steps(t, next.columns(i, 1), slice(key, 1, i, 1), {AluOp::add, {{}, double(kWeyl[i])}, false});
      key = next;
    }
  }

  // Blocks [first, first + partitions * free) as [partitions, 4 * free] words, consecutive blocks on one partition.
  Tile blocks(int64_t first, int64_t partitions, int64_t free) {
    partitions_ = static_cast<int>(partitions);
    free_ = free;
    std::array<Access, 4> c;
    for (int i = 0; i < 2; ++i) {
      c[i] = slice(key_.columns(2 + i, 1), 0, 0, partitions);
      c[i].dims[1] = {0, static_cast<int32_t>(free)};
    }
    const Tile index = word();
    Iota::Args a;
    a.dst = index;
    a.offset = static_cast<int32_t>(first);
    a.channel_multiplier = static_cast<int32_t>(free);
    a.pattern.fill({0, 1});
    a.pattern[0] = {1, static_cast<int32_t>(free)};
    t_.emit<Iota>(Engine::gpsimd, a);
    c[2] = index;
    c[3] = word();
    fill_tile(t_, c[3], 0);
    const Tile out = t_.sbuf(partitions_, Dtype::uint32, {4 * free});
    for (int r = 0; r < kRounds; ++r) {
      std::array<Access, 4> next;
      for (int i = 0; i < 4; ++i) next[i] = r + 1 < kRounds ? Access(word()) : slice(out.access, 1, i, free, 4);
      round(c, next, round_keys_[r]);
      c = next;
    }
    return out;
  }

 private:
  Tile word() { return t_.sbuf(partitions_, Dtype::uint32, {free_}); }
  Access step(AluOp op, const Access& a, double b) {
    const Tile r = word();
    scalar_steps(t_, r, a, {op, {{}, b}, false});
    return r;
  }
  Access both(AluOp op, const Access& a, const Access& b) {
    const Tile r = word();
    tensor_step(t_, r, a, {}, op, b, false);
    return r;
  }

  // Upper 32 bits of a * m, from products of 16-bit halves.
  Access multiply_high(const Access& a, uint32_t m) {
    const Access low = step(AluOp::bitwise_and, a, 0xFFFF), high = step(AluOp::right_shift, a, 16);
    const double m0 = m & 0xFFFF, m1 = m >> 16;
    const Access p1 = step(AluOp::multiply, high, m0), p2 = step(AluOp::multiply, low, m1);
    Access carry = step(AluOp::right_shift, step(AluOp::multiply, low, m0), 16);
    carry = both(AluOp::add, carry, step(AluOp::bitwise_and, p1, 0xFFFF));
    carry = both(AluOp::add, carry, step(AluOp::bitwise_and, p2, 0xFFFF));
    Access sum = both(AluOp::add, step(AluOp::multiply, high, m1), step(AluOp::right_shift, p1, 16));
    sum = both(AluOp::add, sum, step(AluOp::right_shift, p2, 16));
    return both(AluOp::add, sum, step(AluOp::right_shift, carry, 16));
  }

  void round(const std::array<Access, 4>& c, const std::array<Access, 4>& next, const Access& key) {
    const auto mix = [&](const Access& dst, const Access& high, const Access& word, int i) {
      ScalarTerm with_key{AluOp::bitwise_xor, {slice(slice(key, 1, i, 1), 0, 0, partitions_), 0}, false};
      tensor_step(t_, dst, high, with_key, AluOp::bitwise_xor, word, false);
    };
    mix(next[0], multiply_high(c[2], kMultiply[1]), c[1], 0);
    scalar_steps(t_, next[1], c[2], {AluOp::multiply, {{}, double(kMultiply[1])}, false});
    mix(next[2], multiply_high(c[0], kMultiply[0]), c[3], 1);
    scalar_steps(t_, next[3], c[0], {AluOp::multiply, {{}, double(kMultiply[0])}, false});
  }

  TileBuilder& t_;
  Tile key_;
  std::array<Access, kRounds> round_keys_;
  int partitions_ = 0;
  int64_t free_ = 0;
};

}  // namespace

void random_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  const int64_t words = elements(n.shape);
  View to = k.results[0].to;
  const auto flat = reshaped(to, {words});
  const View dense = flat ? *flat : contiguous_view(t.scratch("random", words * 4), Dtype::uint32, {words});
  Philox philox(t, p.view(n.inputs[0]));
  const int64_t blocks = (words + 3) / 4,
                free = std::min<int64_t>(std::max<int64_t>((blocks + 127) / 128, 16), kBlocks);
  const auto mine = t.share(blocks, 128 * free);
  for (int64_t first = mine.first; first < mine.last; first += 128 * free) {
    const int64_t rows = std::min<int64_t>((blocks - first + free - 1) / free, 128), left = words - first * 4;
    const Tile out = philox.blocks(first, rows, free);
    const int64_t full = std::min(rows, left / (4 * free)), rest = std::min(left - full * 4 * free, 4 * free);
    const int64_t step = dense.strides[0];
    const auto store = [&](int64_t row, int64_t count, int64_t width) {
      const std::vector<Dim> dims{{static_cast<int32_t>(step * 4 * free), static_cast<int32_t>(count)},
                                  {static_cast<int32_t>(step), static_cast<int32_t>(width)}};
      t.store(hbm_access(dense, (first * 4 + row * 4 * free) * step, dims),
              slice(slice(out, 0, row, count), 1, 0, width));
    };
    if (full) store(0, full, 4 * free);
    if (full < rows && rest) store(full, 1, rest);
  }
  if (flat) return;
  View shaped = dense;
  shaped.shape = to.shape;
  shaped.strides = contiguous_strides(to.shape);
  copy_view(t, to, shaped);
}

}  // namespace trn::compiler
