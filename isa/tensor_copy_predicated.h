#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct TensorCopyPredicated {
  static constexpr std::string_view name = "tensor_copy_predicated";
  static constexpr std::string_view doc = "dst = src where predicate";
  static constexpr std::string_view source = "nki.isa.tensor_copy_predicated";
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
      Field{"dst", &Args::dst, ""},
      Field{"src", &Args::src, ""},
      Field{"predicate", &Args::predicate, ""},
      Field{"reverse_pred", &Args::reverse_pred, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
