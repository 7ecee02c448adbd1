#include "sim/dma_lanes_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/dma_lanes_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::dma_lanes::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

// Where `more`, the first packet is over: on to the rest.
HWY_INLINE void go_to_rest(Heads& h, size_t l, M more, V now, V& packets, V& rest) {
  const D d;
  const M read = hn::And(more, hn::Gt(hn::Load(d, &h.startup[l]), hn::Zero(d)));
  hn::Store(hn::IfThenElse(read, now, hn::Load(d, &h.reading_from[l])), d, &h.reading_from[l]);
  packets = hn::IfThenElse(more, rest, packets);
  rest = hn::IfThenElse(more, hn::Set(d, -1), rest);
}

// What heads do in `elapsed` ticks, which are `cycles` turns of all working heads. Returns where they are through with
// all packets, on lanes that are `due`. A tick's rounding leaves no sliver of lateness, or of a packet.
HWY_INLINE M go_on(Heads& h, size_t l, V now, V elapsed, V cycles, M due) {
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1);
  const V late = hn::Sub(hn::Load(d, &h.late[l]), elapsed);
  V packets = hn::Max(hn::Sub(hn::Load(d, &h.packets[l]), cycles), zero);
  const V ticks = hn::Load(d, &h.ticks[l]);
  V rest = hn::Load(d, &h.rest[l]);
  go_to_rest(h, l, hn::And(hn::Le(packets, zero), hn::Ge(rest, zero)), now, packets, rest);
  const M through = hn::And(hn::Lt(hn::Mul(packets, ticks), one), due);
  go_to_rest(h, l, hn::And(through, hn::Ge(rest, zero)), now, packets, rest);

  const M ready = hn::And(hn::Lt(late, one), hn::Gt(elapsed, zero));
  hn::Store(hn::IfThenElse(ready, hn::Set(d, kNever), late), d, &h.late[l]);
  const V first = hn::Add(one, hn::Load(d, &h.startup[l]));
  hn::Store(hn::IfThenElse(ready, first, packets), d, &h.packets[l]);
  hn::Store(hn::IfThenElse(ready, hn::Load(d, &h.rest_ticks[l]), ticks), d, &h.ticks[l]);
  hn::Store(rest, d, &h.rest[l]);
  return hn::And(through, hn::Lt(hn::Mul(packets, ticks), one));
}

HWY_INLINE V cycles_of(const Clocks& c, size_t l, V elapsed) {
  const D d;
  const V cycle = hn::Load(d, &c.cycle[l]);
  return hn::IfThenElseZero(hn::Gt(cycle, hn::Zero(d)), hn::Div(elapsed, cycle));
}

HWY_INLINE uint32_t bits(M m) {
  uint8_t bytes[8] = {};  // as StoreMaskBits may write
  hn::StoreMaskBits(D(), m, bytes);
  return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
}

}  // namespace

uint32_t Enter(Heads& h, const Arrival& a) {
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1), never = hn::Set(d, kNever);
  uint32_t entered = 0;
  for (size_t l = 0; l < kLanes; l += hn::Lanes(d)) {
    const V late = hn::Load(d, &h.late[l]), packets = hn::Load(d, &h.packets[l]);
    const V its_packets = hn::LoadU(d, a.packets + l), its_late = hn::LoadU(d, a.late + l);
    const V ticks = hn::Set(d, a.ticks), startup = hn::Div(hn::LoadU(d, a.startup + l), ticks);
    const M idle = hn::And(hn::Eq(late, never), hn::Eq(packets, never));
    const M m = hn::And(idle, hn::Gt(its_packets, zero)), waits = hn::Gt(its_late, zero);
    const V reads = hn::Add(hn::Add(hn::Set(d, a.at), its_late), hn::Set(d, a.packet_ticks));
    const auto put = [&](V value, Lanes& to) { hn::Store(hn::IfThenElse(m, value, hn::Load(d, &to[l])), d, &to[l]); };
    put(hn::IfThenElse(waits, its_late, never), h.late);
    put(hn::IfThenElse(waits, never, hn::Add(one, startup)), h.packets);
    put(hn::IfThenElse(waits, zero, ticks), h.ticks);
    put(hn::Sub(its_packets, one), h.rest);
    put(ticks, h.rest_ticks);
    put(startup, h.startup);
    put(reads, h.reading_from);
    entered |= bits(m) << l;
  }
  return entered;
}

