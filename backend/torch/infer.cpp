#include "backend/torch/infer.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/ConvUtils.h>
#include <Python.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/Exceptions.h>

#include <atomic>
#include <string_view>
#include <vector>

#include "backend/torch/checks.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;
using c10::IValue;
using c10::Stack;

class MetaCopies {
 public:
  void replace(IValue& v) {
    if (v.isTensor()) return replace_tensor(v);
    if (v.isDevice()) {
      v = c10::Device(c10::kMeta);
    } else if (v.isGenerator()) {
      v = IValue();
    } else if (v.isTensorList() || v.isOptionalTensorList()) {
      const bool optional = v.isOptionalTensorList();
      std::vector<IValue> items = v.toListRef().vec();
      for (IValue& item : items) replace(item);
      if (optional) {
        c10::List<std::optional<Tensor>> list;
        for (IValue& item : items) list.push_back(item.toOptional<Tensor>());
        v = std::move(list);
      } else {
        c10::List<Tensor> list;
        for (IValue& item : items) list.push_back(item.toTensor());
        v = std::move(list);
      }
    }
  }

 private:
  void replace_tensor(IValue& v) {
    const Tensor& t = v.toTensor();
    if (!t.defined() || t.device().type() != kNeuron) return;
    for (const auto& [from, to] : known_)
      if (from == t.unsafeGetTensorImpl()) {
        v = to;
        return;
      }
    Tensor meta = at::detail::empty_strided_meta(t.sizes(), t.strides(), t.scalar_type());
    if (t.unsafeGetTensorImpl()->is_wrapped_number()) meta.unsafeGetTensorImpl()->set_wrapped_number(true);
    known_.emplace_back(t.unsafeGetTensorImpl(), meta);
    v = meta;
  }

  c10::SmallVector<std::pair<c10::TensorImpl*, Tensor>, 8> known_;
};

Tensor meta(c10::IntArrayRef sizes, c10::ScalarType dtype) { return at::detail::empty_meta(sizes, dtype); }

bool wants(const IValue& mask, size_t i) { return mask.toListRef()[i].toBool(); }

// ---- ops without a meta kernel ----

void convolution(Stack& s) {
  const Tensor x = s[0].toTensor(), w = s[1].toTensor();
  TORCH_CHECK(x.scalar_type() == w.scalar_type(), "Input type (", x.scalar_type(), ") and weight type (",
              w.scalar_type(), ") should be the same");
  const auto ints = [&](int i) { return s[i].toDimVector(); };
  const auto stride = ints(3), padding = ints(4), dilation = ints(5), output_padding = ints(7);
  const bool transposed = s[6].toBool();
  const int64_t groups = s[8].toInt();
  const auto sizes =
      transposed ? at::native::conv_input_size(x.sizes(), w.sizes(), padding, output_padding, stride, dilation, groups)
                 : at::native::conv_output_size(x.sizes(), w.sizes(), padding, stride, dilation);
  s = {IValue(meta(sizes, x.scalar_type()))};
}

void convolution_backward(Stack& s) {
  const Tensor grad = s[0].toTensor(), x = s[1].toTensor(), w = s[2].toTensor();
  const IValue mask = s[9];
  s = {IValue(wants(mask, 0) ? meta(x.sizes(), x.scalar_type()) : Tensor()),
       IValue(wants(mask, 1) ? meta(w.sizes(), w.scalar_type()) : Tensor()),
       IValue(wants(mask, 2) ? meta({grad.size(1)}, w.scalar_type()) : Tensor())};
}

void attention(Stack& s) {
  const Tensor q = s[0].toTensor(), k = s[1].toTensor(), v = s[2].toTensor();
  auto sizes = q.sizes().vec();
  const std::vector<int64_t> rows(sizes.begin(), sizes.end() - 1);
  sizes.back() = v.size(-1);
  // [batch, sequence, heads, width] in memory, so that the transpose that follows in every model is a view.
  Tensor out = q.dim() == 4 ? meta({sizes[0], sizes[2], sizes[1], sizes[3]}, q.scalar_type()).transpose(1, 2)
                            : meta(sizes, q.scalar_type());
  const bool drops = s[4].toDouble() > 0;
  s = {IValue(out),
       IValue(meta(rows, c10::kFloat)),
       IValue(Tensor()),
       IValue(Tensor()),
       IValue(q.size(-2)),
       IValue(k.size(-2)),
       IValue(drops ? meta({4}, c10::ScalarType::UInt32) : Tensor()),
       IValue(Tensor()),
       IValue(Tensor())};
}

