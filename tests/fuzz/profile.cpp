// Hardware profiles: the JSON export, or three condensed tables with a form feed between them. What is read is
// replayed.
#include "memory/error.h"
#include "tests/fuzz/targets.h"
#include "tests/traces/small_table.h"
#include "traces/replay/replay.h"

namespace trn::test {
namespace {

constexpr char kBetween = '\f';

constexpr std::string_view kMore =  // packets, semaphores
    "\f"
    "timestamp,duration,subgraph,dma_engine,dma_queue,queue_type,transfer_size,read_size,write_size,is_cc_dma\n"
    "1650,158,sg00,0,5,hardware_dynamic,4096,4096,4096,no\n"
    "1660,158,sg00,1,5,hardware_dynamic,4096,4096,4096,no\n"
    "\f"
    "timestamp,subgraph,id,value\n"
    "3100,sg00,S[8] (qSyncDynamicHW),8\n"
    "3112,sg00,8,16\n";

constexpr std::string_view kExport =
    R"({"instruction": [{"start_ts": 5, "end_ts": "25", "engine": "Vector", "opcode": "COPY",
    "operands": "src=fp32@0x0[1,1,1,1][512,1,1,1] dst=fp32@0x4800[1,1,1,1][512,1,1,1] channels=128", "pc": 3,
    "pcore_idx": 0, "instruction_type": "REGULAR"}],
    "throttle": [{"timestamp": 7, "duration": 9, "k": 4, "n": 8}], "dma": [], "semaphore_update": []})";

replay::Profile read(std::string_view text) {
  if (text.starts_with('{')) return replay::parse_export(text, "fuzz");
  const size_t packets = std::min(text.find(kBetween), text.size());
  const size_t semaphores = std::min(text.find(kBetween, packets + 1), text.size());
  replay::Profile p;
  p.instructions = replay::parse_instructions(text.substr(0, packets), "fuzz");
  if (packets < text.size())
    p.packets = replay::parse_packets(text.substr(packets + 1, semaphores - packets - 1), "fuzz");
  if (semaphores < text.size()) p.semaphores = replay::parse_semaphores(text.substr(semaphores + 1), "fuzz");
  return p;
}

void feed(std::span<const std::byte> b) {
  try {
    const replay::Profile p = read({reinterpret_cast<const char*>(b.data()), b.size()});
    const replay::Result r = replay::replay(p, trn2());
    replay::predictions_json(p, r);
    replay::report_json(p, r);
  } catch (const Error& e) {
    if (e.fault() == Fault::internal) throw std::logic_error("an input made an internal error");
  }
}

std::vector<Bytes> seeds() { return {bytes_of(small_table() + std::string(kMore)), bytes_of(kExport)}; }

std::vector<std::string> words() {
  return {",",
          "\n",
          "\f",
          "\"",
          "\r\n",
          "-1",
          "0",
          "9223372036854775807",
          "1e300",
          "0x",
          "S[8]",
          ">=",
          "++@complete",
          "[0,0]",
          "[2147483647,1]",
          "channels=",
          "src=bfloat16@",
          "sem_increment=",
          "MATMUL",
          "ACTIVATE",
          "TENSOR_TENSOR",
          "LDWEIGHTS",
          "Tensor",
          "TensorMatrix",
          "GpSimd",
          "sg01",
          "hardware_dynamic",
          "software_dynamic",
          "{",
          "]",
          "null"};
}

}  // namespace

FuzzTarget profile_target() { return {"profile", &feed, &seeds, &words}; }

}  // namespace trn::test
