/* A C program as a user of libnrt would write it: loads the executable named on the command line (c = a + b over 128 x
 * 16 float32), runs it blocking and queued, and reads the sums. */
#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <nrt/nrt_experimental.h>
#include <stdio.h>
#include <stdlib.h>

enum { kElements = 128 * 16, kBytes = kElements * sizeof(float) };

static int failures = 0;

static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition)

static void *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  void *data = malloc(*size);
  if (data && fread(data, 1, *size, f) != *size) {
    free(data);
    data = NULL;
  }
  fclose(f);
  return data;
}

static int sums_are_right(const nrt_tensor_t *c) {
  static float values[kElements];
  if (nrt_tensor_read(c, values, 0, kBytes) != NRT_SUCCESS) return 0;
  for (int i = 0; i < kElements; ++i)
    if (values[i] != (float)i + 0.5f) return 0;
  return 1;
}

int main(int argc, char **argv) {
  size_t size = 0;
  void *neff = argc == 2 ? read_file(argv[1], &size) : NULL;
  if (!neff) return fprintf(stderr, "usage: %s FILE.neff\n", argv[0]), 2;

  uint32_t cores = 0;
  EXPECT(nrt_get_visible_vnc_count(&cores) == NRT_SUCCESS && cores > 0);
  if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) return 3;

  static float input[kElements];
  nrt_tensor_t *tensors[3] = {NULL, NULL, NULL};
  static const char *const names[3] = {"a", "b", "c"};
  for (int t = 0; t < 3; ++t)
    EXPECT(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kBytes, names[t], &tensors[t]) == NRT_SUCCESS);
  for (int i = 0; i < kElements; ++i) input[i] = (float)i;
  EXPECT(nrt_tensor_write(tensors[0], input, 0, kBytes) == NRT_SUCCESS);
  for (int i = 0; i < kElements; ++i) input[i] = 0.5f;
  EXPECT(nrt_tensor_write(tensors[1], input, 0, kBytes) == NRT_SUCCESS);

  nrt_model_t *model = NULL;
  EXPECT(nrt_load(neff, size - 1, 0, -1, &model) == NRT_INVALID);
  EXPECT(nrt_load(neff, size, 0, -1, &model) == NRT_SUCCESS);
  free(neff);
  nrt_tensor_info_array_t *info = NULL;
  EXPECT(nrt_get_model_tensor_info(model, &info) == NRT_SUCCESS && info->tensor_count == 3 &&
         info->tensor_array[2].size == kBytes);
  EXPECT(nrt_free_model_tensor_info(info) == NRT_SUCCESS);

  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  EXPECT(nrt_allocate_tensor_set(&inputs) == NRT_SUCCESS && nrt_allocate_tensor_set(&outputs) == NRT_SUCCESS);
  for (int t = 0; t < 3; ++t)
    EXPECT(nrt_add_tensor_to_tensor_set(t < 2 ? inputs : outputs, names[t], tensors[t]) == NRT_SUCCESS);
  EXPECT(nrt_execute(model, inputs, outputs) == NRT_SUCCESS);
  EXPECT(sums_are_right(tensors[2]));

  EXPECT(nrt_tensor_memset(tensors[2], 0, 0, kBytes) == NRT_SUCCESS);
  EXPECT(!sums_are_right(tensors[2]));
  nrta_error_tracker_t *errors = NULL;
  nrta_seq_t seq = 0;
  EXPECT(nrta_error_tracker_create(0, &errors) == NRT_SUCCESS);
  EXPECT(nrta_execute_schedule(model, inputs, outputs, 0, errors, &seq) == NRT_SUCCESS);
  EXPECT(sums_are_right(tensors[2])); /* a blocking read waits for queued work */
  bool done = false;
  EXPECT(nrta_is_completed(seq, &done) == NRT_SUCCESS && done);
  const nrta_error_t *list = NULL;
  size_t count = 1;
  EXPECT(nrta_error_tracker_get_list(errors, &list, &count) == NRT_SUCCESS && count == 0);
  nrta_error_tracker_destroy(errors);

  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  EXPECT(nrt_unload(model) == NRT_SUCCESS);
  for (int t = 0; t < 3; ++t) nrt_tensor_free(&tensors[t]);
  nrt_close();
  EXPECT(nrt_unload(model) == NRT_CLOSED);
  return failures ? 1 : 0;
}
