#include "backend/compiler/row_kernel.h"

#include <algorithm>
#include <map>

#include "backend/compiler/partition_reduce.h"
#include "backend/compiler/row_values.h"

namespace trn::compiler {
namespace {

constexpr int64_t kBudget =
    140 * 1024;  // SBUF bytes per partition for a block's tiles; the rest is for values kept from block to block

// What a reduction accumulates in.
Dtype accumulator(Dtype d) {
  if (is_float(d)) return Dtype::float32;
  return d == Dtype::uint32 ? Dtype::uint32 : Dtype::int32;
}

// SBUF bytes that one element of the space takes in the tiles that are alive together.
int64_t live_bytes(const Plan& p, const Kernel& k, const Iteration& space) {
  const int64_t all = elements(k.space);
  const auto bytes = [&](NodeId id) {
    return elements(p.graph[id].shape) == all ? size_of(storage(p.graph[id].dtype)) : 0;
  };
  std::map<NodeId, NodeId> last;  // reader
  for (NodeId id : k.nodes)
    for (NodeId i : p.graph[id].inputs) last[i] = id;
  int64_t now = 0, most = 4;
  std::multimap<NodeId, int64_t> ends;  // bytes that are free after a node
  const auto begin = [&](NodeId id) {
    const auto reader = last.find(id);
    ends.emplace(reader == last.end() ? id : reader->second, bytes(id));
    now += bytes(id);
  };
  for (const Source& s : space.reads) begin(s.node);
  for (NodeId id : k.nodes) {
    begin(id);
    most = std::max(most, now);
    for (auto [e, stop] = ends.equal_range(id); e != stop; ++e) now -= e->second;
  }
  return most;
}

// Reads or writes what another kernel writes or reads.
bool crosses_kernels(const Plan& p, const Iteration& space) {
  const auto is_scratch = [&](const Source& s) { return p.graph.slots[s.view.slot].use == SlotUse::scratch; };
  return std::any_of(space.reads.begin(), space.reads.end(), is_scratch) ||
         std::any_of(space.writes.begin(), space.writes.end(), is_scratch);
}

class RowKernel {
 public:
  RowKernel(TileBuilder& t, const Plan& p, const Kernel& k)
      : t_(t),
        plan_(p),
        kernel_(k),
        space_(iteration_space(p, k)),
        layout_(choose_layout(space_, live_bytes(p, k, space_), kBudget, crosses_kernels(p, space_))),
        values_(t, p, k, space_, layout_) {
    for (NodeId id : k.nodes) {
      for (NodeId i : p.graph[id].inputs) level_[id] = std::max(level_[id], level_[i]);
      if (p.graph[id].op == Op::reduce) last_ = std::max(last_, ++level_[id]);
    }
  }

  void write() {
    const auto mine = t_.share(static_cast<int64_t>(layout_.steps.size()));
    for (int64_t i = mine.first; i < mine.last; ++i) {
      const Step& step = layout_.steps[i];
      values_.begin_step();
      step.size() == 1 ? whole_step(step[0]) : chunked_step(step);
    }
  }

 private:
  const Node& node(NodeId id) const { return plan_.graph[id]; }
  bool varies_in_step(NodeId id) const {
    const uint32_t axes = values_.axes_of(id);
    for (int i = 0; i < space_.axes(); ++i)
      if (space_.reduced[i] && axes >> i & 1) return true;
    return false;
  }

  // Everything of the step is on chip: one pass, each result stored as soon as it is there.
  void whole_step(const Block& b) {
    values_.begin_block(b);
    for (NodeId id : kernel_.nodes) {
      if (node(id).op == Op::reduce) {
        const Access partial = reduce_block(id, true);
        values_.set(id, finished(id, partial));
      }
      for (size_t r = 0; r < kernel_.results.size(); ++r)
        if (kernel_.results[r].value == id) store_result(r);
    }
    store_outsiders();
  }

  // Reduced axes come in several blocks. Phase n reads them all again for the reductions that need the results of phase
  // n-1; the last phase stores.
  void chunked_step(const Step& step) {
    std::vector<std::pair<NodeId, Access>> sums;
    for (int phase = 0; phase <= last_; ++phase) {
      sums.clear();
      for (NodeId id : kernel_.nodes)
        if (node(id).op == Op::reduce && level_[id] == phase + 1) sums.push_back({id, {}});
      const bool stores = phase == last_;
      for (const Block& b : step) {
        values_.begin_block(b);
        for (auto& [id, sum] : sums) accumulate(id, sum);
        if (!stores) continue;
        for (size_t r = 0; r < kernel_.results.size(); ++r)
          if (varies_in_step(kernel_.results[r].value)) store_result(r);
      }
      values_.begin_block(step[0]);
      for (auto& [id, sum] : sums) values_.set(id, finished(id, sum));
      if (!stores) continue;
      for (size_t r = 0; r < kernel_.results.size(); ++r)
        if (!varies_in_step(kernel_.results[r].value)) store_result(r);
    }
  }

