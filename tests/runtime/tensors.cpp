#include <cstring>
#include <numeric>

#include "tests/runtime/nrt_fixture.h"

using namespace trn::test;

TEST_CASE("bytes come back as they were written") {
  const Runtime r;
  std::vector<uint8_t> data(100'000), back(100'000);
  std::iota(data.begin(), data.end(), uint8_t{3});
  nrt_tensor_t* t = tensor(data.size());
  CHECK(nrt_tensor_get_size(t) == data.size());
  CHECK(nrt_tensor_write(t, data.data(), 0, data.size()) == NRT_SUCCESS);
  CHECK(nrt_tensor_read(t, back.data(), 0, back.size()) == NRT_SUCCESS);
  CHECK(back == data);
  CHECK(nrt_tensor_read(t, back.data(), 1000, 10) == NRT_SUCCESS);
  CHECK(std::memcmp(back.data(), data.data() + 1000, 10) == 0);
  CHECK(std::memcmp(nrt_tensor_get_va(t), data.data(), data.size()) == 0);
  nrt_tensor_free(&t);
  CHECK(t == nullptr);
}

TEST_CASE("transfers outside the tensor are refused") {
  const Runtime r;
  nrt_tensor_t* t = tensor(100);
  char buffer[200] = {};
  CHECK(nrt_tensor_read(t, buffer, 0, 101) == NRT_INVALID);
  CHECK(nrt_tensor_read(t, buffer, 101, 0) == NRT_INVALID);
  CHECK(nrt_tensor_read(t, buffer, 100, 0) == NRT_SUCCESS);
  CHECK(nrt_tensor_write(t, buffer, 50, SIZE_MAX - 20) == NRT_INVALID);
  CHECK(nrt_tensor_write(t, buffer, SIZE_MAX, 2) == NRT_INVALID);
  CHECK(nrt_tensor_write(t, nullptr, 0, 1) == NRT_INVALID);
  CHECK(nrt_tensor_memset(t, 90, 0, 11) == NRT_INVALID);
  CHECK(last_error().find("outside the tensor of 100 bytes") != std::string::npos);
}

TEST_CASE("null, garbage and freed handles are told apart from live ones") {
  const Runtime r;
  char buffer[8];
  nrt_tensor_t* t = tensor(8);
  nrt_tensor_t* freed = t;
  nrt_tensor_free(&t);
  nrt_tensor_t* reused = tensor(8);  // the same place in the table
  CHECK(nrt_tensor_read(reused, buffer, 0, 8) == NRT_SUCCESS);
  CHECK(nrt_tensor_read(nullptr, buffer, 0, 8) == NRT_INVALID);
  CHECK(nrt_tensor_read(freed, buffer, 0, 8) == NRT_INVALID_HANDLE);
  for (const uint64_t garbage :
       {uint64_t{1}, uint64_t{8}, ~uint64_t{0}, uint64_t{1} << 60 | 0xffffffff, reinterpret_cast<uint64_t>(buffer)})
    CHECK(nrt_tensor_read(reinterpret_cast<nrt_tensor_t*>(garbage), buffer, 0, 8) == NRT_INVALID_HANDLE);
  nrt_tensor_free(&freed);  // logged, nothing else
  nrt_tensor_free(nullptr);
  CHECK(nrt_tensor_get_size(freed) == 0);
  CHECK(nrt_tensor_get_va(freed) == nullptr);

  nrt_tensor_set_t* s = set_of({{"a", reused}});
  CHECK(nrt_tensor_read(static_cast<nrt_tensor_t*>(s), buffer, 0, 8) == NRT_INVALID_HANDLE);
  CHECK(nrt_add_tensor_to_tensor_set(reused, "a", reused) == NRT_INVALID_HANDLE);
  CHECK(nrt_add_tensor_to_tensor_set(s, nullptr, reused) == NRT_INVALID);
  CHECK(nrt_add_tensor_to_tensor_set(s, "a", freed) == NRT_INVALID_HANDLE);
  nrt_tensor_set_t* destroyed = s;
  nrt_destroy_tensor_set(&s);
  CHECK(s == nullptr);
  CHECK(nrt_add_tensor_to_tensor_set(destroyed, "a", reused) == NRT_INVALID_HANDLE);
}

TEST_CASE("wrong arguments of allocation are refused") {
  const Runtime r;
  nrt_tensor_t* t = nullptr;
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, nullptr, nullptr) == NRT_INVALID);
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0, nullptr, &t) == NRT_INVALID);
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 4, 8, nullptr, &t) == NRT_INVALID);
  CHECK(last_error().find("4 logical cores") != std::string::npos);
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 8, nullptr, &t) == NRT_INVALID);
  CHECK(nrt_tensor_allocate(static_cast<nrt_tensor_placement_t>(3), 0, 8, nullptr, &t) == NRT_INVALID);
  CHECK(t == nullptr);
}

