#include "backend/torch/scan.h"

#include <ATen/ops/_local_scalar_dense.h>

#include <bit>

#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

using c10::IValue;
using c10::TensorImpl;

// Words that open an argument; the kinds must not be confusable.
enum Tag : uint64_t { kNone = 1, kTensor, kCpuScalar, kList, kInt, kDouble, kBool, kString, kComplex, kOther };

void mixed_devices(c10::Device a, c10::Device b) {
  TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, ", a, " and ", b,
              "!");
}

HostNumber from_double(double v) {
  const bool fits = v >= -0x1p63 && v < 0x1p63;
  return {v, fits ? static_cast<int64_t>(v) : 0};
}

class Scanner {
 public:
  Scanner(Scan& scan, const char* op) : s_(scan), op_(op) {}

  void argument(const IValue& v, Role role, int index) {
    s_.ranges.push_back({static_cast<int16_t>(s_.tensors.size()), 0});
    if (role == Role::ignored) return device_of(v);
    if (role == Role::keyed || !(v.isScalar() || v.isBool())) {
      value(v);
      s_.ranges.back().count = static_cast<int16_t>(s_.tensors.size() - s_.ranges.back().first);
      return;
    }
    const HostNumber n = host_number(v);
    if (role == Role::run_time_unless_one && n.real == 1) return value(v);
    s_.key.push_back(kOther << 8 | (v.isDouble() ? 1 : v.isInt() ? 2 : 3));
    s_.parameters.push_back({n, index, false});
  }

  // How a written tensor shares memory with the others: 0 not, 1 the same elements, 2 otherwise.
  void overlaps(const std::vector<int>& written) {
    for (int w : written) {
      const TensorRange r = s_.ranges[w];
      for (int f = r.first; f < r.first + r.count; ++f) {
        uint64_t word = 0;
        for (int other = 0; other < static_cast<int>(s_.tensors.size()); ++other)
          if (other != f) word = word * 3 + relation(s_.tensors[f], s_.tensors[other]);
        s_.key.push_back(word);
      }
    }
  }

 private:
  static uint64_t relation(const TensorImpl* a, const TensorImpl* b) {
    if (!a || !b || b->device() != a->device() ||
        a->storage().unsafeGetStorageImpl() != b->storage().unsafeGetStorageImpl())
      return 0;
    const bool same = a->storage_offset() == b->storage_offset() && a->sizes() == b->sizes() &&
                      a->strides() == b->strides() && a->dtype() == b->dtype();
    return same ? 1 : 2;
  }

  void device_of(const IValue& v) {
    if (v.isDevice() && v.toDevice().type() == kNeuron && s_.device < 0) s_.device = v.toDevice().index();
  }

  void value(const IValue& v) {
    if (v.isTensor()) return tensor(v.unsafeToTensorImpl());
    if (v.isInt()) return word(kInt, static_cast<uint64_t>(v.toInt()));
    if (v.isDouble()) return word(kDouble, std::bit_cast<uint64_t>(v.toDouble()));
    if (v.isBool()) return word(kBool, v.toBool());
    if (v.isNone()) return s_.key.push_back(kNone);
    if (v.isList()) return list(v);
    if (v.isString()) return text(v.toStringRef());
    if (v.isDevice()) return device_of(v);
    if (v.isGenerator()) return;
    if (v.isComplexDouble()) {
      const auto z = v.toComplexDouble();
      word(kComplex, std::bit_cast<uint64_t>(z.real()));
      return s_.key.push_back(std::bit_cast<uint64_t>(z.imag()));
    }
    TORCH_CHECK(false, op_, ": an argument of type ", v.tagKind(), " is not supported on neuron");
  }

  void list(const IValue& v) {
    const auto items = v.toListRef();
    s_.key.push_back(kList << 8 | items.size() << 16);
    const bool tensors = v.isTensorList() || v.isOptionalTensorList();
    for (const IValue& item : items) {
      if (tensors && item.isNone()) {
        s_.tensors.push_back(nullptr);
        s_.key.push_back(kNone);
      } else if (item.isTensor()) {
        tensor(item.unsafeToTensorImpl());
      } else {
        value(item);
      }
    }
  }

