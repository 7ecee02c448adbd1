#include <algorithm>
#include <numeric>
#include <optional>

#include "backend/compiler/live_ranges.h"

namespace trn::compiler {
namespace {

constexpr int64_t kLine = 64;

// Free intervals of one memory's partitions, handed out next-fit: what was freed longest ago comes first, so that a
// loop's tiles rotate through all of the memory and a load need not wait for the last use of the previous round.
class Ring {
 public:
  explicit Ring(int64_t size) : size_(size), free_{{0, size}} {}

  std::optional<int64_t> take(int64_t bytes) {
    const auto start =
        std::lower_bound(free_.begin(), free_.end(), at_, [](const Gap& g, int64_t at) { return g.end <= at; });
    for (auto gap = start; gap != free_.end(); ++gap)
      if (const int64_t from = std::max(gap->begin, at_); gap->end - from >= bytes) return cut(gap, from, bytes);
    for (auto gap = free_.begin(); gap != free_.end(); ++gap)
      if (gap->end - gap->begin >= bytes) return cut(gap, gap->begin, bytes);
    return {};
  }

  std::optional<int64_t> take_lowest(int64_t bytes) {
    at_ = 0;
    return take(bytes);
  }

  // From the far end, for tiles that live long: they stay out of the ring's way.
  std::optional<int64_t> take_last(int64_t bytes) {
    for (auto gap = free_.end(); gap-- != free_.begin();) {
      if (gap->end - gap->begin < bytes) continue;
      const int64_t at = at_;
      const int64_t taken = cut(gap, gap->end - bytes, bytes);
      at_ = at;
      return taken;
    }
    return {};
  }

  void give(int64_t begin, int64_t bytes, uint32_t) {
    const int64_t end = begin + bytes;
    auto after =
        std::lower_bound(free_.begin(), free_.end(), begin, [](const Gap& g, int64_t b) { return g.begin < b; });
    const bool joins_before = after != free_.begin() && std::prev(after)->end == begin;
    const bool joins_after = after != free_.end() && after->begin == end;
    if (joins_before && joins_after) {
      std::prev(after)->end = after->end;
      free_.erase(after);
    } else if (joins_before) {
      std::prev(after)->end = end;
    } else if (joins_after) {
      after->begin = begin;
    } else {
      free_.insert(after, {begin, end});
    }
  }

 private:
  struct Gap {
    int64_t begin, end;
  };
  int64_t cut(std::vector<Gap>::iterator gap, int64_t from, int64_t bytes) {
    const Gap whole = *gap;
    at_ = from + bytes == size_ ? 0 : from + bytes;
    if (from > whole.begin && from + bytes < whole.end) {
      gap->end = from;
      free_.insert(gap + 1, {from + bytes, whole.end});
    } else if (from > whole.begin) {
      gap->end = from;
    } else if (from + bytes < whole.end) {
      gap->begin = from + bytes;
    } else {
      free_.erase(gap);
    }
    return from;
  }

  int64_t size_, at_ = 0;
  std::vector<Gap> free_;
};

// PSUM: the banks whose last tile ended earliest, so that a new tile waits least. `paired`: tiles of one bank stand
// side by side where they can, which leaves more room for tiles of two.
class Banks {
 public:
  Banks(int64_t size, int64_t bank, bool paired)
      : bank_(bank), paired_(paired), free_since_(static_cast<size_t>(size / bank), 0) {}

  std::optional<int64_t> take(int64_t bytes) {
    const auto n = static_cast<size_t>(bytes / bank_);
    std::optional<size_t> best;
    std::pair<bool, uint32_t> least{true, kTaken};
    for (size_t at = 0; at + n <= free_since_.size(); ++at) {
      const uint32_t latest = *std::max_element(free_since_.begin() + at, free_since_.begin() + at + n);
      const bool breaks_pair = paired_ && n == 1 && (at ^ 1) < free_since_.size() && free_since_[at ^ 1] != kTaken;
      const std::pair cost{breaks_pair, latest};
      if (latest == kTaken || cost >= least) continue;
      least = cost;
      best = at;
    }
    if (!best) return {};
    std::fill_n(free_since_.begin() + *best, n, kTaken);
    return static_cast<int64_t>(*best) * bank_;
  }
  void give(int64_t begin, int64_t bytes, uint32_t now) {
    std::fill_n(free_since_.begin() + begin / bank_, bytes / bank_, now);
  }

