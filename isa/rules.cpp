#include "isa/rules.h"

#include "memory/overlap.h"

namespace trn::rules {

namespace {

int64_t partition_bytes(Space space, const Spec& s) {
  return static_cast<int64_t>(space == Space::sbuf ? s.sbuf_partition_bytes : s.psum_partition_bytes);
}

// trn2.md section 4: more than 64 partitions start at 0, more than 32 at a multiple of 64, others at a multiple of 32.
int start_step(int partitions) { return partitions > 64 ? 128 : partitions > 32 ? 64 : 32; }

}  // namespace

Verdict tile(std::string_view field, const Access& a, const Spec& s, bool read, bool dma) {
  if (!a.on_chip()) return illegal(field, " must be a tile in SBUF or PSUM");
  if (a.ndim < 1 || a.ndim > Access::kMaxDims)
    return breaks(RuleKind::shape, field, " must have 1 to ", Access::kMaxDims, " dims, not ", int{a.ndim});
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i].count < 1) return breaks(RuleKind::shape, field, " dim ", i, " has ", a.dims[i].count, " elements");
  const int most = static_cast<int>(s.partitions);
  const int partitions = a.dims[0].count;
  if (partitions > most) return breaks(RuleKind::shape, field, " has ", partitions, " partitions, more than ", most);
  const int step = a.dims[0].step;
  if (step != 1 && partitions > 1 && !(read && step == 0))
    return breaks(RuleKind::shape, field, " partition step must be 1", read ? " or 0" : "", ", not ", step);
  const int held = step == 0 ? 1 : partitions;
  if (a.partition + held > most)
    return breaks(RuleKind::bounds, field, " partitions ", int{a.partition}, "+", held, " pass the last one, ",
                  most - 1);
  if (!dma && a.partition % start_step(held) != 0)
    return breaks(RuleKind::partition_start, field, " start partition ", int{a.partition}, " is not a multiple of ",
                  start_step(held), ", as ", held, " partitions need");
  if (!dma && size_of(a.dtype) == 8)
    return breaks(RuleKind::dtype, field, " dtype ", name(a.dtype), " is for storage: only DMA converts it");
  if (!dma && is_packed(a.dtype))
    return breaks(RuleKind::dtype, field, " dtype ", name(a.dtype),
                  " is packed: only copies, nc_matmul_mx and quantize_mx take it");
  if (a.offset % size_of(a.dtype) != 0)
    return breaks(RuleKind::bounds, field, " byte offset ", a.offset, " is not a multiple of ", size_of(a.dtype),
                  ", the size of ", name(a.dtype));
  const ByteRange r = byte_range(a);
  if (r.begin < 0 || r.end > partition_bytes(a.space, s))
    return breaks(r.begin < 0 ? RuleKind::bounds : RuleKind::capacity, field, " bytes ", r.begin, "..", r.end,
                  " leave its partition of ", partition_bytes(a.space, s));
  return read ? Verdict{} : written_once(field, a);
}

Verdict written_once(std::string_view field, const Access& a) {
  if (!overlaps_itself(a)) return {};
  for (int i = a.on_chip() ? 1 : 0; i < a.ndim; ++i)
    if (a.dims[i].step == 0 && a.dims[i].count > 1)
      return breaks(RuleKind::overlap, field, " dim ", i, " has step 0: elements would be written twice");
  return breaks(RuleKind::overlap, field, " pattern ", to_string(a), " meets itself: elements would be written twice");
}

Verdict packed_tile(std::string_view field, Access a, const Spec& s, bool read) {
  if (is_packed(a.dtype)) a.dtype = size_of(a.dtype) == 4 ? Dtype::uint32 : Dtype::uint16;
  return tile(field, a, s, read);
}

Verdict column(std::string_view field, const Access& a, int partitions, const Spec& s) {
  if (auto bad = tile(field, a, s)) return bad;
  if (a.partitions() != partitions)
    return breaks(RuleKind::shape, field, " has ", a.partitions(), " partitions, not ", partitions);
  if (a.free_elements() != 1)
    return breaks(RuleKind::shape, field, " must have 1 element per partition, not ", a.free_elements());
  return {};
}

