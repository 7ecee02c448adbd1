#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/rules.h"

namespace trn {

// One product on the Tensor engine: load `stationary` into the array, stream `moving` through it (two instructions in a
// profile, LDWEIGHTS and MATMUL). Inputs are widened to fp32, products accumulate in fp32 with one rounding per k in
// rising order; with double_row the first 128 of the contraction, then the second. Tiles of the array (tile_position,
// tile_size) change no value; that disjoint ones run at the same time is not modelled, as no interval is public.
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
    RowColumn tile_position{0, 0};
    RowColumn tile_size{128, 128};
    MatmulPerfMode perf_mode = MatmulPerfMode::none;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst,
            "PSUM [M, N] float32 (trn3: or bfloat16), inside one bank; in transpose mode stationary's dtype"},
      Field{"stationary", &Args::stationary, "SBUF [K <= 128, M <= 128]; with double_row [K, 2, M]"},
      Field{"moving", &Args::moving, "SBUF [K, N <= 512]; with double_row [K, 2, N]"},
      Field{"is_stationary_onezero", &Args::is_stationary_onezero,
            "hint: stationary holds only 0 and 1 (half the fp32 passes)"},
      Field{"is_moving_onezero", &Args::is_moving_onezero, "hint: moving holds only 0 and 1 (half the fp32 passes)"},
      Field{"is_transpose", &Args::is_transpose, "bit-exact transpose of stationary; moving is an identity"},
      Field{"accumulate", &Args::accumulate, "add to dst, which an earlier nc_matmul wrote, instead of overwriting it"},
      Field{"tile_position", &Args::tile_position, "first row and column of the part of the array that works"},
      Field{"tile_size", &Args::tile_size, "its rows and columns: 32, 64 or 128 each"},
      Field{"perf_mode", &Args::perf_mode, "double_row: two float8 rows of the contraction at once"}};

  static bool is_wide(Dtype d) { return size_of(d) == 4; }
  static bool is_doubled(const Args& a) { return a.perf_mode == MatmulPerfMode::double_row; }

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::psum)) return bad;
    if (auto bad = in_space("stationary", a.stationary, Space::sbuf)) return bad;
    if (auto bad = in_space("moving", a.moving, Space::sbuf)) return bad;
    if (auto bad = tile("stationary", a.stationary, s)) return bad;
    if (auto bad = tile("moving", a.moving, s)) return bad;
    const int rows_at_once = is_doubled(a) ? 2 : 1;
    const int64_t k = a.stationary.partitions(), m = a.stationary.free_elements() / rows_at_once,
                  n = a.moving.free_elements() / rows_at_once;
    if (is_doubled(a))
      if (auto bad = double_row(a.stationary, a.moving, s)) return bad;
    if (auto bad = array_tile(a.tile_position, a.tile_size, k, m, s)) return bad;
    if (is_doubled(a) && a.tile_size[1] != s.pe_columns)
      return illegal("double_row and column tiling exclude each other");
    if (is_doubled(a) && a.is_transpose) return illegal("double_row and transpose mode exclude each other");
    if (a.moving.partitions() != k)
      return breaks(RuleKind::shape, "stationary has ", k, " partitions but moving has ", a.moving.partitions(),
                    ": the contraction sizes differ");
    const bool narrow_dst = s.generation >= Generation::trn3 && a.dst.dtype == Dtype::bfloat16;
    const int most = static_cast<int>(s.matmul_moving_max) * (narrow_dst ? 2 : 1);
    if (n > most) return breaks(RuleKind::shape, "moving has ", n, " columns, more than ", most);
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (a.dst.partitions() != m || a.dst.free_elements() != n)
      return breaks(RuleKind::shape, "dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", m, ", ",
                    n, "]");
    if (s.generation < Generation::trn3)
      if (auto bad = one_bank("dst", a.dst, s)) return bad;
    if (auto bad = matmul_dtypes(a.stationary.dtype, a.moving.dtype, s)) return bad;
    if (is_wide(a.stationary.dtype) != is_wide(a.moving.dtype))
      return breaks(RuleKind::dtype, "stationary is ", trn::name(a.stationary.dtype), " and moving ",
                    trn::name(a.moving.dtype), ": float32 and tfloat32 mix only with each other");
    // Before NeuronCore-v3 a transpose is a product.
    const bool product = !a.is_transpose || s.generation < Generation::trn2;
    if (product && a.dst.dtype != Dtype::float32 && !narrow_dst)
      return breaks(RuleKind::dtype, "dst must be float32, not ", trn::name(a.dst.dtype));
    if (!a.is_transpose) return {};
    if (!product)
      if (auto bad = transposed_dtype(a.dst.dtype, a.stationary.dtype)) return bad;
    if (n != k) return illegal("moving must be a ", k, " x ", k, " identity in transpose mode");
    if (a.accumulate) return illegal("accumulate has no meaning in transpose mode");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const bool wide = a.stationary.dtype == Dtype::float32 || a.moving.dtype == Dtype::float32;
    const int rows_at_once = is_doubled(a) ? 2 : 1;
    return matmul_cost(a.stationary.partitions() * rows_at_once, a.stationary.free_elements() / rows_at_once,
                       a.moving.free_elements() / rows_at_once, wide, a.is_transpose,
                       a.is_stationary_onezero || a.is_moving_onezero, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    const bool as_product = a.dst.dtype == Dtype::float32 && a.stationary.dtype != Dtype::float32;
    if (a.is_transpose && !as_product) return run_identity_transpose(a.dst, a.stationary, a.moving, m);
    if (!is_doubled(a)) return run_matmul(a.dst, a.stationary, a.moving, a.accumulate, m);
    run_matmul(a.dst, row_of_pair(a.stationary, 0), row_of_pair(a.moving, 0), a.accumulate, m);
    run_matmul(a.dst, row_of_pair(a.stationary, 1), row_of_pair(a.moving, 1), true, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, fp = Dtype::float32, f8 = Dtype::float8_e4m3;
    // [P, 2 n] as [P, 2, n].
    const auto pairs = [](Access a) {
      a.ndim = 3;
      a.dims[2] = {1, a.dims[1].count / 2};
      a.dims[1] = {a.dims[2].count, 2};
      return a;
    };
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
        {"float8, two rows at once",
         {.dst = psum(128, 512),
          .stationary = pairs(sbuf(128, 256, f8)),
          .moving = pairs(sbuf(128, 1024, Dtype::float8_e5m2, 512)),
          .perf_mode = MatmulPerfMode::double_row},
         ""},
        {"the array's lower left quarter",
         {.dst = psum(64, 100),
          .stationary = at_partition(sbuf(64, 64, bf), 64),
          .moving = at_partition(sbuf(64, 100, bf, 512), 64),
          .tile_position = {64, 0},
          .tile_size = {64, 64}},
         ""},
        {"two rows of bfloat16 at once",
         {.dst = psum(128, 512),
          .stationary = pairs(sbuf(128, 256, bf)),
          .moving = pairs(sbuf(128, 1024, bf, 512)),
          .perf_mode = MatmulPerfMode::double_row},
         "double_row takes float8_e4m3 or float8_e5m2"},
        {"two rows that are none",
         {.dst = psum(128, 512),
          .stationary = sbuf(128, 256, f8),
          .moving = sbuf(128, 1024, f8, 512),
          .perf_mode = MatmulPerfMode::double_row},
         "stationary's first free dim must be 2"},
        {"a tile between two",
         {.dst = psum(64, 100),
          .stationary = sbuf(64, 64, bf),
          .moving = sbuf(64, 100, bf, 512),
          .tile_position = {32, 0},
          .tile_size = {64, 64}},
         "tile_position (32, 0) is not a multiple of tile_size"},
        {"more than the tile",
         {.dst = psum(64, 100),
          .stationary = sbuf(64, 64, bf),
          .moving = sbuf(64, 100, bf, 512),
          .tile_size = {32, 64}},
         "stationary has 64 partitions, more than 32 rows"},
        {"integers",
         {psum(128, 512), sbuf(128, 128, Dtype::int8), sbuf(128, 512, Dtype::int8, 512)},
         "stationary dtype int8"},
    };
  }
};

}  // namespace trn
