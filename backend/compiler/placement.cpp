#include "backend/compiler/placement.h"

#include <algorithm>

#include "backend/compiler/live_ranges.h"

namespace trn::compiler {
namespace {

std::string describe(const TileProgram& p, const std::vector<LiveRange>& live, uint32_t t) {
  const VirtualTile& tile = p.tiles[t];
  std::string text = "tile " + std::to_string(t) + " [" + std::to_string(tile.partitions) + ", " +
                     std::to_string(tile.bytes) + " bytes] of " + std::string(space_name(tile.space)) + " at " +
                     std::to_string(tile.address) + ", alive from #" + std::to_string(live[t].first) + " to #" +
                     std::to_string(live[t].last);
  if (const std::string& source = p.program.sources[tile.source]; !source.empty()) text += " (" + source + ")";
  return text;
}

}  // namespace

Findings find_misplaced_tiles(const TileProgram& p, const Spec& s, size_t most) {
  const std::vector<LiveRange> live = live_ranges(p);
  std::vector<uint32_t> order;
  for (uint32_t t = 0; t < p.tiles.size(); ++t)
    if (live[t].used()) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return live[a].first < live[b].first; });
  Findings found;
  std::vector<uint32_t> alive;
  for (const uint32_t t : order) {
    if (found.size() >= most) break;
    const VirtualTile& tile = p.tiles[t];
    const auto size = static_cast<int64_t>(tile.space == Space::psum ? s.psum_partition_bytes : s.sbuf_partition_bytes);
    if (tile.address < 0 || tile.address + tile.bytes > size)
      found.push_back({.kind = RuleKind::capacity,
                       .fault = Fault::illegal,
                       .rule = describe(p, live, t) + " leaves its partition of " + std::to_string(size) + " bytes",
                       .instruction = live[t].first,
                       .notes = {}});
    std::erase_if(alive, [&](uint32_t other) { return live[other].last < live[t].first; });
    for (const uint32_t other : alive) {
      const VirtualTile& o = p.tiles[other];
      const int64_t begin = std::max(o.address, tile.address),
                    end = std::min(o.address + o.bytes, tile.address + tile.bytes);
      if (o.space != tile.space || o.core != tile.core || begin >= end) continue;
      found.push_back({.kind = RuleKind::overlap,
                       .fault = Fault::illegal,
                       .rule = "two tiles that are alive together share bytes " + std::to_string(begin) + ".." +
                               std::to_string(end - 1),
                       .instruction = live[t].first,
                       .notes = {describe(p, live, other), describe(p, live, t)}});
    }
    alive.push_back(t);
  }
  return found;
}

}  // namespace trn::compiler
