// nrt_sim.h: the simulator's own interface.
#include "nrt/nrt_sim.h"

#include <algorithm>
#include <cstring>

#include "backend/runtime/clock.h"
#include "backend/runtime/model.h"
#include "backend/runtime/nrt_call.h"
#include "backend/runtime/record.h"
#include "backend/runtime/runtime.h"
#include "backend/runtime/transfer.h"

using namespace trn::runtime;

static_assert(static_cast<int>(HostWork::fallback) == NRT_SIM_HOST_FALLBACK);
static_assert(static_cast<int>(Mode::both) == NRT_SIM_MODE_BOTH && static_cast<int>(Mode::time) == NRT_SIM_MODE_TIME);

namespace {

Event& event(const nrt_sim_event_t* handle) {
  if (!handle) fail(NRT_INVALID, "the event is null");
  Event* e = events().find(handle);
  if (!e) fail(NRT_INVALID_HANDLE, "this is no event, or it is destroyed");
  return *e;
}

// The event's mark, held while this lives; null if it was never recorded.
class HeldMark {
 public:
  explicit HeldMark(Event& e) {
    const std::lock_guard lock(e.lock);
    mark_ = e.mark;
    if (mark_) hold(mark_);
  }
  ~HeldMark() { let_go(mark_); }
  HeldMark(const HeldMark&) = delete;
  HeldMark& operator=(const HeldMark&) = delete;
  Mark* operator->() const { return mark_; }
  Mark* get() const { return mark_; }

 private:
  Mark* mark_;
};

}  // namespace

