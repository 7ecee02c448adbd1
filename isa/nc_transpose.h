#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/rules.h"

namespace trn {

// Bit-exact on both engines. On Tensor: data is the stationary operand, an identity streams through (nc_matmul in
// transpose mode).
struct NcTranspose {
  static constexpr std::string_view name = "nc_transpose";
  static constexpr std::string_view doc = "dst = data.T; Tensor: up to 128x128, SBUF to PSUM; Vector: up to 32x32";
  static constexpr std::string_view source =
      "nki.isa.nc_transpose; intervals from public trn2 profiles (Tensor), cost formula of aws-neuron-sdk 1db4d74e "
      "(Vector)";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::tensor, Engine::vector};
  static constexpr bool is_dma = false;
  static constexpr int kVectorSide = 32;

  struct Args {
    Access dst{};   // [F, P]
    Access data{};  // [P, F]
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "[F, P]; Tensor writes PSUM"},
                                     Field{"data", &Args::data, "[P, F], free dims flattened; Tensor reads SBUF"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    const int64_t p = a.data.partitions(), f = a.data.free_elements();
    const int most = e == Engine::vector ? kVectorSide : static_cast<int>(s.pe_rows);
    if (p > most || f > most)
      return breaks(RuleKind::shape, "data is [", p, ", ", f, "], more than [", most, ", ", most, "] on ",
                    trn::name(e));
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (a.dst.partitions() != f || a.dst.free_elements() != p)
      return breaks(RuleKind::shape, "dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", f, ", ",
                    p, "]");
    if (a.dst.dtype != a.data.dtype)
      return breaks(RuleKind::dtype, "dst is ", trn::name(a.dst.dtype), " but data is ", trn::name(a.data.dtype));
    if (e == Engine::vector) return {};
    if (auto bad = in_space("data", a.data, Space::sbuf)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::psum)) return bad;
    return one_bank("dst", a.dst, s);
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    const int64_t p = a.data.partitions(), f = a.data.free_elements();
    if (e == Engine::tensor) return matmul_cost(p, f, p, size_of(a.data.dtype) == 4, true, false, s);
    return engine_cost::vector(static_cast<double>(f), s.vector_copy_latency_ns, s.vector_copy_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_transpose(a.dst, a.data, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16;
    return {
        {"a full tile on Tensor", {psum(128, 128, bf), sbuf(128, 128, bf)}, ""},
        {"a narrow tile", {psum(32, 16), sbuf(16, 32)}, ""},
        {"129 columns", {psum(128, 128, bf), sbuf(128, 129, bf)}, "data is [128, 129], more than"},
        {"another dtype", {psum(32, 32), sbuf(32, 32, bf)}, "dst is float32 but data is bfloat16"},
        {"shape not turned", {psum(16, 32), sbuf(16, 32)}, "dst is [16, 32], not [32, 16]"},
    };
  }
};

}  // namespace trn
