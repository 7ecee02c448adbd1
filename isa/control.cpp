#include "isa/control.h"

#include "isa/by_engine.h"
#include "isa/dma_kernel.h"
#include "isa/rules.h"

namespace trn::control {

Cost cost(double ns, Engine e, const Spec& s) {
  Cost c;
  c.busy = c.latency = ns * by_engine::ghz(e, s);
  c.control = true;
  return c;
}

Cost branch(Engine e, const Spec& s) {
  const std::array<double, kEngines> ns{s.branch_tensor_ns, s.branch_vector_ns, s.branch_scalar_ns, s.branch_gpsimd_ns,
                                        s.branch_sync_ns};
  return cost(ns[static_cast<size_t>(e)], e, s);
}

Verdict word(std::string_view field, const Access& a, const Spec& s, bool read) {
  using namespace rules;
  if (auto bad = dma_operand(field, a, s, read)) return bad;
  if (a.elements() != 1) return breaks(RuleKind::shape, field, " must have 1 element, not ", a.elements());
  if (size_of(a.dtype) > 4 || (is_float(a.dtype) && a.dtype != Dtype::float32) || a.dtype == Dtype::boolean)
    return breaks(RuleKind::dtype, field, " must be float32 or an integer of 8 to 32 bits, not ", name(a.dtype));
  return {};
}

}  // namespace trn::control