 private:
  static constexpr uint32_t kTaken = 0xFFFFFFFF;
  int64_t bank_;
  bool paired_;
  std::vector<uint32_t> free_since_;
};

// Tiles of one memory of one core.
struct Memory {
  Space space;
  uint8_t core;
  int64_t size;
  std::vector<uint32_t> tiles;  // used ones, by first use
};

std::vector<Memory> memories(const TileProgram& p, const std::vector<LiveRange>& live, const Spec& s) {
  std::vector<Memory> all;
  for (uint8_t core = 0; core < p.program.cores; ++core)
    for (Space space : {Space::sbuf, Space::psum}) all.push_back({space, core, capacity(space, s), {}});
  for (uint32_t t = 0; t < p.tiles.size(); ++t)
    if (live[t].used()) all[p.tiles[t].core * 2 + (p.tiles[t].space == Space::psum)].tiles.push_back(t);
  for (Memory& m : all)
    std::stable_sort(m.tiles.begin(), m.tiles.end(),
                     [&](uint32_t a, uint32_t b) { return live[a].first < live[b].first; });
  return all;
}

// Addresses in order of first use; `pick` takes them from `free`, a Ring or Banks. False if some tile does not fit.
template <class Free, class Pick>
bool place_in_order(TileProgram& p, const Memory& m, const std::vector<LiveRange>& live, const Spec& s, Free free,
                    Pick&& pick) {
  std::vector<uint32_t> by_last = m.tiles;
  std::stable_sort(by_last.begin(), by_last.end(), [&](uint32_t a, uint32_t b) { return live[a].last < live[b].last; });
  auto dead = by_last.begin();
  for (const uint32_t t : m.tiles) {
    for (; dead != by_last.end() && live[*dead].last < live[t].first; ++dead)
      free.give(p.tiles[*dead].address, footprint(p.tiles[*dead], s), live[*dead].last + 1);
    const std::optional<int64_t> at = pick(free, live[t], footprint(p.tiles[t], s));
    if (!at) return false;
    p.tiles[t].address = *at;
  }
  return true;
}

bool place_in_banks(TileProgram& p, const Memory& m, const std::vector<LiveRange>& live, bool paired, const Spec& s) {
  const auto bank = static_cast<int64_t>(s.psum_partition_bytes / s.psum_banks);
  return place_in_order(p, m, live, s, Banks(m.size, bank, paired),
                        [](Banks& banks, const LiveRange&, int64_t bytes) { return banks.take(bytes); });
}

// From the fastest Programs to the densest memory: one ring for all; tiles that live long out of its way, at the far
// end, ever more of them; always the lowest address.
bool place_in_order(TileProgram& p, const Memory& m, const std::vector<LiveRange>& live, const Spec& s) {
  const size_t all = p.program.instructions.size();
  for (const size_t stay : {all, all / 4, all / 16, all / 64, all / 256})
    if (place_in_order(p, m, live, s, Ring(m.size), [stay](Ring& ring, const LiveRange& l, int64_t bytes) {
          return l.last - l.first > stay ? ring.take_last(bytes) : ring.take(bytes);
        }))
      return true;
  return place_in_order(p, m, live, s, Ring(m.size),
                        [](Ring& ring, const LiveRange&, int64_t bytes) { return ring.take_lowest(bytes); });
}

// Addresses in order of size, each the lowest that no tile alive at the same time has: denser than the ring, with more
// waiting. Returns the first tile that does not fit.
std::optional<uint32_t> place_densely(TileProgram& p, const Memory& m, const std::vector<LiveRange>& live,
                                      const Spec& s) {
  std::vector<uint32_t> order = m.tiles;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return footprint(p.tiles[a], s) > footprint(p.tiles[b], s); });
  std::vector<uint32_t> placed;  // by address
  for (const uint32_t t : order) {
    const int64_t bytes = footprint(p.tiles[t], s);
    int64_t at = 0;
    for (const uint32_t other : placed) {
      if (!live[other].meets(live[t])) continue;
      const int64_t begin = p.tiles[other].address;
      if (begin >= at + bytes) break;
      at = std::max(at, begin + footprint(p.tiles[other], s));
    }
    if (at + bytes > m.size) return t;
    p.tiles[t].address = at;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at,
                                   [&](int64_t a, uint32_t o) { return a < p.tiles[o].address; }),
                  t);
  }
  return {};
}

