#include "backend/runtime/tensor.h"

#include <algorithm>
#include <limits>
#include <new>

#include "backend/runtime/process.h"
#include "backend/runtime/status.h"

namespace trn::runtime {
namespace {

struct Made {
  Tensor& tensor;
  void* handle;
};
Made make(std::string_view name) {
  const auto made = tensors().make();
  if (!made.object) fail(NRT_RESOURCE, "too many tensors");
  made.object->name = name;
  return {*made.object, made.handle};
}

void* with_storage(Storage* s, std::string_view name) {
  const Made m = make(name);
  m.tensor.storage = s;
  m.tensor.size = s->bytes;
  return m.handle;
}

std::string called(const Tensor& t) { return t.name.empty() ? "tensor" : "tensor " + t.name; }

}  // namespace

Tensors& tensors() {
  static Tensors& table = *new Tensors;
  return table;
}
TensorSets& tensor_sets() {
  static TensorSets& table = *new TensorSets;
  return table;
}

void let_go(Storage* s) {
  if (!s || s->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  switch (s->kind) {
    case Storage::Kind::device:
      s->core->queue().drain();
      s->core->memory().free(s->base, Usage::tensors);
      break;
    case Storage::Kind::host:
      for (const auto& core : process().cores) core->queue().drain();
      operator delete[](s->base, std::align_val_t{64});
      break;
    case Storage::Kind::attached:
    case Storage::Kind::size_only: break;
  }
  delete s;
}

TensorSet::Entry* TensorSet::find(std::string_view name) {
  for (size_t i = 0; i < count; ++i)
    if (entries[i].name == name) return &entries[i];
  return nullptr;
}

void TensorSet::add(std::string_view name, void* tensor) {
  if (Entry* known = find(name)) {
    known->tensor = tensor;
    return;
  }
  if (count == entries.size()) entries.emplace_back();
  entries[count].name = name;
  entries[count].tensor = tensor;
  ++count;
}

Tensor& tensor(const void* handle) {
  if (!handle) fail(NRT_INVALID, "the tensor is null");
  Tensor* t = tensors().find(handle);
  if (!t) fail(NRT_INVALID_HANDLE, "this is no tensor, or it is freed");
  return *t;
}

TensorSet& tensor_set(const void* handle) {
  if (!handle) fail(NRT_INVALID, "the tensor set is null");
  TensorSet* s = tensor_sets().find(handle);
  if (!s) fail(NRT_INVALID_HANDLE, "this is no tensor set, or it is destroyed");
  return *s;
}

std::byte* window(const Tensor& t, uint64_t offset, uint64_t size) {
  if (offset > t.size || size > t.size - offset)
    fail(NRT_INVALID, "bytes " + std::to_string(offset) + " + " + std::to_string(size) + " are outside the " +
                          called(t) + " of " + std::to_string(t.size) + " bytes");
  std::byte* data = t.data();
  if (!data) fail(NRT_INVALID, "the " + called(t) + " has no memory");
  return data + offset;
}

void* allocate_device(Core& core, size_t size, std::string_view name) {
  if (size == 0) fail(NRT_INVALID, "a tensor has at least one byte");
  const auto bytes = static_cast<int64_t>(std::min<size_t>(size, std::numeric_limits<int64_t>::max()));
  std::byte* base = core.memory().allocate(bytes, Usage::tensors, name);
  return with_storage(new Storage{Storage::Kind::device, base, size, &core}, name);
}

void* allocate_host(size_t size, std::string_view name) {
  if (size == 0) fail(NRT_INVALID, "a tensor has at least one byte");
  auto* base = static_cast<std::byte*>(operator new[](size, std::align_val_t{64}, std::nothrow));
  if (!base) fail(NRT_FAIL_HOST_MEM_ALLOC, "this machine has no " + std::to_string(size) + " bytes for a host tensor");
  return with_storage(new Storage{Storage::Kind::host, base, size, nullptr}, name);
}

void* allocate_size_only(size_t size, std::string_view name) {
  return with_storage(new Storage{Storage::Kind::size_only, nullptr, size, nullptr}, name);
}

void* allocate_empty(std::string_view name) { return make(name).handle; }

void* allocate_slice(const Tensor& source, size_t offset, size_t size, std::string_view name) {
  if (offset > source.size || size > source.size - offset)
    fail(NRT_INVALID, "a slice of bytes " + std::to_string(offset) + " + " + std::to_string(size) +
                          " does not fit the " + called(source) + " of " + std::to_string(source.size) + " bytes");
  if (!source.storage) fail(NRT_INVALID, "the " + called(source) + " has no memory");
  const Made m = make(name);
  source.storage->references.fetch_add(1, std::memory_order_relaxed);
  m.tensor.storage = source.storage;
  m.tensor.offset = source.offset + offset;
  m.tensor.size = size;
  return m.handle;
}

void attach(Tensor& t, void* buffer, size_t size) {
  if (!buffer || size == 0) fail(NRT_INVALID, "the buffer is null or empty");
  Storage* before = t.storage;
  t.storage = new Storage{Storage::Kind::attached, static_cast<std::byte*>(buffer), size, nullptr};
  t.offset = 0;
  t.size = size;
  let_go(before);
}

void free_tensor(void* handle) {
  Storage* storage = nullptr;
  if (!tensors().release(handle, [&](Tensor& t) { storage = t.storage; }))
    fail(NRT_INVALID_HANDLE, "this is no tensor, or it is freed already");
  let_go(storage);
}

}  // namespace trn::runtime
