#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/runtime/clock.h"
#include "backend/runtime/record.h"

namespace trn::runtime {

// What our own tools (traces, backend/python) see of the runtime, next to clock.h and record.h. Everything is callable
// from any thread; nothing here opens the runtime.

bool is_open();

struct MachineDescription {
  std::string instance;
  int lnc = 0, chips = 0, total_cores = 0, visible_cores = 0;
  int64_t hbm_bytes_per_core = 0;
  const Spec* spec = nullptr;
};
// Of the open runtime, else as the environment asks for now. Throws StatusError for a wrong environment.
MachineDescription describe_machine();

// Waits for all cores and moves the host clock to at least theirs.
void synchronise_all();
double core_clock_ns(int core);

// The process that holds a physical core; 0 if none, this process's pid if it is ours.
int owner_of_core(int physical_core);

}  // namespace trn::runtime
