#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "backend/runtime/core.h"
#include "backend/runtime/core_claims.h"
#include "nrt/nrt_experimental.h"

namespace trn::runtime {

// The runtime of this process between nrt_init() and nrt_close().
struct Process {
  Machine machine;
  CoreClaims claims;
  std::vector<std::unique_ptr<Core>> cores;

  struct Callback {
    NRT_ASYNC_EXEC_STATUS_CALLBACK function = nullptr;
    void* parameters = nullptr;
  };
  std::mutex callback_mutex;
  Callback callback;
};

// Opens it, or does nothing if it is open. Throws StatusError.
void open_process();
// Waits for queued work, frees everything. Does nothing if it is not open.
void close_process();

// Throws StatusError: NRT_UNINITIALIZED (never opened, or this is a child forked after it was), NRT_CLOSED.
Process& process();
Core& core(int64_t index);  // NRT_INVALID for an index that is not visible

// The core, lane and request of a public sequence number; StatusError (NRT_INVALID) if none was given out by that
// number.
struct Request {
  Core& core;
  int lane;
  uint64_t number;
};
Request request(nrta_seq_t seq);

}  // namespace trn::runtime
