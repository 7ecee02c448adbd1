#include <cstring>

#include "tests/runtime/nrt_fixture.h"

using namespace trn;
using namespace trn::test;

TEST_CASE("a loaded Program computes") {
  const Runtime r;
  const Sum s;
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("in-place slots, scratch and constants") {
  const Runtime r;
  nrt_model_t* m = load(increment_program());
  nrt_tensor_t* x = tensor_of(std::vector<float>(128 * 16, 5.f));
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({{"x", x}}), *none = set_of({});
  CHECK(nrt_execute(m, in, out) == NRT_SUCCESS);
  CHECK(floats(x) == std::vector<float>(128 * 16, 6.f));
  CHECK(nrt_execute_repeat(m, in, none, 3) == NRT_SUCCESS);
  CHECK(floats(x) == std::vector<float>(128 * 16, 9.f));
  CHECK(nrt_execute_repeat(m, in, out, 0) == NRT_INVALID);
  nrt_tensor_t* y = tensor(kTileBytes);
  nrt_tensor_set_t* other = set_of({{"x", y}});
  CHECK(nrt_execute(m, in, other) == NRT_INVALID);
  CHECK(last_error().find("same memory") != std::string::npos);
}

TEST_CASE("wrong tensor sets are refused by name") {
  const Runtime r;
  const Sum s;
  nrt_tensor_t *small = tensor(kTileBytes - 4), *elsewhere = tensor(kTileBytes, 1);
  nrt_tensor_set_t* missing = set_of({{"a", s.a}});
  CHECK(nrt_execute(s.model, missing, s.out) == NRT_INVALID);
  CHECK(last_error().find("needs an input named b") != std::string::npos);
  nrt_tensor_set_t* unknown = set_of({{"a", s.a}, {"b", s.b}, {"z", s.b}});
  CHECK(nrt_execute(s.model, unknown, s.out) == NRT_INVALID);
  CHECK(last_error().find("no input named z") != std::string::npos);
  nrt_tensor_set_t* short_set = set_of({{"c", small}});
  CHECK(nrt_execute(s.model, s.in, short_set) == NRT_INVALID);
  CHECK(last_error().find("has 8188 bytes, the Program needs 8192") != std::string::npos);
  nrt_tensor_set_t* foreign = set_of({{"c", elsewhere}});
  CHECK(nrt_execute(s.model, s.in, foreign) == NRT_INVALID);
  CHECK(last_error().find("is on core 1") != std::string::npos);
  CHECK(nrt_execute(s.model, nullptr, s.out) == NRT_INVALID);
  CHECK(nrt_execute(nullptr, s.in, s.out) == NRT_INVALID);
  nrt_tensor_t* a = s.a;
  nrt_tensor_free(&a);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_INVALID_HANDLE);
}

