#pragma once
#include <vector>

#include "isa/sequencer.h"

namespace trn {

// What the predicted time leans on: by how many nanoseconds the makespan changes per relative change of each machine
// number (d makespan / d ln number), in the order of spec_fields(). Positive for durations, negative for rates; numbers
// with the dimension of a time, minus those of a rate, sum to the makespan. Found by re-timing with each number 2 %
// smaller and larger, so steps in the model (throttle windows) show as they are. Counts, sizes and the host's numbers
// give 0. `loads` as for simulate().
std::vector<double> sensitivity(const Program& p, const Spec& s, const Loads& loads = {});

}  // namespace trn
