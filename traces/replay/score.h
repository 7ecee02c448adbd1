#pragma once
#include "traces/replay/replay.h"

namespace trn::replay {

// Compares `r.rows` with the profile: durations, drift, transfers, activity, opcodes, measured makespan.
// `dma_active_ns`: simulated time in which packets move.
void score(const Profile& p, const ProfileWork& what, Result& r, double dma_active_ns);

}  // namespace trn::replay
