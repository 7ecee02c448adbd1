#pragma once
#include <cmath>
#include <cstdint>

#include "isa/spec.h"

namespace trn {

// Simulated time: whole ticks at the least common multiple of the clocks (4.8 GHz for trn2, so a tensor cycle is 2,
// vector 5, scalar 4).
using Tick = int64_t;

// The nearest tick of a time that is not negative: std::llround() without its call.
inline Tick to_tick(double ticks) { return static_cast<Tick>(ticks + 0.5); }

struct Clock {
  double ticks_per_ns;
  explicit Clock(const Spec& s);  // finds the least common multiple; throws if the clocks have none below 1 THz
  Tick from_ns(double ns) const { return std::llround(ns * ticks_per_ns); }
  double to_ns(Tick t) const { return static_cast<double>(t) / ticks_per_ns; }
};

}  // namespace trn
