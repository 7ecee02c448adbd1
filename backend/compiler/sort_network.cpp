#include "backend/compiler/sort_network.h"

#include "backend/compiler/matmul_operands.h"
#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

class Network {
 public:
  Network(TileBuilder& t, Pairs data, bool wide)
      : t_(t),
        now_(data),
        partitions_(data.keys.partitions()),
        free_(data.keys.free_elements()),
        wide_(wide),
        length_(wide ? free_ * partitions_ : free_) {
    const Access numbers = element_numbers(t, partitions_, free_, wide);
    const Tile half = tile();
    scalar_steps(t, half, numbers, {AluOp::right_shift, {{}, 1}, false});
    gray_ = tile();
    tensor_step(t, gray_, numbers, {}, AluOp::bitwise_xor, half, false);
    numbers_ = numbers;
  }

  // Level k merges blocks of 2^k. A block whose number is odd must come out descending: its pairs are complemented, so
  // that every stage is ascending.
  Pairs run() {
    for (int64_t block = 2; block <= length_; block *= 2) {
      turn_odd_blocks(block);
      int64_t distance = block / 2;
      if (wide_ && distance >= free_) {
        exchange_layout();
        for (; distance >= free_; distance /= 2) stage(distance / free_);
        exchange_layout();
      }
      for (; distance >= 1; distance /= 2) stage(distance);
    }
    return now_;
  }

 private:
  Tile tile() { return t_.sbuf(partitions_, Dtype::int32, {free_}); }

  // From block / 2 to block: bits of e that change the order are those where neighbouring bits differ.
  void turn_odd_blocks(int64_t block) {
    if (block == length_ && block == 2) return;
    int bit = 0;
    while ((int64_t{2} << bit) < block) ++bit;  // block / 2 == 2^bit
    const Tile mask = tile();
    ScalarTerm shift{AluOp::right_shift, {{}, double(block == 2 ? 1 : bit)}, false},
        lowest{AluOp::bitwise_and, {{}, 1}, false};
    scalar_steps(t_, mask, block == 2 ? numbers_ : gray_, shift, lowest);
    scalar_steps(t_, mask, mask, {AluOp::multiply, {{}, -1}, false});
    for (Access* a : {&now_.keys, &now_.indices}) {
      const Tile next = tile();
      tensor_step(t_, next, *a, {}, AluOp::bitwise_xor, mask, false);
      *a = next;
    }
  }

  void exchange_layout() {
    const int64_t blocks = free_ / partitions_;
    for (Access* a : {&now_.keys, &now_.indices}) {
      const Tile next = tile();
      const Access by_block = split(reinterpreted(next, Dtype::float32), 1, partitions_);
      turn_blocks(t_, by_block, reinterpreted(*a, Dtype::float32), blocks);
      *a = next;
    }
  }

  // Columns c and c + distance of every 2 * distance.
  static Access part(const Access& a, int64_t distance, int which) {
    return slice(split(a, 1, 2 * distance), 2, which * distance, distance);
  }
  Access half(Dtype d) {
    const int64_t n[] = {free_ / 2};
    return t_.sbuf(partitions_, d, n);
  }
  Access compare(AluOp op, const Access& a, const Access& b) {
    const Access r = half(Dtype::uint8);
    tensor_step(t_, r, a, {}, op, b, false);
    return r;
  }

  void stage(int64_t distance) {
    const Access ka = part(now_.keys, distance, 0), kb = part(now_.keys, distance, 1);
    const Access ia = part(now_.indices, distance, 0), ib = part(now_.indices, distance, 1);
    const Pairs next{tile(), tile()};
    const Access later = compare(AluOp::logical_and, compare(AluOp::equal, ka, kb), compare(AluOp::greater, ia, ib));
    const Access swaps = compare(AluOp::logical_or, compare(AluOp::greater, ka, kb), later);
    tensor_step(t_, part(next.keys, distance, 0), ka, {}, AluOp::minimum, kb, false);
    tensor_step(t_, part(next.keys, distance, 1), ka, {}, AluOp::maximum, kb, false);
    const Access apart = half(Dtype::int32), moved = half(Dtype::int32);
    tensor_step(t_, apart, ib, {}, AluOp::subtract, ia, false);
    tensor_step(t_, moved, swaps, {}, AluOp::multiply, apart, false);
    tensor_step(t_, part(next.indices, distance, 0), ia, {}, AluOp::add, moved, false);
    tensor_step(t_, part(next.indices, distance, 1), ib, {}, AluOp::subtract, moved, false);
    now_ = next;
  }

  TileBuilder& t_;
  Pairs now_;
  Access numbers_{}, gray_{};
  int partitions_;
  int64_t free_;
  bool wide_;
  int64_t length_;
};

}  // namespace

Access element_numbers(TileBuilder& t, int partitions, int64_t free, bool wide) {
  const Tile numbers = t.sbuf(partitions, Dtype::int32, {free});
  Iota::Args a;
  a.dst = numbers;
  a.channel_multiplier = wide ? static_cast<int32_t>(free) : 0;
  a.pattern.fill({0, 1});
  a.pattern[0] = {1, static_cast<int32_t>(free)};
  t.emit<Iota>(Engine::gpsimd, a);
  return numbers;
}

Pairs sorted(TileBuilder& t, Pairs data, bool wide) {
  const int64_t length = data.keys.free_elements() * (wide ? data.keys.partitions() : 1);
  return length == 1 ? data : Network(t, data, wide).run();
}

}  // namespace trn::compiler
