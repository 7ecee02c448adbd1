#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backend/runtime/handles.h"
#include "nrt/nrt.h"

namespace trn::runtime {

class Core;

// Memory that tensors share. The last tensor that lets go frees it, after queued work that may use it is done.
struct Storage {
  enum class Kind : unsigned char { device, host, attached, size_only };
  Kind kind;
  std::byte* base;  // null for size_only
  size_t bytes;
  Core* core;  // device only
  std::atomic<uint32_t> references{1};
};
void let_go(Storage* s);

// A window of a storage; no storage: an empty tensor.
struct Tensor {
  Storage* storage = nullptr;
  size_t offset = 0, size = 0;
  std::string name;
  std::atomic<uint64_t> completions{0};  // executions that wrote it

  Core* core() const { return storage ? storage->core : nullptr; }
  std::byte* data() const { return storage && storage->base ? storage->base + offset : nullptr; }
  void reset() {
    storage = nullptr;
    offset = size = 0;
    name.clear();
    completions = 0;
  }
};
using Tensors = HandleTable<Tensor, 1>;
Tensors& tensors();

// Tensors by name. Entries keep their strings' memory when the set is reused.
struct TensorSet {
  struct Entry {
    std::string name;
    void* tensor = nullptr;
  };
  std::vector<Entry> entries;
  size_t count = 0;

  Entry* find(std::string_view name);
  void add(std::string_view name, void* tensor);
  void reset() { count = 0; }
};
using TensorSets = HandleTable<TensorSet, 2>;
TensorSets& tensor_sets();

// The object of a handle; StatusError (NRT_INVALID for null, NRT_INVALID_HANDLE for anything else that is not one).
Tensor& tensor(const void* handle);
TensorSet& tensor_set(const void* handle);

// Bytes [offset, offset + size) of a tensor; StatusError (NRT_INVALID) if it has no memory or is shorter.
std::byte* window(const Tensor& t, uint64_t offset, uint64_t size);

// All return new handles and throw StatusError.
void* allocate_device(Core& core, size_t size, std::string_view name);
void* allocate_host(size_t size, std::string_view name);
void* allocate_size_only(size_t size, std::string_view name);
void* allocate_empty(std::string_view name);
void* allocate_slice(const Tensor& source, size_t offset, size_t size, std::string_view name);
void attach(Tensor& t, void* buffer, size_t size);
void free_tensor(void* handle);

}  // namespace trn::runtime
