#pragma once
#include <algorithm>
#include <deque>
#include <random>
#include <unordered_map>
#include <vector>

#include "backend/compiler/tile_program.h"
#include "isa/isa.h"

// Tests of the passes do not ask what an instruction computes, only what it may see: here each written byte becomes a
// fresh symbol made from everything that the instruction read.
namespace trn::compiler::test {

using Symbol = uint64_t;

inline Symbol mix(Symbol h, Symbol v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 31); }

// visit(byte key) for every byte of `a` in pattern order: one key per byte of one memory.
template <class Visit>
void for_each_byte(const Access& a, uint8_t core, Visit&& visit) {
  std::array<int32_t, Access::kMaxDims> at{};
  const int size = size_of(a.dtype);
  for (int64_t n = a.elements(); n > 0; --n) {
    int64_t offset = a.offset, partition = a.on_chip() ? a.partition : 0;
    for (int i = 0; i < a.ndim; ++i) {
      if (i == 0 && a.on_chip())
        partition += int64_t{at[0]} * a.dims[0].step;
      else
        offset += int64_t{at[i]} * a.dims[i].step * size;
    }
    const uint64_t owner = a.space == Space::hbm ? 0 : core + 1;
    for (int b = 0; b < size; ++b)
      visit(static_cast<uint64_t>(a.space) << 62 | owner << 60 | uint64_t{a.buffer} << 40 |
            static_cast<uint64_t>(partition) << 32 | static_cast<uint64_t>(offset + b));
    for (int i = a.ndim; i-- > 0;) {
      if (++at[i] < a.dims[i].count) break;
      at[i] = 0;
    }
  }
}

using Symbols = std::unordered_map<uint64_t, Symbol>;

inline Symbol read(const Program& p, const Instruction& i, const Symbols& m) {
  Symbol h = i.args;  // survives reordering, unlike the position
  const AccessList list = accesses(p, i);
  for (int k = 0; k < list.count; ++k)
    if (!list.written[k])
      for_each_byte(*list.access[k], i.core, [&](uint64_t key) {
        const auto known = m.find(key);
        h = mix(h, known == m.end() ? (key >> 62 == static_cast<uint64_t>(Space::hbm) ? key : 0) : known->second);
      });
  return h;
}

// The tensor engine accumulates when its result arrives in PSUM.
inline void write(const Program& p, const Instruction& i, Symbol h, Symbols& m) {
  const bool accumulates = i.card == card_index<NcMatmul> && p.args<NcMatmul>(i).accumulate;
  const AccessList list = accesses(p, i);
  for (int k = 0; k < list.count; ++k)
    if (list.written[k])
      for_each_byte(*list.access[k], i.core, [&, n = Symbol{0}](uint64_t key) mutable {
        Symbol& s = m[key];
        s = mix(mix(h, ++n), accumulates ? s : 0);
      });
}

inline Symbols sequential(const Program& p) {
  Symbols m;
  for (const Instruction& i : p.instructions) write(p, i, read(p, i, m), m);
  return m;
}

// What is left in HBM: on-chip addresses differ between stages, results must not.
inline std::vector<std::pair<uint64_t, Symbol>> hbm(const Symbols& m) {
  std::vector<std::pair<uint64_t, Symbol>> out;
  for (const auto& [key, s] : m)
    if (key >> 62 == static_cast<uint64_t>(Space::hbm)) out.emplace_back(key, s);
  std::sort(out.begin(), out.end());
  return out;
}

