#pragma once
#include <string>

#include "traces/session.h"

namespace trn {

// One JSON object with neuron-profile's summary field names (interfaces: summary-json of neuron-profile /
// neuron-explorer 7.4). Times in seconds, shares in [0, 1], bytes and counts whole. `is_simulation` is true.
std::string summary_json(const Session& s);

}  // namespace trn
