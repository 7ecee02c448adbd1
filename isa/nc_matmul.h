#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/rules.h"

namespace trn {

// One product on the Tensor engine: load `stationary` into the array, stream `moving` through it (two instructions in a
// profile, LDWEIGHTS and MATMUL). Inputs are widened to fp32, products accumulate in fp32 with one rounding per k in
// rising order.
struct NcMatmul {
  static constexpr std::string_view name = "nc_matmul";
  static constexpr std::string_view doc = "dst (+)= stationary.T @ moving";
  static constexpr std::string_view source = "nki.isa.nc_matmul; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::tensor};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};         // PSUM [M, N] float32
    Access stationary{};  // SBUF [K, M]
    Access moving{};      // SBUF [K, N]
    bool is_stationary_onezero = false;
    bool is_moving_onezero = false;
    bool is_transpose = false;
    bool accumulate = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "PSUM [M, N] float32, inside one bank; in transpose mode stationary's dtype"},
      Field{"stationary", &Args::stationary, "SBUF [K <= 128, M <= 128]"},
      Field{"moving", &Args::moving, "SBUF [K, N <= 512]"},
      Field{"is_stationary_onezero", &Args::is_stationary_onezero,
            "hint: stationary holds only 0 and 1 (half the fp32 passes)"},
      Field{"is_moving_onezero", &Args::is_moving_onezero, "hint: moving holds only 0 and 1 (half the fp32 passes)"},
      Field{"is_transpose", &Args::is_transpose, "bit-exact transpose of stationary; moving is an identity"},
      Field{"accumulate", &Args::accumulate,
            "add to dst, which an earlier nc_matmul wrote, instead of overwriting it"}};

  static bool is_wide(Dtype d) { return size_of(d) == 4; }

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::psum)) return bad;
    if (auto bad = in_space("stationary", a.stationary, Space::sbuf)) return bad;
    if (auto bad = in_space("moving", a.moving, Space::sbuf)) return bad;
    if (auto bad = tile("stationary", a.stationary, s)) return bad;
    if (auto bad = tile("moving", a.moving, s)) return bad;
    const int64_t k = a.stationary.partitions(), m = a.stationary.free_elements(), n = a.moving.free_elements();
    if (a.moving.partitions() != k)
      return illegal("stationary has ", k, " partitions but moving has ", a.moving.partitions(),
                     ": the contraction sizes differ");
    if (k > s.pe_rows)
      return illegal("stationary has ", k, " partitions, more than ", static_cast<int>(s.pe_rows),
                     " rows of the array");
    if (m > s.pe_columns)
      return illegal("stationary has ", m, " columns, more than ", static_cast<int>(s.pe_columns), " of the array");
    if (n > s.matmul_moving_max)
      return illegal("moving has ", n, " columns, more than ", static_cast<int>(s.matmul_moving_max));
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (a.dst.partitions() != m || a.dst.free_elements() != n)
      return illegal("dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", m, ", ", n, "]");
    if (auto bad = one_bank("dst", a.dst, s)) return bad;
    if (auto bad = matmul_dtype("stationary", a.stationary.dtype)) return bad;
    if (auto bad = matmul_dtype("moving", a.moving.dtype)) return bad;
    if (is_wide(a.stationary.dtype) != is_wide(a.moving.dtype))
      return illegal("stationary is ", trn::name(a.stationary.dtype), " and moving ", trn::name(a.moving.dtype),
                     ": float32 and tfloat32 mix only with each other");
    if (!a.is_transpose && a.dst.dtype != Dtype::float32)
      return illegal("dst must be float32, not ", trn::name(a.dst.dtype));
    if (!a.is_transpose) return {};
    if (a.dst.dtype != a.stationary.dtype)
      return illegal("dst must be ", trn::name(a.stationary.dtype), " in transpose mode, as stationary is");
    if (n != k) return illegal("moving must be a ", k, " x ", k, " identity in transpose mode");
    if (a.accumulate) return illegal("accumulate has no meaning in transpose mode");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const bool wide = a.stationary.dtype == Dtype::float32;
    return matmul_cost(a.stationary.partitions(), a.stationary.free_elements(), a.moving.free_elements(), wide,
                       a.is_transpose, a.is_stationary_onezero || a.is_moving_onezero, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    if (a.is_transpose) return run_identity_transpose(a.dst, a.stationary, a.moving, m);
    run_matmul(a.dst, a.stationary, a.moving, a.accumulate, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, fp = Dtype::float32;
    return {
        {"a full tile", {psum(128, 512), sbuf(128, 128, bf), sbuf(128, 512, bf, 512)}, ""},
        {"fp32, accumulating",
         {.dst = psum(32, 100), .stationary = sbuf(64, 32), .moving = sbuf(64, 100, fp, 512), .accumulate = true},
         ""},
        {"fp32 with bfloat16",
         {psum(128, 512), sbuf(128, 128, fp), sbuf(128, 512, bf, 1024)},
         "stationary is float32 and moving bfloat16"},
        {"513 columns", {psum(128, 513), sbuf(128, 128, bf), sbuf(128, 513, bf, 512)}, "moving has 513 columns"},
        {"result in SBUF",
         {sbuf(128, 512, fp, 4096), sbuf(128, 128, bf), sbuf(128, 512, bf, 512)},
         "dst must be in psum"},
        {"contraction 64 with 128",
         {psum(128, 512), sbuf(64, 128, bf), sbuf(128, 512, bf, 512)},
         "stationary has 64 partitions but moving has 128"},
        {"across two banks",
         {psum(128, 512, fp, 1024), sbuf(128, 128, bf), sbuf(128, 512, bf, 512)},
         "dst bytes 1024..3072 cross a PSUM bank"},
        {"integers",
         {psum(128, 512), sbuf(128, 128, Dtype::int8), sbuf(128, 512, Dtype::int8, 512)},
         "stationary dtype int8"},
    };
  }
};

}  // namespace trn
