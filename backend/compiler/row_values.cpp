#include "backend/compiler/row_values.h"

#include <algorithm>
#include <bit>
#include <set>

namespace trn::compiler {
namespace {

constexpr int64_t kKeptBytes = 48 * 1024;

bool is_legal_start(const RowBox& box) { return box.at % (box.count > 64 ? 128 : box.count > 32 ? 64 : 32) == 0; }

// The counts 0 .. n-1 in HBM, read as `s` reads its iota.
Source iota_in_scratch(TileBuilder& t, int64_t n, const Source& s) {
  const View v = contiguous_view(t.scratch("iota", n * 4), Dtype::int32, {n});
  const int64_t width = std::min<int64_t>(n, std::max<int64_t>((n + 127) / 128, 64));
  for (int64_t at = 0; at < n;) {
    const int64_t rows = std::max<int64_t>(std::min<int64_t>((n - at) / width, 128), 1),
                  columns = std::min(width, n - at);
    const Tile tile = t.sbuf(static_cast<int>(rows), Dtype::int32, {columns});
    Iota::Args a;
    a.dst = tile;
    a.offset = static_cast<int32_t>(at);
    a.channel_multiplier = static_cast<int32_t>(columns);
    a.pattern.fill({0, 1});
    a.pattern[0] = {1, static_cast<int32_t>(columns)};
    t.emit<Iota>(Engine::gpsimd, a);
    Access to{.space = Space::hbm, .dtype = Dtype::int32, .ndim = 1, .buffer = v.slot, .offset = at * 4};
    to.dims[0] = {1, static_cast<int32_t>(rows * columns)};
    t.store(to, tile);
    at += rows * columns;
  }
  return {s.node, v, s.steps};
}

}  // namespace

RowValues::RowValues(TileBuilder& t, const Plan& p, const Kernel& k, const Iteration& space, const Layout& layout)
    : t_(t), plan_(p), space_(space) {
  std::set<NodeId> seen(k.nodes.begin(), k.nodes.end());
  for (const Result& r : k.results) seen.insert(r.value);
  for (NodeId id : k.nodes) seen.insert(p.graph[id].inputs.begin(), p.graph[id].inputs.end());
  for (NodeId id : std::vector<NodeId>(seen.begin(), seen.end()))  // what a broadcast constant is made from
    for (; is_fill(p.graph, id) && p.graph[id].op == Op::expand; seen.insert(id)) id = p.graph[id].inputs[0];
  for (NodeId id : seen) entries_.push_back({.id = id});

  for (int i = 0; i < space.axes(); ++i)
    if (space.reduced[i]) reduced_axes_ |= 1u << i;
  for (const Source& s : space.reads) entry(s.node).vary = axes_with_steps(s);
  for (const Source& s : space.iotas) entry(s.node).vary = axes_with_steps(s);
  for (NodeId id : k.nodes) {
    const Node& n = p.graph[id];
    Entry& e = entry(id);
    e.member = true;
    if (n.op == Op::matmul) {
      e.vary = (1u << space.axes()) - 1;
      continue;
    }
    for (NodeId i : n.inputs) {
      e.vary |= entry(base(i)).vary;
      ++entry(i).uses;
    }
    if (n.op == Op::reduce) e.vary &= ~reduced_axes_;
    if (n.op == Op::roll) e.vary |= axes_with_steps(*source_of(space.rolls, id));
  }
  for (const Result& r : k.results) ++entry(r.value).uses;
  choose_kept(layout);
}

RowValues::Entry& RowValues::entry(NodeId id) {
  return *std::lower_bound(entries_.begin(), entries_.end(), id, [](const Entry& e, NodeId i) { return e.id < i; });
}

NodeId RowValues::base(NodeId id) const {
  while (plan_.graph[id].op == Op::expand && (entry(id).member || is_fill(plan_.graph, id)))
    id = plan_.graph[id].inputs[0];
  return id;
}

void RowValues::begin_step() {
  for (Entry& e : entries_) e.in_step.reset();
}

void RowValues::begin_block(const Block& b) {
  block_ = &b;
  for (Entry& e : entries_) e.in_block.reset();
  // Masks number the block's walks; a smaller last block may have fewer.
  for (Entry& e : entries_)
    if (e.in_step && e.in_step->tile.present()) e.in_step->mask = mask_of(e.vary);
  for (auto& [key, v] : kept_values_)
    if (v.tile.present()) v.mask = mask_of(entry(key.first).vary);
}

// ---- which values outlive a block ----

// Equal signatures: the same elements on the same partitions.
std::vector<int64_t> RowValues::signature(NodeId id, const Block& b) const {
  const auto varies = [&](int axis) { return entry(id).vary >> axis & 1; };
  std::vector<int64_t> s;
  for (int i = 0; i < space_.axes(); ++i)
    if (varies(i)) s.push_back(b.start[i]);
  const auto add = [&](const Walk& w) { s.insert(s.end(), {w.axis, w.step, w.count}); };
  for (const Walk& w : b.free)
    if (varies(w.axis)) add(w);
  int64_t period = 1;
  size_t first = b.rows.size();
  for (size_t i = b.rows.size(); i-- > 0;)
    if (varies(b.rows[i].axis)) first = i;
  for (size_t i = first; i < b.rows.size(); ++i) {
    period *= b.rows[i].count;
    add(b.rows[i]);
  }
  if (first < b.rows.size()) s.insert(s.end(), {b.first_row % period, b.partitions});
  return s;
}

void RowValues::choose_kept(const Layout& layout) {
  uint32_t looping = 0;
  const Block& first = layout.steps.front().front();
  size_t blocks = 0;
  for (const Step& step : layout.steps)
    for (const Block& b : step) {
      ++blocks;
      for (int i = 0; i < space_.axes(); ++i)
        if (b.start[i] != first.start[i]) looping |= 1u << i;
      if (b.first_row)
        for (const Walk& w : b.rows) looping |= 1u << w.axis;
    }
  one_block_ = blocks == 1;
  if (one_block_) return;
  int64_t left = kKeptBytes;
  for (Entry& e : entries_) {
    const NodeId id = e.id;
    const bool known = entry(id).member || source_of(space_.reads, id) || source_of(space_.iotas, id);
    if (!known || plan_.graph[id].op == Op::expand || (looping & ~entry(id).vary) == 0 ||
        (entry(id).vary & looping & reduced_axes_))
      continue;
    int64_t bytes = size_of(storage(plan_.graph[id].dtype));
    for (const Walk& w : first.free)
      if (entry(id).vary >> w.axis & 1) bytes *= w.count;
    std::set<std::vector<int64_t>> distinct;
    for (const Step& step : layout.steps)
      for (const Block& b : step)
        if (static_cast<int64_t>(distinct.size()) * bytes <= left) distinct.insert(signature(id, b));
    if (static_cast<int64_t>(distinct.size()) * bytes > left) continue;
    left -= static_cast<int64_t>(distinct.size()) * bytes;
    entry(id).kept = true;
  }
}

const Value* RowValues::find(NodeId id) const {
  if (entry(id).kept) {
    const auto known = kept_values_.find({id, signature(id, *block_)});
    if (known == kept_values_.end() ||
        (known->second.tile.present() && known->second.tile.partitions() < block_->partitions))
      return nullptr;
    return &known->second;
  }
  const auto& value = entry(id).vary & reduced_axes_ ? entry(id).in_block : entry(id).in_step;
  if (!value || (value->tile.present() && value->tile.partitions() < block_->partitions)) return nullptr;
  return &*value;
}

const Value& RowValues::remember(NodeId id, Value v) {
  if (entry(id).kept) return kept_values_[{id, signature(id, *block_)}] = v;
  auto& place = entry(id).vary & reduced_axes_ ? entry(id).in_block : entry(id).in_step;
  place = v;
  return *place;
}

void RowValues::set(NodeId id, const Access& tile) { remember(id, {false, 0, tile, mask_of(entry(id).vary)}); }

// ---- shapes ----

uint32_t RowValues::mask_of(uint32_t axes) const {
  uint32_t mask = 0;
  for (size_t i = 0; i < block_->free.size(); ++i)
    if (axes >> block_->free[i].axis & 1) mask |= 1u << i;
  return mask;
}

std::vector<Dim> RowValues::dims(const Value& v, uint32_t walks) const {
  std::vector<Dim> result;
  int32_t step = 1;
  for (size_t i = block_->free.size(); i-- > 0;) {
    const auto n = static_cast<int32_t>(block_->free[i].count);
    const bool varies = v.mask >> i & 1;
    if (walks >> i & 1) result.insert(result.begin(), {varies ? step : 0, n});
    if (varies) step *= n;
  }
  return result;
}

Tile RowValues::new_tile(Dtype d, uint32_t mask) {
  int64_t n = 1;
  for (size_t i = 0; i < block_->free.size(); ++i)
    if (mask >> i & 1) n *= block_->free[i].count;
  const int64_t free[] = {n};
  return t_.sbuf(block_->partitions, d, free);
}

// The operands' patterns over the walks in `mask`, neighbours joined where all of them step regularly.
std::vector<Access> RowValues::together(const std::vector<Value>& operands, uint32_t mask) const {
  std::vector<std::vector<Dim>> all;
  for (const Value& v : operands) all.push_back(dims(v, mask));
  for (size_t i = all[0].size(); i-- > 1;) {
    const bool joins =
        std::all_of(all.begin(), all.end(), [&](const auto& d) { return d[i - 1].step == d[i].step * d[i].count; });
    if (!joins) continue;
    for (auto& d : all) {
      d[i - 1] = {d[i].step, d[i - 1].count * d[i].count};
      d.erase(d.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  std::vector<Access> result;
  for (size_t k = 0; k < operands.size(); ++k) {
    Access a = slice(operands[k].tile, 0, 0, block_->partitions);
    a.ndim = 1;
    for (const Dim& d : all[k]) a.dims[a.ndim++] = d;
    if (a.ndim == 1) a.dims[a.ndim++] = {1, 1};
    result.push_back(a);
  }
  return result;
}

// ---- values ----

const Value& RowValues::get(NodeId id) {
  id = base(id);
  if (const Value* known = find(id)) return *known;
  return remember(id, compute(id, storage(plan_.graph[id].dtype)));
}

Access RowValues::whole(NodeId id, uint32_t mask) {
  const Value v = get(id);
  const Dtype d = storage(plan_.graph[id].dtype);
  if (!v.is_constant) {
    if (v.mask == mask) return slice(v.tile, 0, 0, block_->partitions);
    const Value wide = result(d, mask);
    const auto a = together({wide, v}, mask);
    copy_tile(t_, a[0], a[1]);
    return wide.tile;
  }
  const Tile made = new_tile(d, mask);
  std::vector<int64_t> key{std::bit_cast<int64_t>(v.constant), static_cast<int64_t>(d), block_->partitions,
                           made.access.free_elements()};
  if (const auto known = kept_constants_.find(key); !one_block_ && known != kept_constants_.end()) return known->second;
  fill_tile(t_, made, v.constant);
  kept_constants_[std::move(key)] = made;
  return made;
}

void RowValues::store(NodeId id, const Source& to) {
  const uint32_t mask = mask_of(axes_with_steps(to));
  Access tile = whole(id, mask);
  if (tile.space == Space::psum) {
    const Tile same = new_tile(storage(plan_.graph[id].dtype), mask);
    copy_tile(t_, same, tile);
    tile = same;
  }
  Block b = *block_;
  const bool one_row = std::none_of(b.rows.begin(), b.rows.end(), [&](const Walk& w) { return to.steps[w.axis] != 0; });
  if (one_row) {
    b.rows.clear();
    b.first_row = 0;
    b.partitions = 1;
    tile = slice(tile, 0, 0, 1);
  }
  compiler::store(t_, b, to, mask, tile);
}

Value RowValues::compute(NodeId id, Dtype d) {
  const Node& n = plan_.graph[id];
  if (n.op == Op::constant) return {true, n.value, {}, 0};
  if (n.op == Op::iota) return make_iota(id);
  if (!entry(id).member) return load_leaf(id);
  switch (n.op) {
    case Op::map1: return map1(id, d, {});
    case Op::map2: return map2(id, d);
    case Op::select: return select(id, d);
    case Op::cast: return cast(id, d);
    case Op::roll: return roll(id, d);
    default:
      throw Error(Fault::internal, "value is not computed yet", std::string(name(n.op)) + " in " + plan_.graph.name);
  }
}

// One value per partition is only ever an engine's scalar operand, which must be fp32.
Value RowValues::load_leaf(NodeId id) {
  const Source& s = *source_of(space_.reads, id);
  const uint32_t mask = mask_of(entry(id).vary);
  Dtype d = storage(s.view.dtype);
  if (mask == 0 && is_float(d) && size_of(d) < 4) d = Dtype::float32;
  const Value v = result(d, mask);
  load(t_, *block_, s, mask, v.tile);
  return v;
}

Value RowValues::make_iota(NodeId id) {
  const Source& s = *source_of(space_.iotas, id);
  const uint32_t mask = mask_of(entry(id).vary);
  const Value v = result(Dtype::int32, mask);
  const auto boxes = row_boxes(*block_, s.steps, 1);
  if (!std::all_of(boxes.begin(), boxes.end(), is_legal_start)) {
    if (!iota_sources_.contains(id))
      iota_sources_[id] = iota_in_scratch(t_, plan_.graph[id].shape[plan_.graph[id].dim], s);
    load(t_, *block_, iota_sources_[id], mask, v.tile);
    return v;
  }
  for (const RowBox& box : boxes) {
    Iota::Args a;
    a.dst = slice(v.tile, 0, box.at, box.count);
    a.offset = static_cast<int32_t>(start_of(*block_, s) + box.offset);
    a.channel_multiplier = box.dims.empty() ? 0 : box.dims[0].step;
    a.pattern.fill({0, 1});
    size_t at = 0;
    for (const Dim& d : free_dims(*block_, s.steps, mask)) a.pattern[at++] = d;
    t_.emit<Iota>(Engine::gpsimd, a);
  }
  return v;
}

}  // namespace trn::compiler
