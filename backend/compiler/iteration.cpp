#include "backend/compiler/iteration.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace trn::compiler {
namespace {

constexpr int64_t kPartitions = 128;
constexpr int64_t kMostFree = 2048;  // elements: fixed costs of an instruction are below 5 % here
constexpr int64_t kLeastFree = 64;   // shorter rows cost more DMA descriptors than they save
constexpr int64_t kRowAlone = 256;   // shorter rows share partitions: the fixed costs would be a third of the time
constexpr size_t kFreeWalks = 3;

Source source(NodeId node, const View& v, const Dims& space) {
  Source s{node, v, Dims(space.size(), 0)};
  const size_t lead = space.size() - v.shape.size();
  for (size_t i = 0; i < v.shape.size(); ++i)
    if (v.shape[i] > 1) s.steps[lead + i] = v.strides[i];
  return s;
}

int64_t reach(const Source& s, const Dims& size) {
  int64_t n = 1;
  for (size_t i = 0; i < size.size(); ++i)
    if (s.steps[i]) n *= size[i];
  return n;
}

template <class Visit>
void for_each_source(Iteration& s, Visit visit) {
  for (auto* list : {&s.reads, &s.writes, &s.iotas, &s.rolls})
    for (Source& x : *list) visit(x);
}

// The tensor whose order the space follows: the largest; a result where equal, because it is usually contiguous.
const Source* leading(const Iteration& s) {
  const Source* best = nullptr;
  for (const auto* list : {&s.writes, &s.reads})
    for (const Source& x : *list)
      if (!best || reach(x, s.size) > reach(*best, s.size)) best = &x;
  return best;
}

void reorder(Iteration& s, const std::vector<size_t>& order) {
  const auto pick = [&](auto& from) {
    std::remove_reference_t<decltype(from)> to;
    for (size_t i : order) to.push_back(from[i]);
    from = std::move(to);
  };
  pick(s.size);
  pick(s.reduced);
  for_each_source(s, [&](Source& x) { pick(x.steps); });
}

void sort_axes(Iteration& s, bool in_order) {
  const Source* lead = leading(s);
  std::vector<size_t> order;
  for (size_t i = 0; i < s.size.size(); ++i)
    if (s.size[i] > 1) order.push_back(i);
  if (lead && !in_order)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const int64_t x = std::abs(lead->steps[a]), y = std::abs(lead->steps[b]);
      return x != y && y != 0 && (x == 0 || x > y);
    });
  reorder(s, order);
}

void join_axes(Iteration& s) {
  for (size_t i = s.size.size(); i-- > 1;) {
    bool joins = s.reduced[i - 1] == s.reduced[i];
    for_each_source(s, [&](Source& x) { joins = joins && x.steps[i - 1] == x.steps[i] * s.size[i]; });
    if (!joins) continue;
    s.size[i - 1] *= s.size[i];
    s.size.erase(s.size.begin() + i);
    s.reduced.erase(s.reduced.begin() + i);
    for_each_source(s, [&](Source& x) { x.steps.erase(x.steps.begin() + (i - 1)); });
  }
}

void add_leaf(Iteration& s, const Plan& p, const Kernel& k, NodeId id) {
  if (is_fill(p.graph, id)) {
    while (p.graph[id].op == Op::expand) id = p.graph[id].inputs[0];
    const Node& n = p.graph[id];
    if (n.op != Op::iota) return;
    for (const Source& x : s.iotas)
      if (x.node == id) return;
    Source x{id, {}, Dims(k.space.size(), 0)};
    if (n.shape[n.dim] > 1) x.steps[k.space.size() - n.shape.size() + n.dim] = 1;
    s.iotas.push_back(std::move(x));
    return;
  }
  if (std::find(k.nodes.begin(), k.nodes.end(), id) != k.nodes.end()) return;
  for (const Source& x : s.reads)
    if (x.node == id) return;
  s.reads.push_back(source(id, p.view(id), k.space));
}

// ---- layouts ----

int64_t product(const Dims& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t largest_divisor(int64_t n, int64_t most) {
  if (most >= n) return n;
  int64_t best = 1;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d) continue;
    if (d <= most) best = std::max(best, d);
    if (n / d <= most) best = std::max(best, n / d);
  }
  return best;
}

// A box of the space: some axes from `start`, `count` long.
struct Box {
  Dims start, count;
};

void add_row_tiles(const Block& whole, std::vector<Block>& out) {
  int64_t rows = 1;
  for (const Walk& w : whole.rows) rows *= w.count;
  for (int64_t r = 0; r < rows; r += kPartitions) {
    Block b = whole;
    b.first_row = r;
    b.partitions = static_cast<int>(std::min(kPartitions, rows - r));
    out.push_back(std::move(b));
  }
}

