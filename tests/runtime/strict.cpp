#include <cmath>
#include <limits>

#include "isa/assembly.h"
#include "tests/runtime/nrt_fixture.h"

using namespace trn;
using namespace trn::test;
using Catch::Contains;

namespace {

struct Strict : Runtime {
  Strict() : Runtime({{"TRNSIM_STRICT", "1"}}) {}
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// A Program of one input and one output of [128, 16] float32, run on `values`.
struct Ran {
  NRT_STATUS status;
  std::string error;
  std::vector<float> y;
};
Ran run(const Program& p, const std::vector<float>& values) {
  nrt_model_t* m = load(p);
  nrt_tensor_t *x = tensor_of(values), *y = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({{"y", y}});
  const NRT_STATUS status = nrt_execute(m, in, out);
  return {status, last_error(), floats(y)};
}

// y = f(x).
Program elementwise(const std::string& instruction) {
  return from_assembly(R"(program "f" target "trn2" cores 1
slot 0 input "x" float32 8192 [128,16]
slot 1 output "y" float32 8192 [128,16]
source 1 "aten::f"
c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x16] src=hbm.float32@s0+0[16x128,1x16] queue=0 post=s0
)" + instruction + R"( wait=s0>=1 post=s1
c0.sync dma_copy dst=hbm.float32@s1+0[16x128,1x16] src=sbuf.float32@p0+64[1x128,1x16] queue=0 wait=s1>=1 post=s0 from=1
)");
}
constexpr const char* kLog =
    "c0.scalar activation dst=sbuf.float32@p0+64[1x128,1x16] op=log data=sbuf.float32@p0+0[1x128,1x16]";
constexpr const char* kDifference =
    "c0.vector tensor_tensor dst=sbuf.float32@p0+64[1x128,1x16] data1=sbuf.float32@p0+0[1x128,1x16] "
    "data2=sbuf.float32@p0+0[1x128,1x16] op=subtract";
constexpr const char* kQuotient =
    "c0.vector tensor_tensor dst=sbuf.float32@p0+64[1x128,1x16] data1=sbuf.float32@p0+0[1x128,1x16] "
    "data2=sbuf.float32@p0+0[1x128,1x16] op=divide";

std::vector<float> all(float value) { return std::vector<float>(128 * 16, value); }
std::vector<float> one_of(float value) {
  std::vector<float> v = all(1);
  v[17] = value;
  return v;
}

}  // namespace

TEST_CASE("a clean Program runs as ever in strict mode") {
  const Strict r;
  const Sum s;
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
  CHECK(run(elementwise(kLog), all(1)).status == NRT_SUCCESS);
  CHECK(run(elementwise(kDifference), all(5)).y[3] == 0);
}

TEST_CASE("NaN that a Program makes is status 1003, with the element and the store; it completes all the same") {
  const Strict r;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::tuple<const char*, float> made[] = {
      {kLog, -1.f}, {kDifference, infinity}, {kQuotient, 0.f}, {kDifference, -infinity}};
  for (const auto& [instruction, value] : made) {
    INFO(instruction << " of " << value);
    const Ran f = run(elementwise(instruction), one_of(value));
    CHECK(f.status == NRT_EXEC_COMPLETED_WITH_NUM_ERR);
    CHECK_THAT(f.error, Contains("numerical error") && Contains("output \"y\"") && Contains("element 17 ") &&
                            Contains("#2 c0.sync dma_copy") && Contains("aten::f"));
    CHECK(std::isnan(f.y[17]));
    CHECK_FALSE(std::isnan(f.y[16]));
  }
  CHECK(run(elementwise(kDifference), one_of(std::nanf(""))).status == NRT_SUCCESS);  // it was there before
}

TEST_CASE("outside strict mode NaN is a value") {
  const Runtime r;
  CHECK(run(elementwise(kLog), all(-1)).status == NRT_SUCCESS);
}

TEST_CASE("an index that leaves its table is status 1006 in every card that has one") {
  const Strict r;
  const std::string gather = to_assembly(gather_program());
  const auto executed = [](const std::string& text, int32_t index) {
    nrt_model_t* m = load(from_assembly(text));
    std::vector<int32_t> ids(16, 1);
    ids[5] = index;
    nrt_tensor_t *table = tensor_of(std::vector<float>(32, 1.f)), *i = tensor_of(ids), *y = tensor(16 * 4 * 4);
    nrt_tensor_set_t *in = set_of({{"table", table}, {"index", i}}), *out = set_of({{"y", y}});
    return nrt_execute(m, in, out);
  };
  CHECK(executed(gather, 7) == NRT_SUCCESS);
  CHECK(executed(gather, 8) == NRT_EXEC_OOB);
  CHECK_THAT(last_error(), Contains("8 of 8 rows") && Contains("#1 dma_copy"));
  CHECK(executed(gather, -1) == NRT_EXEC_OOB);
  const std::string skipped = replaced(gather, " queue=0 wait=s0>=1", " oob_mode=skip queue=0 wait=s0>=1");
  CHECK(executed(skipped, 8) == NRT_SUCCESS);
  const std::string on_chip = replaced(
      replaced(gather, "c0.gpsimd dma_copy dst=sbuf.float32@p0+0[1x16,1x4]",
               "c0.gpsimd nc_n_gather dst=sbuf.float32@p0+0[1x16,1x1] data=sbuf.float32@p0+8192[1x16,1x4] "
               "indices=sbuf.uint32@p0+4096[1x16,1x1] wait=s0>=1 post=s1\n; "),
      "c0.sync dma_copy dst=sbuf.int32",
      "c0.vector memset dst=sbuf.float32@p0+8192[1x16,1x4] post=s9\nc0.vector memset dst=sbuf.float32@p0+0[1x16,1x4] "
      "post=s9\nc0.sync dma_copy dst=sbuf.int32");
  const std::string waited = replaced(on_chip, "wait=s0>=1 post=s1", "wait=s0>=1,s9>=2 post=s1");
  CHECK(executed(waited, 3) == NRT_SUCCESS);
  CHECK(executed(waited, 4) == NRT_EXEC_OOB);
}

