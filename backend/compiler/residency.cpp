#include "backend/compiler/residency.h"

#include <algorithm>
#include <array>
#include <map>

#include "backend/compiler/dma_pieces.h"
#include "backend/compiler/live_ranges.h"
#include "isa/isa.h"

namespace trn::compiler {
namespace {

constexpr uint32_t kBlock = 32;       // instructions whose live bytes are one number
constexpr size_t kMostPieces = 4096;  // of one slot; a search that long costs more than it saves

// Bytes of a core's SBUF that are alive, by block of instructions.
class Occupancy {
 public:
  Occupancy(const TileProgram& p, const std::vector<LiveRange>& live, uint8_t core, double share, const Spec& s)
      : most_(static_cast<int64_t>(share * static_cast<double>(capacity(Space::sbuf, s)))),
        alive_(p.program.instructions.size() / kBlock + 1) {
    for (size_t t = 0; t < live.size(); ++t)
      if (live[t].used() && p.tiles[t].space == Space::sbuf && p.tiles[t].core == core)
        add(live[t], footprint(p.tiles[t], s));
  }
  void add(const LiveRange& r, int64_t bytes) {
    for (uint32_t b = r.first / kBlock; b <= r.last / kBlock; ++b) alive_[b] += bytes;
  }
  bool fits(const LiveRange& r) const {
    return *std::max_element(alive_.begin() + r.first / kBlock, alive_.begin() + r.last / kBlock + 1) <= most_;
  }

 private:
  int64_t most_;
  std::vector<int64_t> alive_;
};

class Residency {
 public:
  Residency(TileProgram p, double share, const Spec& s)
      : p_(std::move(p)),
        s_(s),
        live_(live_ranges(p_)),
        occupancy_{Occupancy(p_, live_, 0, share, s), Occupancy(p_, live_, 1, share, s)},
        tiles_(p_.tiles.size()),
        slots_(p_.program.slots.size()),
        removed_(all().size()) {
    look();
  }

  TileProgram run() {
    forward();
    merge();
    drop_unread_scratch();
    return rewritten();
  }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  struct Place {
    uint32_t tile;
    int64_t at;
  };
  struct TileState {
    std::vector<uint32_t> loads;  // transfers from HBM into it
    std::vector<uint32_t> defs;   // every instruction that writes it
    uint32_t last_write = 0, first_read = kNone;
    bool written_otherwise = false;  // by more than plain loads
    uint32_t is = kNone;             // another tile, from byte `at`
    int64_t at = 0;
  };
  struct SlotState {
    std::vector<DmaPiece> stored;
    bool opaque = false;  // written in ways that pieces do not say
    bool written = false;
  };

  const std::vector<Instruction>& all() const { return p_.program.instructions; }

  const DmaCopy::Args* plain_copy(uint32_t i) const {
    if (all()[i].card != card_index<DmaCopy>) return nullptr;
    const auto* a = static_cast<const DmaCopy::Args*>(p_.program.raw_args(all()[i]));
    return a->index.present() ? nullptr : a;
  }
  bool is_load(const DmaCopy::Args* a) const { return a && a->src.space == Space::hbm && a->dst.space == Space::sbuf; }
  bool is_store(const DmaCopy::Args* a) const { return a && a->dst.space == Space::hbm && a->src.space == Space::sbuf; }

  void look() {
    for (uint32_t i = 0; i < all().size(); ++i) {
      const AccessList list = accesses(p_.program, all()[i]);
      const bool load = is_load(plain_copy(i));
      for (int k = 0; k < list.count; ++k) {
        const Access& a = *list.access[k];
        if (a.space == Space::hbm && list.written[k]) slots_[a.buffer].written = true;
        if (!a.on_chip()) continue;
        TileState& t = tiles_[a.buffer];
        if (!list.written[k]) {
          t.first_read = std::min(t.first_read, i);
          continue;
        }
        if (t.defs.empty() || t.defs.back() != i) t.defs.push_back(i);
        t.last_write = i;
        load ? t.loads.push_back(i) : void(t.written_otherwise = true);
      }
    }
  }

  Place place(uint32_t tile) const {
    int64_t at = 0;
    for (; tiles_[tile].is != kNone; tile = tiles_[tile].is) at += tiles_[tile].at;
    return {tile, at};
  }

  // ---- loads of what was stored ----

  void forward() {
    for (uint32_t i = 0; i < all().size(); ++i) {
      const DmaCopy::Args* copy = plain_copy(i);
      if (is_store(copy)) {
        stored(i, *copy);
      } else if (is_load(copy)) {
        const TileState& t = tiles_[copy->dst.buffer];
        if (!t.written_otherwise && t.loads.back() == i) find_on_chip(copy->dst.buffer);
      } else {
        const AccessList list = accesses(p_.program, all()[i]);
        for (int k = 0; k < list.count; ++k)
          if (list.access[k]->space == Space::hbm && list.written[k]) slots_[list.access[k]->buffer].opaque = true;
      }
    }
  }

