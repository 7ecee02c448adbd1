#include "sim/numeric_errors.h"

#include "isa/dispatch.h"
#include "memory/nan.h"

namespace trn {
namespace {

// Byte offset in its slot of the first NaN that `a` touches.
std::optional<int64_t> nan_in(const Access& a, std::span<const std::byte> slot) {
  const int64_t size = size_of(a.dtype);
  Access s = simplified(a);
  int64_t run = 1;
  if (s.ndim > 0 && s.dims[s.ndim - 1].step == 1) run = s.dims[--s.ndim].count;
  const int64_t runs = [&] {
    int64_t n = 1;
    for (int i = 0; i < s.ndim; ++i) n *= s.dims[i].step ? s.dims[i].count : 1;
    return n;
  }();
  std::array<int32_t, Access::kMaxDims> at{};
  int64_t offset = s.offset;
  for (int64_t n = 0; n < runs; ++n) {
    const int64_t found = first_nan(a.dtype, slot.data() + offset, run);
    if (found >= 0) return offset + found * size;
    for (int i = s.ndim; i-- > 0;) {
      if (s.dims[i].step == 0) continue;
      offset += s.dims[i].step * size;
      if (++at[static_cast<size_t>(i)] < s.dims[i].count) break;
      offset -= s.dims[i].step * size * s.dims[i].count;
      at[static_cast<size_t>(i)] = 0;
    }
  }
  return {};
}

}  // namespace

NumericErrors::NumericErrors(const Program& p) : p_(p) {
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    if (!row(p.instructions[i]).is_dma) continue;
    const AccessList list = accesses(p, p.instructions[i]);
    for (int k = 0; k < list.count; ++k) {
      const Access& a = *list.access[k];
      if (a.space != Space::hbm || !is_float(a.dtype) || registers_of(a)) continue;  // places that a run decides
      const SlotUse use = p.slots[a.buffer].use;
      if (list.written[k] && (use == SlotUse::output || use == SlotUse::inout)) stores_.push_back({i, &a});
      if (!list.written[k] && (use == SlotUse::input || use == SlotUse::constant)) loads_.push_back({i, &a});
      if (!list.written[k] && use == SlotUse::inout) loads_in_place_.push_back({i, &a});
    }
  }
}

bool NumericErrors::in_place_inputs_have_nan(Slots slots) const {
  for (const Use& u : loads_in_place_)
    if (nan_in(*u.access, slots[u.access->buffer])) return true;
  return false;
}

std::optional<Finding> NumericErrors::find(Slots slots, bool in_place_inputs_had_nan) const {
  if (in_place_inputs_had_nan) return {};
  for (const Use& u : stores_) {
    const Access& a = *u.access;
    const auto at = nan_in(a, slots[a.buffer]);
    if (!at) continue;
    for (const Use& input : loads_)
      if (nan_in(*input.access, slots[input.access->buffer])) return {};
    const Slot& slot = p_.slots[a.buffer];
    return Finding{.kind = RuleKind::numeric,
                   .fault = Fault::undefined,
                   .rule = "the Program produced NaN in " + std::string(name(slot.use)) + " \"" + slot.name +
                           "\", and its inputs hold none",
                   .instruction = u.instruction,
                   .notes = {"first at byte " + std::to_string(*at) + ", " + std::string(name(a.dtype)) + " element " +
                             std::to_string(*at / size_of(a.dtype)) + " of the slot"}};
  }
  return {};
}

}  // namespace trn