void Settle(Clocks& c, std::span<Heads* const> heads, double now, const double* packets) {
  const D d;
  for (size_t l = 0; l < kLanes; l += hn::Lanes(d)) {
    const V settled = hn::Load(d, &c.settled[l]);
    const V to = packets ? hn::IfThenElse(hn::Gt(hn::LoadU(d, packets + l), hn::Zero(d)), hn::Set(d, now), settled)
                         : hn::Set(d, now);
    const V elapsed = hn::Sub(to, settled), cycles = cycles_of(c, l, elapsed);
    hn::Store(to, d, &c.settled[l]);
    for (Heads* h : heads) go_on(*h, l, to, elapsed, cycles, hn::MaskFromVec(hn::Zero(d)));
  }
}

void Plan(Clocks& c, std::span<Heads* const> heads) {
  const D d;
  V first = hn::Set(d, kNever);
  for (size_t l = 0; l < kLanes; l += hn::Lanes(d)) {
    V cycle = hn::Zero(d), packets = hn::Set(d, kNever), soonest = packets;
    for (const Heads* h : heads) {
      cycle = hn::Add(cycle, hn::Load(d, &h->ticks[l]));
      packets = hn::Min(packets, hn::Load(d, &h->packets[l]));
      soonest = hn::Min(soonest, hn::Load(d, &h->late[l]));
    }
    const V turns = hn::IfThenElse(hn::Gt(cycle, hn::Zero(d)), hn::Mul(packets, cycle), soonest);
    const V next = hn::Ceil(hn::Add(hn::Load(d, &c.settled[l]), hn::Min(soonest, turns)));
    hn::Store(cycle, d, &c.cycle[l]);
    hn::Store(next, d, &c.next[l]);
    first = hn::Min(first, next);
  }
  c.soonest = hn::GetLane(hn::MinOfLanes(d, first));
}

bool Step(Clocks& c, std::span<Heads* const> heads, double until) {
  const D d;
  for (Heads* h : heads) h->through = 0;
  uint32_t any = 0;
  for (size_t l = 0; l < kLanes; l += hn::Lanes(d)) {
    const V next = hn::Load(d, &c.next[l]), settled = hn::Load(d, &c.settled[l]);
    const M due = hn::Le(next, hn::Set(d, until));
    const V elapsed = hn::IfThenElseZero(due, hn::Sub(next, settled)), cycles = cycles_of(c, l, elapsed);
    hn::Store(hn::IfThenElse(due, next, settled), d, &c.settled[l]);
    for (Heads* h : heads) {
      const uint32_t done = bits(go_on(*h, l, next, elapsed, cycles, due)) << l;
      h->through |= done;
      any |= done;
    }
  }
  if (any == 0) Plan(c, heads);
  return any != 0;
}

}  // namespace trn::dma_lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::dma_lanes {

HWY_EXPORT(Enter);
HWY_EXPORT(Settle);
HWY_EXPORT(Plan);
HWY_EXPORT(Step);

bool step(Clocks& c, std::span<Heads* const> heads, double until) {
  return HWY_DYNAMIC_DISPATCH(Step)(c, heads, until);
}
uint32_t enter(Heads& h, const Arrival& a) { return HWY_DYNAMIC_DISPATCH(Enter)(h, a); }
void settle(Clocks& c, std::span<Heads* const> heads, double now, const double* packets) {
  HWY_DYNAMIC_DISPATCH(Settle)(c, heads, now, packets);
}
void plan(Clocks& c, std::span<Heads* const> heads) { HWY_DYNAMIC_DISPATCH(Plan)(c, heads); }

}  // namespace trn::dma_lanes
#endif
