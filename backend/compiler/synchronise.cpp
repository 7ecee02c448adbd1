#include <algorithm>
#include <array>

#include "backend/compiler/dependence.h"
#include "backend/compiler/issue_model.h"

namespace trn::compiler {
namespace {

// Streams that complete in order, each with its own count of completions: the engines of both cores, then their DMA
// queues.
constexpr int kStreams = kEngineStreams + kMostCores * static_cast<int>(kQueues.size());
using VectorClock = std::array<uint32_t, kStreams>;

void join(VectorClock& into, const VectorClock& other) {
  for (int s = 0; s < kStreams; ++s) into[s] = std::max(into[s], other[s]);
}

int completion_stream(const Instruction& i) {
  return row(i).is_dma ? kEngineStreams + queue_stream(i) : engine_stream(i);
}

struct NeededWait {
  uint32_t consumer, producer;
};

// The waits that are left when those that follow from others are dropped, ordered by consumer.
std::vector<NeededWait> needed_waits(const TileProgram& p, const Spec& s) {
  const std::vector<Instruction>& all = p.program.instructions;
  std::vector<NeededWait> needed;
  // What is known to be complete, as counts per stream: when each engine starts its next instruction, when an
  // instruction and when a queue completes.
  std::array<VectorClock, kEngineStreams> at{};
  std::array<VectorClock, kStreams> last_done{};
  std::vector<VectorClock> done(all.size());
  std::array<uint32_t, kStreams> issued{};
  std::vector<uint32_t> place(all.size());  // 1-based, in the completion stream
  std::vector<uint32_t> producers;
  Dependences dependences(p, s);
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Instruction& consumer = all[i];
    producers.clear();
    for (const Dependences::Edge& e : dependences.next())
      if (!is_met_by_engine_order(all[e.producer], consumer, e.hazard)) producers.push_back(e.producer);
    VectorClock& now = at[engine_stream(consumer)];
    // Latest first: what it implies needs no wait of its own.
    std::sort(producers.begin(), producers.end(), std::greater<>());
    for (const uint32_t producer : producers) {
      if (now[completion_stream(all[producer])] >= place[producer]) continue;
      needed.push_back({i, producer});
      join(now, done[producer]);
    }
    const int stream = completion_stream(consumer);
    place[i] = ++issued[stream];
    done[i] = now;
    join(done[i], last_done[stream]);
    done[i][stream] = place[i];
    last_done[stream] = done[i];
  }
  return needed;
}

}  // namespace

Program synchronise(TileProgram p, const Spec& s) {
  const std::vector<NeededWait> needed = needed_waits(p, s);
  Program program = std::move(p.program);
  std::vector<Instruction>& all = program.instructions;

  // Only what someone waits for is counted. A stream whose count reaches the semaphores' maximum goes on with a fresh
  // one.
  constexpr uint32_t kNotCounted = 0;
  std::vector<uint32_t> value(all.size(), kNotCounted);
  for (const NeededWait& w : needed) value[w.producer] = 1;
  const auto most = static_cast<uint32_t>(s.semaphore_max);
  std::array<uint32_t, kStreams> count{};
  std::array<uint16_t, kStreams> semaphore{};
  uint16_t semaphores = 0;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (value[i] == kNotCounted) continue;
    const int stream = completion_stream(all[i]);
    if (count[stream] % most == 0) {
      if (semaphores >= s.semaphores)
        throw Error(Fault::unsupported, "Program needs more semaphores than a core has", program.name);
      semaphore[stream] = semaphores++;
    }
    value[i] = count[stream]++ % most + 1;
    all[i].update = semaphore[stream];
  }

  program.waits.clear();
  program.waits.reserve(needed.size());
  size_t next = 0;
  for (uint32_t i = 0; i < all.size(); ++i) {
    all[i].first_wait = static_cast<uint32_t>(program.waits.size());
    for (; next < needed.size() && needed[next].consumer == i; ++next)
      program.waits.push_back({all[needed[next].producer].update, value[needed[next].producer]});
    all[i].waits = static_cast<uint8_t>(program.waits.size() - all[i].first_wait);
  }
  return program;
}

}  // namespace trn::compiler