void attention_backward(Stack& s) {
  const Tensor q = s[1].toTensor(), k = s[2].toTensor(), v = s[3].toTensor(), bias = s[4].toTensor();
  const IValue mask = s[5];
  const auto grad = [&](int i, const Tensor& t) {
    return IValue(wants(mask, i) && t.defined() ? meta(t.sizes(), t.scalar_type()) : Tensor());
  };
  s = {grad(0, q), grad(1, k), grad(2, v), grad(3, bias)};
}

// (self, mat2, offs?, bias?, out_dtype?); PyTorch's meta kernel takes bfloat16 only.
void grouped_mm(Stack& s) {
  const Tensor a = s[0].toTensor(), b = s[1].toTensor();
  TORCH_CHECK(s[3].isNone() || !s[3].toTensor().defined(), "_grouped_mm: bias is not supported on neuron");
  TORCH_CHECK(a.size(-1) == b.size(-2), "_grouped_mm: contraction dimension of mat_a and mat_b must match, got ",
              a.size(-1), " and ", b.size(-2));
  const c10::ScalarType d = s[4].isNone() ? a.scalar_type() : s[4].toScalarType();
  std::vector<int64_t> sizes{a.size(-2), b.size(-1)};
  if (a.dim() == 3 && b.dim() == 3) sizes.insert(sizes.begin(), a.size(0));
  if (a.dim() == 2 && b.dim() == 2) sizes.insert(sizes.begin(), s[2].toTensor().size(0));
  s = {IValue(meta(sizes, d))};
}

void batch_norm_training(Stack& s) {
  const Tensor x = s[0].toTensor(), running = s[3].toTensor();
  const auto stats = [&](c10::ScalarType d) { return IValue(meta({x.size(1)}, d)); };
  const bool low = x.scalar_type() == c10::kHalf || x.scalar_type() == c10::kBFloat16;
  const c10::ScalarType d = low ? c10::kFloat : x.scalar_type();
  const IValue kept = running.defined() ? stats(running.scalar_type()) : IValue(Tensor());
  s = {IValue(meta(x.sizes(), x.scalar_type())), stats(d), stats(d), kept, kept};
}

Tensor like(const Tensor& t, int64_t width) { return meta({t.size(0), width}, t.scalar_type()); }

// (input_gates, hidden_gates, state, input_bias?, hidden_bias?); PyTorch's meta kernel of the LSTM's cannot do without
// biases.
template <int gates, int states, int kept>
void recurrent_cell(Stack& s) {
  const Tensor input = s[0].toTensor(), hidden = s[1].toTensor(), state = s[2].toTensor();
  TORCH_CHECK(state.dim() == 2 && input.dim() == 2 && input.sizes() == hidden.sizes() &&
                  input.size(0) == state.size(0) && input.size(1) == gates * state.size(1),
              "gates of ", input.sizes(), " and ", hidden.sizes(), " do not fit a state of ", state.sizes());
  for (const size_t bias : {3, 4})
    TORCH_CHECK(s[bias].isNone() || !s[bias].toTensor().defined() || s[bias].toTensor().numel() == input.size(1),
                "a bias of ", s[bias].toTensor().sizes(), " does not fit gates of ", input.sizes());
  s.clear();
  for (int i = 0; i < states; ++i) s.emplace_back(like(state, state.size(1)));
  s.emplace_back(like(state, kept * state.size(1)));
}

// (grad_hy, workspace, has_bias)
void gru_cell_backward(Stack& s) {
  const Tensor grad = s[0].toTensor();
  const int64_t width = grad.size(1);
  const IValue bias(s[2].toBool() ? meta({3 * width}, grad.scalar_type()) : Tensor());
  s = {IValue(like(grad, 3 * width)), IValue(like(grad, 3 * width)), IValue(like(grad, width)), bias, bias};
}

void like_first(Stack& s) {
  const Tensor x = s[0].toTensor();
  s = {IValue(meta(x.sizes(), x.scalar_type()))};
}

// (grad_output, self, ...)
void like_second(Stack& s) {
  const Tensor x = s[1].toTensor();
  s = {IValue(meta(x.sizes(), x.scalar_type()))};
}