  void stored(uint32_t i, const DmaCopy::Args& copy) {
    SlotState& slot = slots_[copy.dst.buffer];
    const std::vector<DmaPiece> pieces = pieces_of(i, copy.src, copy.dst);
    slot.opaque = slot.opaque || pieces.empty() || slot.stored.size() + pieces.size() > kMostPieces;
    if (slot.opaque) return;
    for (const DmaPiece& p : pieces) {
      for (DmaPiece& earlier : slot.stored)
        if (earlier.valid && may_meet(earlier, p)) earlier.valid = false;
      slot.stored.push_back(p);
    }
  }

  // A stored piece seen from a loaded one: byte `at` of `tile` is byte `loaded_at` of the loaded tile.
  struct Match {
    Place from;
    int64_t loaded_at;
  };

  // The stored pieces that together are `piece`; empty if there are none.
  std::vector<Match> matches(const DmaPiece& piece, const SlotState& slot) const {
    std::vector<Match> found;
    int64_t covered = 0;
    for (const DmaPiece& s : slot.stored) {
      if (!s.valid || s.instruction > piece.instruction || (s.stride != piece.stride && piece.rows > 1)) continue;
      if (s.first > piece.first || s.first + s.rows < piece.first + piece.rows) continue;
      const int64_t shift =
          piece.rows > 1 ? s.origin() - piece.origin() : s.base + (piece.first - s.first) * s.stride - piece.base;
      const int64_t begin = std::max<int64_t>(shift, 0), end = std::min(shift + s.bytes, piece.bytes);
      if (begin >= end) continue;
      const Place root = place(s.tile);
      if (tiles_[root.tile].last_write > s.instruction) return {};
      covered += end - begin;
      found.push_back({{root.tile, root.at + s.at + begin - shift}, piece.at + begin});
    }
    return covered == piece.bytes ? found : std::vector<Match>{};
  }

  void find_on_chip(uint32_t loaded) {
    std::vector<Match> all_matches;
    for (const uint32_t i : tiles_[loaded].loads) {
      const DmaCopy::Args& copy = *plain_copy(i);
      const SlotState& slot = slots_[copy.src.buffer];
      if (slot.opaque) return;
      const std::vector<DmaPiece> pieces = pieces_of(i, copy.dst, copy.src);
      if (pieces.empty()) return;
      for (const DmaPiece& p : pieces) {
        const std::vector<Match> found = matches(p, slot);
        if (found.empty()) return;
        all_matches.insert(all_matches.end(), found.begin(), found.end());
      }
    }
    if (all_matches.empty()) return;
    if (!becomes_part(loaded, all_matches) && !takes_parts(loaded, all_matches)) return;
    for (const uint32_t i : tiles_[loaded].loads) removed_[i] = true;
  }

  // The loaded tile is a part of one that is there.
  bool becomes_part(uint32_t loaded, const std::vector<Match>& found) {
    const Place from = found[0].from;
    const int64_t shift = from.at - found[0].loaded_at;
    for (const Match& m : found)
      if (m.from.tile != from.tile || m.from.at - m.loaded_at != shift) return false;
    return joins(loaded, from.tile, shift);
  }

  // The tiles that are there become parts of the loaded one.
  bool takes_parts(uint32_t loaded, const std::vector<Match>& found) {
    std::map<uint32_t, int64_t> shifts;
    for (const Match& m : found) {
      const auto [known, added] = shifts.try_emplace(m.from.tile, m.loaded_at - m.from.at);
      if (!added && known->second != m.loaded_at - m.from.at) return false;
    }
    std::vector<std::pair<int64_t, int64_t>> ranges;
    std::vector<uint32_t> parts;
    for (const auto& [tile, shift] : shifts) {
      if (!is_inside(tile, loaded, shift)) return false;
      ranges.emplace_back(shift, shift + p_.tiles[tile].bytes);
      parts.push_back(tile);
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i].first < ranges[i - 1].second) return false;
    if (!absorbs(loaded, parts)) return false;
    TileState& into = tiles_[loaded];
    into.last_write = 0;
    for (const auto& [tile, shift] : shifts) {
      tiles_[tile].is = loaded;
      tiles_[tile].at = shift;
      into.last_write = std::max(into.last_write, tiles_[tile].last_write);
    }
    return true;
  }

  int64_t bytes(uint32_t tile) const { return footprint(p_.tiles[tile], s_); }

