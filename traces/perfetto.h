#pragma once
#include <iosfwd>

#include "traces/session.h"

namespace trn {

// Writes the session as a Perfetto trace (protobuf, https://perfetto.dev/docs/reference/trace-packet-proto): a process
// per logical core with tracks for its Programs, engines, waits and DMA queues, and one for the host. Opens in the
// Perfetto UI.
void write_perfetto(const Session& s, std::ostream& out);

}  // namespace trn
