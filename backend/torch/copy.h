#pragma once
#include <ATen/core/Tensor.h>

namespace trn::torch_backend {

// aten::_copy_from: any two of {CPU, neuron:i}, any strides and dtypes, broadcast `src` to `dst`.
at::Tensor copy_from(const at::Tensor& src, const at::Tensor& dst, bool non_blocking);

// The same on one device: casting, strided, broadcasting; a lowering (dispatch.cpp). `dst` has at least one element.
// Copies of plain bytes never reach it.
void device_copy(const at::Tensor& src, const at::Tensor& dst);

// A contiguous tensor's bytes to and from host memory through its core's queue; returns when they are there.
void read_bytes(const at::TensorBase& tensor, void* dst, size_t size);

}  // namespace trn::torch_backend
