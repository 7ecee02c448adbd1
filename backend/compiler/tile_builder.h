#pragma once
#include <initializer_list>
#include <unordered_map>

#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// A virtual tile with its natural pattern: [partitions, free...] contiguous. Slicing gives Accesses.
struct Tile {
  Access access;  // whole tile
  // Rows [p, p+n) of the tile.
  Access rows(int p, int n) const;
  // Columns [c, c+n) of a tile with one free dim.
  Access columns(int64_t c, int64_t n) const;
  operator const Access&() const { return access; }
};

// Writes a TileProgram the way a kernel author writes NKI: tiles, loads, instructions, stores. Every emit checks its card at once.
class TileBuilder {
 public:
  TileBuilder(std::string name, const Spec& spec);

  // HBM slots; `a` is the tensor's whole strided view and gets its slot number. Returned Access can be sliced with slice_hbm.
  uint32_t slot(Slot s);
  uint32_t scratch(std::string name, int64_t bytes);
  uint32_t constant(std::string name, std::span<const std::byte> bytes, Dtype dtype);

  Tile sbuf(int partitions, Dtype dtype, std::initializer_list<int64_t> free);
  Tile psum(int partitions, Dtype dtype, std::initializer_list<int64_t> free);

  // Emits `C` on `engine`. Throws trn::Error with the card's rule if it is not legal.
  template <Card C>
  void emit(Engine engine, const typename C::Args& args) {
    if (auto bad = C::check(args, engine, spec_)) fail(C::name, *bad);
    append(card_index<C>, engine, program_.program.push_args(args), C::is_dma);
  }

  // DMA with cast where dtypes differ. Loads are triggered by Sync, stores by Scalar, each on its own hardware queue; patterns of more than
  // kMaxDims dims must be split by the caller.
  void load(const Access& dst, const Access& hbm);
  void store(const Access& hbm, const Access& src);
  // The tile that holds `hbm` already, or a new one with a load: weights, masks and parameters that every iteration uses. `shape` as for sbuf().
  Tile load_once(const Access& hbm, int partitions, std::initializer_list<int64_t> free, Dtype as);

  // PSUM -> SBUF copies and other work that Vector, Scalar or GpSimd can do: the engine with the least work so far.
  Engine least_loaded(EngineSet among) const;
  void core(int c) { core_ = static_cast<uint8_t>(c); }  // physical core that later tiles and instructions belong to
  void source(std::string text);                         // what later instructions came from (aten op, kernel line)

  const Spec& spec() const { return spec_; }
  TileProgram finish() &&;

 private:
  void append(uint16_t card, Engine engine, uint32_t args, bool is_dma);
  [[noreturn]] void fail(std::string_view card, const Complaint& c) const;

  const Spec& spec_;
  TileProgram program_;
  uint8_t core_ = 0;
  uint32_t source_ = 0;
  std::array<double, 2 * kEngines> load_{};
  std::unordered_map<std::string, Tile> loaded_;
};

// The part of an HBM view with dims[dim] restricted to [start, start+count).
Access slice_hbm(Access a, int dim, int64_t start, int64_t count);

}  // namespace trn::compiler
