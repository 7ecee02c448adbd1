#pragma once
#include <cstddef>

namespace trn::bench {

// Bytes of this process in memory, and the most there were since forget_peak() (Linux: VmRSS and VmHWM). Fit for
// Programs of many megabytes.
size_t bytes_now();
size_t bytes_peak();
void forget_peak();

}  // namespace trn::bench