Verdict scalar_operand(std::string_view field, const Operand& o, int partitions, const Spec& s) {
  if (!o.is_tile()) return {};
  return column(field, o.tile, partitions, s);
}

Verdict same_size(std::string_view field, const Access& a, std::string_view other_field, const Access& b) {
  if (a.partitions() != b.partitions())
    return breaks(RuleKind::shape, field, " has ", a.partitions(), " partitions but ", other_field, " has ",
                  b.partitions());
  if (a.free_elements() != b.free_elements())
    return breaks(RuleKind::shape, field, " has ", a.free_elements(), " elements per partition but ", other_field,
                  " has ", b.free_elements());
  return {};
}

Verdict in_space(std::string_view field, const Access& a, Space space) {
  if (a.space != space) return illegal(field, " must be in ", space_name(space), ", not ", space_name(a.space));
  return {};
}

Verdict engine_reach(Engine e, std::initializer_list<const Access*> operands) {
  if (e != Engine::gpsimd) return {};
  for (const Access* a : operands)
    if (a->space == Space::psum) return breaks(RuleKind::engine, "gpsimd cannot access PSUM");
  return {};
}

Verdict not_both_psum(std::string_view first, const Access& a, std::string_view second, const Access& b) {
  if (a.space == Space::psum && b.space == Space::psum)
    return illegal(first, " and ", second, " are both in PSUM: one must be in SBUF");
  return {};
}

Verdict runs_on(EngineSet engines, Engine e) {
  if (!engines.has(e)) return breaks(RuleKind::engine, "engine ", name(e), " does not run this instruction");
  return {};
}

Verdict one_bank(std::string_view field, const Access& a, const Spec& s) {
  const auto bank = static_cast<int64_t>(s.psum_partition_bytes / s.psum_banks);
  const ByteRange r = byte_range(a);
  if (r.begin / bank != (r.end - 1) / bank)
    return breaks(RuleKind::psum_bank, field, " bytes ", r.begin, "..", r.end, " cross a PSUM bank of ", bank);
  return {};
}

namespace {
Verdict integers_only(std::string_view field, AluOp op, std::initializer_list<Dtype> dtypes) {
  for (Dtype d : dtypes)
    if (is_float(d))
      return breaks(RuleKind::dtype, field, " ", name(op), " is a bitvec operator and takes integers, not ", name(d));
  return {};
}
}  // namespace

Verdict alu(std::string_view field, AluOp op, Engine e, std::initializer_list<Dtype> dtypes) {
  if (info(op).arity != 2) return illegal(field, " ", name(op), " takes 1 operand, not 2");
  // GpSimd has native integers, bit patterns included (nki.isa.tensor_tensor).
  if (!info(op).engines.has(e) && !(info(op).is_bitvec && e == Engine::gpsimd))
    return breaks(RuleKind::engine, field, " ", name(op), " does not run on ", name(e));
  return info(op).is_bitvec ? integers_only(field, op, dtypes) : Verdict{};
}

Verdict alu_with_scalar(std::string_view field, AluOp op, std::string_view operand_field, const Operand& o, Engine e,
                        Dtype dst, Dtype data) {
  if (op == AluOp::bypass) return {};
  if (!info(op).engines.has(e)) return breaks(RuleKind::engine, field, " ", name(op), " does not run on ", name(e));
  if (info(op).is_bitvec)
    if (auto bad = integers_only(field, op, {dst, data})) return bad;
  if (!o.is_tile() || o.tile.dtype == Dtype::float32) return {};
  if (!is_float(o.tile.dtype) && !is_float(data)) return {};
  return breaks(RuleKind::dtype, operand_field, " must be float32", is_float(data) ? "" : " or an integer", ", not ",
                name(o.tile.dtype));
}

Verdict reduction(std::string_view field, AluOp op, std::initializer_list<Dtype> dtypes) {
  if (!info(op).reduces) return illegal(field, " ", name(op), " is no reduction operator");
  return info(op).is_bitvec ? integers_only(field, op, dtypes) : Verdict{};
}

}  // namespace trn::rules
