#ifndef NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
#define NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
#include <stdint.h>

typedef uint64_t nrt_tensor_batch_offset_t;
typedef uint64_t nrt_tensor_batch_size_t;

/* One transfer of a batch: bytes [offset, offset + size) of a tensor from or to `buffer`. */
typedef struct nrt_tensor_batch_op {
  nrt_tensor_batch_offset_t offset;
  nrt_tensor_batch_size_t size;
  void *buffer;
} nrt_tensor_batch_op_t;

#endif
