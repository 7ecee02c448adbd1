#pragma once
#include <cstdint>
#include <vector>

#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// True when two operands in the same buffer touch a common byte. Exact for patterns that are rows of one pitch inside
// rows of another, which is what tiles of tensors are; otherwise may say true for disjoint ones.
bool overlaps(const Access& a, const Access& b);

// True when the free dims (on chip) or all dims (hbm) leave no hole between the first and the last byte.
bool is_dense(const Access& a);

enum class Hazard : uint8_t { read_after_write, write_after_read, write_after_write, registers };

// Whether program order on one engine already gives what the dependence asks for. Engines read their operands before
// they start the next instruction, and the tensor engine's writes to PSUM land in order (accumulation relies on it).
bool is_met_by_engine_order(const Instruction& producer, const Instruction& consumer, Hazard hazard);

// Walks a TileProgram in order and reports, for each instruction, the earlier ones that it must not overtake.
// Dependences that follow from a later write that covers the same bytes are left out. On-chip memory is told apart by
// tile, or by address once allocate() has given addresses.
class Dependences {
 public:
  struct Edge {
    uint32_t producer;
    Hazard hazard;
  };

  Dependences(const TileProgram& p, const Spec& s);

  // Edges of the next instruction, in no particular order, perhaps with repeats. Valid until the next call.
  const std::vector<Edge>& next();

 private:
  // A use of part of one bucket's bytes that no later write has covered.
  struct Record {
    const Access* access;
    int64_t begin, end;
    uint32_t instruction;
    uint32_t next;
    uint8_t partition, partition_end;  // 0, 1 in HBM
    bool dense;
  };
  struct Bucket {
    uint32_t writes = kNone, reads = kNone;  // newest first
  };
  // A memory that is told apart from others: buckets of `grain` bytes.
  struct Region {
    uint32_t first = kNone;
    uint32_t count = 0;
    int64_t grain = 1;
  };
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  Region add_region(int64_t bytes, int64_t grain);
  const Region& region_of(const Access& a, uint8_t core) const;
  void touch(const Access& a, bool written, uint8_t core, bool whole_slot);
  static bool meet(const Record& r, const Record& use);
  static bool replaces(const Record& write, Record& r);
  void scan(uint32_t& head, const Record& use, bool written, Hazard hazard);
  void insert(uint32_t& head, const Record& r);

  const TileProgram& p_;
  bool placed_;                        // tiles have addresses
  std::vector<Region> slots_, tiles_;  // by slot; by tile, or by (core, space)
  std::vector<Bucket> buckets_;
  std::vector<Record> records_;
  uint32_t free_ = kNone;
  std::vector<uint32_t> registers_;  // per (core, engine): last instruction that used its accumulators
  std::vector<Edge> edges_;
  uint32_t at_ = 0;
};

}  // namespace trn::compiler