TEST_CASE("a hazard ends the execution with a status and an explanation, in every mode") {
  const std::string text = to_assembly(add_program());
  struct Case {
    std::string program;
    NRT_STATUS status;
    const char* words;
  };
  const Case cases[] = {
      {replaced(text, "wait=s1>=1", "wait=s0>=1"), NRT_EXEC_COMPLETED_WITH_ERR, "missing: wait=s1>=1 of #2"},
      {replaced(text, "data1=sbuf.float32@p0+0[", "data1=sbuf.float32@p0+1024["), NRT_EXEC_HW_ERR_NC_UE,
       "uninitialised read"},
      {replaced(replaced(text, "dst=sbuf.float32@p0+128[", "dst=sbuf.float32@p0+32["), "src=sbuf.float32@p0+128[",
                "src=sbuf.float32@p0+32["),
       NRT_EXEC_COMPLETED_WITH_ERR, "overlap"},
  };
  for (const Case& c : cases)
    for (const char* mode : {"function", "time", "both"}) {
      const Runtime r{{"TRNSIM_STRICT", "1"}, {"TRNSIM_MODE", mode}};
      const Sum good;
      nrt_model_t* m = load(from_assembly(c.program));
      INFO(c.program);
      CHECK(nrt_execute(m, good.in, good.out) == c.status);
      CHECK_THAT(last_error(), Contains(c.words));
      CHECK(nrt_execute(m, good.in, good.out) == c.status);
      CHECK(nrt_execute(good.model, good.in, good.out) == NRT_SUCCESS);
    }
  const Runtime r;  // not asked for
  const Sum good;
  CHECK(nrt_execute(load(from_assembly(cases[0].program)), good.in, good.out) == NRT_SUCCESS);
}

TEST_CASE("a run that data decides is judged by what it has read") {
  const Strict r;
  // y = x, n times over: the second load waits for nothing.
  nrt_model_t* m = load(from_assembly(R"(program "counted" target "trn2" cores 1
slot 0 input "x" float32 8192 [128,16]
slot 1 input "n" int32 4 [1]
slot 2 output "y" float32 8192 [128,16]
c0.sync register_load dst=r1 src=hbm.int32@s1+0[1x1]
c0.scalar register_load dst=r1 src=hbm.int32@s1+0[1x1]
c0.sync loop counter=r0 stop=r1
c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x16] src=hbm.float32@s0+0[16x128,1x16] queue=0 post=s0
c0.sync end_loop
c0.scalar loop counter=r0 stop=r1
c0.scalar dma_copy dst=hbm.float32@s2+0[16x128,1x16] src=sbuf.float32@p0+0[1x128,1x16] queue=1 wait=s0>=1+1*r0
c0.scalar end_loop
)"));
  const auto times = [&](int32_t n) {
    nrt_tensor_t *x = tensor_of(all(1)), *count = tensor_of(std::vector<int32_t>{n}), *y = tensor(kTileBytes);
    return nrt_execute(m, set_of({{"x", x}, {"n", count}}), set_of({{"y", y}}));
  };
  CHECK(times(0) == NRT_SUCCESS);
  CHECK(times(1) == NRT_SUCCESS);
  for (const int32_t n : {2, 3}) {
    CHECK(times(n) == NRT_EXEC_COMPLETED_WITH_ERR);
    CHECK_THAT(last_error(), Contains("race") && Contains("#3 dma_copy (DMA queue 0) overwrites what #"));
  }
  CHECK(times(1) == NRT_SUCCESS);
}

TEST_CASE("a deadlock is refused with its circle") {
  const Strict r;
  const std::string text = replaced(to_assembly(add_program()), "c0.sync dma_copy", "c0.sync dma_copy wait=s3>=1");
  const auto bytes = to_container(from_assembly(text));
  nrt_model_t* m = nullptr;
  CHECK(nrt_load(bytes.data(), bytes.size(), 0, -1, &m) == NRT_INVALID);
  CHECK_THAT(last_error(), Contains("deadlock") && Contains("waits for s3>=1"));
}

TEST_CASE("TRNSIM_STRICT is 0 or 1") {
  const Environment e{{"TRNSIM_STRICT", "yes"}};
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_INVALID);
}