// Covers `box` with tiles: whole axes named in `always` and inner parts of the others on the free dims, about `target`
// elements of those; outer parts on partitions. A size without a fitting divisor is cut in two boxes.
void cover(const Box& box, const std::vector<char>& always, int64_t target, std::vector<Block>& out) {
  Block b{box.start, {}, 0, 1, {}};
  int64_t free = 1;
  size_t room_for = kFreeWalks;
  for (size_t i = 0; i < always.size(); ++i) room_for -= always[i] && box.count[i] > 1 && room_for > 1;
  bool full = false;
  for (size_t i = box.count.size(); i-- > 0;) {
    const int64_t n = box.count[i];
    const auto walk = [&](int64_t step, int64_t count) { return Walk{static_cast<int>(i), step, count}; };
    if (n == 1) continue;
    if (always[i]) {
      b.free.insert(b.free.begin(), walk(1, n));
      continue;
    }
    const int64_t room = full || room_for == 0 ? 1 : std::max<int64_t>(target / free, 1);
    if (n <= room) {
      b.free.insert(b.free.begin(), walk(1, n));
      free *= n;
      --room_for;
      continue;
    }
    int64_t inner = room > 1 ? largest_divisor(n, room) : 1;
    if (!full && room > 1 && free < kLeastFree && free * inner * 2 < target) {
      Box main = box, tail = box;
      main.count[i] = n - n % room;
      tail.start[i] += main.count[i];
      tail.count[i] = n % room;
      if (tail.count[i]) {
        cover(main, always, target, out);
        cover(tail, always, target, out);
        return;
      }
      inner = room;
    }
    if (inner > 1) {
      b.free.insert(b.free.begin(), walk(1, inner));
      free *= inner;
      --room_for;
    }
    b.rows.insert(b.rows.begin(), walk(inner, n / inner));
    full = true;
  }
  add_row_tiles(b, out);
}

// Cuts axes in `of` into boxes of at most `limit` elements and `walks` axes longer than 1, in row-major order.
std::vector<Box> cut(const Iteration& s, const std::vector<char>& of, int64_t limit, size_t walks) {
  const size_t axes = s.size.size();
  Dims count(axes, 1);
  int64_t taken = 1;
  size_t used = 0;
  for (size_t i = axes; i-- > 0;) {
    if (!of[i]) continue;
    if (used == walks || taken >= limit) break;
    count[i] = std::min(s.size[i], std::max<int64_t>(limit / taken, 1));
    taken *= count[i];
    used += count[i] > 1;
    if (count[i] < s.size[i]) break;
  }
  std::vector<Box> boxes;
  Dims at(axes, 0);
  for (;;) {
    Box b{at, count};
    for (size_t i = 0; i < axes; ++i) b.count[i] = of[i] ? std::min(count[i], s.size[i] - at[i]) : s.size[i];
    boxes.push_back(std::move(b));
    size_t i = axes;
    while (i-- > 0) {
      if (!of[i]) continue;
      if ((at[i] += count[i]) < s.size[i]) break;
      at[i] = 0;
    }
    if (i == static_cast<size_t>(-1)) return boxes;
  }
}

Layout pointwise_layout(const Iteration& s, int64_t most_free) {
  Layout l;
  std::vector<Block> blocks;
  const Box all{Dims(s.size.size(), 0), s.size};
  std::vector<char> whole(s.size.size());
  int64_t held = 1;  // elements of the axes that are held whole
  for (size_t i = 0; i < whole.size(); ++i) {
    whole[i] = std::any_of(s.rolls.begin(), s.rolls.end(), [&](const Source& x) { return x.steps[i] != 0; });
    if (whole[i]) held *= s.size[i];
  }
  const int64_t target = std::clamp(ceil_div(product(s.size), kPartitions), kLeastFree, most_free);
  cover(all, whole, std::max<int64_t>(target / held, 1), blocks);
  for (Block& b : blocks) l.steps.push_back({std::move(b)});
  return l;
}

std::vector<char> inverted(std::vector<char> v) {
  for (char& c : v) c = !c;
  return v;
}

