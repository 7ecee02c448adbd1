#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

struct TensorCopyPredicated {
  static constexpr std::string_view name = "tensor_copy_predicated";
  static constexpr std::string_view doc = "dst = src where predicate";
  static constexpr std::string_view source = "nki.isa.tensor_copy_predicated; time as tensor_tensor (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Operand src{};
    Access predicate{};
    bool reverse_pred = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile; elements that are not chosen keep their value"},
      Field{"src", &Args::src, "tile of the same size and dtype, or an immediate"},
      Field{"predicate", &Args::predicate, "uint8, uint16, uint32 or bool tile; not 0 chooses; not in PSUM if src is"},
      Field{"reverse_pred", &Args::reverse_pred, "0 chooses"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = predicate("predicate", a.predicate, "dst", a.dst, s)) return bad;
    const Dtype w = a.predicate.dtype;
    if (w != Dtype::uint8 && w != Dtype::uint16 && w != Dtype::uint32 && w != Dtype::boolean)
      return breaks(RuleKind::dtype, "predicate must be uint8, uint16 or uint32, not ", trn::name(w));
    if (!a.src.is_tile()) return {};
    if (auto bad = tile("src", a.src.tile, s)) return bad;
    if (auto bad = same_size("src", a.src.tile, "dst", a.dst)) return bad;
    if (auto bad = not_both_psum("src", a.src.tile, "predicate", a.predicate)) return bad;
    if (a.src.tile.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "src is ", trn::name(a.src.tile.dtype), " but dst is ", trn::name(a.dst.dtype));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const auto cycles = static_cast<double>(a.dst.free_elements());
    return engine_cost::vector(cycles, s.vector_tensor_latency_ns, s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_copy_predicated(a.dst, a.src, a.predicate, a.reverse_pred, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto u8 = Dtype::uint8;
    const Access out = sbuf(128, 64, Dtype::float32, 512), x = sbuf(128, 64), where = sbuf(128, 64, u8, 8192);
    return {
        {"a tile", {.dst = out, .src = {x}, .predicate = where}, ""},
        {"a number where 0", {.dst = out, .src = number(-1), .predicate = where, .reverse_pred = true}, ""},
        {"a float predicate", {.dst = out, .src = {x}, .predicate = x}, "predicate must be of an integer"},
        {"another dtype",
         {.dst = out, .src = {sbuf(128, 64, Dtype::bfloat16)}, .predicate = where},
         "src is bfloat16 but dst is float32"},
        {"both in PSUM",
         {.dst = out, .src = {psum(128, 64)}, .predicate = psum(128, 64, u8, 2048)},
         "src and predicate are both in PSUM"},
    };
  }
};

}  // namespace trn
