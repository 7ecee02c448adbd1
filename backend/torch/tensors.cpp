// What makes a tensor exist: allocation, views, storage, copies. Nothing here computes.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "backend/torch/allocator.h"
#include "backend/torch/copy.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;
using c10::IntArrayRef;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device target(std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pin) {
  TORCH_CHECK(c10::layout_or_default(layout) == c10::Layout::Strided, "neuron tensors are strided; layout ",
              c10::layout_or_default(layout), " is not supported");
  TORCH_CHECK(!c10::pinned_memory_or_default(pin), "Only dense CPU tensors can be pinned");
  const c10::Device wanted = device.value_or(c10::Device(kNeuron));
  return {kNeuron, checked(wanted.index())};
}

Tensor empty(IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
             std::optional<c10::Device> device, std::optional<bool> pin, std::optional<c10::MemoryFormat> format) {
  const c10::DeviceGuard guard(target(layout, device, pin));
  return at::detail::empty_generic(size, allocator(), kKeys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<c10::ScalarType> dtype,
                     std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pin) {
  const c10::DeviceGuard guard(target(layout, device, pin));
  return at::detail::empty_strided_generic(size, stride, allocator(), kKeys, c10::dtype_or_default(dtype));
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

// Strides stay as they are when the sizes already fit: an in-place op on a strided view relies on it.
const Tensor& resize_(const Tensor& self, IntArrayRef size, std::optional<c10::MemoryFormat> format) {
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) {
    impl->set_sizes_contiguous(size);
    const size_t needed = at::detail::computeStorageNbytesContiguous(size, self.dtype().itemsize(),
                                                                     static_cast<size_t>(self.storage_offset()));
    const c10::Storage& storage = self.storage();
    if (self.numel() > 0 && needed > storage.nbytes())
      at::native::resize_bytes_nocuda(storage, static_cast<int64_t>(needed));
  }
  if (format) impl->empty_tensor_restride(*format);
  return self;
}

Tensor& set_storage_strided(Tensor& self, c10::Storage source, int64_t offset, IntArrayRef size, IntArrayRef stride) {
  TORCH_CHECK(source.device() == self.device(), "Attempted to set the storage of a tensor on device ", self.device(),
              " to a storage on different device ", source.device(), ". The devices must match.");
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  TORCH_CHECK(stride.empty() || stride.size() == size.size(), "unequal size length (", size.size(),
              ") and stride length (", stride.size(), ")");
  if (stride.data()) {
    impl->set_sizes_and_strides(size, stride);
  } else {
    impl->set_sizes_contiguous(size);
  }
  const size_t needed = at::detail::computeStorageNbytes(impl->sizes(), impl->strides(), self.dtype().itemsize(),
                                                         static_cast<size_t>(offset));
  if (self.numel() > 0 && needed > self.storage().nbytes())
    at::native::resize_bytes_nocuda(self.storage(), static_cast<int64_t>(needed));
  return self;
}

Tensor& set_storage(Tensor& self, c10::Storage source) {
  const int64_t count = static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage_strided(self, std::move(source), 0, {count}, {1});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  if (self.unsafeGetTensorImpl() == source.unsafeGetTensorImpl()) return self;
  return set_storage_strided(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

Tensor& set_empty(Tensor& self) {
  const c10::DeviceGuard guard(self.device());
  return set_storage_strided(self, c10::Storage(c10::Storage::use_byte_size_t(), 0, allocator(), true), 0, {0}, {1});
}

Tensor view(const Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  resize_(dst, self.sizes(), std::nullopt);
  return copy_from(self, dst, false);
}

at::Scalar local_scalar(const Tensor& self) {
  Tensor host = at::empty({}, at::TensorOptions().dtype(self.scalar_type()));
  read_bytes(self, host.mutable_data_ptr(), self.element_size());
  return at::_local_scalar_dense(host);
}

bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.device() == other.device(), "Cannot compare two tensors on different devices. Got: ", self.device(),
              " and ", other.device());
  if (self.sizes() != other.sizes()) return false;
  return self.numel() == 0 || at::eq(self, other).all().item<bool>();
}

void record_stream(Tensor& self, c10::Stream stream) { allocator()->recordStream(self.storage().data_ptr(), stream); }

// A parameter may change between CPU and neuron in place, as between CPU and CUDA: Module.to() then keeps each
// Parameter object, and with it tied weights and what an optimizer holds.
bool compatible_shallow_copy(const Tensor& self, const Tensor& from) {
  const auto plain = [](const Tensor& t) {
    return t.layout() == c10::Layout::Strided && (t.is_cpu() || t.device().type() == kNeuron) &&
           !t.key_set().has(c10::DispatchKey::Python);
  };
  return plain(self) && plain(from);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", as_strided);
  m.impl("view", view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("resize_", resize_);
  m.impl("set_", set_empty);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_.source_Storage", set_storage);
  m.impl("set_.source_Storage_storage_offset", set_storage_strided);
  m.impl("is_set_to", at::native::is_set_to);
  m.impl("equal", equal);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar);
  m.impl("record_stream", record_stream);
  m.impl("_has_compatible_shallow_copy_type", compatible_shallow_copy);
}

// PyTorch's fallback for lazy conjugation and negation clones such an argument, and a clone is a copy: copies see to it
// themselves, as its own copy_ does.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

}  // namespace
}  // namespace trn::torch_backend
