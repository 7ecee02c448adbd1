#pragma once
#include <array>
#include <cstdint>

#include "isa/program.h"
#include "sim/ticks.h"

namespace trn {

// Why an engine or a transfer did not start earlier.
enum class Reason : uint8_t {
  none,
  semaphore,       // waits for another engine's or a DMA's completion
  engine_busy,     // the engine's previous instruction
  dma_queue_full,  // trigger stalls until earlier transfers of its queue drain
  dma_engine,      // transfer waits for DMA engines that serve other queues
  hbm_bandwidth,   // stack shared with other traffic
  throttle,        // tensor engine at half rate
  table_load,      // activation table
  weights,         // LDWEIGHTS not hidden
  shared_port,     // vector and gpsimd share an SBUF port
  descriptors,     // SWDGE descriptor generation
};

constexpr std::string_view name(Reason r) {
  constexpr std::string_view names[] = {
      "none",     "semaphore",  "engine busy", "DMA queue full", "DMA engines busy",     "HBM bandwidth",
      "throttle", "table load", "weight load", "shared port",    "descriptor generation"};
  return names[static_cast<int>(r)];
}

inline constexpr int kReasons = 11;

// What an observer is told, in order of `start` per engine and per queue; times are ticks from the Program's start.
struct InstructionEvent {
  uint32_t instruction;  // index in Program::instructions
  Tick start, end;       // end: completion, when its semaphore update becomes visible to the poster
};
struct WaitEvent {
  uint32_t instruction;  // who waited
  Tick begin, end;
  Reason reason;
  uint32_t blocker;  // instruction it waited for; kNobody if none
  static constexpr uint32_t kNobody = 0xFFFFFFFF;
};
struct TransferEvent {
  uint32_t instruction;  // the DMA instruction
  uint8_t core, queue;
  Tick begin, end;  // first packet .. semaphore
  int64_t bytes;
};
struct ThrottleEvent {
  uint8_t core;
  Tick at;
  int eighths;  // rate of the tensor engine from here on: 4 or 8
};

struct EngineTotals {
  int64_t instructions = 0;
  Tick busy = 0;                       // union of start..end
  std::array<Tick, kReasons> waits{};  // by Reason
};

// What every timed run yields, with or without an observer; times in ticks.
struct Timing {
  Tick makespan = 0;
  std::array<EngineTotals, kEngines> engines{};  // summed over the physical cores
  Tick dma_active = 0;                           // union over queues, mean of the cores
  int64_t dma_transfers = 0, dma_bytes = 0;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  double flops = 0;        // tensor engine only
  Tick tensor_stream = 0;  // ticks that the PE array streams rows
};

// The only door between sim and whoever watches. Default: not interested.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void instruction(const InstructionEvent&) {}
  virtual void wait(const WaitEvent&) {}
  virtual void transfer(const TransferEvent&) {}
  virtual void throttle(const ThrottleEvent&) {}
};

}  // namespace trn
