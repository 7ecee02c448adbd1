#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/examples.h"
#include "isa/sequencer.h"

namespace trn {

// Integers narrower than 32 bits are extended, float32 keeps its bits.
struct RegisterLoad {
  static constexpr std::string_view name = "register_load";
  static constexpr std::string_view doc = "dst = the one word of src, in HBM or SBUF";
  static constexpr std::string_view source = "nki.isa.register_load; TENSOR_LOAD of public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::registers;

  struct Args {
    Register dst{};
    Access src{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "register"},
                                     Field{"src", &Args::src, "HBM or SBUF, 1 element of at most 32 bits"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    if (auto bad = rules::runs_on(engines, e)) return bad;
    return control::word("src", a.src, s, true);
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.register_load_ns, e, s); }
  static void step(const Args& a, Sequencer& q) { q.load(a.dst, a.src); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"a loop's bound", {.dst = {3}, .src = sbuf(1, 1, Dtype::int32)}, ""},
        {"a byte of a buffer", {.dst = {0}, .src = hbm(1, 1, Dtype::uint8)}, ""},
        {"two words", {.dst = {0}, .src = sbuf(1, 2, Dtype::int32)}, "src must have 1 element, not 2"},
        {"half a float", {.dst = {0}, .src = sbuf(1, 1, Dtype::bfloat16)}, "src must be float32 or an integer"},
        {"PSUM", {.dst = {0}, .src = psum(1, 1, Dtype::int32)}, "src must be in HBM or SBUF"},
    };
  }
};

}  // namespace trn
