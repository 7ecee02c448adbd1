#include "backend/runtime/runtime.h"

#include <unistd.h>

#include <algorithm>

#include "backend/runtime/process.h"

namespace trn::runtime {

bool is_open() {
  try {
    process();
    return true;
  } catch (const StatusError&) {
    return false;
  }
}

MachineDescription describe_machine() {
  const bool open = is_open();
  const Machine m = open ? process().machine : machine_from_environment();
  return {.instance = std::string(m.instance.name),
          .lnc = m.lnc,
          .chips = m.instance.chips,
          .total_cores = m.total,
          .visible_cores = open ? static_cast<int>(process().cores.size()) : m.visible(),
          .hbm_bytes_per_core = m.hbm_bytes(),
          .spec = m.spec};
}

void synchronise_all() {
  for (const auto& core : process().cores) core->synchronise();
}

double core_clock_ns(int index) { return core(index).clock_ns(); }

int owner_of_core(int physical_core) {
  if (is_open()) {
    const auto& cores = process().cores;
    const auto ours = [&](const auto& core) { return core->logical() == physical_core / core->physical_cores(); };
    if (std::any_of(cores.begin(), cores.end(), ours)) return getpid();
  }
  return owner_of(physical_core);
}

}  // namespace trn::runtime
