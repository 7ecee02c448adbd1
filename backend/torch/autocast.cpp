// torch.autocast("neuron"): PyTorch's own lists of what runs in lower precision, in float32, or in the widest type of
// its arguments.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace trn::torch_backend {
namespace {

using namespace at;  // the lists below spell types as ATen does

at::Tensor binary_cross_entropy_refused(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                                        int64_t) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Combine the "
              "sigmoid with the loss: "
              "torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss.");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

#define TRN_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define TRN_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define TRN_FP32_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define TRN_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(TRN_LOWER)
  AT_FORALL_FP32(TRN_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(TRN_FP32_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(TRN_PROMOTE)
  m.impl("binary_cross_entropy", &binary_cross_entropy_refused);
}

}  // namespace
}  // namespace trn::torch_backend