TEST_CASE("a larger memory than the machine's is lent, in address space only") {
  constexpr size_t kLarge = size_t{150} << 30;  // a trn2 logical core at LNC 2 has 24 GiB
  nrt_tensor_t *first = nullptr, *second = nullptr;
  {
    const Runtime r;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kLarge, "weights", &first) == NRT_RESOURCE);
  }
  const Runtime r({{"TRNSIM_HBM_GIB", "160"}});
  nrt_vnc_memory_stats_t stats{};
  nrt_get_vnc_memory_stats(0, &stats, sizeof stats, nullptr);
  CHECK(stats.bytes_limit == size_t{160} << 30);
  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kLarge, "weights", &first) == NRT_SUCCESS);
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kLarge, "weights", &second) == NRT_RESOURCE);
  const uint32_t v = 7;
  uint32_t back = 0;
  CHECK(nrt_tensor_write(first, &v, kLarge - 4, 4) == NRT_SUCCESS);
  CHECK(nrt_tensor_read(first, &back, kLarge - 4, 4) == NRT_SUCCESS);
  CHECK(back == 7);
  nrt_tensor_free(&first);
}

TEST_CASE("slices see their source and keep its memory") {
  const Runtime r;
  nrt_tensor_t* t = tensor_of(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  nrt_tensor_t *s = nullptr, *inner = nullptr, *bad = nullptr;
  REQUIRE(nrt_tensor_allocate_slice(t, 8, 16, "s", &s) == NRT_SUCCESS);
  REQUIRE(nrt_tensor_allocate_slice(s, 4, 8, nullptr, &inner) == NRT_SUCCESS);
  CHECK(nrt_tensor_allocate_slice(s, 4, 13, nullptr, &bad) == NRT_INVALID);
  CHECK(nrt_tensor_allocate_slice(s, 17, 0, nullptr, &bad) == NRT_INVALID);
  CHECK(nrt_tensor_allocate_slice(nullptr, 0, 1, nullptr, &bad) == NRT_INVALID);
  CHECK(bad == nullptr);
  const float v = 30;
  CHECK(nrt_tensor_write(t, &v, 12, 4) == NRT_SUCCESS);
  nrt_vnc_memory_stats_t before{}, after{};
  nrt_get_vnc_memory_stats(0, &before, sizeof before, nullptr);
  nrt_tensor_free(&t);
  nrt_tensor_free(&s);
  CHECK(floats(inner) == std::vector<float>{30, 4});
  nrt_tensor_free(&inner);
  nrt_get_vnc_memory_stats(0, &after, sizeof after, nullptr);
  CHECK(after.bytes_used < before.bytes_used);
}

TEST_CASE("empty, attached, host and virtual tensors") {
  const Runtime r;
  nrt_tensor_t *t = nullptr, *host = nullptr, *size_only = nullptr;
  float buffer[4] = {1, 2, 3, 4};
  char out[16];
  REQUIRE(nrt_tensor_allocate_empty("e", &t) == NRT_SUCCESS);
  CHECK(nrt_tensor_get_size(t) == 0);
  CHECK(nrt_tensor_read(t, out, 0, 1) == NRT_INVALID);
  CHECK(nrt_tensor_attach_buffer(t, nullptr, 4) == NRT_INVALID);
  CHECK(nrt_tensor_attach_buffer(t, buffer, sizeof buffer) == NRT_SUCCESS);
  CHECK(floats(t) == std::vector<float>{1, 2, 3, 4});
  CHECK(nrt_tensor_get_va(t) == buffer);

  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 16, nullptr, &host) == NRT_SUCCESS);
  CHECK(nrt_tensor_copy(t, 0, host, 0, 16) == NRT_SUCCESS);
  CHECK(floats(host) == std::vector<float>{1, 2, 3, 4});
  nrt_tensor_device_allocation_info_t info{};
  CHECK(nrt_tensor_get_device_allocation_info(host, &info) == NRT_INVALID);

  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, size_t{1} << 45, nullptr, &size_only) == NRT_SUCCESS);
  CHECK(nrt_tensor_get_size(size_only) == size_t{1} << 45);
  CHECK(nrt_tensor_get_va(size_only) == nullptr);
  CHECK(nrt_tensor_read(size_only, out, 0, 1) == NRT_INVALID);

  // Attaching to a tensor that had memory frees that.
  nrt_tensor_t* device = tensor(1 << 20);
  nrt_vnc_memory_stats_t before{}, after{};
  nrt_get_vnc_memory_stats(0, &before, sizeof before, nullptr);
  CHECK(nrt_tensor_attach_buffer(device, buffer, sizeof buffer) == NRT_SUCCESS);
  nrt_get_vnc_memory_stats(0, &after, sizeof after, nullptr);
  CHECK(before.bytes_used - after.bytes_used == 1 << 20);
}

