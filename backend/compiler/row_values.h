#pragma once
#include <map>

#include "backend/compiler/pointwise.h"
#include "backend/compiler/transfer.h"

namespace trn::compiler {

// What a node is on chip while one block is worked on: a tile whose free dims are the block's free walks named in
// `mask`, or one immediate.
struct Value {
  bool is_constant = false;
  double constant = 0;
  Access tile{};
  uint32_t mask = 0;
};

// Computes the nodes of a row kernel for a block, each once, into tiles, and chooses the instructions. Values live for
// the block; for the step if they do not vary along reduced axes; for the kernel if they repeat from block to block and
// are small.
class RowValues {
 public:
  RowValues(TileBuilder& t, const Plan& p, const Kernel& k, const Iteration& space, const Layout& layout);

  void begin_step();
  void begin_block(const Block& b);
  const Block& block() const { return *block_; }

  const Value& get(NodeId id);
  // `id` as a tile that holds every walk in `mask`: immediates and broadcasts are written out.
  Access whole(NodeId id, uint32_t mask);
  // Computes `id` and, in the same instruction, its sum over all free walks into the column `sum`; false if no
  // instruction does that.
  bool get_with_sum(NodeId id, const Access& sum);
  void set(NodeId id,
           const Access& tile);  // a reduction or product that is computed elsewhere, for the rest of the step
  void store(NodeId id, const Source& to);
  bool has(NodeId id) const { return find(base(id)) != nullptr; }

  uint32_t axes_of(NodeId id) const { return entry(base(id)).vary; }
  uint32_t mask_of(uint32_t axes) const;  // free walks over these axes
  // One Dim per walk in `walks`, step 0 where the value does not vary.
  std::vector<Dim> dims(const Value& v, uint32_t walks) const;
  Tile new_tile(Dtype d, uint32_t mask);

 private:
  const Value* find(NodeId id) const;
  const Value& remember(NodeId id, Value v);
  NodeId base(NodeId id) const;  // behind the expands that need no memory

  // `d` is what the result is written as: the node's dtype, or that of the cast that reads it.
  Value compute(NodeId id, Dtype d);
  Value load_leaf(NodeId id);
  Value make_iota(NodeId id);
  Value map1(NodeId id, Dtype d, const Access& sum);
  Value map2(NodeId id, Dtype d);
  Value select(NodeId id, Dtype d);
  Value cast(NodeId id, Dtype d);
  Value roll(NodeId id, Dtype d);

  // An operand that its reader computes on the way: data, then `step` with one scalar.
  struct Scaled {
    NodeId data;
    ScalarTerm step{};
  };
  std::optional<Scaled> scaled(NodeId id, uint32_t mask);
  Scaled absorb(NodeId id, Dtype dtype, uint32_t mask, AluOp reader);
  bool is_inner(NodeId id) const;  // read by one member, not computed yet, not kept
  bool is_scalar(NodeId id) const { return mask_of(entry(base(id)).vary) == 0; }
  bool is_constant(NodeId id) const { return plan_.graph[base(id)].op == Op::constant; }
  Term scalar_term(NodeId id);
  Access negated(NodeId id);
  Value tile_value(NodeId id, uint32_t mask);  // get(), never an immediate
  bool may_overwrite(NodeId id, Dtype d, uint32_t mask);
  std::vector<Access> together(const std::vector<Value>& operands, uint32_t mask) const;
  Value result(Dtype d, uint32_t mask) { return {false, 0, new_tile(d, mask), mask}; }
  Value square_with_sum(NodeId id, const Access& sum);

  std::vector<int64_t> signature(NodeId id, const Block& b) const;
  void choose_kept(const Layout& layout);

  TileBuilder& t_;
  const Plan& plan_;
  const Iteration& space_;
  const Block* block_ = nullptr;
  uint32_t reduced_axes_ = 0;
  bool one_block_ = true;
  struct Entry {
    NodeId id;
    uint32_t vary = 0;  // axes along which the node differs
    int uses = 0;       // by members and results
    bool member = false, kept = false;
    std::optional<Value> in_block{}, in_step{};
  };
  Entry& entry(NodeId id);
  const Entry& entry(NodeId id) const { return const_cast<RowValues*>(this)->entry(id); }
  std::vector<Entry> entries_;  // of the nodes that this kernel sees, by id
  std::map<std::pair<NodeId, std::vector<int64_t>>, Value> kept_values_;
  std::map<std::vector<int64_t>, Access> kept_constants_;
  std::map<NodeId, Source> iota_sources_;  // in scratch: counts that no affine pattern gives on the partitions
};

}  // namespace trn::compiler
