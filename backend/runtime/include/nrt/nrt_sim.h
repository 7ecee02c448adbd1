/* What libnrt.so of the simulator offers beyond AWS's interface: simulated clocks, events, the origin of launches,
 * error texts. The torch plugin stands on this; a program for real hardware does not include it.
 *
 * Times are simulated nanoseconds since nrt_init(). There is one host clock per process and one clock per core. The
 * host clock moves only when told (nrt_sim_host_advance), when a blocking call waits for a core, and by what a transfer
 * costs; this machine's own time never enters. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt_async.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ---- */

/* The text behind the last status other than NRT_SUCCESS that this thread got; "" if there was none. Valid until the
 * thread's next call. */
const char *nrt_sim_last_error(void);

/* ---- the host's clock ---- */

double nrt_sim_host_time(void);
NRT_STATUS nrt_sim_host_advance(double ns);
/* What one eager operator costs the host between two launches (Spec::host_dispatch_ns). */
double nrt_sim_host_dispatch_ns(void);

/* ---- a core's clock ---- */

/* Waits until everything queued on `vnc` is done; the host clock becomes at least the core's. Returns the status of the
 * first queued request since the last synchronisation that failed without an error tracker; nrt_sim_last_error() names
 * its Program and origin. The core stays usable. */
NRT_STATUS nrt_sim_synchronize(uint32_t vnc);
/* True when nothing is queued or running. Never blocks. */
NRT_STATUS nrt_sim_is_idle(uint32_t vnc, bool *idle);
/* The core's clock after everything it has completed so far. */
NRT_STATUS nrt_sim_core_time(uint32_t vnc, double *ns);
/* Stops the running Program and drops everything queued so far, each with the error "interrupted". Callable from
 * another thread than the one that waits, and from a signal handler. */
NRT_STATUS nrt_sim_interrupt(uint32_t vnc);

/* Waits until a request is done, as nrt_sim_synchronize does for all of them, but reports no errors. */
NRT_STATUS nrt_sim_wait(nrta_seq_t seq);
/* The same for at most `timeout_us` microseconds of this machine's time; NRT_TIMEOUT when they pass. Much cheaper than
 * a completion handle. */
NRT_STATUS nrt_sim_wait_for(nrta_seq_t seq, uint64_t timeout_us);

/* ---- events: points in a core's queue, with their simulated time ---- */

typedef struct nrt_sim_event nrt_sim_event_t;
NRT_STATUS nrt_sim_event_create(nrt_sim_event_t **event);
void nrt_sim_event_destroy(nrt_sim_event_t **event);
/* The event now stands behind everything queued on `vnc`. Replaces an earlier recording. */
NRT_STATUS nrt_sim_event_record(nrt_sim_event_t *event, uint32_t vnc);
/* Work queued on `vnc` from now on starts after the event, in its queue and on its clock. Does nothing for an event
 * that was never recorded. */
NRT_STATUS nrt_sim_event_wait(nrt_sim_event_t *event, uint32_t vnc);
/* An event that was never recorded counts as done. */
NRT_STATUS nrt_sim_event_query(nrt_sim_event_t *event, bool *done);
/* Waits, and moves the host clock to at least the event's time. */
NRT_STATUS nrt_sim_event_synchronize(nrt_sim_event_t *event);
/* NRT_INVALID if it was never recorded, NRT_QUEUE_EMPTY if its core has not come to it yet. */
NRT_STATUS nrt_sim_event_time(nrt_sim_event_t *event, double *ns);

/* ---- launches ---- */

/* A number for a text such as "aten::add.Tensor train.py:12"; the same text gives the same number. 0 is "". Texts are
 * kept for the process. */
uint32_t nrt_sim_intern(const char *text);
/* The origin of what this thread queues from now on: shown on timelines and in errors. */
void nrt_sim_set_source(uint32_t interned);

/* Bytes [offset, offset + size) of a tensor. */
typedef struct nrt_sim_binding {
  nrt_tensor_t *tensor;
  uint64_t offset;
  uint64_t size;
} nrt_sim_binding_t;

/* What this thread queues from now on belongs to a profiler's `correlation`, which records give back; 0: to none.
 * Returns the one before. */
uint64_t nrt_sim_set_correlation(uint64_t correlation);

/* nrta_execute_schedule without names and slices: one binding per input, output and inout slot of the Program, in slot
 * order. */