  void tensor(TensorImpl* t) {
    if (!t || t == c10::UndefinedTensorImpl::singleton()) {
      s_.tensors.push_back(nullptr);
      return s_.key.push_back(kNone);
    }
    const auto flat = static_cast<int>(s_.tensors.size());
    s_.tensors.push_back(t);
    const auto dtype = static_cast<uint64_t>(c10::typeMetaToScalarType(t->dtype()));
    const c10::Device device = t->device();
    if (device.type() != kNeuron) {
      if (!is_cpu_scalar(*t))
        mixed_devices(c10::Device(kNeuron, static_cast<c10::DeviceIndex>(std::max(s_.device, 0))), device);
      const HostNumber n = cpu_scalar(*t);
      s_.key.push_back(kCpuScalar | dtype << 8 | static_cast<uint64_t>(t->is_wrapped_number()) << 16 |
                       static_cast<uint64_t>(is_wide(*t, n)) << 17);
      return s_.parameters.push_back({n, flat, true});
    }
    if (s_.device < 0) s_.device = device.index();
    if (s_.device != device.index())
      mixed_devices(c10::Device(kNeuron, static_cast<c10::DeviceIndex>(s_.device)), device);
    const auto sizes = t->sizes(), strides = t->strides();
    s_.key.push_back(kTensor | dtype << 8 | static_cast<uint64_t>(t->is_wrapped_number()) << 16 | sizes.size() << 24);
    for (size_t i = 0; i < sizes.size(); ++i) {
      s_.key.push_back(static_cast<uint64_t>(sizes[i]));
      s_.key.push_back(static_cast<uint64_t>(strides[i]));
    }
  }

  void word(Tag tag, uint64_t payload) {
    s_.key.push_back(tag);
    s_.key.push_back(payload);
  }

  void text(std::string_view s) {
    word(kString, s.size());
    for (char c : s) s_.key.push_back(static_cast<unsigned char>(c));
  }

  Scan& s_;
  const char* op_;
};

uint64_t hash_of(const c10::SmallVectorImpl<uint64_t>& key) {
  uint64_t h = 0x9E3779B97F4A7C15ull;
  for (uint64_t w : key) {
    h = (h ^ w) * 0xFF51AFD7ED558CCDull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

bool is_wide(const TensorImpl& t, const HostNumber& n) {
  return c10::isIntegralType(c10::typeMetaToScalarType(t.dtype()), false) && n.whole != static_cast<int32_t>(n.whole);
}

bool is_cpu_scalar(const TensorImpl& t) { return t.device().is_cpu() && t.dim() == 0; }

HostNumber cpu_scalar(const TensorImpl& t) {
  const auto& storage = t.storage();
  const auto* p = static_cast<const char*>(storage.data()) + t.storage_offset() * static_cast<int64_t>(t.itemsize());
  switch (c10::typeMetaToScalarType(t.dtype())) {
    case c10::ScalarType::Double: return from_double(*reinterpret_cast<const double*>(p));
    case c10::ScalarType::Float: return from_double(*reinterpret_cast<const float*>(p));
    case c10::ScalarType::Long: {
      const int64_t v = *reinterpret_cast<const int64_t*>(p);
      return {static_cast<double>(v), v};
    }
    default: {
      const at::Tensor copy(c10::intrusive_ptr<TensorImpl>::reclaim_copy(const_cast<TensorImpl*>(&t)));
      return host_number(IValue(at::_local_scalar_dense(copy)));
    }
  }
}

HostNumber host_number(const IValue& v) {
  if (v.isDouble()) return from_double(v.toDouble());
  if (v.isBool()) return {v.toBool() ? 1.0 : 0.0, v.toBool()};
  if (v.isInt()) return {static_cast<double>(v.toInt()), v.toInt()};
  TORCH_CHECK(false, "neuron tensors do not take complex numbers");
}

void scan_arguments(Scan& scan, const IValue* arguments, const std::vector<Role>& roles,
                    const std::vector<int>& written, const char* op) {
  Scanner scanner(scan, op);
  const int count = static_cast<int>(roles.size());
  for (int i = 0; i < count; ++i) scanner.argument(arguments[i], roles[i], i);
  if (!written.empty()) scanner.overlaps(written);
  if (scan.device < 0) scan.device = current_device();
  scan.key.push_back(static_cast<uint64_t>(scan.device));
  scan.hash = hash_of(scan.key);
}

}  // namespace trn::torch_backend
