#pragma once
#include <string>

#include "traces/session.h"

namespace trn {

// The data behind the HTML report, as JSON: totals, engine activity, roofline points, waits, Programs, and up to
// `max_slices` slices of the timeline (the earliest; the report says how many there are in all). Times in microseconds.
std::string report_json(const Session& s, size_t max_slices = 60000);

}  // namespace trn
