#include "traces/replay/profile_work.h"

#include <algorithm>
#include <map>
#include <set>

#include "memory/error.h"
#include "traces/replay/opcodes.h"
#include "traces/replay/transfers.h"

namespace trn::replay {
namespace {

constexpr int kSemaphoresOfCore = 8192;  // 4096 semaphores, then as many events
constexpr int64_t kDoorbellLead = 400;   // ns: no packet follows its doorbell sooner

Engine engine_of(std::string_view label) {
  if (label == "TensorMatrix") return Engine::tensor;
  for (int e = 0; e < kEngines; ++e)
    if (label == kEngineNames[static_cast<size_t>(e)].profiler) return static_cast<Engine>(e);
  throw Error(Fault::illegal, "the label '" + std::string(label.substr(0, 40)) + "' is no engine of a NeuronCore");
}

class Builder {
 public:
  Builder(const Profile& p, const Spec& s) : p_(p), s_(s), pool_(out_.work.costs) {}

  ProfileWork build() {
    select_body();
    match_doorbells();
    for (const uint32_t row : program_order()) add(row);
    supply_semaphores();
    for (const auto& [opcode, count] : unmodelled_)
      out_.notes.push_back(std::to_string(count) + " x " + opcode + ": unmodelled, taken as the nearest instruction");
    return std::move(out_);
  }

 private:
  void select_body() {
    std::set<std::string> subgraphs;
    bool first = true;
    for (uint32_t i = 0; i < p_.instructions.size(); ++i) {
      const InstructionRow& r = p_.instructions[i];
      if (r.type.empty()) continue;
      out_.body.push_back(i);
      subgraphs.insert(r.subgraph);
      if (first || r.start < out_.origin) {
        out_.origin = r.start;
        out_.first_row = i;
        first = false;
      }
    }
    if (out_.body.empty())
      throw Error(Fault::illegal, "the profile has no body: no row has an instruction_type", p_.name);
    if (subgraphs.size() > 2)
      throw Error(Fault::illegal, "the body has more than two subgraphs; a logical core has one or two physical cores",
                  p_.name);
    for (const std::string& s : subgraphs) cores_.emplace(s, static_cast<uint8_t>(cores_.size()));
    out_.work.cores = static_cast<uint8_t>(cores_.size());
  }

  // Program order of each engine: by pc where each pc runs once, else as the profile shows it. (The Tensor engine's
  // sequencer runs ahead, so starts are no order.)
  std::vector<uint32_t> program_order() const {
    std::map<std::pair<uint8_t, Engine>, std::vector<uint32_t>> streams;
    for (const uint32_t i : out_.body) streams[{core_of(i), engine_of(p_.instructions[i].label)}].push_back(i);
    std::vector<uint32_t> order;
    for (auto& [key, rows] : streams) {
      std::set<int64_t> pcs;
      for (const uint32_t i : rows) pcs.insert(p_.instructions[i].pc);
      const bool straight = pcs.size() == rows.size();
      std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
        const InstructionRow &x = p_.instructions[a], &y = p_.instructions[b];
        return straight ? x.pc < y.pc : x.start < y.start;
      });
      order.insert(order.end(), rows.begin(), rows.end());
    }
    return order;
  }

  uint8_t core_of(uint32_t row) const { return cores_.at(p_.instructions[row].subgraph); }
  uint16_t semaphore(uint8_t core, int number) const {
    return static_cast<uint16_t>(core * kSemaphoresOfCore + number);
  }

  uint16_t name_of(const std::string& opcode) {
    const auto [at, fresh] = names_.try_emplace(opcode, static_cast<uint16_t>(out_.work.names.size()));
    if (fresh) out_.work.names.push_back(at->first);
    return at->second;
  }

