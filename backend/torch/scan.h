#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace trn::torch_backend {

// How one schema argument enters the key of a Program.
enum class Role : uint8_t {
  keyed,     // tensors by geometry and dtype, everything else by value
  run_time,  // a number whose value is a parameter; its kind (int, float, bool) is keyed
  run_time_unless_one,
  ignored,  // generator, layout, device, memory format: not the lowering's business
};

// A number as the host holds it.
struct HostNumber {
  double real = 0;
  int64_t whole = 0;
};

// A scalar that the Program reads at run time. `owner`: schema argument, or flat tensor for a CPU scalar tensor.
struct Parameter {
  HostNumber value;
  int owner = 0;
  bool is_tensor = false;
};

struct TensorRange {
  int16_t first = 0, count = 0;
};

// One look at the arguments of a call: the key, and what a launch needs. Tensors are numbered in the order in which
// they stand in the arguments, lists flattened ("flat" numbers).
struct Scan {
  c10::SmallVector<uint64_t, 128> key;
  c10::SmallVector<c10::TensorImpl*, 16> tensors;  // null if undefined or None inside a list
  c10::SmallVector<TensorRange, 24> ranges;        // by argument: its tensors' flat numbers
  c10::SmallVector<Parameter, 8> parameters;
  int device = -1;
  uint64_t hash = 0;
};

// Fills `scan`, which must be new. Throws PyTorch's error if tensors of several devices are mixed, except for 0-dim CPU
// tensors, whose values become parameters. `written`: schema arguments that the call writes; how they overlap the
// others is part of the key.
void scan_arguments(Scan& scan, const c10::IValue* arguments, const std::vector<Role>& roles,
                    const std::vector<int>& written, const char* op);

bool is_cpu_scalar(const c10::TensorImpl& t);
HostNumber cpu_scalar(const c10::TensorImpl& t);
bool is_wide(const c10::TensorImpl& t, const HostNumber& n);  // an integer that takes more than the device's 32 bits
HostNumber host_number(const c10::IValue& v);

}  // namespace trn::torch_backend