// Any run that the semaphores allow: engines start their instructions in order and finish them in order, any time
// later; operands are read at the start; a DMA reads and writes at arbitrary moments between its trigger and its
// completion, and queues complete in order. Empty on deadlock.
inline Symbols interleaved(const Program& p, std::mt19937& random) {
  struct Flight {
    const Instruction* i;
    Symbol h = 0;
    int stage = 0;  // DMA: 0 triggered, 1 has read, 2 has written
  };
  std::array<std::vector<const Instruction*>, 2 * kEngines> stream;
  std::array<size_t, 2 * kEngines> pc{};
  std::array<std::deque<Flight>, 2 * kEngines> running;
  std::array<std::deque<Flight>, 6> queue;
  std::unordered_map<uint16_t, uint32_t> semaphore;
  for (const Instruction& i : p.instructions) stream[i.core * kEngines + static_cast<int>(i.engine)].push_back(&i);
  Symbols m;
  const auto complete = [&](const Instruction& i) {
    if (i.update != Instruction::kNoUpdate) ++semaphore[i.update];
  };
  struct Choice {
    int kind, index;
    size_t item;
  };
  for (;;) {
    std::vector<Choice> choices;
    for (int e = 0; e < 2 * kEngines; ++e) {
      if (pc[e] < stream[e].size()) {
        const auto waits = p.waits_of(*stream[e][pc[e]]);
        if (std::all_of(waits.begin(), waits.end(), [&](const Wait& w) { return semaphore[w.semaphore] >= w.value; }))
          choices.push_back({0, e, 0});
      }
      if (!running[e].empty()) choices.push_back({1, e, 0});
    }
    for (int q = 0; q < 6; ++q)
      for (size_t k = 0; k < queue[q].size(); ++k)
        if (queue[q][k].stage < 2 || k == 0) choices.push_back({2, q, k});
    if (choices.empty()) break;
    const Choice c = choices[random() % choices.size()];
    if (c.kind == 0) {
      const Instruction& i = *stream[c.index][pc[c.index]++];
      if (row(i).is_dma)
        queue[i.core * 3 + i.queue].push_back({&i});
      else
        running[c.index].push_back({&i, read(p, i, m)});
    } else if (c.kind == 1) {
      const Flight f = running[c.index].front();
      running[c.index].pop_front();
      write(p, *f.i, f.h, m);
      complete(*f.i);
    } else {
      Flight& f = queue[c.index][c.item];
      if (f.stage == 0) f.h = read(p, *f.i, m);
      if (f.stage == 1) write(p, *f.i, f.h, m);
      if (f.stage++ < 2) continue;
      complete(*f.i);
      queue[c.index].pop_front();
    }
  }
  for (int e = 0; e < 2 * kEngines; ++e)
    if (pc[e] < stream[e].size()) return {};
  return m;
}

// Pairs of conflicting instructions that the semaphores and the engines' order leave unordered, found by brute force:
// every byte of every pair, and the transitive closure over "starts" and "completes" events.
inline int unordered_conflicts(const Program& p) {
  const size_t n = p.instructions.size();
  using Row = std::vector<bool>;
  std::vector<Row> before(2 * n,
                          Row(2 * n));  // [a][b]: a happens before b; event 2i starts, 2i+1 completes instruction i
  const auto engine = [&](size_t i) {
    return p.instructions[i].core * kEngines + static_cast<int>(p.instructions[i].engine);
  };
  const auto stream = [&](size_t i) {
    return row(p.instructions[i]).is_dma ? 100 + p.instructions[i].core * 3 + p.instructions[i].queue : engine(i);
  };
  for (size_t j = 0; j < n; ++j) {
    Row at_start(2 * n);
    const auto after = [&](size_t event) {
      at_start[event] = true;
      for (size_t e = 0; e < 2 * n; ++e)
        if (before[e][event]) at_start[e] = true;
    };
    for (size_t i = 0; i < j; ++i)
      if (engine(i) == engine(j)) after(2 * i);
    for (const Wait& w : p.waits_of(p.instructions[j])) {
      uint32_t count = 0;
      for (size_t i = 0; i < n && count < w.value; ++i)
        if (p.instructions[i].update == w.semaphore && ++count <= w.value) after(2 * i + 1);
    }
    for (size_t e = 0; e < 2 * n; ++e) before[e][2 * j] = at_start[e];
    after(2 * j);
    for (size_t i = 0; i < j; ++i)
      if (stream(i) == stream(j)) after(2 * i + 1);
    for (size_t e = 0; e < 2 * n; ++e) before[e][2 * j + 1] = at_start[e];
  }
  std::vector<std::array<std::vector<uint64_t>, 2>> bytes(n);
  for (size_t i = 0; i < n; ++i) {
    const AccessList list = accesses(p, p.instructions[i]);
    for (int k = 0; k < list.count; ++k)
      for_each_byte(*list.access[k], p.instructions[i].core,
                    [&](uint64_t key) { bytes[i][list.written[k]].push_back(key); });
    for (auto& b : bytes[i]) std::sort(b.begin(), b.end());
  }
  const auto meet = [](const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) return true;
      (a[i] < b[j] ? i : j)++;
    }
    return false;
  };
  int found = 0;
  for (size_t j = 0; j < n; ++j)
    for (size_t i = 0; i < j; ++i) {
      if (before[2 * i + 1][2 * j]) continue;
      const bool same_engine = engine(i) == engine(j) && !row(p.instructions[i]).is_dma;
      const bool in_order_writes = same_engine && p.instructions[i].engine == Engine::tensor;
      if (meet(bytes[i][1], bytes[j][0]) || (!in_order_writes && meet(bytes[i][1], bytes[j][1])) ||
          ((!same_engine || row(p.instructions[j]).is_dma) && meet(bytes[i][0], bytes[j][1])))
        ++found;
    }
  return found;
}

