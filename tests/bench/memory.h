#pragma once
#include <cstddef>

namespace trn::bench {

// Bytes that operator new has given out and not got back, and the most there were since forget_peak().
size_t bytes_now();
size_t bytes_peak();
void forget_peak();

}  // namespace trn::bench
