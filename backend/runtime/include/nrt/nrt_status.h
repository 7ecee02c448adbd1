#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Status codes of the Neuron runtime. Numbers are AWS's and part of the ABI. */
typedef enum {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,        /* no more precise code fits */
  NRT_INVALID = 2,        /* malformed executable, or an argument, tensor name or size that does not fit */
  NRT_INVALID_HANDLE = 3, /* a handle that was never given out or is already freed */
  NRT_RESOURCE = 4,       /* out of memory or of another resource */
  NRT_TIMEOUT = 5,
  NRT_HW_ERROR = 6,
  NRT_QUEUE_FULL = 7,
  NRT_LOAD_NOT_ENOUGH_NC = 9, /* the executable needs more cores than there are */
  NRT_UNSUPPORTED_NEFF_VERSION = 10,
  NRT_FAIL_HOST_MEM_ALLOC = 11, /* kept by AWS for old clients */
  NRT_UNINITIALIZED = 13,       /* before nrt_init(), or in a child forked after it */
  NRT_CLOSED = 14,              /* after nrt_close() */
  NRT_QUEUE_EMPTY = 15,
  NRT_EXEC_UNIT_UNRECOVERABLE = 101,
  NRT_EXEC_BAD_INPUT = 1002,
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003, /* NaN produced */
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,
  NRT_EXEC_NC_BUSY = 1005, /* the core belongs to another process */
  NRT_EXEC_OOB = 1006,     /* an indirect access left its tensor */
  NRT_COLL_PENDING = 1100,
  NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
  NRT_EXEC_HW_ERR_HBM_UE = 1201,
  NRT_EXEC_HW_ERR_NC_UE = 1202,
  NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
  NRT_EXEC_SW_NQ_OVERFLOW = 1204,
  NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
  NRT_NETWORK_PROXY_FAILURE = 1206,
} NRT_STATUS;

/* Name of a status ("NRT_INVALID"); "UNKNOWN_STATUS" for other numbers. Never null; static storage. */
const char *nrt_get_status_as_str(NRT_STATUS status);

#ifdef __cplusplus
}
#endif
