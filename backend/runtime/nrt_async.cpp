// nrt_async.h
#include "nrt/nrt_async.h"

#include "backend/runtime/clock.h"
#include "backend/runtime/model.h"
#include "backend/runtime/nrt_call.h"
#include "backend/runtime/transfer.h"

using namespace trn::runtime;

namespace {

constexpr int kQueues[NRTA_XU_TYPE_NUM] = {2, 2, 2, 1, 3};

void check_queue(int unit, int queue) {
  if (unit < 0 || unit >= NRTA_XU_TYPE_NUM) fail(NRT_INVALID, "this is no execution unit");
  if (queue < 0 || queue >= kQueues[unit])
    fail(NRT_INVALID, "the unit has queues 0 to " + std::to_string(kQueues[unit] - 1));
}

void check_tracker(const nrta_error_tracker_t* tracker) {
  if (tracker && !error_trackers().find(tracker))
    fail(NRT_INVALID_HANDLE, "this is no error tracker, or it is destroyed");
}

void submit(Planned p, int queue, nrta_error_tracker_t* err, nrta_seq_t* seq) {
  check_queue(p.unit, queue);
  check_tracker(err);
  p.work.tracker = err;
  const nrta_seq_t made = p.core.submit(p.work, p.unit, queue);
  if (seq) *seq = made;
}

ErrorTracker& tracker(const nrta_error_tracker_t* handle) {
  if (!handle) fail(NRT_INVALID, "the error tracker is null");
  check_tracker(handle);
  return *error_trackers().find(handle);
}

}  // namespace

extern "C" {

NRT_STATUS nrta_tensor_write(nrt_tensor_t* t, const void* buf, uint64_t offset, uint64_t size, int queue,
                             nrta_error_tracker_t* err, nrta_seq_t* req_sequence) {
  return call(__func__, [&] { submit(plan_write(tensor(t), buf, offset, size), queue, err, req_sequence); });
}

NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* t, uint64_t offset, uint64_t size, int queue,
                            nrta_error_tracker_t* err, nrta_seq_t* req_sequence) {
  return call(__func__, [&] { submit(plan_read(tensor(t), buf, offset, size), queue, err, req_sequence); });
}

NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst, uint64_t dst_offset,
                            uint64_t size, int queue, nrta_error_tracker_t* err, nrta_seq_t* req_sequence) {
  return call(__func__, [&] {
    submit(plan_copy(tensor(src), src_offset, tensor(dst), dst_offset, size), queue, err, req_sequence);
  });
}

NRT_STATUS nrta_execute_schedule(nrt_model_t* handle, const nrt_tensor_set_t* input, nrt_tensor_set_t* output,
                                 int queue, nrta_error_tracker_t* err, nrta_seq_t* req_sequence) {
  return call(__func__, [&] {
    Executable& e = model(handle);
    check_queue(NRTA_XU_COMPUTE, queue);
    check_tracker(err);
    Launch* l = bind(e, tensor_set(input), tensor_set(output), current_mode() != Mode::time);
    submit({e.core(), NRTA_XU_COMPUTE, Work{.kind = WorkKind::launch, .value = 1, .launch = l}}, queue, err,
           req_sequence);
  });
}

NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t*, nrt_tensor_list_t*, nrt_tensor_list_t*, nrt_dtype_t, nrt_op_type_t,
                           nrt_cc_op_type_t, nrt_cc_context_t**) {
  return call(__func__, [] { not_modelled("a collective operation"); });
}

NRT_STATUS nrta_cc_schedule(nrt_cc_context_t**, int, nrta_error_tracker_t*, nrta_seq_t*) {
  return call(__func__, [] { not_modelled("a collective operation"); });
}

NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed) {
  return call(__func__, [&] {
    const Request r = request(seq);
    required(is_completed, "is_completed") = r.core.queue().completed() >= r.number;
  });
}

NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  return call(__func__, [&] {
    Core& c = core(lnc);
    check_queue(xu, queue);
    const int lane = xu << 2 | queue;
    required(seq, "seq") = sequence(c.index(), lane, c.queue().completed_in(lane));
  });
}

NRT_STATUS nrta_get_completion_handle(nrta_seq_t seq, int* fd) {
  return call(__func__, [&] {
    const Request r = request(seq);
    required(fd, "fd") = -1;
    *fd = r.core.queue().completion_handle(r.number);
  });
}

NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t** error_tracker) {
  return call(__func__, [&] {
    core(lnc_idx);
    required(error_tracker, "error_tracker") = nullptr;
    const auto made = error_trackers().make();
    if (!made.object) fail(NRT_RESOURCE, "too many error trackers");
    *error_tracker = static_cast<nrta_error_tracker_t*>(made.handle);
  });
}

void nrta_error_tracker_destroy(nrta_error_tracker_t* handle) {
  call(__func__, [&] {
    tracker(handle);
    error_trackers().release(handle);
  });
}

NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t* handle, const nrta_error_t** list, size_t* error_count) {
  return call(__func__, [&] {
    ErrorTracker& t = tracker(handle);
    required(list, "list");
    required(error_count, "error_count");
    const std::lock_guard lock(t.mutex);
    t.shown = t.errors;
    *list = t.shown.data();
    *error_count = t.shown.size();
  });
}
}
