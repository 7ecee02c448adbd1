#include "backend/torch/copy.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/conj_physical.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/neg.h>
#include <c10/core/DeviceGuard.h>

#include <cstring>

#include "backend/torch/allocator.h"
#include "backend/torch/host_allocator.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

constexpr const char* kOp = "aten::_copy_from";
constexpr uint64_t kStagedWrite =
    1 << 20;  // a blocking write up to here copies its source and does not wait for the device
constexpr uint64_t kSmallSpan = 64 << 10;  // a strided read up to here takes the bytes between its elements along

uint64_t bytes(const at::TensorBase& t) { return static_cast<uint64_t>(t.numel()) * t.element_size(); }

bool dense(const at::TensorBase& t) { return t.is_non_overlapping_and_dense(); }

bool same_layout(const at::TensorBase& a, const at::TensorBase& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Elements from the first to the last that a tensor touches. Strides are never negative in PyTorch.
uint64_t span_bytes(const at::TensorBase& t) {
  uint64_t last = 0;
  for (int64_t d = 0; d < t.dim(); ++d)
    last += static_cast<uint64_t>(t.size(d) - 1) * static_cast<uint64_t>(t.stride(d));
  return (last + 1) * t.element_size();
}

at::Tensor host_like(const at::Tensor& t, at::ScalarType dtype, bool pinned = false) {
  const auto options = at::TensorOptions().dtype(dtype).device(at::kCPU).pinned_memory(pinned);
  return dense(t) ? at::empty_strided(t.sizes(), t.strides(), options) : at::empty(t.sizes(), options);
}

at::Tensor device_like(const at::Tensor& t, at::ScalarType dtype) {
  return at::empty(t.sizes(), t.options().dtype(dtype).memory_format(at::MemoryFormat::Contiguous));
}

// `dst` is dense; `src` has its layout.
void write(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  const c10::DeviceIndex device = dst.device().index();
  const uint64_t size = bytes(dst);
  if (non_blocking && is_pinned(src.const_data_ptr())) {
    keep_until(device, enqueue_write(device, locate(dst), src.const_data_ptr(), size, kOp), src.storage());
    return;
  }
  if (size <= kStagedWrite) {
    at::Tensor staged = at::empty({static_cast<int64_t>(size)}, at::kByte);
    std::memcpy(staged.mutable_data_ptr(), src.const_data_ptr(), size);
    keep_until(device, enqueue_write(device, locate(dst), staged.const_data_ptr(), size, kOp), staged.storage());
    return;
  }
  const nrta_seq_t seq = enqueue_write(device, locate(dst), src.const_data_ptr(), size, kOp);
  keep_until(device, seq, src.storage());  // an interrupted wait leaves the request queued
  wait(device, seq);
}

void copy_to_device(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  if (dense(dst)) {
    if (same_layout(src, dst)) return write(src, dst, non_blocking);
    at::Tensor host = host_like(dst, dst.scalar_type());
    host.copy_(src);
    return write(host, dst, non_blocking);
  }
  at::Tensor whole = device_like(dst, dst.scalar_type());
  copy_to_device(src, whole, non_blocking);
  device_copy(whole, dst);
}

void read(const at::Tensor& src, const at::Tensor& dst, uint64_t size, bool non_blocking) {
  const c10::DeviceIndex device = src.device().index();
  const nrta_seq_t seq = enqueue_read(device, dst.mutable_data_ptr(), locate(src), size, kOp);
  keep_until(device, seq, dst.storage());
  if (!non_blocking) wait(device, seq);
}

void copy_to_host(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  if (dense(src)) {
    if (same_layout(src, dst)) return read(src, dst, bytes(src), non_blocking && is_pinned(dst.const_data_ptr()));
    at::Tensor host = host_like(src, src.scalar_type());
    read(src, host, bytes(src), false);
    dst.copy_(host);
    return;
  }
  const uint64_t span = span_bytes(src);
  if (span <= std::max(kSmallSpan, 2 * bytes(src))) {
    at::Tensor raw = at::empty({static_cast<int64_t>(span)}, at::kByte);
    read(src, raw, span, false);
    at::Tensor host = at::empty({0}, at::TensorOptions().dtype(src.scalar_type()));
    host.set_(raw.storage(), 0, src.sizes(), src.strides());
    dst.copy_(host);
    return;
  }
  at::Tensor whole = device_like(src, src.scalar_type());
  device_copy(src, whole);
  copy_to_host(whole, dst, non_blocking);
}

void copy_on_device(const at::Tensor& src, const at::Tensor& dst) {
  if (dense(dst) && same_layout(src, dst)) {
    const Location from = locate(src), to = locate(dst);
    if (from.segment == to.segment && from.offset == to.offset) return;
    enqueue_copy(dst.device().index(), to, from, bytes(dst), kOp);
    return;
  }
  device_copy(src, dst);
}

// Two cores share no queue: through pinned host memory.
void copy_between_devices(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  at::Tensor host = host_like(src, src.scalar_type(), true);
  {
    const c10::DeviceGuard guard(src.device());
    copy_to_host(src, host, false);
  }
  copy_to_device(host, dst, non_blocking);
}

// The bytes behind a tensor that is conjugated or negated lazily.
at::Tensor without_bits(const at::Tensor& t) {
  const at::Tensor plain = t.is_conj() ? t.conj() : t;
  return plain.is_neg() ? at::_neg_view(plain) : plain;
}

// Either side conjugated or negated lazily (Tensor.conj(), .imag of it): what the bits say together is done to the
// source.
void copy_with_bits(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  at::Tensor from = without_bits(src);
  if (src.is_conj() != dst.is_conj()) from = at::conj_physical(from);
  if (src.is_neg() != dst.is_neg()) from = at::neg(from);
  copy_from(from, without_bits(dst), non_blocking);
}

}  // namespace

at::Tensor copy_from(const at::Tensor& src, const at::Tensor& dst, bool non_blocking) {
  TORCH_CHECK(src.defined() && dst.defined(), "_copy_from: undefined tensor");
  if (dst.numel() == 0) return dst;
  if (src.is_conj() || src.is_neg() || dst.is_conj() || dst.is_neg()) {
    copy_with_bits(src, dst, non_blocking);
    return dst;
  }
  const at::Tensor from = src.sizes() == dst.sizes() ? src : src.expand(dst.sizes());

  const bool to_device = dst.device().type() == kNeuron, from_device = from.device().type() == kNeuron;
  TORCH_CHECK((to_device || dst.is_cpu()) && (from_device || from.is_cpu()), "cannot copy from ", from.device(), " to ",
              dst.device());
  const c10::DeviceGuard guard(to_device ? dst.device() : from.device());
  if (!from_device) {
    copy_to_device(from, dst, non_blocking);
  } else if (!to_device) {
    copy_to_host(from, dst, non_blocking);
  } else if (from.device() == dst.device()) {
    copy_on_device(from, dst);
  } else {
    copy_between_devices(from, dst, non_blocking);
  }
  return dst;
}

void read_bytes(const at::TensorBase& tensor, void* dst, size_t size) {
  const c10::DeviceIndex device = tensor.device().index();
  wait(device, enqueue_read(device, dst, locate(tensor), size, "read_bytes"));
}

}  // namespace trn::torch_backend