  // Whether `part` has room in `whole` from byte `at`.
  bool is_inside(uint32_t part, uint32_t whole, int64_t at) const {
    const VirtualTile &a = p_.tiles[part], &b = p_.tiles[whole];
    return at >= 0 && at + a.bytes <= b.bytes && a.partitions <= b.partitions && a.core == b.core && a.space == b.space;
  }

  // `into` lives as long as itself and the parts, which need no room of their own any more. False, and nothing has
  // changed, if SBUF has no room for that.
  bool absorbs(uint32_t into, const std::vector<uint32_t>& parts) {
    const LiveRange before = live_[into];
    LiveRange whole = before;
    for (const uint32_t tile : parts)
      whole = {std::min(whole.first, live_[tile].first), std::max(whole.last, live_[tile].last)};
    Occupancy& core = occupancy_[p_.tiles[into].core];
    const auto change = [&](int64_t sign) {
      core.add(before, -sign * bytes(into));
      for (const uint32_t tile : parts) core.add(live_[tile], -sign * bytes(tile));
      core.add(whole, sign * bytes(into));
    };
    change(1);
    if (!core.fits(whole)) {
      change(-1);
      return false;
    }
    live_[into] = whole;
    return true;
  }

  // `tile` is `into` from byte `at`, if it fits and SBUF has room for `into` until `tile` ends.
  bool joins(uint32_t tile, uint32_t into, int64_t at) {
    if (tile == into || !is_inside(tile, into, at) || !absorbs(into, {tile})) return false;
    tiles_[tile].is = into;
    tiles_[tile].at = at;
    return true;
  }

  // ---- tiles that are made alike ----

  static bool is_pure(uint16_t card) {
    return card == card_index<DmaCopy> || card == card_index<DmaTranspose> || card == card_index<NcTranspose> ||
           card == card_index<TensorCopy>;
  }

  void merge() {
    alike_.resize(tiles_.size());
    for (uint32_t t = 0; t < tiles_.size(); ++t) alike_[t] = t;
    std::map<std::vector<uint64_t>, uint32_t> known;
    std::vector<char> closed(tiles_.size());
    for (uint32_t i = 0; i < all().size(); ++i) {
      if (removed_[i]) continue;
      const AccessList list = accesses(p_.program, all()[i]);
      for (int k = 0; k < list.count; ++k) {
        const Access& a = *list.access[k];
        if (!a.on_chip() || list.written[k] || closed[a.buffer]) continue;
        closed[a.buffer] = true;
        if (tiles_[a.buffer].is != kNone) continue;
        std::vector<uint64_t> made = signature(a.buffer);
        if (made.empty()) continue;
        const auto [same, added] = known.try_emplace(std::move(made), a.buffer);
        if (added) continue;
        alike_[a.buffer] = alike_[same->second];
        const uint32_t first = place(same->second).tile;
        if (a.space != Space::sbuf || place(same->second).at != 0) continue;
        if (!joins(a.buffer, first, 0)) {
          same->second = a.buffer;  // too far away to be kept; the next one may be near this
          continue;
        }
        for (const uint32_t def : tiles_[a.buffer].defs) removed_[def] = true;
      }
    }
    drop_unread_tiles();
  }

  // What a tile is made of, if by pure instructions from what does not change; else empty.
  std::vector<uint64_t> signature(uint32_t tile) const {
    const TileState& t = tiles_[tile];
    if (t.defs.empty() || t.last_write > t.first_read) return {};
    const VirtualTile& v = p_.tiles[tile];
    std::vector<uint64_t> words{static_cast<uint64_t>(v.space), static_cast<uint64_t>(v.partitions),
                                static_cast<uint64_t>(v.bytes), v.core};
    for (const uint32_t i : t.defs) {
      if (removed_[i] || !is_pure(all()[i].card)) return {};
      words.push_back(all()[i].card);
      const AccessList list = accesses(p_.program, all()[i]);
      for (int k = 0; k < list.count; ++k) {
        const Access& a = *list.access[k];
        uint64_t of = a.buffer;
        int64_t at = a.offset;
        if (a.space == Space::hbm) {
          if (list.written[k] || slots_[a.buffer].written) return {};
        } else if (a.buffer == tile) {
          if (!list.written[k]) return {};
          of = ~uint64_t{0};
        } else {
          const Place root = place(a.buffer);
          if (list.written[k] || tiles_[root.tile].last_write > i) return {};
          of = alike_[root.tile];
          at += root.at;
        }
        words.insert(words.end(), {of, static_cast<uint64_t>(at),
                                   static_cast<uint64_t>(a.space) | static_cast<uint64_t>(a.dtype) << 8 |
                                       static_cast<uint64_t>(a.ndim) << 16 | static_cast<uint64_t>(a.partition) << 24});
        for (int d = 0; d < a.ndim; ++d)
          words.push_back(static_cast<uint64_t>(static_cast<uint32_t>(a.dims[d].step)) << 32 |
                          static_cast<uint32_t>(a.dims[d].count));
      }
    }
    return words;
  }