NRT_STATUS nrt_sim_execute(nrt_model_t *model, const nrt_sim_binding_t *bindings, size_t count,
                           nrta_error_tracker_t *err, nrta_seq_t *req_sequence);

/* Queued behind other work, like nrta_tensor_copy. */
NRT_STATUS nrt_sim_memset(nrt_tensor_t *tensor, uint64_t offset, int value, uint64_t size, nrta_seq_t *req_sequence);

/* Simulated duration of one launch without launch overhead; simulates now if this is the first time anyone asks. */
NRT_STATUS nrt_sim_model_duration(nrt_model_t *model, double *ns);

/* Something that the host did from `start_ns` to `end_ns` of its clock, for the timeline. Cheap when nothing records.
 * Copies and waits of the calls in nrt.h are noted by themselves. */
typedef enum {
  NRT_SIM_HOST_DISPATCH,
  NRT_SIM_HOST_COPY_TO_DEVICE,
  NRT_SIM_HOST_COPY_FROM_DEVICE,
  NRT_SIM_HOST_SYNCHRONISE,
  NRT_SIM_HOST_FALLBACK,
} nrt_sim_host_work_t;
void nrt_sim_host_span(nrt_sim_host_work_t work, uint32_t interned, double start_ns, double end_ns);
bool nrt_sim_is_recording(void);

/* ---- recordings: what happened, for profilers ---- */

typedef enum {
  NRT_SIM_ENGINE_TENSOR,
  NRT_SIM_ENGINE_VECTOR,
  NRT_SIM_ENGINE_SCALAR,
  NRT_SIM_ENGINE_GPSIMD,
  NRT_SIM_ENGINE_SYNC,
  NRT_SIM_ENGINES,
} nrt_sim_engine_t;

/* A launch or host work. Texts live as long as the call that shows the record. */
typedef struct nrt_sim_record {
  bool is_launch;
  nrt_sim_host_work_t work; /* unless it is a launch */
  int32_t vnc;              /* -1: the host alone */
  uint64_t correlation;     /* nrt_sim_set_correlation() of its submission; 0: none */
  const char *name;         /* the Program's; "" for host work */
  const char *source;       /* nrt_sim_set_source() of its submission */
  double submitted_ns;      /* host clock; of launches */
  double start_ns, end_ns;
  uint64_t bytes; /* of copies */
  /* Of launches: how long each engine, and the DMA queues together, worked. Zero without simulated time. */
  double engine_busy_ns[NRT_SIM_ENGINES], dma_busy_ns;
} nrt_sim_record_t;
typedef void (*nrt_sim_record_fn)(const nrt_sim_record_t *record, void *user);

/* Any number of recordings may be on at a time. */
typedef struct nrt_sim_recording nrt_sim_recording_t;
NRT_STATUS nrt_sim_recording_start(nrt_sim_recording_t **recording);
/* Waits until everything queued is done, then shows every record since the start: launches in the order in which they
 * completed, then host work. `show` may be null, to drop them. */
NRT_STATUS nrt_sim_recording_finish(nrt_sim_recording_t **recording, nrt_sim_record_fn show, void *user);

/* ---- what launches do ---- */

typedef enum {
  NRT_SIM_MODE_FUNCTION, /* results only; launches take no simulated time */
  NRT_SIM_MODE_TIME,     /* times only; memory is neither read nor written by Programs */
  NRT_SIM_MODE_BOTH,
} nrt_sim_mode_t;
/* From TRNSIM_MODE at start; applies to what is queued later. */
NRT_STATUS nrt_sim_set_mode(nrt_sim_mode_t mode);
nrt_sim_mode_t nrt_sim_get_mode(void);

typedef struct nrt_sim_counters {
  uint64_t launches;       /* Programs executed */
  uint64_t timings;        /* Programs simulated */
  uint64_t timings_cached; /* launches whose time was known already */
  uint64_t loads;          /* Programs loaded */
  uint64_t errors;         /* requests that failed */
  uint64_t bytes_to_device;
  uint64_t bytes_to_host;
  double device_ns; /* simulated time that cores spent in launches */
} nrt_sim_counters_t;
/* Since the process started. */
NRT_STATUS nrt_sim_get_counters(nrt_sim_counters_t *counters, size_t size);

#ifdef __cplusplus
}
#endif