// Kept axes on partitions, reduced ones on the free dims; in chunks where they are too long.
Layout rows_layout(const Iteration& s, int64_t kept, int64_t reduced, int64_t resident, int64_t chunk, bool one_row) {
  Layout l;
  std::vector<Block> blocks;
  const auto reduced_axes = static_cast<size_t>(std::count(s.reduced.begin(), s.reduced.end(), 1));
  const bool whole = reduced <= resident && reduced_axes <= kFreeWalks;
  const auto chunks = whole ? std::vector<Box>{{Dims(s.size.size(), 0), s.size}} : cut(s, s.reduced, chunk, kFreeWalks);
  const int64_t target = chunks.size() > 1 || one_row
                             ? 1
                             : std::clamp(ceil_div(kept, kPartitions), int64_t{1},
                                          std::max(std::min(kMostFree, chunk) / reduced, int64_t{1}));
  cover({Dims(s.size.size(), 0), s.size}, s.reduced, target, blocks);
  for (const Block& b : blocks) {
    Step step;
    for (const Box& c : chunks) {
      Block part = b;
      if (chunks.size() > 1) {
        part.free.clear();
        for (size_t i = 0; i < s.size.size(); ++i) {
          if (!s.reduced[i]) continue;
          part.start[i] = c.start[i];
          if (c.count[i] > 1) part.free.push_back({static_cast<int>(i), 1, c.count[i]});
        }
      }
      step.push_back(std::move(part));
    }
    l.steps.push_back(std::move(step));
  }
  return l;
}

// Reduced axes on partitions; kept ones on the free dims in chunks.
Layout columns_layout(const Iteration& s, int64_t reduced, int64_t most_free) {
  Layout l;
  l.rows_are_reduced = true;
  const auto kept = inverted(s.reduced);
  const int64_t inner =
      std::clamp(most_free / std::max<int64_t>(ceil_div(reduced, kPartitions), 1), int64_t{1}, most_free);
  const bool inner_is_kept = !s.reduced.back();
  for (const Box& c : cut(s, kept, inner_is_kept ? most_free : std::max<int64_t>(inner, 16), 2)) {
    int64_t kept_elements = 1;
    for (size_t i = 0; i < s.size.size(); ++i)
      if (kept[i]) kept_elements *= c.count[i];
    Step step;
    const int64_t target = inner_is_kept ? 1
                                         : std::clamp(ceil_div(reduced, kPartitions), int64_t{1},
                                                      std::max<int64_t>(most_free / kept_elements, 1));
    cover(c, kept, target, step);
    l.steps.push_back(std::move(step));
  }
  return l;
}

}  // namespace

const Source* source_of(const std::vector<Source>& list, NodeId id) {
  for (const Source& s : list)
    if (s.node == id) return &s;
  return nullptr;
}

uint32_t axes_with_steps(const Source& s) {
  uint32_t axes = 0;
  for (size_t i = 0; i < s.steps.size(); ++i)
    if (s.steps[i]) axes |= 1u << i;
  return axes;
}

Iteration iteration_space(const Plan& p, const Kernel& k, bool in_order) {
  Iteration s;
  s.size = k.space;
  s.reduced = k.reduced.empty() ? std::vector<char>(k.space.size()) : k.reduced;
  for (NodeId id : k.nodes) {
    if (p.graph[id].op == Op::matmul) continue;  // its operands have a space of their own
    for (NodeId i : p.graph[id].inputs) add_leaf(s, p, k, i);
    if (const Node& n = p.graph[id]; n.op == Op::roll) {
      Source x{id, {}, Dims(k.space.size(), 0)};
      x.steps[k.space.size() - n.shape.size() + n.dim] = 1;
      s.rolls.push_back(std::move(x));
    }
  }
  for (const Result& r : k.results) {
    if (is_fill(p.graph, r.value)) add_leaf(s, p, k, r.value);
    s.writes.push_back(source(r.value, r.to, k.space));
  }
  sort_axes(s, in_order);
  join_axes(s);
  if (s.size.empty()) {
    s.size = {1};
    s.reduced = {false};
    for_each_source(s, [](Source& x) { x.steps = {0}; });
  }
  return s;
}

Layout choose_layout(const Iteration& s, int64_t bytes, int64_t budget, bool one_row) {
  int64_t kept = 1, reduced = 1;
  for (size_t i = 0; i < s.size.size(); ++i) (s.reduced[i] ? reduced : kept) *= s.size[i];
  const int64_t resident = budget / bytes, chunk = std::clamp(resident / 2, int64_t{16}, 2 * kMostFree);
  const int64_t most_free = std::clamp(resident / 2, int64_t{16}, kMostFree);
  if (reduced == 1) return pointwise_layout(s, most_free);
  const bool few_rows =
      reduced * (kPartitions - std::min(kept, kPartitions)) >= 2048 * kPartitions && kept < kPartitions / 2;
  const bool strided = !s.reduced.back() && reduced >= 32;
  if (few_rows || strided) return columns_layout(s, reduced, most_free);
  return rows_layout(s, kept, reduced, resident, chunk, one_row && reduced >= kRowAlone);
}

}  // namespace trn::compiler
