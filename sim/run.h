#pragma once
#include <array>
#include <string>
#include <vector>

#include "sim/dma.h"
#include "sim/dma_issue.h"
#include "sim/simulate.h"
#include "sim/tensor_engine.h"

namespace trn {

// Everything that one timed run needs; lives as long as the run. Streams, semaphores and compute instructions are in
// run.cpp, DMA triggers and transfers in run_dma.cpp, what there is at the start in run_setup.cpp.
class Run {
 public:
  Run(const Work& w, const Spec& s, Observer* observer, const SimOptions& options);
  Timing go();

 private:
  enum class Kind : uint8_t { preset, post, dma, ready };  // in order of priority at one tick
  struct Event {
    Kind kind;
    uint32_t id;  // post: record; dma: core; ready: stream
  };

  // A sequencer hands instructions to its engine's pipeline and runs on, up to sequencer_queue_depth of them.
  struct Stream {
    const uint32_t *next = nullptr, *end = nullptr;  // in order_
    bool met = false;                                // the next one's waits: since `posted`, by `poster`
    Tick posted = DmaEngines::kNone;
    uint32_t poster = WaitEvent::kNobody;
    Tick free = 0;                                     // sequencer: next instruction for the pipeline
    Tick control_free = 0;                             // sequencer: next instruction of its own or DMA issue
    Tick software_free = 0;                            // sequencer: next software DMA
    Tick pipe_free = 0, pipe_end = DmaEngines::kNone;  // pipeline: next start, last end
    std::vector<Tick> handed;                          // ring: starts of the last instructions handed over
    size_t oldest = 0;                                 // in it
    Tick busy_to = 0;                                  // end of the union of busy intervals so far
    double cycle_ticks = 0;
    Tick wait_latency = 0, event_latency = 0;  // from a semaphore's post to the start of what waited for it
    Tick gap = 0, compute_gap = 0, doorbell = 0;
    uint16_t blocked_on = kNoSemaphore;    // semaphore that lists this stream as waiting
    uint32_t next_blocked = kNoStream;     // behind it in that list
    Tick wake = DmaEngines::kNever;        // of its pending ready event; later ones are not needed
    int table = -1;                        // scalar engine: activation table loaded
    Tick trigger_end = DmaEngines::kNone;  // end of the last DMA issue
    EngineTotals totals;
  };
  static constexpr uint16_t kNoSemaphore = 0xFFFF;
  static constexpr uint32_t kNoStream = 0xFFFFFFFF;

  struct Semaphore {
    uint32_t value = 0;
    Tick at = 0;  // of the last post
    uint32_t poster = WaitEvent::kNobody;
    uint32_t first_blocked = kNoStream, last_blocked = kNoStream;  // streams, in order of their coming
  };

  // The last transfers of a queue, as many as may be in flight.
  struct Queue {
    struct Entry {
      Tick done = DmaEngines::kNone;  // semaphore; kNever while in flight
      uint32_t record = WaitEvent::kNobody;
    };
    std::vector<Entry> last;        // ring, made for the first one
    uint32_t oldest = 0;            // in it
    std::vector<uint32_t> waiting;  // streams whose trigger found it full
  };

  // A transfer between trigger and semaphore.
  struct Flight {
    uint32_t record = 0;
    uint32_t entry = 0;  // in its queue's ring
    Tick first_packet = 0;
  };

  struct Core {
    TensorEngine tensor;
    DmaEngines dma;
    std::vector<Queue> queues;
    Tick software_built = DmaEngines::kNone;  // end of the last software descriptors
    Tick planned = DmaEngines::kNever;        // time of the DMA event in the event queue, to avoid duplicates
  };

  void set_up_streams();
  void set_up_semaphores();
  void sort_streams();
  void try_start(uint32_t stream, Tick now);
  bool start(uint32_t stream, uint32_t index, Tick at, Tick now);
  void wake(uint32_t stream, Tick at);
  bool waits_met(uint32_t stream, const Record& r, Tick now);
  void block(uint32_t stream, uint16_t semaphore);
  void start_compute(Stream& st, uint32_t index, Tick at, const Cost& cost);
  void start_tensor(Stream& st, uint32_t index, Tick at, const Cost& cost);
  void start_sequencer(Stream& st, uint32_t index, Tick at, const Cost& cost);
  void handed_over(Stream& st, Tick at, Tick start);
  void finish(Stream& st, uint32_t index, Tick start, Tick end);
  void occupy(Stream& st, uint32_t index, Tick start, Tick end);
  Tick turn(const Stream& st, const Record& r) const;
  void expect_preset();
  void preset(const Preset& p, Tick now);
  void post(uint32_t id, Tick now);
  void raise(uint16_t semaphore, uint32_t value, uint32_t poster, Tick now);
  void waited(Stream& st, uint32_t index, Tick begin, Tick end, Reason reason, uint32_t blocker);
  [[noreturn]] void deadlock() const;
  std::string describe(uint32_t index) const;

  bool start_dma(uint32_t stream, uint32_t index, Tick at, Tick now, const Cost& cost);
  bool queue_has_room(uint32_t stream, Queue& q, Tick& room, uint32_t& blocker, Tick now);
  void run_dma(uint8_t core, Tick now);
  void landed(uint32_t flight, Tick posted);
  void plan(uint8_t core);
  void watch_hbm(Tick now);

  // Instructions that a stream may start ahead of the clock: enough to save events, few enough to keep them few.
  static constexpr int kMostAhead = 16;

  const Work& w_;
  const Spec& s_;
  const Clock clock_;
  Observer* observer_;
  const SimOptions options_;
  const DmaIssue issue_;
  const Tick post_latency_, issue_interval_, table_load_, dma_lookahead_;
  bool rising_ = true;  // semaphores only rise, and nothing waits for a low value: what is met stays met
  EventQueue<Event> events_;
  LargeVector<uint32_t> order_;    // records, stream by stream
  std::vector<uint32_t> presets_;  // still to come, the last first
  std::vector<Stream> streams_;
  std::vector<Semaphore> semaphores_;
  std::vector<Core> cores_;
  std::vector<Flight> flights_;
  std::vector<uint32_t> free_flights_;
  Timing timing_;
};

}  // namespace trn
