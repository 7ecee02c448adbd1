#pragma once
#include "traces/session.h"

namespace trn::python {

// The runtime's records as a session for the exporters: waits for all cores, takes what was recorded and times each
// Program once more with an observer (timing is deterministic: the same events that the launches had).
Session take_session();

// The newest launch alone; no launches if there was none.
Session last_launch();

}  // namespace trn::python
