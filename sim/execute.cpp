#include "sim/execute.h"

#include <array>
#include <atomic>
#include <charconv>

#include "isa/walk.h"

namespace trn {
namespace {

Injection g_injection;
std::atomic<int64_t> g_executions{0};  // of the injected card

template <class Int>
Int number(std::string_view text, std::string_view whole) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw Error(Fault::illegal, "TRNSIM_INJECT is CARD[:NTH]:BIT with whole numbers from 0", std::string(whole));
  return value;
}

void flip(const Instruction& in, const void* args, const CoreMemory& memory) {
  AccessList list;
  row(in).accesses(args, list);
  for (int i = 0; i < list.count; ++i) {
    if (!list.written[i]) continue;
    const Access& a = *list.access[i];
    const int64_t bits = int64_t{8} * size_of(a.dtype);
    int64_t element = g_injection.bit / bits % a.elements();
    std::byte* at = address(a, memory);
    for (int d = a.ndim - 1; d >= 0; --d) {
      at += element % a.dims[d].count * host_step(a, d, memory);
      element /= a.dims[d].count;
    }
    const int64_t bit = g_injection.bit % bits;
    at[bit / 8] ^= std::byte{1} << (bit % 8);
    return;
  }
}

void inject(const Instruction& in, const void* args, const CoreMemory& memory) {
  if (in.card != g_injection.card) return;
  const int64_t n = g_executions.fetch_add(1, std::memory_order_relaxed);
  if (g_injection.nth < 0 || g_injection.nth == n) flip(in, args, memory);
}

// Runs what a walk through a Program's control flow issues.
class Runner : public Walker {
 public:
  Runner(const Program& p, std::span<const CoreMemory, 2> memories) : p_(p), memories_(memories) {}

  void issue(uint32_t, uint32_t index, const void* args, std::span<const Wait>) override {
    const Instruction& in = p_.instructions[index];
    if (!row(in).run) return;
    const CoreMemory& memory = memories_[in.core];
    row(in).run(args, in.engine, memory);
    if (g_injection.card >= 0) inject(in, args, memory);
  }
  void meet(const Side& core0, const Side& core1) override {
    const Instruction& in = p_.instructions[core0.index];
    row(in).exchange(core0.args, memories_[0], core1.args, memories_[1]);
    if (g_injection.card < 0) return;
    inject(in, core0.args, memories_[0]);
    inject(p_.instructions[core1.index], core1.args, memories_[1]);
  }

 private:
  const Program& p_;
  std::span<const CoreMemory, 2> memories_;
};

// A straight line: the Program's own order.
void execute_in_order(const Program& p, std::span<const CoreMemory, 2> memories, const std::atomic<bool>* cancelled) {
  const auto rows = isa();
  for (const Instruction& in : p.instructions) {
    if (cancelled && cancelled->load(std::memory_order_relaxed))
      throw Error(Fault::undefined, "interrupted before the Program's end", p.name);
    const void* args = p.raw_args(in);
    try {
      rows[in.card].run(args, in.engine, memories[in.core]);
    } catch (const Error& e) {
      const auto index = &in - p.instructions.data();
      throw Error(e.fault(), e.rule(),
                  e.context() + (e.context().empty() ? "" : ", ") + p.name + " #" + std::to_string(index) + " " +
                      std::string(rows[in.card].name) + (in.source ? ", from " + p.sources[in.source] : ""));
    }
    if (g_injection.card >= 0) inject(in, args, memories[in.core]);
  }
}

}  // namespace

Injection parse_injection(std::string_view text) {
  const size_t colon = text.find(':');
  const size_t last = text.rfind(':');
  const CardRow* card = card_named(text.substr(0, colon));
  if (!card) throw Error(Fault::illegal, "TRNSIM_INJECT names no instruction of nki.isa", std::string(text));
  if (colon == std::string_view::npos)
    throw Error(Fault::illegal, "TRNSIM_INJECT is CARD[:NTH]:BIT", std::string(text));
  Injection i;
  i.card = static_cast<int>(card - isa().data());
  if (last != colon) i.nth = number<int64_t>(text.substr(colon + 1, last - colon - 1), text);
  i.bit = number<int64_t>(text.substr(last + 1), text);
  return i;
}

void set_injection(const Injection& i) {
  g_injection = i;
  g_executions = 0;
}

CoreState::CoreState(const Spec& s)
    : sbuf(static_cast<int>(s.partitions), static_cast<int64_t>(s.sbuf_partition_bytes)),
      psum(static_cast<int>(s.partitions), static_cast<int64_t>(s.psum_partition_bytes)),
      engines(s.generation),
      spec(&s) {}

Loads execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
              const ExecuteOptions& options) {
  if (cores.size() < p.cores)
    throw Error(Fault::illegal, "the Program needs " + std::to_string(p.cores) + " physical cores", p.name);
  std::array<CoreMemory, 2> memories;
  for (size_t c = 0; c < p.cores; ++c) memories[c] = {&cores[c]->sbuf, &cores[c]->psum, slots, &cores[c]->engines};
  Loads loads;
  if (has_control(p)) {
    Runner runner(p, memories);
    Walk(p, *cores[0]->spec, runner, loads,
         {.most_steps = options.most_steps, .memory = {&memories[0], &memories[1]}, .cancelled = options.cancelled})
        .run();
  } else {
    execute_in_order(p, memories, options.cancelled);
  }
  return loads;
}

Loads execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
              const std::atomic<bool>* cancelled) {
  return execute(p, cores, slots, ExecuteOptions{.cancelled = cancelled});
}

}  // namespace trn
