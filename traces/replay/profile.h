#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trn::replay {

// A hardware profile as neuron-profile shows it. Times in nanoseconds of the profile's own clock.
struct InstructionRow {
  int64_t start = 0, duration = 0;
  std::string label;  // engine: Tensor, TensorMatrix, Vector, Scalar, GpSimd, Sync
  std::string opcode, operands, subgraph;
  int64_t pc = 0;
  std::string type;  // empty: the runtime's preamble and postamble
};

struct PacketRow {
  int64_t start = 0, duration = 0;
  std::string subgraph, kind;  // kind: hardware_dynamic, software_dynamic, instruction, ...
  int engine = 0, queue = 0;
  int64_t bytes = 0;
};

struct SemaphoreRow {
  int64_t time = 0;
  std::string subgraph, name;  // "S[24] (qSyncDynamicHW)" or "24"
  int64_t value = 0;
};

// The Tensor engine's rate from `start` on for `duration`: k of n.
struct ThrottleRow {
  int64_t start = 0, duration = 0, k = 8, n = 8;
  std::string subgraph;
};

struct Profile {
  std::string name;
  std::vector<InstructionRow> instructions;
  std::vector<PacketRow> packets;        // empty where the profile has none
  std::vector<SemaphoreRow> semaphores;  // the same
  std::vector<ThrottleRow> throttle;     // the same
};

// Reads NAME.instructions.csv[.gz] with what stands beside it (NAME.dma, NAME.semaphores, NAME.meta.json), or the JSON
// export of neuron-profile / neuron-explorer (one object with a list per table). Throws trn::Error (illegal) that names
// the file, line and column of what is damaged, or says which limit the file breaks.
Profile load_profile(const std::string& path);

// The pieces, for tests: text of a table; `source` is for messages.
std::vector<InstructionRow> parse_instructions(std::string_view csv, const std::string& source);
std::vector<PacketRow> parse_packets(std::string_view csv, const std::string& source);
std::vector<SemaphoreRow> parse_semaphores(std::string_view csv, const std::string& source);
Profile parse_export(std::string_view json, const std::string& source);

}  // namespace trn::replay
