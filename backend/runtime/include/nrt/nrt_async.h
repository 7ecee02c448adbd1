/* Asynchronous requests. In the simulator all queues of one core are served in the order of the calls, by one thread
 * per core: each unit sees its own order, as AWS promises, and no request overtakes another. Arguments are resolved at
 * the call: tensor sets and slices may be freed right after it, the memory behind them is kept until the request is
 * done. */
#pragma once
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NRTA_XU_TENSOR_READ = 0,
  NRTA_XU_TENSOR_WRITE,
  NRTA_XU_TENSOR_OP,
  NRTA_XU_COMPUTE,
  NRTA_XU_COLLECTIVES,
  NRTA_XU_TYPE_NUM
} nrta_xu_t;

/* A request: the id of core, unit and queue in the upper 16 bits, a number that grows with every request of a core in
 * the lower 48. */
typedef uint64_t nrta_seq_t;
typedef uint16_t nrta_xu_id_t;

#define NRTA_SEQ_NUM_MAX ((1ull << 48) - 1)
#define NRTA_SEQ_NUM_MASK NRTA_SEQ_NUM_MAX
#define NRTA_SEQ_GET_SEQ_NUM(seq_id) ((seq_id)&NRTA_SEQ_NUM_MASK)
#define NRTA_SEQ_GET_XU_ID(seq_id) ((seq_id) >> 48)

typedef struct nrta_error {
  nrta_seq_t seq_id;
  uint64_t error_code; /* NRT_STATUS */
} nrta_error_t;
static_assert(sizeof(nrta_error_t) == 16, "part of the ABI");

typedef struct nrta_error_tracker nrta_error_tracker_t;

/* `err` may be null: the error is then reported by the core's next synchronisation (nrt_sim_synchronize).
 * `req_sequence` may be null. Queues: 0 for compute, 0..2 for collectives, 0..1 for tensor units. */
NRT_STATUS nrta_tensor_write(nrt_tensor_t *tensor, const void *buf, uint64_t offset, uint64_t size, int queue,
                             nrta_error_tracker_t *err, nrta_seq_t *req_sequence);
NRT_STATUS nrta_tensor_read(void *buf, nrt_tensor_t *tensor, uint64_t offset, uint64_t size, int queue,
                            nrta_error_tracker_t *err, nrta_seq_t *req_sequence);
NRT_STATUS nrta_tensor_copy(nrt_tensor_t *src, uint64_t src_offset, nrt_tensor_t *dst, uint64_t dst_offset,
                            uint64_t size, int queue, nrta_error_tracker_t *err, nrta_seq_t *req_sequence);
NRT_STATUS nrta_execute_schedule(nrt_model_t *model, const nrt_tensor_set_t *input, nrt_tensor_set_t *output, int queue,
                                 nrta_error_tracker_t *err, nrta_seq_t *req_sequence);

/* Collectives are not in this version: NRT_FAILURE with a log line. */
NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t *comm, nrt_tensor_list_t *input, nrt_tensor_list_t *output, nrt_dtype_t dtype,
                           nrt_op_type_t op, nrt_cc_op_type_t cc_op, nrt_cc_context_t **cc_ctx);
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t **cc_ctx, int queue, nrta_error_tracker_t *err, nrta_seq_t *req_sequence);

/* NRT_INVALID for a sequence that was never given out. */
NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool *is_completed);

/* The last completed request of a unit's queue; number 0 if there was none. */
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t *seq);

/* A file descriptor that becomes readable when the request is done. For poll() and close() only. */
NRT_STATUS nrta_get_completion_handle(nrta_seq_t seq, int *fd);

/* Errors of the requests that were given this tracker, oldest first; the array lives until the next call with the same
 * tracker. */
NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t **error_tracker);
void nrta_error_tracker_destroy(nrta_error_tracker_t *error_tracker);
NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t *error_tracker, const nrta_error_t **list,
                                       size_t *error_count);

#ifdef __cplusplus
}
#endif