std::string describe(const TileProgram& p, uint32_t t) {
  const VirtualTile& tile = p.tiles[t];
  const std::string& source = p.program.sources[tile.source];
  return "tile " + std::to_string(t) + " " + std::to_string(tile.partitions) + "x" + std::to_string(tile.bytes) +
         " bytes" + (source.empty() ? "" : " (" + source + ")");
}

[[noreturn]] void does_not_fit(const TileProgram& p, const Memory& m, const std::vector<LiveRange>& live,
                               uint32_t culprit, const Spec& s) {
  // The fullest moment of the culprit's life.
  int64_t fullest = 0;
  std::vector<uint32_t> worst;
  for (const uint32_t at : m.tiles) {
    if (!live[at].meets(live[culprit])) continue;
    const uint32_t moment = std::max(live[at].first, live[culprit].first);
    std::vector<uint32_t> alive;
    int64_t bytes = 0;
    for (const uint32_t t : m.tiles) {
      if (live[t].first > moment || live[t].last < moment) continue;
      alive.push_back(t);
      bytes += footprint(p.tiles[t], s);
    }
    if (bytes <= fullest) continue;
    fullest = bytes;
    worst = std::move(alive);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [&](uint32_t a, uint32_t b) { return footprint(p.tiles[a], s) > footprint(p.tiles[b], s); });
  std::string context =
      std::to_string(worst.size()) + " live tiles need " + std::to_string(fullest) + " bytes per partition:";
  for (size_t i = 0; i < std::min<size_t>(worst.size(), 4); ++i) context += (i ? ", " : " ") + describe(p, worst[i]);
  throw Error(Fault::unsupported,
              "tiles that are alive together exceed " + std::string(m.space == Space::sbuf ? "SBUF" : "PSUM") + "'s " +
                  std::to_string(m.size) + " bytes per partition",
              context + " in " + p.program.name);
}

}  // namespace

std::vector<LiveRange> live_ranges(const TileProgram& p) {
  std::vector<LiveRange> live(p.tiles.size());
  for (uint32_t i = 0; i < p.program.instructions.size(); ++i) {
    const AccessList list = accesses(p.program, p.program.instructions[i]);
    for (int k = 0; k < list.count; ++k) {
      if (!list.access[k]->on_chip()) continue;
      LiveRange& range = live[list.access[k]->buffer];
      range.first = std::min(range.first, i);
      range.last = i;
    }
  }
  return live;
}

int64_t footprint(const VirtualTile& t, const Spec& s) {
  const int64_t unit = t.space == Space::psum ? static_cast<int64_t>(s.psum_partition_bytes / s.psum_banks) : kLine;
  return (t.bytes + unit - 1) / unit * unit;
}

int64_t capacity(Space space, const Spec& s) {
  if (space == Space::psum) return static_cast<int64_t>(s.psum_partition_bytes);
  return static_cast<int64_t>(s.sbuf_partition_bytes - s.sbuf_reserved_bytes) / kLine * kLine;
}

TileProgram allocate(TileProgram p, const Spec& s) {
  const std::vector<LiveRange> live = live_ranges(p);
  for (const Memory& m : memories(p, live, s)) {
    if (m.space == Space::psum && (place_in_banks(p, m, live, false, s) || place_in_banks(p, m, live, true, s)))
      continue;
    if (place_in_order(p, m, live, s)) continue;
    if (const auto culprit = place_densely(p, m, live, s)) does_not_fit(p, m, live, *culprit, s);
  }
  for (const Instruction& i : p.program.instructions) {
    const AccessList list = accesses(p.program, i);
    for (int k = 0; k < list.count; ++k) {
      Access& a = const_cast<Access&>(*list.access[k]);  // points into p's own words
      if (!a.on_chip()) continue;
      a.offset += p.tiles[a.buffer].address;
      a.buffer = 0;
    }
  }
  p.allocated = true;
  return p;
}

}  // namespace trn::compiler