TEST_CASE("copies and fills on the device") {
  const Runtime r;
  nrt_tensor_t* a = tensor_of(std::vector<float>{1, 2, 3, 4});
  nrt_tensor_t* b = tensor_of(std::vector<float>{9, 9, 9, 9});
  nrt_tensor_t* elsewhere = tensor(16, 1);
  CHECK(nrt_tensor_copy(a, 4, b, 8, 8) == NRT_SUCCESS);
  CHECK(floats(b) == std::vector<float>{9, 9, 2, 3});
  CHECK(nrt_tensor_copy(a, 4, b, 8, 16) == NRT_INVALID);
  CHECK(nrt_tensor_copy(a, 0, elsewhere, 0, 16) == NRT_INVALID);
  CHECK(last_error().find("core 0 and core 1") != std::string::npos);
  CHECK(nrt_tensor_memset(b, 4, 0, 8) == NRT_SUCCESS);
  CHECK(floats(b) == std::vector<float>{9, 0, 0, 3});
}

TEST_CASE("batches are checked whole before anything moves") {
  const Runtime r;
  nrt_tensor_t* a = tensor_of(std::vector<float>{1, 2});
  nrt_tensor_t* b = tensor_of(std::vector<float>{3, 4});
  float x = 10, y = 20, out[2] = {};
  const nrt_tensor_batch_op_t ops_a[] = {{0, 4, &x}, {4, 4, &y}}, ops_b[] = {{4, 4, &x}}, bad[] = {{8, 4, &x}},
                              read_ops[] = {{0, 8, out}};
  const nrt_tensor_batch_t wrong[] = {{a, ops_a, 2}, {b, bad, 1}}, right[] = {{a, ops_a, 2}, {b, ops_b, 1}},
                           reads[] = {{b, read_ops, 1}};
  CHECK(nrt_tensor_write_batch(wrong, 2, false) == NRT_INVALID);
  CHECK(floats(a) == std::vector<float>{1, 2});
  CHECK(nrt_tensor_write_batch(right, 2, false) == NRT_SUCCESS);
  CHECK(floats(a) == std::vector<float>{10, 20});
  CHECK(nrt_tensor_read_batch(reads, 1, true) == NRT_SUCCESS);
  CHECK(out[1] == 10);
  CHECK(nrt_tensor_read_batch(nullptr, 1, false) == NRT_INVALID);
}

TEST_CASE("memory runs out with the text that users search for, and frees again") {
  const Runtime r;
  nrt_vnc_memory_stats_t s{};
  size_t written = 0;
  REQUIRE(nrt_get_vnc_memory_stats(0, &s, sizeof s, &written) == NRT_SUCCESS);
  CHECK(written == sizeof s);
  CHECK(s.bytes_limit == size_t{24} << 30);     // one stack per logical core at LNC 2
  CHECK(s.bytes_used == size_t{2} * 96 << 20);  // micro-code of two physical cores
  nrt_tensor_t *big = tensor(size_t{16} << 30), *more = nullptr;
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, size_t{8} << 30, "weights", &more) == NRT_RESOURCE);
  CHECK(more == nullptr);
  for (const char* text :
       {"dmem_alloc_internal", "Failed to allocate", "(OOM)", "weights", "8.000GB", "usage: tensors"})
    CHECK(last_error().find(text) != std::string::npos);
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, SIZE_MAX, nullptr, &more) == NRT_RESOURCE);
  nrt_tensor_free(&big);
  big = tensor(size_t{23} << 30);
  nrt_tensor_t* other = tensor(size_t{23} << 30, 1);  // another core has its own
  CHECK(other);
}

TEST_CASE("device allocation info tells distinct places") {
  const Runtime r;
  nrt_tensor_t *a = tensor(1000), *b = tensor(1000), *slice = nullptr;
  REQUIRE(nrt_tensor_allocate_slice(a, 100, 10, nullptr, &slice) == NRT_SUCCESS);
  nrt_tensor_device_allocation_info_t ia{}, ib{}, is{};
  CHECK(nrt_tensor_get_device_allocation_info(a, &ia) == NRT_SUCCESS);
  CHECK(nrt_tensor_get_device_allocation_info(b, &ib) == NRT_SUCCESS);
  CHECK(nrt_tensor_get_device_allocation_info(slice, &is) == NRT_SUCCESS);
  CHECK(ia.size == 1024);
  CHECK(is.physical_address == ia.physical_address + 100);
  CHECK((ib.physical_address >= ia.physical_address + 1024 || ia.physical_address >= ib.physical_address + 1024));
  CHECK(nrt_tensor_get_device_allocation_info(a, nullptr) == NRT_INVALID);
}
