#include "isa/argument_pool.h"

#include <catch2/catch.hpp>

#include "isa/assembly.h"
#include "isa/canonical.h"
#include "isa/container.h"
#include "isa/isa.h"

using namespace trn;

namespace {

// `n` copies between `places` different places.
Program copies(int n, int places) {
  Program p;
  for (int i = 0; i < n; ++i) {
    TensorCopy::Args a{};
    a.dst = example::sbuf(128, 8, Dtype::float32, 64 + i % places * 32);
    a.src = example::sbuf(128, 8);
    Instruction in;
    in.card = card_index<TensorCopy>;
    in.engine = Engine::vector;
    in.args = p.push_args(a);
    p.instructions.push_back(in);
  }
  return p;
}

constexpr size_t kWords = sizeof(TensorCopy::Args) / 8;

}  // namespace

TEST_CASE("a long Program stores equal arguments once, a short one as they come") {
  const Program brief = copies(100, 10);
  CHECK(brief.words.size() == 100 * kWords);
  const Program p = copies(100'000, 1000);
  CHECK(p.words.size() <= ArgumentPool::kFromWords + 1001 * kWords);
  for (const int i : {0, 999, 50'000, 99'999}) {
    const Instruction& in = p.instructions[static_cast<size_t>(i)];
    CHECK(p.args<TensorCopy>(in).dst.offset == 64 + i % 1000 * 32);
  }
}

TEST_CASE("arguments that never come again are all there") {
  const Program p = copies(100'000, 100'000);
  CHECK(p.words.size() == 100'000 * kWords);
  for (int i = 0; i < 100'000; i += 997)
    REQUIRE(p.args<TensorCopy>(p.instructions[static_cast<size_t>(i)]).dst.offset == 64 + i * 32);
}

TEST_CASE("words that change after they were stored are not taken for what they were") {
  Program p = copies(100'000, 1000);
  std::vector<uint64_t> once = p.words;
  std::fill(p.words.begin(), p.words.end(), 0);
  TensorCopy::Args a{};
  a.dst = example::sbuf(128, 8, Dtype::float32, 64);
  a.src = example::sbuf(128, 8);
  Instruction in;
  in.card = card_index<TensorCopy>;
  in.args = p.push_args(a);
  CHECK(in.args == once.size());
  CHECK(p.args<TensorCopy>(in).dst == a.dst);
}

TEST_CASE("sharing later comes to the same, and copies and files of a Program keep it") {
  Program own = copies(100'000, 1000);
  own.words.clear();
  for (size_t i = 0; i < own.instructions.size(); ++i) {
    TensorCopy::Args a{};
    a.dst = example::sbuf(128, 8, Dtype::float32, 64 + static_cast<int64_t>(i) % 1000 * 32);
    a.src = example::sbuf(128, 8);
    own.instructions[i].args = own.push_own_args(a);
  }
  CHECK(own.words.size() == 100'000 * kWords);
  const std::string text = to_assembly(own);
  share_arguments(own);
  CHECK(own.words.size() <= ArgumentPool::kFromWords + 1001 * kWords);
  CHECK(to_assembly(own) == text);

  const Program once = canonical(own);
  CHECK(identical(canonical(once), once));
  CHECK(identical(from_container(to_container(own)), once));
  CHECK(identical(from_assembly(text), once));
  CHECK(once.words.size() <= ArgumentPool::kFromWords + 1001 * kWords);
}