extern "C" {

const char* nrt_sim_last_error(void) { return last_error().c_str(); }

double nrt_sim_host_time(void) { return host_clock().now(); }

NRT_STATUS nrt_sim_host_advance(double ns) {
  return call(__func__, [&] {
    if (!(ns >= 0 && ns < 1e18)) fail(NRT_INVALID, "the host's clock goes forward by a finite time");
    host_clock().advance(ns);
  });
}

double nrt_sim_host_dispatch_ns(void) {
  double ns = 0;
  call_any_time(__func__, [&] { ns = trn::runtime::describe_machine().spec->host_dispatch_ns; });
  return ns;
}

NRT_STATUS nrt_sim_synchronize(uint32_t vnc) {
  return call(__func__, [&] {
    Core& c = core(vnc);
    c.synchronise();
    if (Failure f = c.take_pending(); f.status != NRT_SUCCESS) throw StatusError(f.status, f.text);
  });
}

NRT_STATUS nrt_sim_is_idle(uint32_t vnc, bool* idle) {
  return call(__func__, [&] { required(idle, "idle") = core(vnc).queue().idle(); });
}

NRT_STATUS nrt_sim_core_time(uint32_t vnc, double* ns) {
  return call(__func__, [&] { required(ns, "ns") = core(vnc).clock_ns(); });
}

NRT_STATUS nrt_sim_interrupt(uint32_t vnc) {
  return call(__func__, [&] { core(vnc).interrupt(); });
}

NRT_STATUS nrt_sim_wait(nrta_seq_t seq) { return nrt_sim_wait_for(seq, ~uint64_t{0}); }

NRT_STATUS nrt_sim_wait_for(nrta_seq_t seq, uint64_t timeout_us) {
  bool done = false;
  const NRT_STATUS status = call(__func__, [&] {
    const Request r = request(seq);
    done = r.core.queue().wait(r.number, timeout_us);
    if (done) host_clock().reach(r.core.finished_ns(r.number));
  });
  return status == NRT_SUCCESS && !done ? NRT_TIMEOUT : status;  // running out of patience is no error to log
}

NRT_STATUS nrt_sim_event_create(nrt_sim_event_t** result) {
  return call(__func__, [&] {
    required(result, "event") = nullptr;
    const auto made = events().make();
    if (!made.object) fail(NRT_RESOURCE, "too many events");
    *result = static_cast<nrt_sim_event_t*>(made.handle);
  });
}

void nrt_sim_event_destroy(nrt_sim_event_t** handle) {
  call(__func__, [&] {
    Mark* mark = nullptr;
    if (!events().release(required(handle, "event"), [&](Event& e) { mark = e.mark; }))
      fail(NRT_INVALID_HANDLE, "this is no event, or it is destroyed already");
    let_go(mark);
    *handle = nullptr;
  });
}

NRT_STATUS nrt_sim_event_record(nrt_sim_event_t* handle, uint32_t vnc) {
  return call(__func__, [&] {
    Event& e = event(handle);
    Core& c = core(vnc);
    auto* mark = new Mark;
    mark->queue = &c.queue();
    hold(mark);  // the queue's reference
    const std::lock_guard lock(e.lock);
    mark->number = c.submit(Work{.kind = WorkKind::mark, .mark = mark}, NRTA_XU_COMPUTE) & NRTA_SEQ_NUM_MASK;
    let_go(std::exchange(e.mark, mark));
  });
}

NRT_STATUS nrt_sim_event_wait(nrt_sim_event_t* handle, uint32_t vnc) {
  return call(__func__, [&] {
    const HeldMark m(event(handle));
    Core& c = core(vnc);
    if (!m.get() || m->queue == &c.queue()) return;  // a core's queue is in order already
    hold(m.get());
    c.submit(Work{.kind = WorkKind::wait_mark, .mark = m.get()}, NRTA_XU_COMPUTE);
  });
}

NRT_STATUS nrt_sim_event_query(nrt_sim_event_t* handle, bool* done) {
  return call(__func__, [&] {
    const HeldMark m(event(handle));
    required(done, "done") = !m.get() || m->done.load(std::memory_order_acquire);
  });
}

NRT_STATUS nrt_sim_event_synchronize(nrt_sim_event_t* handle) {
  return call(__func__, [&] {
    const HeldMark m(event(handle));
    if (!m.get()) return;
    m->queue->wait(m->number);
    host_clock().reach(m->ns);
  });
}

NRT_STATUS nrt_sim_event_time(nrt_sim_event_t* handle, double* ns) {
  return call(__func__, [&] {
    const HeldMark m(event(handle));
    required(ns, "ns");
    if (!m.get()) fail(NRT_INVALID, "the event was never recorded");
    if (!m->done.load(std::memory_order_acquire)) fail(NRT_QUEUE_EMPTY, "the core has not come to the event yet");
    *ns = m->ns;
  });
}

uint32_t nrt_sim_intern(const char* text) { return text ? intern(text) : 0; }
void nrt_sim_set_source(uint32_t interned) { current_origin().source = interned; }
uint64_t nrt_sim_set_correlation(uint64_t correlation) {
  return std::exchange(current_origin().correlation, correlation);
}

NRT_STATUS nrt_sim_execute(nrt_model_t* handle, const nrt_sim_binding_t* bindings, size_t count,
                           nrta_error_tracker_t* err, nrta_seq_t* req_sequence) {
  return call(__func__, [&] {
    Executable& e = model(handle);
    if (count && !bindings) fail(NRT_INVALID, "bindings is null");
    if (err && !error_trackers().find(err)) fail(NRT_INVALID_HANDLE, "this is no error tracker, or it is destroyed");
    Work w{.kind = WorkKind::launch,
           .value = 1,
           .launch = bind(e, {bindings, count}, current_mode() != Mode::time),
           .tracker = err};
    const nrta_seq_t seq = e.core().submit(w, NRTA_XU_COMPUTE);
    if (req_sequence) *req_sequence = seq;
  });
}

NRT_STATUS nrt_sim_memset(nrt_tensor_t* t, uint64_t offset, int value, uint64_t size, nrta_seq_t* req_sequence) {
  return call(__func__, [&] {
    const Planned p = plan_fill(tensor(t), offset, value, size);
    const nrta_seq_t seq = p.core.submit(p.work, p.unit);
    if (req_sequence) *req_sequence = seq;
  });
}

NRT_STATUS nrt_sim_model_duration(nrt_model_t* handle, double* ns) {
  return call(__func__, [&] {
    required(ns, "ns") = trn::Clock(*describe_machine().spec).to_ns(model(handle).timing()->makespan);
  });
}

void nrt_sim_host_span(nrt_sim_host_work_t work, uint32_t interned, double start_ns, double end_ns) {
  if (!recorder().recording()) return;
  call_any_time(__func__, [&] {
    if (work < NRT_SIM_HOST_DISPATCH || work > NRT_SIM_HOST_FALLBACK) fail(NRT_INVALID, "this is no kind of host work");
    recorder().add(
        HostRecord{static_cast<HostWork>(work), -1, {interned, current_origin().correlation}, start_ns, end_ns, 0});
  });
}

bool nrt_sim_is_recording(void) { return recorder().recording(); }

NRT_STATUS nrt_sim_set_mode(nrt_sim_mode_t mode) {
  return call_any_time(__func__, [&] {
    if (mode < NRT_SIM_MODE_FUNCTION || mode > NRT_SIM_MODE_BOTH) fail(NRT_INVALID, "this is no mode");
    set_mode(static_cast<Mode>(mode));
  });
}

nrt_sim_mode_t nrt_sim_get_mode(void) {
  auto mode = NRT_SIM_MODE_BOTH;
  call_any_time(__func__, [&] { mode = static_cast<nrt_sim_mode_t>(current_mode()); });
  return mode;
}

NRT_STATUS nrt_sim_get_counters(nrt_sim_counters_t* result, size_t size) {
  return call_any_time(__func__, [&] {
    const Counters& c = counters();
    const nrt_sim_counters_t now{c.launches, c.timings,         c.timings_cached, c.loads,
                                 c.errors,   c.bytes_to_device, c.bytes_to_host,  c.device_ns};
    std::memcpy(&required(result, "counters"), &now, std::min(size, sizeof now));
  });
}
}