  void store_outsiders() {
    for (size_t r = 0; r < kernel_.results.size(); ++r)
      if (std::find(kernel_.nodes.begin(), kernel_.nodes.end(), kernel_.results[r].value) == kernel_.nodes.end())
        store_result(r);
  }

  void accumulate(NodeId id, Access& sum) {
    const Access partial = reduce_block(id, false);
    if (!sum.present()) {
      sum = partial;
      return;
    }
    const Access place = slice(sum, 0, 0, partial.partitions());
    TensorTensor::Args a;
    a.dst = place;
    a.data1 = place;
    a.data2 = partial;
    a.op = node(id).alu;
    t_.emit<TensorTensor>(Engine::vector, a);
  }

  // Reduces the block's free walks. `alone`: there is no other block, so the result may be in the node's own dtype, or
  // be a tile that others read.
  Access reduce_block(NodeId id, bool alone) {
    const Node& n = node(id);
    const NodeId input = n.inputs[0];
    const Block& b = values_.block();
    const uint32_t kept = values_.mask_of(values_.axes_of(id));
    uint32_t reduced = 0;
    for (size_t i = 0; i < b.free.size(); ++i)
      if (space_.reduced[b.free[i].axis]) reduced |= 1u << i;
    const Dtype d = alone && !layout_.rows_are_reduced ? storage(n.dtype) : accumulator(n.dtype);
    if (kept == 0 && reduced && n.alu == AluOp::add && is_float(n.dtype)) {
      const Tile sum = values_.new_tile(accumulator(n.dtype), 0);
      if (values_.get_with_sum(input, sum)) return sum;
    }
    const Value known = values_.get(input);
    const Value v = known.is_constant ? Value{false, 0, values_.whole(input, kept | reduced), kept | reduced} : known;
    const Access data = slice(v.tile, 0, 0, b.partitions);
    if (!reduced) {
      if (alone && v.tile.dtype == d && v.mask == kept) return data;
      const Tile same = values_.new_tile(d, kept);
      copy_tile(t_, same, with_dims(data, values_.dims(v, kept), {}));
      return same;
    }
    const Tile result = values_.new_tile(d, kept);
    TensorReduce::Args a;
    a.dst = result;
    a.op = n.alu;
    a.data = with_dims(data, values_.dims(v, kept), values_.dims(v, reduced));
    t_.emit<TensorReduce>(Engine::vector, a);
    return result;
  }

  static Access with_dims(Access a, std::vector<Dim> outer, const std::vector<Dim>& inner) {
    a.ndim = 1;
    const auto add = [&a](const std::vector<Dim>& dims) {
      const size_t first = a.ndim;
      for (const Dim& d : dims) {
        Dim& before = a.dims[a.ndim - 1];
        if (a.ndim > first && before.step == d.step * d.count)
          before = {d.step, before.count * d.count};
        else if (d.count > 1)
          a.dims[a.ndim++] = d;
      }
    };
    add(outer);
    add(inner);
    if (a.ndim == 1) a.dims[a.ndim++] = {1, 1};
    return a;
  }

  // From a block's (or all blocks') partial result to the node's value, on every partition that reads it.
  Access finished(NodeId id, Access partial) {
    const Node& n = node(id);
    if (layout_.rows_are_reduced && partial.partitions() > 1) partial = across_partitions(t_, n.alu, partial);
    if (partial.dtype == storage(n.dtype)) return partial;
    const int64_t free[] = {partial.free_elements()};
    const Tile same = t_.sbuf(partial.partitions(), storage(n.dtype), free);
    copy_tile(t_, same, partial);
    return same;
  }

  void store_result(size_t r) { values_.store(kernel_.results[r].value, space_.writes[r]); }

  TileBuilder& t_;
  const Plan& plan_;
  const Kernel& kernel_;
  Iteration space_;
  Layout layout_;
  RowValues values_;
  std::map<NodeId, int> level_;  // reductions on the longest way to a node
  int last_ = 0;
};

}  // namespace

void row_kernel(TileBuilder& t, const Plan& p, const Kernel& k) { RowKernel(t, p, k).write(); }

}  // namespace trn::compiler