  void add(uint32_t row) {
    const InstructionRow& in = p_.instructions[row];
    const Operands o = parse_operands(in.operands);
    Record r;
    r.engine = engine_of(in.label);
    r.core = core_of(row);
    r.name = name_of(in.opcode);
    r.first_wait = static_cast<uint32_t>(out_.work.waits.size());
    r.first_update = static_cast<uint32_t>(out_.work.updates.size());
    for (const NamedWait& w : o.waits) out_.work.waits.push_back({semaphore(r.core, w.semaphore), w.compare, w.value});
    for (const NamedUpdate& u : o.updates)
      out_.work.updates.push_back({semaphore(r.core, u.semaphore), u.change, u.value});
    if (in.opcode.starts_with("DMA")) {
      add_transfer(row, r, o);
    } else if (const auto rings = doorbells_.find(row); rings != doorbells_.end()) {
      add_doorbells(row, r, rings->second);
    } else {
      const OpcodeCost c = cost_of(in.opcode, r.engine, o, s_);
      r.unit = c.unit;
      if (c.known == Known::unmodelled) unknown(row);
      push(row, r, c.cost);
    }
  }

  void unknown(uint32_t row) {
    out_.unmodelled.push_back(row);
    ++unmodelled_[p_.instructions[row].opcode];
  }

  void push(uint32_t row, Record r, const Cost& cost) {
    r.cost = pool_.add(cost);
    r.waits = static_cast<uint8_t>(std::min<size_t>(255, out_.work.waits.size() - r.first_wait));
    r.updates = static_cast<uint8_t>(std::min<size_t>(255, out_.work.updates.size() - r.first_update));
    out_.work.records.push_back(r);
    out_.rows.push_back(row);
  }

  void add_transfer(uint32_t row, Record r, const Operands& o) {
    Cost cost;
    const auto t = transfer_of(o, r.engine == Engine::gpsimd);
    if (t) {
      cost.transfer = *t;
    } else {
      unknown(row);
      cost.transfer.rows = 128;
      cost.transfer.chunks = 1;
      cost.transfer.chunk_bytes = 512;
      cost.transfer.software = r.engine == Engine::gpsimd;
    }
    r.unit = Unit::dma;
    r.queue = static_cast<uint8_t>(r.engine);
    if (const int64_t id = o.number("semaphore", -1); id >= 0 && id < 4096)
      out_.work.updates.push_back(
          {semaphore(r.core, static_cast<int>(id)), Change::add,
           static_cast<uint32_t>(std::clamp<int64_t>(o.number("sem_increment", 16), 1, 1 << 20))});
    push(row, r, cost);
  }

  // One record a ring; the first stands for the row and has its waits.
  void add_doorbells(uint32_t row, Record r, const std::vector<size_t>& rings) {
    for (size_t i = 0; i < rings.size(); ++i) {
      const RingTransfer& ring = rings_[rings[i]];
      Cost cost;
      cost.transfer = ring.transfer;
      r.unit = Unit::dma;
      r.queue = static_cast<uint8_t>(kEngines + ring.queue % (static_cast<int>(s_.dma_queues) - kEngines));
      if (ring_semaphore_[rings[i]].first >= 0)
        out_.work.updates.push_back({semaphore(r.core, ring_semaphore_[rings[i]].first), Change::add,
                                     static_cast<uint32_t>(ring_semaphore_[rings[i]].second)});
      push(i == 0 ? row : ProfileWork::kNoRow, r, cost);
      r.first_wait = static_cast<uint32_t>(out_.work.waits.size());
      r.first_update = static_cast<uint32_t>(out_.work.updates.size());
    }
  }

  // Rings that stand ready: the transfer belongs to the last doorbell (WRITE) before its first packet, and to the
  // semaphore that first completes after its last.
  void match_doorbells() {
    std::vector<uint32_t> writes;
    for (const uint32_t i : out_.body)
      if (p_.instructions[i].opcode == "WRITE") writes.push_back(i);
    if (writes.empty()) return;
    for (RingTransfer& t : ring_transfers(p_.packets)) {
      if (!cores_.contains(t.subgraph) || t.first_packet < out_.origin) continue;
      uint32_t best = ProfileWork::kNoRow;
      for (const uint32_t i : writes) {
        const InstructionRow& w = p_.instructions[i];
        if (w.subgraph != t.subgraph || w.start + kDoorbellLead > t.first_packet) continue;
        if (best == ProfileWork::kNoRow || w.start > p_.instructions[best].start) best = i;
      }
      if (best == ProfileWork::kNoRow) continue;
      doorbells_[best].push_back(rings_.size());
      rings_.push_back(t);
      ring_semaphore_.push_back(semaphore_after(t));
    }
  }

