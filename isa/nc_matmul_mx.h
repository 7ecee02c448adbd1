#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/mx.h"
#include "isa/rules.h"

namespace trn {

// Products accumulate in fp32 as nc_matmul's do, over 4 K elements.
struct NcMatmulMx {
  static constexpr std::string_view name = "nc_matmul_mx";
  static constexpr std::string_view doc = "dst (+)= stationary.T @ moving of scaled float8 or float4 elements";
  static constexpr std::string_view source =
      "nki.isa.nc_matmul_mx; trainium3_arch (four times bfloat16's rate); interval as nc_matmul's on trn2 (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::tensor};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, stationary{}, moving{}, stationary_scale{}, moving_scale{};
    RowColumn tile_position{0, 0};
    RowColumn tile_size{128, 128};
    bool accumulate = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "PSUM [M, N] float32 or bfloat16"},
      Field{"stationary", &Args::stationary, "SBUF [K, M <= 128] of packed words, K a multiple of 32, M even"},
      Field{"moving", &Args::moving, "SBUF [K, N] of packed words"},
      Field{"stationary_scale", &Args::stationary_scale, "SBUF float8_e8m0fnu or uint8: 4 rows a quadrant, M columns"},
      Field{"moving_scale", &Args::moving_scale, "the same with N columns"},
      Field{"tile_position", &Args::tile_position, "first row of the part of the array that works; column 0"},
      Field{"tile_size", &Args::tile_size, "its rows: 32, 64 or 128; columns 128"},
      Field{"accumulate", &Args::accumulate, "add to dst, which an earlier matmul wrote"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::psum)) return bad;
    if (auto bad = mx_pair("stationary", a.stationary, "stationary_scale", a.stationary_scale, s, true)) return bad;
    if (auto bad = mx_pair("moving", a.moving, "moving_scale", a.moving_scale, s, true)) return bad;
    const int64_t k = a.stationary.partitions(), m = a.stationary.free_elements(), n = a.moving.free_elements();
    if (a.moving.partitions() != k)
      return breaks(RuleKind::shape, "stationary has ", k, " partitions but moving has ", a.moving.partitions(),
                    ": the contraction sizes differ");
    if (m % 2 != 0) return breaks(RuleKind::shape, "stationary has ", m, " columns, not an even number");
    if (a.tile_size[1] != s.pe_columns || a.tile_position[1] != 0)
      return breaks(RuleKind::shape, "nc_matmul_mx tiles the array's rows only: column 0 and size 128");
    if (auto bad = array_tile(a.tile_position, a.tile_size, k, m, s)) return bad;
    if (a.dst.dtype != Dtype::float32 && a.dst.dtype != Dtype::bfloat16)
      return breaks(RuleKind::dtype, "dst must be float32 or bfloat16, not ", trn::name(a.dst.dtype));
    const int most = static_cast<int>(s.matmul_moving_max) * (a.dst.dtype == Dtype::bfloat16 ? 2 : 1);
    if (n > most) return breaks(RuleKind::shape, "moving has ", n, " columns, more than ", most);
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (a.dst.partitions() != m || a.dst.free_elements() != n)
      return breaks(RuleKind::shape, "dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", m, ", ",
                    n, "]");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return matmul_cost(4 * a.stationary.partitions(), a.stationary.free_elements(), a.moving.free_elements(), false,
                       false, false, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_matmul_mx(a.dst, {a.stationary, a.stationary_scale}, {a.moving, a.moving_scale}, a.accumulate, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto f8 = Dtype::float8_e4m3fn_x4, f4 = Dtype::float4_e2m1fn_x4, e8 = Dtype::float8_e8m0fnu;
    const Access w = sbuf(64, 32, f8), x = sbuf(64, 100, f4, 1024), ws = sbuf(36, 32, e8, 4096),
                 xs = sbuf(36, 100, e8, 8192), out = psum(32, 100);
    return {
        {"float8 by float4", {out, w, x, ws, xs}, ""},
        {"plain float8", {out, sbuf(64, 32, Dtype::float8_e4m3), x, ws, xs}, "stationary must be of a packed dtype"},
        {"48 partitions", {out, sbuf(48, 32, f8), x, ws, xs}, "stationary has 48 partitions, not a multiple of 32"},
        {"one quadrant's scales", {out, w, x, sbuf(4, 32, e8, 4096), xs}, "stationary_scale has 4 partitions, not 36"},
        {"float scales",
         {out, w, x, sbuf(36, 32, Dtype::float32, 4096), xs},
         "stationary_scale must be float8_e8m0fnu"},
        {"columns of the array",
         {.dst = out, .stationary = w, .moving = x, .stationary_scale = ws, .moving_scale = xs, .tile_size = {64, 64}},
         "nc_matmul_mx tiles the array's rows only"},
    };
  }
};

}  // namespace trn