TEST_CASE("sets give back and replace what was added, in any order") {
  const Runtime r;
  const Sum s;
  nrt_tensor_t* got = nullptr;
  CHECK(nrt_get_tensor_from_tensor_set(s.in, "b", &got) == NRT_SUCCESS);
  CHECK(got == s.b);
  CHECK(nrt_get_tensor_from_tensor_set(s.in, "q", &got) == NRT_INVALID);
  nrt_tensor_t* wrong = tensor(4);
  nrt_tensor_set_t* reversed = set_of({{"b", wrong}, {"a", s.a}, {"b", s.b}});
  CHECK(nrt_execute(s.model, reversed, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("larger tensors and slices can be bound") {
  const Runtime r;
  const Sum s;
  nrt_tensor_t *large = tensor(100'000), *slice = nullptr;
  REQUIRE(nrt_tensor_allocate_slice(large, 4000, 10'000, nullptr, &slice) == NRT_SUCCESS);
  nrt_tensor_set_t* out = set_of({{"c", slice}});
  CHECK(nrt_execute(s.model, s.in, out) == NRT_SUCCESS);
  float value = 0;
  CHECK(nrt_tensor_read(large, &value, 4000 + 4 * 7, 4) == NRT_SUCCESS);
  CHECK(value == 1007);
}

TEST_CASE("bindings by slot do the same without names") {
  const Runtime r;
  const Sum s;
  nrt_tensor_t* big = tensor(100'000);
  const nrt_sim_binding_t bindings[] = {{s.a, 0, kTileBytes}, {s.b, 0, kTileBytes}, {big, 512, kTileBytes}};
  nrta_seq_t seq = 0;
  CHECK(nrt_sim_execute(s.model, bindings, 3, nullptr, &seq) == NRT_SUCCESS);
  CHECK(nrt_sim_wait(seq) == NRT_SUCCESS);
  float value = 0;
  CHECK(nrt_tensor_read(big, &value, 512 + 4, 4) == NRT_SUCCESS);
  CHECK(value == 1001);
  CHECK(nrt_sim_execute(s.model, bindings, 2, nullptr, nullptr) == NRT_INVALID);
  const nrt_sim_binding_t outside[] = {{s.a, 0, kTileBytes}, {s.b, 8, kTileBytes}, {big, 0, kTileBytes}};
  CHECK(nrt_sim_execute(s.model, outside, 3, nullptr, nullptr) == NRT_INVALID);
  CHECK(nrt_sim_execute(s.model, nullptr, 3, nullptr, nullptr) == NRT_INVALID);
}

TEST_CASE("what is no executable is refused") {
  const Runtime r;
  nrt_model_t* m = nullptr;
  std::vector<std::byte> bytes = to_container(add_program());
  const auto load_status = [&](int vnc = 0) { return nrt_load(bytes.data(), bytes.size(), vnc, -1, &m); };
  CHECK(load_status(7) == NRT_INVALID);
  CHECK(nrt_load(nullptr, 100, 0, -1, &m) == NRT_INVALID);
  CHECK(nrt_load(bytes.data(), 100, 0, -1, &m) == NRT_INVALID);
  CHECK(nrt_load(bytes.data(), bytes.size(), 0, -1, nullptr) == NRT_INVALID);
  bytes[544] = std::byte{1};  // a feature bit
  CHECK(load_status() == NRT_UNSUPPORTED_NEFF_VERSION);
  bytes[544] = std::byte{0};
  bytes[2000] ^= std::byte{1};
  CHECK(load_status() == NRT_INVALID);
  CHECK(last_error().find("damaged") != std::string::npos);

  Program p = add_program();
  p.instructions[2].engine = Engine::tensor;
  bytes = to_container(p);
  CHECK(load_status() == NRT_INVALID);
  CHECK(last_error().find("tensor_tensor") != std::string::npos);
  p = add_program();
  p.target = "trn3";
  bytes = to_container(p);
  CHECK(load_status() == NRT_INVALID);
  p = add_program();
  p.slots.push_back({"huge", SlotUse::scratch, Dtype::uint8, int64_t{1} << 50, 0, {}});
  bytes = to_container(p);
  CHECK(load_status() == NRT_RESOURCE);
  CHECK(m == nullptr);
}

TEST_CASE("a Program for two physical cores needs them") {
  Program p = add_program();
  p.cores = 2;
  const auto bytes = to_container(p);
  nrt_model_t* m = nullptr;
  {
    const Runtime r{{"NEURON_LOGICAL_NC_CONFIG", "1"}};
    CHECK(nrt_load(bytes.data(), bytes.size(), 0, -1, &m) == NRT_LOAD_NOT_ENOUGH_NC);
  }
  const Runtime r;
  CHECK(nrt_load(bytes.data(), bytes.size(), 0, -1, &m) == NRT_SUCCESS);
}

TEST_CASE("models unload, are counted and described") {
  const Runtime r;
  const Sum s;
  uint32_t n = 0;
  CHECK(nrt_get_model_vnc_count(s.model, &n) == NRT_SUCCESS);
  CHECK(n == 1);
  nrt_tensor_info_array_t* info = nullptr;
  REQUIRE(nrt_get_model_tensor_info(s.model, &info) == NRT_SUCCESS);
  REQUIRE(info->tensor_count == 3);
  CHECK(std::strcmp(info->tensor_array[1].name, "b") == 0);
  CHECK(info->tensor_array[1].usage == NRT_TENSOR_USAGE_INPUT);
  CHECK(info->tensor_array[2].usage == NRT_TENSOR_USAGE_OUTPUT);
  CHECK(info->tensor_array[2].size == kTileBytes);
  CHECK(info->tensor_array[2].dtype == NRT_DTYPE_FLOAT32);
  REQUIRE(info->tensor_array[2].ndim == 2);
  CHECK(info->tensor_array[2].shape[1] == 16);
  CHECK(nrt_free_model_tensor_info(info) == NRT_SUCCESS);

  nrt_model_t* elsewhere = nullptr;  // -1: the first core without a model
  const auto bytes = to_container(add_program());
  REQUIRE(nrt_load(bytes.data(), bytes.size(), -1, -1, &elsewhere) == NRT_SUCCESS);
  nrt_model_info_t where{};
  CHECK(nrt_get_model_info(elsewhere, &where, sizeof where, nullptr) == NRT_SUCCESS);
  CHECK(where.vnc == 1);

  CHECK(nrt_unload(s.model) == NRT_SUCCESS);
  CHECK(nrt_unload(s.model) == NRT_INVALID_HANDLE);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_INVALID_HANDLE);
}

TEST_CASE("constants' memory goes with the model") {
  const Runtime r;
  nrt_vnc_memory_stats_t before{}, after{};
  nrt_model_t* first = load(increment_program());  // also makes the scratchpad
  nrt_get_vnc_memory_stats(0, &before, sizeof before, nullptr);
  nrt_model_t* m = load(increment_program());
  nrt_get_vnc_memory_stats(0, &after, sizeof after, nullptr);
  CHECK(after.bytes_used - before.bytes_used == static_cast<size_t>(kTileBytes));
  CHECK(nrt_unload(m) == NRT_SUCCESS);
  nrt_get_vnc_memory_stats(0, &after, sizeof after, nullptr);
  CHECK(after.bytes_used == before.bytes_used);
  CHECK(nrt_unload(first) == NRT_SUCCESS);
}

TEST_CASE("an error while running has its own status and leaves the core usable") {
  const Runtime r;
  const WrongGather g;
  CHECK(nrt_execute(g.model, g.in, g.out) == NRT_EXEC_OOB);
  CHECK(last_error().find("Program gather") != std::string::npos);
  CHECK(last_error().find("8 of 8 rows") != std::string::npos);
  const Sum s;
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("injection flips what a card writes") {
  const Runtime r{{"TRNSIM_INJECT", "tensor_tensor:31"}};
  const Sum s;
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(floats(s.c)[0] == -1000.f);
}
