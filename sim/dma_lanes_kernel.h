#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>

// What sixteen DMA engines do at once (dma_lanes.h): a value per lane, for vectors of any width.
namespace trn::dma_lanes {

inline constexpr size_t kLanes = 16;
inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct alignas(64) Lanes : std::array<double, kLanes> {
  explicit Lanes(double all = 0) { fill(all); }
};

// The head of one queue on each lane. While it is late it has no packets yet; a lane without head has neither.
struct Heads {
  Lanes late{kNever};     // left until its descriptors are there; then kNever
  Lanes packets{kNever};  // left: of the first one and the turns that it lost before, then of the rest
  Lanes ticks;            // of one of them now
  Lanes rest;             // packets after the first one; -1: it is at them
  Lanes rest_ticks;       // of one packet
  Lanes startup;          // turns that the first one loses
  Lanes reading_from;     // HBM reads that were queued by then began together
  size_t queue = 0;
  uint32_t through = 0;  // bit by lane, after step()
};

struct Clocks {
  Lanes settled;       // progress is accounted for up to here
  Lanes cycle;         // sum of the packet times of the heads at work: each of them gets a packet in so long
  Lanes next{kNever};  // step: some head has its descriptors, or is through with what it is at
  double soonest = kNever;
};

// A transfer that arrives, by lane as in Deal.
struct Arrival {
  const double *packets, *startup, *late;
  double packet_ticks, ticks;  // of a packet alone, and with the traffic there is
  double at;
};

// Makes it the head of the lanes that have none and get packets of it: a bit for each.
uint32_t enter(Heads& h, const Arrival& a);
// Every lane whose next step is at `until` or earlier makes it. Lanes where a head is through with its last packet are
// left to the caller, who has to plan() then. Returns whether there are any.
bool step(Clocks& c, std::span<Heads* const> heads, double until);
// Lanes that get `packets` account for what their heads have done until `now`; without them, all lanes.
void settle(Clocks& c, std::span<Heads* const> heads, double now, const double* packets = nullptr);
// When each lane has something to do next.
void plan(Clocks& c, std::span<Heads* const> heads);

}  // namespace trn::dma_lanes
