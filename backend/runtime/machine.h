#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isa/spec.h"

namespace trn::runtime {

enum class Mode : unsigned char { function, time, both };

// An EC2 instance type that can be simulated.
struct Instance {
  std::string_view name;
  uint32_t family, size;  // NRT_INSTANCE_*, NRT_INSTANCE_SIZE_*
  int chips;
  std::string_view target;  // built-in Spec of its chips
};

// The machine that the environment asks for.
//   TRNSIM_INSTANCE          trn2.3xlarge (default), trn2.48xlarge, trn2u.48xlarge, trn1.2xlarge, inf2.xlarge
//   NEURON_PLATFORM_TARGET_OVERRIDE  trn1, inf2, trn2 or trn3 (gen2, gen3, gen4) instead of the instance's chips
//   NEURON_LOGICAL_NC_CONFIG physical cores per logical core, 1 or 2 (default; trn1: 1; alias
//                            NEURON_RT_VIRTUAL_CORE_SIZE)
//   NEURON_RT_VISIBLE_CORES  logical cores of this process: "3", "0-3", "0,2-3"
//   NEURON_RT_NUM_CORES      or any so many free ones; 0 = all
//   NEURON_RT_EXEC_TIMEOUT   seconds of simulated time that one launch may take (30)
//   NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS  > 0: nrt_execute only queues
//   TRNSIM_MODE              function, time, both (default)
//   TRNSIM_STRICT            1: find what hardware does not tell (sim/hazards.h), and NaN results; 0 (default)
//   TRNSIM_HBM_GIB           memory of a logical core in GiB, to study what does not fit; the machine's own (default)
//   TRNSIM_SPEC              a built-in Spec by name, or one in JSON (isa/spec_json.h), instead of both
struct Machine {
  Instance instance;
  const Spec* spec;
  int lnc = 2;
  int total = 0;            // logical cores of the instance
  std::vector<int> wanted;  // NEURON_RT_VISIBLE_CORES, or all
  int any = 0;              // > 0: so many of `wanted`, whichever are free
  double exec_timeout_s = 30;
  int max_inflight = 0;
  bool strict = false;
  int hbm_gib = 0;  // > 0: instead of the machine's own

  int visible() const { return any ? any : static_cast<int>(wanted.size()); }
  // Of one logical core: the machine's own, and what allocations may use.
  int64_t hbm_bytes() const;
  int64_t usable_hbm_bytes() const { return hbm_gib ? int64_t{hbm_gib} << 30 : hbm_bytes(); }
};

// Throws StatusError (NRT_INVALID) or trn::Error for a value that makes no sense, naming the variable.
Machine machine_from_environment();
Mode mode_from_environment();

}  // namespace trn::runtime