  std::pair<int, int> semaphore_after(const RingTransfer& t) {
    for (size_t i = 0; i < p_.semaphores.size(); ++i) {
      const SemaphoreRow& s = p_.semaphores[i];
      if (s.time < t.last_end || s.subgraph != t.subgraph || s.name.find("(q") == std::string::npos) continue;
      if (s.value <= 0 || s.value % t.engines != 0 || !claimed_.insert(i).second) continue;
      const Operands o = parse_operands(s.name + ">=1");
      return {o.waits.empty() ? -1 : o.waits[0].semaphore, t.engines};
    }
    return {-1, 0};
  }

  // Semaphores that nobody in the body raises enough: their values come from the profile's own table (another core, the
  // host, a preamble), and the report says so. Where there is no table the wait is dropped.
  void supply_semaphores() {
    std::map<uint16_t, uint64_t> raised;
    std::set<uint16_t> lowered;
    for (const SemaphoreUpdate& u : out_.work.updates)
      if (u.change == Change::add)
        raised[u.semaphore] += u.value;
      else
        lowered.insert(u.semaphore);
    std::set<uint16_t> missing;
    for (const SemaphoreWait& w : out_.work.waits)
      if ((w.compare == Compare::at_least || w.compare == Compare::equal || w.compare == Compare::above) &&
          !lowered.contains(w.semaphore) && raised[w.semaphore] < w.value + (w.compare == Compare::above))
        missing.insert(w.semaphore);
    if (missing.empty()) return;
    std::set<uint16_t> supplied;
    for (const SemaphoreRow& row : p_.semaphores) {
      const auto core = cores_.find(row.subgraph);
      if (core == cores_.end() || row.value < 0 || row.value > INT32_MAX) continue;
      const Operands o = parse_operands(row.name.find("S[") == 0 ? row.name + ">=1" : "S[" + row.name + "]>=1");
      if (o.waits.empty()) continue;
      const uint16_t id = semaphore(core->second, o.waits[0].semaphore);
      if (!missing.contains(id)) continue;
      out_.work.presets.push_back({id, static_cast<uint32_t>(row.value), static_cast<double>(row.time - out_.origin)});
      supplied.insert(id);
    }
    if (!supplied.empty())
      out_.notes.push_back(std::to_string(supplied.size()) +
                           " semaphores are raised by nobody in the body: their measured times are used");
    size_t dropped = 0;
    for (SemaphoreWait& w : out_.work.waits)
      if (missing.contains(w.semaphore) && !supplied.contains(w.semaphore)) {
        w = {w.semaphore, Compare::at_least, 0};
        ++dropped;
      }
    if (dropped > 0)
      out_.notes.push_back(std::to_string(dropped) + " waits are for semaphores that nobody raises: ignored");
  }

  const Profile& p_;
  const Spec& s_;
  ProfileWork out_;
  CostPool pool_;
  std::map<std::string, uint8_t> cores_;
  std::map<std::string, uint16_t> names_;
  std::map<std::string, int> unmodelled_;
  std::vector<RingTransfer> rings_;
  std::vector<std::pair<int, int>> ring_semaphore_;    // by ring: number and increment; -1: unknown
  std::map<uint32_t, std::vector<size_t>> doorbells_;  // by row
  std::set<size_t> claimed_;                           // rows of the semaphore table
};

}  // namespace

ProfileWork work_of(const Profile& p, const Spec& s) { return Builder(p, s).build(); }

}  // namespace trn::replay
