#pragma once
// What the catalogues of planted faults share: legal Programs as text, and what one change makes of them.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "isa/assembly.h"
#include "sim/hazards.h"

namespace trn::test {

// Short for the operands below: [128, 64] float32 tiles.
inline std::string expanded(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"<A>", "sbuf.float32@p0+0[1x128,1x64]"},   {"<B>", "sbuf.float32@p0+256[1x128,1x64]"},
      {"<C>", "sbuf.float32@p0+512[1x128,1x64]"}, {"<D>", "sbuf.float32@p0+768[1x128,1x64]"},
      {"<P>", "psum.float32@p0+0[1x128,1x64]"},   {"<Q>", "psum.float32@p0+2048[1x128,1x64]"},
      {"<W>", "sbuf.bfloat16@p0+0[1x128,1x128]"}, {"<M>", "sbuf.bfloat16@p0+256[1x128,1x64]"},
      {"<s0>", "hbm.float32@s0+0[64x128,1x64]"},  {"<s1>", "hbm.float32@s1+0[64x128,1x64]"},
      {"<s2>", "hbm.float32@s2+0[64x128,1x64]"},  {"<s3>", "hbm.float32@s3+0[64x128,1x64]"}};
  std::string out(text);
  for (const auto& [word, operand] : kWords)
    for (size_t at = 0; (at = out.find(word, at)) != std::string::npos; at += operand.size())
      out.replace(at, word.size(), operand);
  return out;
}

inline constexpr std::string_view kHead = R"(program "planted" target "trn2" cores 1
slot 0 input "a" float32 32768 [128,64]
slot 1 input "b" float32 32768 [128,64]
slot 2 output "c" float32 32768 [128,64]
slot 3 scratch "t" float32 32768 [128,64]
slot 4 inout "n" int32 64 [16]
source 1 "aten::add.Tensor model.py:7"
)";

struct Planted {
  RuleKind kind;
  std::string_view what;
  std::string_view program;
  std::vector<std::pair<std::string_view, std::string_view>> changes;  // the first of each `from` becomes `to`
  std::string_view words = "";                                         // that the message must have
  void (*machine)(Spec&) = nullptr;                                    // a smaller one
};

inline Program program(std::string_view text) {
  std::string head(kHead);
  if (text.find("c1.") != std::string_view::npos) head.replace(head.find("cores 1"), 7, "cores 2");
  return from_assembly(head + expanded(text));
}

inline Program planted(const Planted& f) {
  std::string text(f.program);
  for (const auto& [from, to] : f.changes) {
    const size_t at = text.find(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return program(text);
}

inline std::string all(const Findings& found, const Program& p) {
  std::string text;
  for (const Finding& f : found) text += explain(f, p);
  return text;
}

inline void check_clean(std::string_view text) {
  const Program p = program(text);
  const Findings found = find_hazards(p, trn2());
  INFO(to_assembly(p) << all(found, p));
  CHECK(found.empty());
}

inline void check_found(const Planted& f) {
  INFO(name(f.kind) << ": " << f.what);
  const Program p = planted(f);
  Spec s = trn2();
  if (f.machine) f.machine(s);
  const Findings found = find_hazards(p, s);
  INFO(to_assembly(p) << all(found, p));
  const bool right = std::any_of(found.begin(), found.end(), [&](const Finding& x) {
    return x.kind == f.kind && explain(x, p).find(f.words) != std::string::npos;
  });
  CHECK(right);
}

}  // namespace trn::test
