#pragma once
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// One operand of a pointwise instruction: a tile, or an immediate.
struct Term {
  Access access{};
  double immediate = 0;
  bool is_constant() const { return !access.present(); }
};

// dst = a op b, where b is an immediate or one value per partition ("column") for a whole tile a; or both are whole
// tiles.
struct ScalarTerm {
  AluOp op = AluOp::bypass;
  Term operand{};
  bool reverse = false;
  bool present() const { return op != AluOp::bypass; }
};
// dst = (data first) second: tensor_scalar on whatever engine is free and can.
void scalar_steps(TileBuilder& t, const Access& dst, const Access& data, const ScalarTerm& first,
                  const ScalarTerm& second = {});
// dst = (data first) op other, or other op (data first) when reversed. `first` may be absent.
void tensor_step(TileBuilder& t, const Access& dst, const Access& data, const ScalarTerm& first, AluOp op,
                 const Access& other, bool reverse);
void copy_tile(TileBuilder& t, const Access& dst, const Access& src);
void fill_tile(TileBuilder& t, const Access& dst, double value);
// Conversion with PyTorch's meaning: floating -> integer drops the fraction, narrower integers wrap, boolean is "not
// zero".
void cast_tile(TileBuilder& t, const Access& dst, const Access& src);

}  // namespace trn::compiler
