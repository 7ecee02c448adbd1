// Which instruction computes which node: RowValues' second half.
#include <algorithm>

#include "backend/compiler/row_values.h"

namespace trn::compiler {
namespace {

bool on_vector(AluOp op) { return info(op).engines.has(Engine::vector); }

// A float widened to fp32, a truth value read as a number: engines do that on reading.
bool reads_alike(Dtype from, Dtype to) {
  if (from == to) return true;
  return to == Dtype::float32 && (from == Dtype::boolean || (is_float(from) && size_of(from) < 4));
}

// The result of an instruction is rounded once to `to`, as casting its fp32 or boolean value would.
bool writes_alike(Dtype from, Dtype to) {
  return from == Dtype::boolean ? to != Dtype::boolean : from == Dtype::float32 && is_float(to);
}

}  // namespace

bool RowValues::is_inner(NodeId id) const {
  return entry(id).member && entry(id).uses == 1 && !entry(id).kept && !find(id);
}

Term RowValues::scalar_term(NodeId id) {
  const Value v = get(id);
  if (v.is_constant) return {{}, v.constant};
  const Access a = slice(v.tile, 0, 0, block_->partitions);
  if (!is_float(plan_.graph[id].dtype) || a.dtype == Dtype::float32) return {a, 0};
  const Tile wide = t_.sbuf(block_->partitions, Dtype::float32, {1});  // floating scalar operands are fp32
  copy_tile(t_, wide, a);
  return {wide, 0};
}

Value RowValues::tile_value(NodeId id, uint32_t mask) {
  const Value v = get(id);
  return v.is_constant ? Value{false, 0, whole(id, mask), mask} : v;
}

// map2 node `id` as data and one step with a scalar, if one operand is one value per partition.
std::optional<RowValues::Scaled> RowValues::scaled(NodeId id, uint32_t mask) {
  const Node& n = plan_.graph[id];
  if (n.op != Op::map2) return {};
  if (info(n.alu).arity == 1) return Scaled{n.inputs[0], {n.alu, {}, false}};
  const NodeId a = n.inputs[0], b = n.inputs[1];
  if (is_constant(a) && is_constant(b)) return {};
  if (is_scalar(b) && !is_constant(a)) return Scaled{a, {n.alu, scalar_term(b), false}};
  if (is_scalar(a) && (mask != 0 || is_constant(a))) return Scaled{b, {n.alu, scalar_term(a), true}};
  return {};
}

// Operand `id` of an instruction with operator `reader`: its own data and step where the instruction can do both.
RowValues::Scaled RowValues::absorb(NodeId id, Dtype dtype, uint32_t mask, AluOp reader) {
  const Node& n = plan_.graph[id];
  const bool exact = n.dtype == dtype && (dtype == Dtype::float32 || dtype == Dtype::int32);
  const bool fits =
      n.op == Op::map2 && on_vector(n.alu) && on_vector(reader) && info(n.alu).is_bitvec == info(reader).is_bitvec;
  if (!exact || !fits || !is_inner(id) || mask_of(entry(id).vary) != mask) return {id, {}};
  const auto inner = scaled(id, mask);
  return inner ? *inner : Scaled{id, {}};
}

Value RowValues::map2(NodeId id, Dtype d) {
  const Node& n = plan_.graph[id];
  const uint32_t mask = mask_of(entry(id).vary);
  const Dtype dtype = plan_.graph[n.inputs[0]].dtype;
  if (auto outer = scaled(id, mask)) {
    if (n.alu == AluOp::invert && dtype == Dtype::boolean) outer->step.op = AluOp::equal;  // "not": equal to 0
    const Scaled inner = absorb(outer->data, dtype, mask, n.alu);
    const Value data = tile_value(inner.data, mask), out = result(d, mask);
    const auto a = together({out, data}, mask);
    inner.step.present() ? scalar_steps(t_, a[0], a[1], inner.step, outer->step)
                         : scalar_steps(t_, a[0], a[1], outer->step);
    return out;
  }
  const bool fuses = !info(n.alu).is_bitvec;  // scalar_tensor_tensor is arithmetic only
  Scaled inner = fuses ? absorb(n.inputs[0], dtype, mask, n.alu) : Scaled{n.inputs[0], {}};
  const bool reverse = fuses && !inner.step.present();
  NodeId other = n.inputs[1];
  if (reverse) {
    inner = absorb(n.inputs[1], dtype, mask, n.alu);
    other = n.inputs[0];
  }
  const Value left = tile_value(inner.data, mask), right = tile_value(other, mask), out = result(d, mask);
  const auto a = together({out, left, right}, mask);
  tensor_step(t_, a[0], a[1], inner.step, n.alu, a[2], reverse);
  return out;
}

Access RowValues::negated(NodeId id) {
  const Value v = get(id);
  const Tile minus = t_.sbuf(block_->partitions, Dtype::float32, {1});
  scalar_steps(t_, minus, slice(v.tile, 0, 0, block_->partitions), {AluOp::multiply, {{}, -1}, false});
  return minus;
}

// fn(data * scale + bias), with an inner multiplication and addition taken along.
Value RowValues::map1(NodeId id, Dtype d, const Access& sum) {
  const Node& n = plan_.graph[id];
  const uint32_t mask = mask_of(entry(id).vary);
  Activate::Args a;
  a.op = n.fn;
  NodeId data = n.inputs[0];
  const auto peel = [&](AluOp op) -> std::optional<Scaled> {
    if (plan_.graph[data].op != Op::map2 || plan_.graph[data].alu != op) return {};
    const Scaled inner = absorb(data, Dtype::float32, mask, AluOp::add);
    if (!inner.step.present()) return {};
    return inner;
  };
  const auto operand = [](const Term& x) { return Operand{.tile = x.access, .immediate = x.immediate}; };
  if (const auto add = peel(AluOp::add)) {
    a.bias = operand(add->step.operand);
    data = add->data;
  } else if (plan_.graph[data].op == Op::map2 && plan_.graph[data].alu == AluOp::subtract) {
    const auto subtract = peel(AluOp::subtract);
    if (subtract && subtract->step.reverse) {
      a.scale.immediate = -1;
      a.bias = operand(subtract->step.operand);
      data = subtract->data;
    } else if (subtract) {
      a.bias = subtract->step.operand.is_constant()
                   ? Operand{.tile = {}, .immediate = -subtract->step.operand.immediate}
                   : Operand{.tile = negated(plan_.graph[data].inputs[1]), .immediate = 0};
      data = subtract->data;
    }
  }
  if (a.scale.immediate == 1) {
    const auto multiply = peel(AluOp::multiply);
    const bool usable =
        multiply && (multiply->step.operand.is_constant() || multiply->step.operand.access.dtype == Dtype::float32);
    if (usable) {
      a.scale = operand(multiply->step.operand);
      data = multiply->data;
    }
  }
  if (t_.spec().generation < Generation::trn2 && !a.bias.is_tile() && a.bias.immediate != 0) {
    const Tile column = t_.sbuf(block_->partitions, Dtype::float32, {1});  // no scalar bias before NeuronCore-v3
    fill_tile(t_, column, a.bias.immediate);
    a.bias = {.tile = column, .immediate = 0};
  }
  const Value in = tile_value(data, mask), out = result(d, mask);
  const auto operands = together({out, in}, mask);
  a.dst = operands[0];
  a.data = operands[1];
  if (sum.present()) {
    a.reduce_res = sum;
    a.reduce_cmd = ReduceCmd::reset_reduce;
  }
  t_.emit<Activate>(Engine::scalar, a);
  return out;
}

bool RowValues::get_with_sum(NodeId id, const Access& sum) {
  if (base(id) != id || !entry(id).member || entry(id).kept || find(id) || plan_.graph[id].dtype != Dtype::float32)
    return false;
  const Node& n = plan_.graph[id];
  if (mask_of(entry(id).vary) != mask_of(~0u)) return false;
  if (n.op == Op::map1) {
    remember(id, map1(id, Dtype::float32, sum));
    return true;
  }
  if (n.op != Op::map2 || n.alu != AluOp::multiply || base(n.inputs[0]) != base(n.inputs[1])) return false;
  remember(id, square_with_sum(n.inputs[0], sum));
  return true;
}

Value RowValues::square_with_sum(NodeId id, const Access& sum) {
  const uint32_t mask = mask_of(~0u);
  const Value in = tile_value(id, mask), out = result(Dtype::float32, mask);
  const auto operands = together({out, in}, mask);
  Activate::Args a;
  a.dst = operands[0];
  a.op = Activation::square;
  a.data = operands[1];
  a.reduce_res = sum;
  a.reduce_cmd = ReduceCmd::reset_reduce;
  t_.emit<Activate>(Engine::scalar, a);
  return out;
}

// A tile that nobody reads after this, with room for the result.
bool RowValues::may_overwrite(NodeId id, Dtype d, uint32_t mask) {
  if (base(id) != id || entry(id).uses != 1 || entry(id).kept || plan_.graph[id].op == Op::cast ||
      plan_.graph[id].op == Op::reduce)
    return false;
  const bool outlives = (entry(id).vary & reduced_axes_) == 0 && !one_block_;
  if (outlives || is_constant(id) || plan_.graph[id].op == Op::iota) return false;
  const Value v = get(id);
  return v.mask == mask && v.tile.dtype == d;
}

// Copies one side, then the other where the predicate says so.
Value RowValues::select(NodeId id, Dtype d) {
  const Node& n = plan_.graph[id];
  const uint32_t mask = mask_of(entry(id).vary);
  Value predicate = tile_value(n.inputs[0], mask);
  const bool reverse =
      !may_overwrite(n.inputs[2], d, mask) && (may_overwrite(n.inputs[1], d, mask) || is_constant(n.inputs[2]));
  const NodeId first = n.inputs[reverse ? 1 : 2], second = n.inputs[reverse ? 2 : 1];
  Value out;
  if (may_overwrite(first, d, mask)) {
    out = get(first);
  } else {
    const Value from = get(first);
    out = result(d, mask);
    const auto a = together({out, from.is_constant ? out : from}, mask);
    from.is_constant ? fill_tile(t_, a[0], from.constant) : copy_tile(t_, a[0], a[1]);
  }
  TensorCopyPredicated::Args a;
  Value src = get(second);
  if (!src.is_constant && src.tile.dtype != d) {
    const Value same = result(d, src.mask);
    const auto c = together({same, src}, src.mask);
    copy_tile(t_, c[0], c[1]);
    src = same;
  }
  const auto operands = together({out, predicate, src.is_constant ? out : src}, mask);
  a.dst = operands[0];
  a.predicate = operands[1];
  if (a.predicate.dtype == Dtype::boolean) a.predicate.dtype = Dtype::uint8;
  a.src =
      src.is_constant ? Operand{.tile = {}, .immediate = src.constant} : Operand{.tile = operands[2], .immediate = 0};
  a.reverse_pred = reverse;
  t_.emit<TensorCopyPredicated>(Engine::vector, a);
  return out;
}

Value RowValues::cast(NodeId id, Dtype d) {
  const Node& n = plan_.graph[id];
  const NodeId a = n.inputs[0];
  const Dtype from = storage(plan_.graph[a].dtype);
  const Op op = plan_.graph[a].op;
  if (base(a) == a && is_inner(a) && op != Op::cast && op != Op::reduce && op != Op::expand && writes_alike(from, d))
    return compute(a, d);
  const Value v = get(a);
  if (v.is_constant || reads_alike(v.tile.dtype, d)) return v;
  const Value out = result(d, v.mask);
  const auto operands = together({out, v}, v.mask);
  cast_tile(t_, operands[0], operands[1]);
  return out;
}

Value RowValues::roll(NodeId id, Dtype d) {
  const Node& n = plan_.graph[id];
  const Source& axis = *source_of(space_.rolls, id);
  const uint32_t mask = mask_of(entry(id).vary | axes_with_steps(axis));
  const Value out = result(d, mask);
  int dim = 1;  // of the operands below: partitions, then the walks in `mask`
  for (size_t i = 0; !axis.steps[block_->free[i].axis]; ++i) dim += mask >> i & 1;
  const auto walked = [&](Access a) {
    a = slice(a, 0, 0, block_->partitions);
    a.ndim = 1;
    for (const Dim& walk : dims(out, mask)) a.dims[a.ndim++] = walk;
    return a;
  };
  const Access to = walked(out.tile), from = walked(whole(n.inputs[0], mask));
  const int64_t moved = n.shape[n.dim] - n.start;
  const Access front = slice(to, dim, 0, moved), back = slice(from, dim, n.start, moved);
  if (n.value == 1)
    copy_tile(t_, front, back);
  else
    scalar_steps(t_, front, back, {AluOp::multiply, {{}, n.value}, false});
  copy_tile(t_, slice(to, dim, moved, n.start), slice(from, dim, 0, n.start));
  return out;
}

}  // namespace trn::compiler
