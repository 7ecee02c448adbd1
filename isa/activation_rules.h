#pragma once
#include "isa/activation_functions.h"
#include "isa/rules.h"

namespace trn::rules {

// What activation and activation_reduce ask of their tiles, scale and bias alike.
template <class Args>
Verdict activation_operands(const Args& a, std::string_view card, const Spec& s) {
  if (auto bad = tile("dst", a.dst, s, false)) return bad;
  if (auto bad = tile("data", a.data, s)) return bad;
  if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
  if (auto bad = scalar_operand("scale", a.scale, a.data.partitions(), s)) return bad;
  if (auto bad = scalar_operand("bias", a.bias, a.data.partitions(), s)) return bad;
  if (a.scale.is_tile() && a.scale.tile.dtype != Dtype::float32)
    return breaks(RuleKind::dtype, "scale must be float32, not ", trn::name(a.scale.tile.dtype));
  if (a.bias.is_tile() && a.bias.tile.dtype == Dtype::tfloat32)
    return breaks(RuleKind::dtype, "bias may not be tfloat32");
  if (s.generation == Generation::trn1 && !a.bias.is_tile() && a.bias.immediate != 0)
    return illegal("bias must be a [P, 1] tile on trn1: a scalar needs trn2");
  if (a.op == Activation::prelu)
    return Complaint{Fault::unmodelled, "op prelu: nki.isa." + std::string(card) + " has no field for its slope"};
  return {};
}

}  // namespace trn::rules
