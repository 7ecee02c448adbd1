#include "backend/runtime/device_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "backend/runtime/log.h"
#include "backend/runtime/status.h"

namespace trn::runtime {
namespace {

// Neuron docs, device-memory: the runtime reserves 96 MB per physical core for micro-code ("Model Code" of an idle
// core).
constexpr int64_t kMicrocodeBytes = int64_t{96} << 20;

struct Column {
  const char* above;
  const char* below;
  const char* usage;
};
constexpr std::array<Column, kUsages> kColumns = {{
    {"Model", "Code", "model code"},
    {"Model", "Constants", "model constants"},
    {"", "Tensors", "tensors"},
    {"Shared", "Scratchpad", "shared scratchpad"},
    {"", "Scratchpad", "scratchpad"},
    {"", "Runtime", "runtime"},
    {"DMA Rings", "IO", "dma rings io"},
    {"DMA Rings", "Spill", "dma rings spill"},
    {"DMA Rings", "Collectives", "dma rings collectives"},
    {"DMA Rings", "Runtime", "dma rings runtime"},
    {"", "Collectives", "collectives"},
    {"Profiler", "Buffers", "profiler buffers"},
}};

std::string human(int64_t bytes) {
  constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.3f%s", value, units[unit]);
  return text;
}

std::string cell(const std::string& text) {
  char out[32];
  std::snprintf(out, sizeof out, "%-11s|", text.c_str());
  return out;
}

// A copy of the table, because terminals cut long lines; best effort.
void write_file(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = write(file, text.data(), text.size());
  close(file);
}

}  // namespace

DeviceMemory::DeviceMemory(Capacity capacity, int physical_cores, Place place)
    : capacity_(capacity), microcode_(kMicrocodeBytes * physical_cores), place_(place) {
  usage_[static_cast<size_t>(Usage::model_code)] = microcode_;
}

HbmStack& DeviceMemory::stack() {
  std::call_once(made_, [&] {
    stack_ = std::make_unique<HbmStack>(capacity_.usable);
    base_ = stack_->allocate(microcode_);
    if (!base_)
      fail(NRT_RESOURCE,
           "HBM of " + human(capacity_.usable) + " has no room for " + human(microcode_) + " of micro-code");
  });
  return *stack_;
}

int64_t DeviceMemory::used() const {
  int64_t sum = 0;
  for (const auto& bytes : usage_) sum += bytes;
  return sum;
}

std::byte* DeviceMemory::allocate(int64_t bytes, Usage usage, std::string_view name) {
  std::byte* at = stack().allocate(bytes);
  if (!at) out_of_memory(bytes, usage, name);
  usage_[static_cast<size_t>(usage)] += stack().size_of_block(at);
  if (used() > capacity_.own) std::call_once(exceeded_, [&] { log_exceeded(); });
  return at;
}

void DeviceMemory::free(std::byte* at, Usage usage) {
  usage_[static_cast<size_t>(usage)] -= stack().size_of_block(at);
  stack().free(at);
}

// Micro-code is the first block, so addresses count from it; each stack has its own window of the chip's address space:
// 64 GB (assumed), or what a larger memory needs.
uint64_t DeviceMemory::physical_address(const std::byte* at) {
  stack();
  const uint64_t window = std::max(uint64_t{1} << 36, std::bit_ceil(static_cast<uint64_t>(capacity_.usable)));
  return static_cast<uint64_t>(place_.hbm) * window + static_cast<uint64_t>(at - base_);
}

void DeviceMemory::log_exceeded() {
  log(Level::error, Component::tdrv, "dmem_alloc_internal",
      "ND " + std::to_string(place_.device) + ":NC " + std::to_string(place_.core) + " uses more than the " +
          human(capacity_.own) + " of HBM that this machine has (TRNSIM_HBM_GIB): this would not fit");
}

std::string DeviceMemory::table() const {
  std::string above(17, ' '), below(17, ' '), row = "  \\_NC " + std::to_string(place_.core);
  row.resize(17, ' ');
  for (std::string* line : {&above, &below, &row}) *line += '|';
  above += cell("");
  below += cell("TOTAL");
  row += cell(human(used()));
  for (size_t i = 0; i < kUsages; ++i) {
    above += cell(kColumns[i].above);
    below += cell(kColumns[i].below);
    row += cell(human(usage_[i]));
  }
  return above + '\n' + below + '\n' + row + '\n';
}

void DeviceMemory::out_of_memory(int64_t bytes, Usage usage, std::string_view name) {
  const std::string where = "ND " + std::to_string(place_.device) + ":NC " + std::to_string(place_.core);
  const std::string what = "Failed to allocate " + human(bytes) +
                           " (alignment: none, usage: " + kColumns[static_cast<size_t>(usage)].usage + ") on " + where;
  const HbmStack::Statistics s = stack().statistics();
  const std::string tab = table();
  log(Level::error, Component::tdrv, "dmem_alloc_internal", "Failed to alloc DEVICE memory: " + std::to_string(bytes));
  log(Level::error, Component::tdrv, "log_dev_mem", what);
  log(Level::error, Component::tdrv, "log_dev_mem_usage_table", "Displaying Current Memory Utilization:\n" + tab);
  write_file(
      "/tmp/neuron_mem_table_device_" + std::to_string(place_.device) + "_hbm_" + std::to_string(place_.hbm) + ".log",
      what + "\n" + tab);
  fail(NRT_RESOURCE,
       "Allocation Failure (OOM): dmem_alloc_internal: " + what + " for " +
           (name.empty() ? "UNKNOWN" : std::string(name)) + ": " + human(s.used) + " of " + human(s.capacity) +
           " in use, largest free block " + human(s.largest_free) +
           (s.largest_free >= bytes ? "; the host refuses the memory: is there a limit (ulimit -d)?" : ""));
}

}  // namespace trn::runtime
