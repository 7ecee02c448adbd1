#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/strided_copy.h"

namespace trn {

// Bit-exact where the dtypes are the same; otherwise through fp32, integers to integers exactly.
struct TensorCopy {
  static constexpr std::string_view name = "tensor_copy";
  static constexpr std::string_view doc = "dst = src, cast to dst's dtype";
  static constexpr std::string_view source = "nki.isa.tensor_copy; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::scalar, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"src", &Args::src, "SBUF or PSUM tile of the same size (GpSimd: SBUF only)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = packed_tile("dst", a.dst, s, false)) return bad;
    if (auto bad = packed_tile("src", a.src, s)) return bad;
    if (is_packed(a.dst.dtype) || is_packed(a.src.dtype))
      if (a.dst.dtype != a.src.dtype)
        return breaks(RuleKind::dtype, "a packed dtype cannot be cast: src is ", trn::name(a.src.dtype), ", dst ",
                      trn::name(a.dst.dtype));
    if (auto bad = same_size("src", a.src, "dst", a.dst)) return bad;
    if (e == Engine::scalar && s.generation < Generation::trn2)
      return illegal("scalar runs tensor_copy from trn2 (NeuronCore-v3) on, activation's copy before; this machine is ",
                     s.name);
    return engine_reach(e, {&a.dst, &a.src});
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    if (e == Engine::gpsimd) return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
    return e == Engine::scalar ? engine_cost::copy_on_scalar(a.dst, a.src, s)
                               : engine_cost::copy_on_vector(a.dst, a.src, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    a.dst.dtype == a.src.dtype ? copy_elements(a.dst, a.src, m) : run_cast(a.dst, a.src, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"out of PSUM with a cast", {sbuf(128, 512, Dtype::bfloat16), psum(128, 512)}, ""},
        {"same dtype", {sbuf(64, 40, Dtype::int16, 8192), sbuf(64, 40, Dtype::int16)}, ""},
        {"one partition to all", {sbuf(128, 8, Dtype::float32, 64), broadcast(sbuf(1, 8), 128)}, ""},
        {"shapes differ", {sbuf(128, 512), psum(128, 256)}, "src has 256 elements per partition but dst has 512"},
        {"129 partitions", {sbuf(129, 4), sbuf(129, 4, Dtype::float32, 64)}, "dst has 129 partitions"},
        {"96 partitions from 32",
         {at_partition(sbuf(96, 4), 32), sbuf(96, 4, Dtype::float32, 64)},
         "dst start partition 32"},
        {"int64", {sbuf(128, 4, Dtype::int64), sbuf(128, 4, Dtype::int64, 64)}, "dst dtype int64"},
        {"past the end", {sbuf(128, 4, Dtype::float32, 229376), sbuf(128, 4)}, "dst bytes 229376..229392"},
    };
  }
};

}  // namespace trn
