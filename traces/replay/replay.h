#pragma once
#include <map>

#include "traces/replay/profile_work.h"

namespace trn::replay {

struct Options {
  bool unknown_phase = false;  // ignore what the profile says of the throttle: an interval over its phases
};

// One row of the body, timed again. Nanoseconds of the profile's clock: the simulation's start is where its first row
// starts as measured.
struct Row {
  uint32_t row;  // in Profile::instructions
  double start = 0, end = 0;
  double done = -1;           // DMA instructions: the semaphore shows the transfer
  double measured_done = -1;  // the same in the profile; -1 where it does not say
  bool dma = false, compute = false, unmodelled = false;
};

// Medians, 90th percentiles and largest of relative errors (shares, not percent).
struct Spread {
  size_t count = 0;
  double median = 0, p90 = 0, most = 0;
};

struct Activity {
  std::string name;                    // Tensor, Vector, Scalar, GpSimd, Sync, DMA
  double measured = 0, predicted = 0;  // share of the makespan
};

struct OpcodeLine {
  std::string engine, opcode;
  size_t count = 0;
  double measured_ns = 0, predicted_ns = 0;  // durations, summed
  Spread error;                              // of durations
  bool unmodelled = false;
};

struct Result {
  std::vector<Row> rows;  // in the profile's own order
  double origin = 0;
  double measured_makespan = 0, predicted_makespan = 0;  // of the body, ns
  double least_makespan = 0, most_makespan = 0;          // over throttle phases; both the prediction where it is known
  bool phase_known = false;
  Spread duration, drift, transfers;
  std::vector<Activity> activity;
  std::vector<OpcodeLine> opcodes;
  std::vector<std::string> notes;
};

// Times `p` on `s` and compares. Every start and end is the simulator's; the profile gives instructions, operands,
// waits, updates and transfers, the origin, and the throttle's phase and first state where it has throttle events.
Result replay(const Profile& p, const Spec& s, const Options& options = {});

// A list of {pc, subgraph, engine, opcode, start_ns, end_ns, done_ns for DMA}, in the profile's own order.
std::string predictions_json(const Profile& p, const Result& r);
// Everything: summary, activity, opcodes, rows with both times.
std::string report_json(const Profile& p, const Result& r);

}  // namespace trn::replay
