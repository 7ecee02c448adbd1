#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>

#include "backend/compiler/tile_program.h"
#include "isa/isa.h"

namespace trn::compiler {

// Views of an operand, on chip or in HBM. dims[0] of an on-chip operand is its partitions (step 1).
// `count` elements of dims[dim] from `start`, every `step`-th.
Access slice(Access a, int dim, int64_t start, int64_t count, int64_t step = 1);
// A new dims[dim] that repeats everything inside it `count` times: a broadcast on reading.
Access broadcast(Access a, int dim, int64_t count);
// dims[dim] split in two: [count, inner] -> outer count/inner steps of inner.
Access split(Access a, int dim, int64_t inner);
// dims[first] and dims[second] exchanged (not the partitions of an on-chip operand).
Access transposed(Access a, int first, int second);
// The same bytes as elements of `dtype`; sizes must agree, or the innermost dim be contiguous and divisible.
Access reinterpreted(Access a, Dtype dtype);

// A virtual tile with its natural pattern: [partitions, free...] contiguous. Slicing gives Accesses.
struct Tile {
  Access access;  // whole tile
  // Rows [p, p+n) of the tile.
  Access rows(int p, int n) const { return slice(access, 0, p, n); }
  // Columns [c, c+n) of the first free dim.
  Access columns(int64_t c, int64_t n) const { return slice(access, 1, c, n); }
  operator const Access&() const { return access; }
};

// Writes a TileProgram the way a kernel author writes NKI: tiles, loads, instructions, stores. Every emit checks its
// card at once.
class TileBuilder {
 public:
  TileBuilder(std::string name, const Spec& spec);

  // HBM slots; `a` is the tensor's whole strided view and gets its slot number. Returned Access can be sliced with
  // slice_hbm.
  uint32_t slot(Slot s);
  uint32_t scratch(std::string name, int64_t bytes);
  uint32_t constant(std::string name, std::span<const std::byte> bytes, Dtype dtype);

  Tile sbuf(int partitions, Dtype dtype, std::initializer_list<int64_t> free) {
    return sbuf(partitions, dtype, std::span(free));
  }
  Tile psum(int partitions, Dtype dtype, std::initializer_list<int64_t> free) {
    return psum(partitions, dtype, std::span(free));
  }
  Tile sbuf(int partitions, Dtype dtype, std::span<const int64_t> free) {
    return tile(Space::sbuf, partitions, dtype, free);
  }
  Tile psum(int partitions, Dtype dtype, std::span<const int64_t> free) {
    return tile(Space::psum, partitions, dtype, free);
  }

  // Emits `C` on `engine`. Throws trn::Error with the card's rule if it is not legal.
  template <Card C>
  void emit(Engine engine, const typename C::Args& args) {
    if (auto bad = check_card<C>(args, engine, spec_)) fail(C::name, *bad);
    append(card_index<C>, engine, program_.program.push_own_args(args), C::is_dma);
  }

  // DMA with cast where dtypes differ. Loads are triggered by Sync, stores by Scalar, each on its own hardware queue
  // (isa/engine.h kQueues); indirect patterns are emitted on gpsimd. Patterns of more than kMaxDims dims must be split
  // by the caller.
  void load(const Access& dst, const Access& hbm);
  void store(const Access& hbm, const Access& src);
  // The tile that holds `hbm` already, or a new one with a load: weights, masks and parameters that every iteration
  // uses. A store to the same slot ends the reuse.
  Tile load_once(const Access& hbm, int partitions, std::initializer_list<int64_t> free, Dtype as);

  // PSUM -> SBUF copies and other work that Vector, Scalar or GpSimd can do: the engine with the least work so far.
  Engine least_loaded(EngineSet among);

  // Parts of a kernel: the whole of it is written `of` times, once for each physical core, and each time works on its
  // share of the outermost loop. What the parts emitted is then put side by side.
  void begin_part(int part, int of);
  void end_parts();
  // Items [first, last) of `n` that are this part's. Shares begin at multiples of `unit`; the last may be empty.
  struct Range {
    int64_t first, last;
    int64_t count() const { return last - first; }
  };
  Range share(int64_t n, int64_t unit = 1) const;

  void source(std::string text);  // what later instructions came from (aten op, kernel line)

  const Spec& spec() const { return spec_; }
  TileProgram finish() &&;

 private:
  Tile tile(Space space, int partitions, Dtype dtype, std::span<const int64_t> free);
  void weigh();
  void append(uint16_t card, Engine engine, uint32_t args, bool is_dma);
  [[noreturn]] void fail(std::string_view card, const Complaint& c) const;

  const Spec& spec_;
  TileProgram program_;
  int part_ = 0, parts_ = 1;          // the part's number is its physical core
  std::vector<size_t> part_ends_{0};  // instructions before the kernel's first part, after each
  uint32_t source_ = 0;
  std::array<double, 2 * kEngines> load_{};  // ns of work per engine, of the first `weighed_` instructions
  size_t weighed_ = 0;
  std::unordered_map<std::string, Tile> loaded_;         // load_once: by operand and form
  std::unordered_map<std::string, uint32_t> constants_;  // by bytes
};

// The part of an HBM view with dims[dim] restricted to [start, start+count).
inline Access slice_hbm(const Access& a, int dim, int64_t start, int64_t count) { return slice(a, dim, start, count); }

}  // namespace trn::compiler
