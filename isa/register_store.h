#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/examples.h"
#include "isa/sequencer.h"

namespace trn {

// The low bytes, where dst is narrower than 32 bits.
struct RegisterStore {
  static constexpr std::string_view name = "register_store";
  static constexpr std::string_view doc = "the one word of dst, in HBM or SBUF, = src";
  static constexpr std::string_view source = "nki.isa.register_store; time assumed: WRITE of public trn2 profiles";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::registers;

  struct Args {
    Access dst{};
    Register src{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "HBM or SBUF, 1 element of at most 32 bits"},
                                     Field{"src", &Args::src, "register"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    if (auto bad = rules::runs_on(engines, e)) return bad;
    return control::word("dst", a.dst, s, false);
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.register_store_ns, e, s); }
  static void step(const Args& a, Sequencer& q) { q.store(a.dst, a.src); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"a counter", {.dst = sbuf(1, 1, Dtype::int32), .src = {5}}, ""},
        {"to HBM", {.dst = hbm(1, 1, Dtype::uint16), .src = {63}}, ""},
        {"a column", {.dst = sbuf(2, 1, Dtype::int32), .src = {0}}, "dst must have 1 element, not 2"},
    };
  }
};

}  // namespace trn
