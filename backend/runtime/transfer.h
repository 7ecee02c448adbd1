#pragma once
#include "backend/runtime/core.h"
#include "backend/runtime/tensor.h"

namespace trn::runtime {

// Blocking: after everything queued on the tensor's core (not if `unsafe`), on the caller's thread. The host clock pays
// for it.
void read(const Tensor& t, void* to, uint64_t offset, uint64_t size, bool unsafe = false);
void write(Tensor& t, const void* from, uint64_t offset, uint64_t size, bool unsafe = false);
void fill(Tensor& t, uint64_t offset, int value, uint64_t size);
void copy(const Tensor& from, uint64_t from_offset, Tensor& to, uint64_t to_offset, uint64_t size);

// The same as requests of a core's queue; host tensors among themselves use core 0.
struct Planned {
  Core& core;
  nrta_xu_t unit;
  Work work;
};
Planned plan_read(const Tensor& t, void* to, uint64_t offset, uint64_t size);
Planned plan_write(Tensor& t, const void* from, uint64_t offset, uint64_t size);
Planned plan_fill(Tensor& t, uint64_t offset, int value, uint64_t size);
Planned plan_copy(const Tensor& from, uint64_t from_offset, Tensor& to, uint64_t to_offset, uint64_t size);

}  // namespace trn::runtime
