#pragma once
#include <array>
#include <string>
#include <vector>

#include "traces/session.h"

namespace trn {

// How far a session's predicted time can be trusted: what it rests on.
struct Fidelity {
  struct Leaning {
    const SpecField* number;
    Provenance provenance;
    double share;  // of the session's duration
    double ns;     // change of the duration per relative change of the number: x 0.1 is what 10 % more would do
  };
  std::array<double, 3> share{};          // of the duration, by Provenance; sums to 1
  std::array<int64_t, 3> instructions{};  // executed, by their card's Status
  std::vector<Leaning> numbers;           // those that matter, largest share first
  double examined = 0;                    // part of the device time that was re-timed (the longest Programs first)

  const Leaning* largest_assumption() const;  // null when nothing rests on one
};

// Re-times the session's Programs with each machine number changed (sim/sensitivity.h): about 150 simulations of each,
// so only the Programs that make up 95 % of the device time are. Time that the device waits for the host rests on the
// host's numbers.
Fidelity fidelity(const Session& s);
std::string fidelity_json(const Session& s);

}  // namespace trn