// A random legal TileProgram: a few tiles alive at a time, each written whole before it is read in part; strided and
// partial operands; scratch slots that are stored to and loaded from; accumulation in PSUM.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, int cores, int length) : random_(seed) {
    p_.program.name = "random";
    p_.program.cores = static_cast<uint8_t>(cores);
    p_.program.slots = {{.name = "in", .use = SlotUse::input, .bytes = 4096, .shape = {}},
                        {.name = "out", .use = SlotUse::output, .bytes = 8192, .shape = {}},
                        {.name = "both", .use = SlotUse::inout, .bytes = 4096, .shape = {}},
                        {.name = "scratch", .use = SlotUse::scratch, .bytes = 8192, .shape = {}}};
    while (static_cast<int>(p_.program.instructions.size()) < length) step();
    for (const Live& l : live_) store(l);
  }
  TileProgram take() { return std::move(p_); }

 private:
  struct Live {
    uint32_t tile;
    Dtype dtype;
    int32_t columns;
  };
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  template <class C>
  void emit(Engine e, uint8_t core, const typename C::Args& args) {
    Instruction i{.card = card_index<C>, .engine = e, .core = core};
    if (C::is_dma) i.queue = static_cast<uint8_t>(e == Engine::sync ? 0 : e == Engine::scalar ? 1 : 2);
    i.args = p_.program.push_args(args);
    p_.program.instructions.push_back(i);
  }
  Access whole(const Live& l) const {
    const VirtualTile& t = p_.tiles[l.tile];
    Access a{.space = t.space, .dtype = l.dtype, .ndim = 2};
    a.buffer = l.tile;
    a.dims = {Dim{1, t.partitions}, Dim{1, l.columns}};
    return a;
  }
  Access part(const Live& l) {
    Access a = whole(l);
    const int rows = a.dims[0].count, columns = a.dims[1].count;
    if (below(3) == 0) {
      a.partition = static_cast<uint8_t>(below(rows));
      a.dims[0].count = 1 + below(rows - a.partition);
    }
    const int first = below(3) ? below(columns) : 0, step = below(3) ? 1 : 1 + below(3);
    a.offset = int64_t{first} * size_of(a.dtype);
    a.dims[1] = {step, std::min((columns - first + step - 1) / step, 1 + below(12))};
    if (below(4) == 0) a.dims[1].count = (columns - first + step - 1) / step;
    return a;
  }
  Access hbm() {
    const uint32_t slot = static_cast<uint32_t>(below(4));
    Access a{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
    a.buffer = slot;
    const int pitch = 64;
    const int rows = static_cast<int>(p_.program.slots[slot].bytes) / (pitch * 4);
    const int row = below(rows), column = below(pitch / 8) * 8;
    a.offset = (row * pitch + column) * 4;
    a.dims = {Dim{pitch, 1 + below(std::min(rows - row, 4))}, Dim{1, 8}};
    if (below(4) == 0) a.dims[1] = {4, 2};
    return a;
  }
  Live fresh(Space space) {
    const Dtype dtype = space == Space::psum || below(2) ? Dtype::float32 : Dtype::bfloat16;
    const int columns = space == Space::psum ? 8 + below(24) : 8 + below(900);
    Live l{static_cast<uint32_t>(p_.tiles.size()), dtype, columns};
    p_.tiles.push_back(
        {space, static_cast<uint8_t>(below(p_.program.cores)), 1 + below(3), int64_t{columns} * size_of(dtype)});
    return l;
  }
  const Live* any(Space space, int core) {
    for (int tries = 0; tries < 8; ++tries) {
      const Live& l = live_[static_cast<size_t>(below(static_cast<int>(live_.size())))];
      if (p_.tiles[l.tile].space == space && p_.tiles[l.tile].core == core) return &l;
    }
    return nullptr;
  }
  void store(const Live& l) {
    if (p_.tiles[l.tile].space != Space::sbuf) return;
    DmaCopy::Args a;
    a.dst = hbm();
    if (a.dst.buffer == 0) a.dst.buffer = 1;
    a.src = part(l);
    emit<DmaCopy>(below(2) ? Engine::scalar : Engine::gpsimd, p_.tiles[l.tile].core, a);
  }
  void step() {
    if (live_.size() > 5 || (live_.size() > 3 && below(4) == 0)) {
      const size_t victim = static_cast<size_t>(below(static_cast<int>(live_.size())));
      store(live_[victim]);
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(victim));
      return;
    }
    if (live_.size() < 3 || below(4) == 0) {
      const Space space = below(3) ? Space::sbuf : Space::psum;
      const Live l = fresh(space);
      const uint8_t core = p_.tiles[l.tile].core;
      if (space == Space::sbuf && below(4)) {
        DmaCopy::Args a;
        a.dst = whole(l);
        a.src = hbm();
        emit<DmaCopy>(Engine::sync, core, a);
      } else {
        Memset::Args a;
        a.dst = whole(l);
        emit<Memset>(space == Space::psum || below(2) ? Engine::vector : Engine::gpsimd, core, a);
      }
      live_.push_back(l);
      return;
    }
    const int core = below(p_.program.cores);
    const Live *a = any(Space::sbuf, core), *b = any(Space::sbuf, core), *c = any(Space::psum, core);
    if (!a || !b) return;
    switch (below(4)) {
      case 0: {
        TensorTensor::Args t;
        t.dst = part(*a);
        t.data1 = part(*b);
        t.data2 = part(c ? *c : *b);
        return emit<TensorTensor>(below(2) ? Engine::vector : Engine::gpsimd, static_cast<uint8_t>(core), t);
      }
      case 1: {
        TensorCopy::Args t;
        t.dst = part(*a);
        t.src = part(c && below(2) ? *c : *b);
        return emit<TensorCopy>(below(2) ? Engine::vector : Engine::scalar, static_cast<uint8_t>(core), t);
      }
      case 2: {
        if (!c) return;
        for (int n = 1 + below(4), k = 0; k < n; ++k) {
          NcMatmul::Args t;
          t.dst = whole(*c);
          t.stationary = part(*a);
          t.moving = part(*b);
          t.accumulate = k > 0;
          emit<NcMatmul>(Engine::tensor, static_cast<uint8_t>(core), t);
        }
        return;
      }
      default: return store(*a);
    }
  }

  std::mt19937 random_;
  TileProgram p_;
  std::vector<Live> live_;
};

// Little memory, so that tiles reuse each other's bytes.
inline Spec small_spec() {
  Spec s = trn2();
  s.sbuf_partition_bytes.value = 24 * 1024;
  s.sbuf_reserved_bytes.value = 0;
  return s;
}

}  // namespace trn::compiler::test
