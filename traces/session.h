#pragma once
#include <memory>
#include <string>
#include <vector>

#include "traces/timeline.h"

namespace trn {

// One execution of a Program on a logical core, in simulated nanoseconds from the session's start.
struct Launch {
  std::shared_ptr<const Timeline> what;
  int core = 0;             // logical core
  std::string op;           // what asked for it: an aten op, a graph, a kernel
  double submitted_ns = 0;  // host clock at submission
  double start_ns = 0;      // the core begins (after launch overhead)
  double end_ns = 0;
};

enum class HostWork : unsigned char { dispatch, copy_to_device, copy_from_device, synchronise, fallback };

constexpr std::string_view name(HostWork w) {
  constexpr std::string_view names[] = {"dispatch", "copy to device", "copy from device", "synchronise",
                                        "host fallback"};
  return names[static_cast<int>(w)];
}

struct HostSpan {
  HostWork work;
  std::string what;
  double start_ns = 0, end_ns = 0;
  int64_t bytes = 0;
};

// Everything between `profile()` and its end, ready for the exporters.
struct Session {
  const Spec* spec = nullptr;
  int physical_cores = 1;            // of the logical core that the launches ran on: what it could do at most
  double peak_flops_per_ns() const;  // 128 x 128 multiply-adds a cycle and core
  std::vector<Launch> launches;      // by start
  std::vector<HostSpan> host;
  double duration_ns() const;  // first submission to last end
};

}  // namespace trn
