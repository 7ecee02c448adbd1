#include "traces/replay/transfers.h"

#include <algorithm>

namespace trn::replay {
namespace {

// Addresses of the profile's DMA space: HBM below this, SBUF of a core from here, a partition every kPartition bytes.
constexpr int64_t kSbuf = int64_t{0x802} << 36, kPartition = 0x40000;

struct Side {
  std::vector<std::pair<int64_t, int64_t>> dims;  // step, count; innermost first
  int64_t element = 0;
  bool hbm = true;
};

Side side(const Operands& o, std::string_view prefix) {
  const auto key = [&](std::string_view rest) { return std::string(prefix) + std::string(rest); };
  Side s;
  s.dims = parse_pattern(o.field(key("_pattern")));
  s.element = o.number(key("_elem_size"), 0);
  s.hbm = o.number(key("_addr_imm"), 0) < kSbuf;  // a table entry names a tensor in HBM
  return s;
}

int64_t elements(const Side& s) {
  int64_t n = 1;
  for (const auto& [step, count] : s.dims) n *= count;
  return n;
}

// Elements that follow each other without a gap, along whichever dims make the longest run.
int64_t neighbours(const Side& s) {
  int64_t run = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [step, count] : s.dims)
      if (count > 1 && step == run * s.element) {
        run *= count;
        grown = true;
      }
  }
  return run;
}

}  // namespace

std::optional<Transfer> transfer_of(const Operands& o, bool software) {
  const Side src = side(o, "src"), dst = side(o, "dst");
  if (src.dims.empty() || dst.dims.empty() || src.element < 1 || dst.element < 1) return {};
  Transfer t;
  t.reads_hbm = src.hbm;
  t.writes_hbm = dst.hbm;
  t.software = software;
  t.cast = !o.field("in_dtype").empty() && o.field("in_dtype") != o.field("out_dtype");
  t.chunk_bytes = std::max(src.element, dst.element);
  const Side& chip = src.hbm ? dst : src;
  const int64_t total = std::max(elements(src), elements(dst));
  t.rows = total;
  for (const auto& [step, count] : chip.dims)
    if (!chip.hbm && step == kPartition && count > 1) t.rows = count;
  t.chunks = std::max<int64_t>(1, total / t.rows);
  t.pattern_dims = 0;
  for (const auto& [step, count] : src.dims) t.pattern_dims += count > 1;
  t.pattern_dims = std::max(t.pattern_dims, 1);
  if (src.hbm != dst.hbm) t.neighbours = neighbours(src.hbm ? src : dst);
  return t;
}

std::vector<RingTransfer> ring_transfers(const std::vector<PacketRow>& packets) {
  std::vector<const PacketRow*> order;
  for (const PacketRow& p : packets)
    if (p.kind != "instruction" && p.kind.find("dynamic") == std::string::npos) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->start < b->start; });

  struct Open {
    size_t index = 0;  // how many this engine has finished
    int64_t packets = 0, bytes = 0;
  };
  std::map<std::tuple<std::string, int, int>, Open> engines;           // by subgraph, queue, engine
  std::map<std::tuple<std::string, int, size_t>, RingTransfer> found;  // by subgraph, queue, position
  for (const PacketRow* p : order) {
    Open& open = engines[{p->subgraph, p->queue, p->engine}];
    RingTransfer& t = found[{p->subgraph, p->queue, open.index}];
    if (t.engines == 0 && t.first_packet == 0) {
      t.subgraph = p->subgraph;
      t.queue = p->queue;
      t.first_packet = p->start;
    }
    t.last_end = std::max(t.last_end, p->start + p->duration);
    if (p->bytes > 4) {
      ++open.packets;
      open.bytes += p->bytes;
      continue;
    }
    t.engines += 1;
    t.transfer.rows += open.packets;
    t.transfer.chunk_bytes += open.bytes;  // all of them, for now
    open = {open.index + 1, 0, 0};
  }
  std::vector<RingTransfer> transfers;
  for (auto& [key, t] : found) {
    if (t.engines == 0 || t.transfer.rows == 0) continue;
    Transfer& x = t.transfer;
    x.chunk_bytes = std::max<int64_t>(1, x.chunk_bytes / x.rows);
    x.chunks = 1;
    x.fixed_ring = true;
    x.reads_hbm = true;  // the packet table does not say; most are loads
    transfers.push_back(t);
  }
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const auto& a, const auto& b) { return a.first_packet < b.first_packet; });
  return transfers;
}

}  // namespace trn::replay
