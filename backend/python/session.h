#pragma once
#include "backend/runtime/record.h"
#include "traces/session.h"

namespace trn::python {

// A recording, ended here, as a session for the exporters: waits for all cores and times each Program once more with an
// observer (timing is deterministic: the same events that the launches had).
Session take_session(const std::shared_ptr<runtime::Recording>& recording);

// The newest launch alone; no launches if there was none.
Session last_launch();

}  // namespace trn::python
