#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/runtime/handles.h"
#include "backend/runtime/record.h"
#include "backend/runtime/status.h"
#include "backend/runtime/tensor.h"
#include "nrt/nrt_sim.h"
#include "sim/numeric_errors.h"

namespace trn::runtime {

class Core;
class Executable;

// One queued execution: memory by slot number, resolved. Reused, so that launching allocates nothing.
struct Launch {
  Executable* executable = nullptr;
  std::vector<std::span<std::byte>> slots;  // by slot number; the core fills scratch in when it runs
  std::vector<void*> written;               // tensor handles whose completion counters rise
};

// A Program on a core: its constants in HBM, what must be bound, its simulated duration once known.
class Executable {
 public:
  // Checks the Program against the core's Spec and copies its constants. Throws trn::Error and StatusError.
  Executable(Program program, Core& core);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  struct Bound {
    uint32_t slot;
    SlotUse use;
    int64_t bytes;
  };
  struct Scratch {
    uint32_t slot;
    int64_t offset, bytes;  // in the core's scratchpad
  };

  const Program& program() const { return loaded_->program; }
  const std::shared_ptr<const LoadedProgram>& loaded() const { return loaded_; }
  Core& core() const { return core_; }
  std::span<const Bound> bound() const { return bound_; }  // inputs, outputs, inouts in slot order
  std::span<const Scratch> scratch() const { return scratch_; }

  // Of one launch; simulates at the first call.
  std::shared_ptr<const Timing> timing() { return timing({}); }
  bool timing_known() const { return timing_known_.load(std::memory_order_acquire); }

  // Its registers read memory (register_load), so its time may depend on data: then it is that of a run that read
  // `loads`, and simulated again whenever they differ from the last ones. Without loads, trn::Error(unmodelled) where
  // it does depend on them.
  bool loads_registers() const { return loads_registers_; }
  std::shared_ptr<const Timing> timing(const std::shared_ptr<const Loads>& loads);
  // What strict mode found wrong with the Program, and the status that an execution ends with; looked for at the first
  // call. Null if nothing; where data decides, of what needs none.
  const Failure* hazard();
  // The same of a run that read `loads`.
  std::optional<Failure> hazard(const Loads& loads);
  const NumericErrors& numeric_errors();

  Launch* borrow();
  void give_back(Launch* l);

 private:
  void place_constants();
  std::optional<Failure> find_hazard(const Loads* loads) const;

  std::shared_ptr<const LoadedProgram> loaded_;
  Core& core_;
  std::vector<Bound> bound_;
  std::vector<Scratch> scratch_;
  std::vector<std::span<std::byte>> prepared_;  // constants filled in
  std::byte* constants_ = nullptr;

  std::mutex timing_mutex_;
  std::atomic<bool> timing_known_{false};
  std::shared_ptr<const Timing> timing_;
  bool loads_registers_ = false;
  std::shared_ptr<const Loads> timed_loads_;

  std::once_flag hazard_once_, numeric_once_;
  std::optional<Failure> hazard_;
  std::mutex judged_mutex_;
  std::optional<Loads> judged_loads_;
  std::optional<Failure> judged_;  // the run that read them
  std::optional<NumericErrors> numeric_errors_;

  SpinLock launches_lock_;
  std::vector<std::unique_ptr<Launch>> launches_;  // idle ones
};

struct ModelHandle {
  std::shared_ptr<Executable> executable;
  void reset() { executable = nullptr; }
};
using Models = HandleTable<ModelHandle, 3>;
Models& models();

// StatusError (NRT_INVALID for null, NRT_INVALID_HANDLE for anything else that is not one).
Executable& model(const void* handle);

// Loads on a core; returns the handle.
void* load(Program program, Core& core);
// Waits for its queued launches.
void unload(void* handle);

// A launch with the sets' tensors, matched by name; StatusError (NRT_INVALID) for a missing or unknown name, a foreign
// core, a small tensor.
Launch* bind(Executable& e, TensorSet& inputs, TensorSet& outputs, bool needs_memory);

// The same by position.
Launch* bind(Executable& e, std::span<const nrt_sim_binding_t> bindings, bool needs_memory);

}  // namespace trn::runtime