// (self, target, reduction); PyTorch's meta kernel makes a vector of a lone sample's loss.
void multilabel_margin_loss(Stack& s) {
  const Tensor x = s[0].toTensor(), target = s[1].toTensor();
  TORCH_CHECK(x.dim() <= 2 && x.numel() > 0,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", x.sizes());
  TORCH_CHECK(target.sizes() == x.sizes(), "inconsistent target size: ", target.sizes(),
              " for input of size: ", x.sizes());
  const bool by_row = s[2].toInt() == 0 && x.dim() == 2;
  s = {IValue(by_row ? meta({x.size(0)}, x.scalar_type()) : meta({}, x.scalar_type())),
       IValue(meta(target.sizes(), x.scalar_type()))};
}

void nothing(Stack& s) { s.clear(); }

struct Override {
  std::string_view op;
  void (*infer)(Stack&);
};
constexpr Override kOverrides[] = {
    {"aten::convolution_overrideable", convolution},
    {"aten::convolution_backward_overrideable", convolution_backward},
    {"aten::_scaled_dot_product_fused_attention_overrideable", attention},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward", attention_backward},
    {"aten::_grouped_mm", grouped_mm},
    {"aten::_thnn_fused_lstm_cell", recurrent_cell<4, 2, 4>},
    {"aten::_thnn_fused_gru_cell", recurrent_cell<3, 1, 5>},
    {"aten::_thnn_fused_gru_cell_backward", gru_cell_backward},
    {"aten::fractional_max_pool3d_backward", like_second},
    {"aten::multi_margin_loss_backward", like_second},
    {"aten::multilabel_margin_loss_forward", multilabel_margin_loss},
    {"aten::multilabel_margin_loss_backward", like_second},
    {"aten::_ctc_loss_backward", like_second},
    {"aten::_fused_adam_", nothing},
    {"aten::_fused_adamw_", nothing},
    {"aten::_fused_sgd_", nothing},
    {"aten::_fused_adagrad_", nothing},
    {"neuron::batch_norm_training", batch_norm_training},
    {"neuron::batch_norm_inference", like_first},
};

// Products whose operands, from `first` on, must be of one dtype: PyTorch's meta kernels do not look.
struct Factors {
  std::string_view op;
  size_t first;
};
constexpr Factors kFactors[] = {
    {"aten::mm", 0}, {"aten::mv", 0}, {"aten::addmm", 1}, {"aten::_addmm_activation", 1}, {"aten::addbmm", 1}};

// What Python shape functions import at their first call, where there is an interpreter (torch_neuronx/_meta.py).
void load_shape_functions() {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* module = PyImport_ImportModule("torch_neuronx._meta");
  PyObject* done = module ? PyObject_CallMethod(module, "load", nullptr) : nullptr;
  const bool failed = !done;
  Py_XDECREF(done);
  Py_XDECREF(module);
  if (failed) {
    python_error error;
    error.persist();
    PyGILState_Release(gil);
    throw error;
  }
  PyGILState_Release(gil);
}

// Meta kernels word some errors in their own way. The host's kernels, on zeros of the same shapes, say it in PyTorch's
// usual words; not worth much memory. Where the host has no kernel, nothing to say.
void raise_hosts_error(const c10::OperatorHandle& op, const Stack& arguments) {
  if (!op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) return;
  constexpr int64_t kMostElements = 1 << 20;
  for (const IValue& v : arguments) {
    if (v.isTensorList() || v.isOptionalTensorList()) return;
    const bool ours = v.isTensor() && v.toTensor().defined() && v.toTensor().device().type() == kNeuron;
    if (ours && v.toTensor().numel() > kMostElements) return;
  }
  ask_host(op, arguments, host_zeros_like);
}

void check_factors(const c10::OperatorHandle& op, const Stack& s) {
  for (const Factors& f : kFactors) {
    if (f.op != op.operator_name().name) continue;
    const Tensor &a = s[f.first].toTensor(), &b = s[f.first + 1].toTensor(), &sum = s[0].toTensor();
    if (a.dtype() == b.dtype() && sum.dtype() == a.dtype()) return;
    raise_hosts_error(op, s);
    TORCH_CHECK(false, "expected m1 and m2 to have the same dtype, but got: ", a.dtype().name(),
                " != ", b.dtype().name(), ", and self of ", sum.dtype().name());
  }
}

}  // namespace

void infer(const c10::OperatorHandle& op, Stack& stack) {
  const c10::OperatorName& name = op.operator_name();
  check_factors(op, stack);
  const Stack arguments = stack;
  MetaCopies copies;
  for (IValue& v : stack) copies.replace(v);
  for (const Override& o : kOverrides)
    if (o.op == name.name) return o.infer(stack);
  static std::atomic<bool> loaded{false};
  if (!loaded) {
    load_shape_functions();
    loaded = true;
  }
  const at::AutoDispatchBelowADInplaceOrView guard;
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  } catch (const std::exception&) {
    raise_hosts_error(op, arguments);
    throw;
  }
}

}  // namespace trn::torch_backend
