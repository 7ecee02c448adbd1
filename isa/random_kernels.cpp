#include "isa/random_kernels.h"

#include <cstring>

#include "isa/engine_cost.h"
#include "isa/engine_state.h"
#include "isa/rows.h"
#include "isa/rules.h"

namespace trn {

namespace {

constexpr int64_t kChunk = Rows::kChunk;

struct Buffers {
  alignas(64) int32_t words[kChunk];
  alignas(64) float floats[kChunk];
  alignas(64) std::byte raw[kChunk * 8];
};
Buffers& buffers() {
  static thread_local Buffers b;
  return b;
}

EngineState& state_of(const CoreMemory& m) {
  if (!m.engines) throw Error(Fault::internal, "a random number without engine state");
  return *m.engines;
}

// Element `at` and the following of one lane.
void draw(EngineState& s, Engine e, int lane, int64_t at, int32_t* words, int64_t n) {
  const auto l = static_cast<size_t>(lane);
  if (e == Engine::gpsimd) {
    Xorwow& g = s.gpsimd_xorwow[l];
    for (int64_t i = 0; i < n; ++i) words[i] = static_cast<int32_t>(g.next());
  } else if (s.generation >= Generation::trn3) {
    auto& g = s.vector_xorwow[l];
    for (int64_t i = 0; i < n; ++i)
      words[i] = static_cast<int32_t>(g[static_cast<size_t>((at + i) % EngineState::kVectorStates)].next());
  } else {
    ShiftRegister& g = s.vector_register[l];
    for (int64_t i = 0; i < n; ++i) words[i] = static_cast<int32_t>(g.next());
  }
}

}  // namespace

void run_rng(const Access& dst, Engine e, const CoreMemory& m) {
  EngineState& s = state_of(m);
  const Rows d(dst, m);
  for_chunks({{&d}, {}}, [&](int p, int64_t at, int64_t n) {
    int32_t* words = buffers().words;
    draw(s, e, dst.partition + p, at, words, n);
    d.store(p, at, n, words);
  });
}

void run_uniform(const Access& dst, const Operand& low, const Operand& high, const CoreMemory& m) {
  EngineState& s = state_of(m);
  const Rows d(dst, m);
  std::optional<Rows> l, h;
  if (low.is_tile()) l.emplace(low.tile, m);
  if (high.is_tile()) h.emplace(high.tile, m);
  for_chunks({{&d}, {l ? &*l : nullptr, h ? &*h : nullptr}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const float from = l ? l->scalar(p) : static_cast<float>(low.immediate);
    const float width = (h ? h->scalar(p) : static_cast<float>(high.immediate)) - from;
    draw(s, Engine::vector, dst.partition + p, at, b.words, n);
    // 24 bits: every u is exact in fp32 and below 1.
    for (int64_t i = 0; i < n; ++i)
      b.floats[i] = from + width * (static_cast<float>(static_cast<uint32_t>(b.words[i]) >> 8) * 0x1p-24f);
    d.store(p, at, n, b.floats);
  });
}

void run_dropout(const Access& dst, const Access& data, const Operand& probability, const CoreMemory& m) {
  EngineState& s = state_of(m);
  const Rows d(dst, m), x(data, m);
  std::optional<Rows> chance;
  if (probability.is_tile()) chance.emplace(probability.tile, m);
  const auto size = static_cast<size_t>(size_of(dst.dtype));
  for_chunks({{&d}, {&x, chance ? &*chance : nullptr}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const double drop = (chance ? chance->scalar(p) : static_cast<float>(probability.immediate)) * 0x1p32;
    draw(s, Engine::vector, data.partition + p, at, b.words, n);
    const std::byte* from = x.raw(p, at, n, b.raw);
    if (from != b.raw) std::memcpy(b.raw, from, static_cast<size_t>(n) * size);
    for (int64_t i = 0; i < n; ++i)
      if (static_cast<uint32_t>(b.words[i]) < drop) std::memset(b.raw + static_cast<size_t>(i) * size, 0, size);
    d.store_raw(p, at, n, b.raw);
  });
}

void run_set_seed(const Access& seed, const CoreMemory& m) {
  uint32_t bits;  // of any 32-bit dtype
  std::memcpy(&bits, address(seed, m), sizeof bits);
  state_of(m).seed_vector(bits);
}

namespace {

// Calls use(word of the state, its element) for every lane of `words`.
template <class Use>
void for_words(const Access& words, Engine e, EngineState& s, Use use) {
  const int64_t n = words.free_elements();
  for (int p = 0; p < words.partitions(); ++p)
    for (int64_t i = 0; i < n; ++i) {
      const auto lane = static_cast<size_t>(words.partition + p);
      const auto word = static_cast<size_t>(i % Xorwow::kWords), which = static_cast<size_t>(i / Xorwow::kWords);
      use(e == Engine::gpsimd ? s.gpsimd_xorwow[lane].word[word] : s.vector_xorwow[lane][which].word[word], p, i);
    }
}

}  // namespace

void run_set_state(const Access& words, Engine e, const CoreMemory& m) {
  const Rows r(words, m);
  for_words(words, e, state_of(m), [&](uint32_t& word, int p, int64_t i) {
    int32_t buffer;
    word = static_cast<uint32_t>(*r.ints(p, i, 1, &buffer));
  });
}

void run_get_state(const Access& words, Engine e, const CoreMemory& m) {
  const Rows r(words, m);
  for_words(words, e, state_of(m), [&](uint32_t word, int p, int64_t i) {
    const auto value = static_cast<int32_t>(word);
    r.store(p, i, 1, &value);
  });
}

Cost random_cost(const Access& words, Engine e, const Spec& s, double rate) {
  const auto n = static_cast<double>(words.free_elements());
  if (e == Engine::gpsimd) return engine_cost::gpsimd(n, s);
  return engine_cost::vector(n / rate, s.vector_copy_latency_ns, s.vector_copy_overhead_ns, s);
}

Verdict rules::random_state(std::string_view field, const Access& a, Engine e, const Spec& s, bool read) {
  if (e == Engine::vector && s.generation < Generation::trn3)
    return illegal("Vector's random state can be read and set from trn3 (NeuronCore-v4) on; this machine is ", s.name);
  if (auto bad = tile(field, a, s, read)) return bad;
  if (auto bad = engine_reach(e, {&a})) return bad;
  if (a.dtype != Dtype::uint32) return breaks(RuleKind::dtype, field, " must be uint32, not ", name(a.dtype));
  const int words = Xorwow::kWords * (e == Engine::vector ? EngineState::kVectorStates : 1);
  if (a.free_elements() != words)
    return breaks(RuleKind::shape, field, " must have ", words, " elements per partition on ", name(e), ", not ",
                  a.free_elements());
  return {};
}

}  // namespace trn