  // Pure instructions whose result nothing reads, from the last one on.
  void drop_unread_tiles() {
    std::vector<uint32_t> readers(tiles_.size());
    const auto count = [&](uint32_t i, int by) {
      const AccessList list = accesses(p_.program, all()[i]);
      for (int k = 0; k < list.count; ++k)
        if (list.access[k]->on_chip() && !list.written[k])
          readers[place(list.access[k]->buffer).tile] += static_cast<uint32_t>(by);
    };
    for (uint32_t i = 0; i < all().size(); ++i)
      if (!removed_[i]) count(i, 1);
    for (uint32_t i = static_cast<uint32_t>(all().size()); i-- > 0;) {
      if (removed_[i] || !is_pure(all()[i].card)) continue;
      const AccessList list = accesses(p_.program, all()[i]);
      bool unread = true;
      for (int k = 0; k < list.count; ++k)
        if (list.written[k])
          unread = unread && list.access[k]->on_chip() && readers[place(list.access[k]->buffer).tile] == 0;
      if (!unread) continue;
      removed_[i] = true;
      count(i, -1);
    }
  }

  // Stores to scratch that no transfer which is left reads again.
  void drop_unread_scratch() {
    std::vector<std::vector<DmaPiece>> loaded(slots_.size());
    std::vector<char> read_otherwise(slots_.size());
    for (uint32_t i = 0; i < all().size(); ++i) {
      if (removed_[i]) continue;
      const DmaCopy::Args* copy = plain_copy(i);
      const std::vector<DmaPiece> pieces = is_load(copy) ? pieces_of(i, copy->dst, copy->src) : std::vector<DmaPiece>{};
      const AccessList list = accesses(p_.program, all()[i]);
      for (int k = 0; k < list.count; ++k) {
        if (list.access[k]->space != Space::hbm || list.written[k]) continue;
        auto& of_slot = loaded[list.access[k]->buffer];
        of_slot.insert(of_slot.end(), pieces.begin(), pieces.end());
        if (pieces.empty() || of_slot.size() > kMostPieces) read_otherwise[list.access[k]->buffer] = true;
      }
    }
    for (uint32_t i = 0; i < all().size(); ++i) {
      const DmaCopy::Args* copy = plain_copy(i);
      if (!is_store(copy)) continue;
      const uint32_t slot = copy->dst.buffer;
      if (p_.program.slots[slot].use != SlotUse::scratch || read_otherwise[slot]) continue;
      const std::vector<DmaPiece> pieces = pieces_of(i, copy->src, copy->dst);
      const auto is_read = [&](const DmaPiece& s) {
        return std::any_of(loaded[slot].begin(), loaded[slot].end(), [&](const DmaPiece& l) { return may_meet(s, l); });
      };
      if (!loaded[slot].empty() && (pieces.empty() || std::any_of(pieces.begin(), pieces.end(), is_read))) continue;
      removed_[i] = true;
    }
  }

  TileProgram rewritten() {
    std::vector<Instruction> kept;
    std::vector<char> used(slots_.size());
    for (uint32_t i = 0; i < all().size(); ++i) {
      if (removed_[i]) continue;
      const AccessList list = accesses(p_.program, all()[i]);
      for (int k = 0; k < list.count; ++k) {
        Access& a = const_cast<Access&>(*list.access[k]);  // points into p_'s own words
        if (a.space == Space::hbm) used[a.buffer] = true;
        if (!a.on_chip()) continue;
        const Place root = place(a.buffer);
        a.buffer = root.tile;
        a.offset += root.at;
      }
      kept.push_back(all()[i]);
    }
    p_.program.instructions = std::move(kept);
    for (size_t slot = 0; slot < used.size(); ++slot)  // the number stays, the memory does not
      if (p_.program.slots[slot].use == SlotUse::scratch && !used[slot]) p_.program.slots[slot].bytes = 64;
    return std::move(p_);
  }

  TileProgram p_;
  const Spec& s_;
  std::vector<LiveRange> live_;
  std::array<Occupancy, 2> occupancy_;  // by core
  std::vector<TileState> tiles_;
  std::vector<SlotState> slots_;
  std::vector<char> removed_;
  std::vector<uint32_t> alike_;  // by tile: the first one that is made alike
};

}  // namespace

TileProgram keep_on_chip(TileProgram p, double share, const Spec& s) { return Residency(std::move(p), share, s).run(); }

}  // namespace trn::compiler
