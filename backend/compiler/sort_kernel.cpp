#include "backend/compiler/sort_kernel.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "backend/compiler/lines.h"
#include "backend/compiler/pointwise.h"
#include "backend/compiler/sort_network.h"

namespace trn::compiler {
namespace {

constexpr int64_t kShort = 4096, kLeastWide = 128 * 128, kMostWide = 128 * 4096;
constexpr double kMagnitude = 0x7FFFFFFF, kNan = 0x7FC00000;

ScalarTerm with(AluOp op, double v) { return {op, {{}, v}, false}; }

class SortKernel {
 public:
  SortKernel(TileBuilder& t, const Plan& p, const Kernel& k)
      : t_(t),
        plan_(p),
        kernel_(k),
        node_(p.graph[k.nodes[0]]),
        floats_(is_float(node_dtype())),
        from_(p.view(node_.inputs[0]), node_.dim) {
    const int64_t padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(from_.length())));
    wide_ = padded > kShort;
    free_ = wide_ ? std::max(padded, kLeastWide) / 128 : padded;
    if (padded > kMostWide)
      throw Error(Fault::unsupported, "sort of more than 524288 elements along a dim", p.graph.name);
    if (node_dtype() == Dtype::uint32) throw Error(Fault::unsupported, "sort of uint32", p.graph.name);
  }

  void write() {
    const int64_t together = wide_ ? 1 : Lines::kPartitions;
    const auto mine = t_.share(from_.count(), together);
    for (int64_t line = mine.first; line < mine.last; line += together) {
      partitions_ = static_cast<int>(wide_ ? 128 : std::min(together, from_.count() - line));
      const Access numbers = element_numbers(t_, partitions_, free_, wide_);
      const Pairs result = sorted(t_, {keys(line, numbers), numbers}, wide_);
      for (const Result& r : kernel_.results) {
        const Lines to(r.to, node_.dim);
        move(to, line, plan_.graph[r.value].op == Op::sort ? values(result.keys) : result.indices, false);
      }
    }
  }

 private:
  Dtype node_dtype() const { return storage(plan_.graph[node_.inputs[0]].dtype); }
  Tile tile(Dtype d) { return t_.sbuf(partitions_, d, {free_}); }
  Access bits(const Access& a) const { return reinterpreted(a, Dtype::int32); }

  // int32 whose order is the wanted one. Floats: magnitude bits of negatives are complemented, -0 is 0, every NaN is
  // the largest.
  Access keys(int64_t line, const Access& numbers) {
    Access x = tile(floats_ ? Dtype::float32 : Dtype::int32);
    const bool pads = free_ * (wide_ ? 128 : 1) != from_.length();
    if (pads) fill_tile(t_, x, 0);
    move(from_, line, x, true);
    if (floats_) x = float_keys(x);
    if (node_.descending) {
      const Access turned = tile(Dtype::int32);
      scalar_steps(t_, turned, x, with(AluOp::bitwise_xor, -1));
      x = turned;
    }
    if (pads) {
      const Tile outside = tile(Dtype::uint8);
      scalar_steps(t_, outside, numbers, with(AluOp::greater_equal, static_cast<double>(from_.length())));
      overwrite(x, kMagnitude, outside);
    }
    return x;
  }

  void overwrite(const Access& dst, double value, const Access& where) {
    TensorCopyPredicated::Args a;
    a.dst = dst;
    a.src.immediate = value;
    a.predicate = where;
    t_.emit<TensorCopyPredicated>(Engine::vector, a);
  }

  Access float_keys(const Access& x) {
    const Tile plain = tile(Dtype::float32), nan = tile(Dtype::uint8);
    scalar_steps(t_, plain, x, with(AluOp::add, 0));
    tensor_step(t_, nan, x, {}, AluOp::not_equal, x, false);
    overwrite(bits(plain), kNan, nan);
    return with_signs_folded(bits(plain));
  }

  // bits ^ (magnitude mask where negative): its own inverse.
  Access with_signs_folded(const Access& x) {
    const Tile negative = tile(Dtype::int32), result = tile(Dtype::int32);
    scalar_steps(t_, negative, x, with(AluOp::right_shift, 31));
    scalar_steps(t_, negative, negative, with(AluOp::multiply, -1));
    tensor_step(t_, result, negative, with(AluOp::bitwise_and, kMagnitude), AluOp::bitwise_xor, x, false);
    return result;
  }

  Access values(Access key) {
    if (node_.descending) {
      const Access turned = tile(Dtype::int32);
      scalar_steps(t_, turned, key, with(AluOp::bitwise_xor, -1));
      key = turned;
    }
    return floats_ ? reinterpreted(with_signs_folded(key), Dtype::float32) : key;
  }

  // Between lines in HBM and `tile`: [partitions, length], or one line over all partitions.
  void move(const Lines& lines, int64_t line, const Access& tile, bool load) {
    const auto part = [&](const Access& a, int64_t at) {
      load ? lines.load(t_, a, line, at) : lines.store(t_, a, line, at);
    };
    if (!wide_) return part(slice(tile, 1, 0, lines.length()), 0);
    const int64_t rows = lines.length() / free_, rest = lines.length() % free_;
    if (rows)
      load ? lines.load_wrapped(t_, slice(tile, 0, 0, rows), line)
           : lines.store_wrapped(t_, slice(tile, 0, 0, rows), line);
    if (rest) part(slice(slice(tile, 0, rows, 1), 1, 0, rest), rows * free_);
  }

  TileBuilder& t_;
  const Plan& plan_;
  const Kernel& kernel_;
  const Node& node_;
  bool floats_, wide_ = false;
  Lines from_;
  int64_t free_ = 0;
  int partitions_ = 0;
};

}  // namespace

void sort_kernel(TileBuilder& t, const Plan& p, const Kernel& k) { SortKernel(t, p, k).write(); }

}  // namespace trn::compiler
