#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <set>

#include "isa/dispatch.h"
#include "sim/execute.h"
#include "sim/order.h"

namespace trn::test {

// The bytes of one operand, taken out and put back in pattern order.
inline std::vector<std::byte> take(const Access& a, const CoreMemory& m) {
  std::vector<std::byte> out;
  std::array<int32_t, Access::kMaxDims> at{};
  const auto size = static_cast<size_t>(size_of(a.dtype));
  for (int64_t n = a.elements(); n > 0; --n) {
    const std::byte* p = address(a, m);
    for (int i = 0; i < a.ndim; ++i) p += at[i] * host_step(a, i, m);
    out.insert(out.end(), p, p + size);
    for (int i = a.ndim; i-- > 0 && ++at[i] == a.dims[i].count;) at[i] = 0;
  }
  return out;
}
inline void put(const Access& a, const CoreMemory& m, const std::vector<std::byte>& bytes) {
  std::array<int32_t, Access::kMaxDims> at{};
  const auto size = static_cast<size_t>(size_of(a.dtype));
  for (int64_t n = 0; n < a.elements(); ++n) {
    std::byte* p = address(a, m);
    for (int i = 0; i < a.ndim; ++i) p += at[i] * host_step(a, i, m);
    std::memcpy(p, bytes.data() + static_cast<size_t>(n) * size, size);
    for (int i = a.ndim; i-- > 0 && ++at[i] == a.dims[i].count;) at[i] = 0;
  }
}

// Any run that the semaphores allow, with the cards' own arithmetic: sequencers hand instructions over in order,
// engines start and complete them in order, any time later; operands are read at the start and results land at
// completion; a transfer reads and writes at any moments between its trigger and its completion. False on deadlock.
inline bool run_interleaved(const Program& p, const CoreMemory* memories, std::mt19937& random) {
  const Streams streams(p);
  struct Flight {
    uint32_t i;
    int stage;  // 0 handed over or triggered, 1 has read, 2 has written
    std::vector<std::vector<std::byte>> read;
  };
  const auto load = [&](Flight& f) {
    const AccessList list = accesses(p, p.instructions[f.i]);
    for (int k = 0; k < list.count; ++k)
      if (!list.written[k]) f.read.push_back(take(*list.access[k], memories[p.instructions[f.i].core]));
    f.stage = 1;
  };
  const auto store = [&](Flight& f) {
    const Instruction& in = p.instructions[f.i];
    const CoreMemory& m = memories[in.core];
    const AccessList list = accesses(p, in);
    std::vector<std::pair<const Access*, std::vector<std::byte>>> now, results;
    size_t next = 0;
    for (int k = 0; k < list.count; ++k)
      if (!list.written[k]) now.emplace_back(list.access[k], take(*list.access[k], m));
    for (const auto& [a, bytes] : now) put(*a, m, f.read[next++]);
    row(in).run(p.raw_args(in), in.engine, m);
    for (int k = 0; k < list.count; ++k)
      if (list.written[k]) results.emplace_back(list.access[k], take(*list.access[k], m));
    for (const auto& [a, bytes] : now) put(*a, m, bytes);
    for (const auto& [a, bytes] : results) put(*a, m, bytes);
    f.stage = 2;
  };
  std::vector<size_t> next(static_cast<size_t>(streams.issuers()));
  std::vector<std::deque<Flight>> flying(static_cast<size_t>(streams.completers()));
  std::vector<uint32_t> value(1024);
  for (;;) {
    struct Choice {
      bool issue;
      size_t stream, flight;
    };
    std::vector<Choice> choices;
    for (size_t s = 0; s < next.size(); ++s) {
      const auto mine = streams.issued_by(static_cast<int>(s));
      if (next[s] == mine.size()) continue;
      const auto waits = p.waits_of(p.instructions[mine[next[s]]]);
      if (std::all_of(waits.begin(), waits.end(), [&](const Wait& w) { return value[w.semaphore] >= w.value; }))
        choices.push_back({true, s, 0});
    }
    for (size_t c = 0; c < flying.size(); ++c)
      for (size_t f = 0; f < flying[c].size(); ++f) {
        const bool dma = row(p.instructions[flying[c][f].i]).is_dma, reads = flying[c][f].stage == 0;
        if (f == 0 || (dma ? flying[c][f].stage < 2 : reads && flying[c][f - 1].stage > 0))
          choices.push_back({false, c, f});
      }
    if (choices.empty()) break;
    const Choice choice = choices[random() % choices.size()];
    if (choice.issue) {
      Flight f{streams.issued_by(static_cast<int>(choice.stream))[next[choice.stream]++], 0, {}};
      flying[streams.of(f.i).completer].push_back(std::move(f));
      continue;
    }
    Flight& f = flying[choice.stream][choice.flight];
    if (f.stage == 0) {
      load(f);
      continue;
    }
    if (f.stage == 1) {
      store(f);
      if (row(p.instructions[f.i]).is_dma) continue;
    }
    const uint16_t update = p.instructions[f.i].update;
    if (update != Instruction::kNoUpdate) ++value[update];
    flying[choice.stream].pop_front();
  }
  for (size_t s = 0; s < next.size(); ++s)
    if (next[s] < streams.issued_by(static_cast<int>(s)).size()) return false;
  return true;
}

// Every pair (earlier, later) of conflicting instructions that some run lets meet, by looking at every state that any
// run reaches. For Programs of about ten instructions.
inline std::set<std::pair<uint32_t, uint32_t>> races_of_all_runs(const Program& p) {
  const Streams streams(p);
  const auto n = static_cast<uint32_t>(p.instructions.size());
  std::vector<std::vector<uint32_t>> completed_by(static_cast<size_t>(streams.completers()));
  for (uint32_t i = 0; i < n; ++i) completed_by[streams.of(i).completer].push_back(i);
  // Does what i writes (or reads) share bytes with what j does, one of the two writing?
  const auto share = [&](uint32_t i, uint32_t j, bool i_writes) {
    const Instruction &x = p.instructions[i], &y = p.instructions[j];
    const AccessList a = accesses(p, x), b = accesses(p, y);
    for (int k = 0; k < a.count; ++k)
      for (int l = 0; l < b.count; ++l) {
        if (a.written[k] != i_writes || (!a.written[k] && !b.written[l])) continue;
        const Access &u = *a.access[k], &v = *b.access[l];
        if (u.space != v.space || (u.on_chip() ? x.core != y.core : u.buffer != v.buffer)) continue;
        if (a.written[k] && b.written[l] && x.engine == Engine::tensor && y.engine == Engine::tensor &&
            x.core == y.core && !row(x).is_dma && !row(y).is_dma)
          continue;
        if (common_bytes(u, v)) return true;
      }
    return false;
  };
  std::vector<std::array<bool, 2>> conflicts(size_t{n} * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j)
      if (i != j) conflicts[i * n + j] = {share(i, j, false), share(i, j, true)};
  // Per issuer: issued, and of what it computes started. Per completer: completed.
  using State = std::vector<uint8_t>;
  const auto issuers = static_cast<size_t>(streams.issuers()), completed = 2 * issuers;
  std::vector<std::vector<uint32_t>> computed_by(issuers);
  std::vector<uint8_t> turn(n);  // in it
  for (uint32_t i = 0; i < n; ++i) {
    if (row(p.instructions[i]).is_dma) continue;
    auto& mine = computed_by[streams.of(i).issuer];
    turn[i] = static_cast<uint8_t>(mine.size());
    mine.push_back(i);
  }
  std::set<State> seen;
  std::vector<State> todo{State(completed + completed_by.size())};
  std::set<std::pair<uint32_t, uint32_t>> found;
  seen.insert(todo[0]);
  std::vector<uint32_t> value(256);
  while (!todo.empty()) {
    const State s = todo.back();
    todo.pop_back();
    std::fill(value.begin(), value.end(), 0);
    for (size_t c = 0; c < completed_by.size(); ++c)
      for (size_t k = 0; k < s[completed + c]; ++k)
        if (const uint16_t u = p.instructions[completed_by[c][k]].update; u != Instruction::kNoUpdate) ++value[u];
    const auto visit = [&](State t) {
      if (seen.insert(t).second) todo.push_back(std::move(t));
    };
    const auto has_begun = [&](uint32_t i) {
      const Streams::Place& at = streams.of(i);
      return row(p.instructions[i]).is_dma ? at.issued < s[at.issuer] : turn[i] < s[issuers + at.issuer];
    };
    const auto begin = [&](uint32_t j) {
      const bool computes = !row(p.instructions[j]).is_dma;
      for (uint32_t i = 0; i < n; ++i) {
        const Streams::Place& at = streams.of(i);
        if (i == j || !has_begun(i) || at.completed < s[completed + at.completer]) continue;
        // An engine that starts the next one has read its operands.
        const bool reading = row(p.instructions[i]).is_dma || (turn[i] + 1u == s[issuers + at.issuer] &&
                                                               !(computes && at.issuer == streams.of(j).issuer));
        if (conflicts[i * n + j][1] || (reading && conflicts[i * n + j][0]))
          found.insert({std::min(i, j), std::max(i, j)});
      }
    };
    for (size_t e = 0; e < issuers; ++e) {
      if (const size_t t = s[issuers + e]; t < computed_by[e].size() && streams.of(computed_by[e][t]).issued < s[e]) {
        begin(computed_by[e][t]);
        State started = s;
        ++started[issuers + e];
        visit(std::move(started));
      }
      const auto mine = streams.issued_by(static_cast<int>(e));
      if (s[e] == mine.size()) continue;
      const uint32_t j = mine[s[e]];
      const auto waits = p.waits_of(p.instructions[j]);
      if (!std::all_of(waits.begin(), waits.end(), [&](const Wait& w) { return value[w.semaphore] >= w.value; }))
        continue;
      if (row(p.instructions[j]).is_dma) begin(j);
      State t = s;
      ++t[e];
      visit(std::move(t));
    }
    for (size_t c = 0; c < completed_by.size(); ++c) {
      if (s[completed + c] == completed_by[c].size() || !has_begun(completed_by[c][s[completed + c]])) continue;
      State t = s;
      ++t[completed + c];
      visit(std::move(t));
    }
  }
  return found;
}

}  // namespace trn::test
