#include "sim/execute.h"

#include <array>
#include <atomic>
#include <charconv>

#include "isa/dispatch.h"

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

void flip(const Program& p, const Instruction& in, const CoreMemory& memory) {
  const AccessList list = accesses(p, in);
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

void inject(const Program& p, const Instruction& in, const CoreMemory& memory) {
  if (in.card != g_injection.card) return;
  const int64_t n = g_executions.fetch_add(1, std::memory_order_relaxed);
  if (g_injection.nth < 0 || g_injection.nth == n) flip(p, in, memory);
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
      psum(static_cast<int>(s.partitions), static_cast<int64_t>(s.psum_partition_bytes)) {}

void execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
             const std::atomic<bool>* cancelled) {
  if (cores.size() < p.cores)
    throw Error(Fault::illegal, "the Program needs " + std::to_string(p.cores) + " physical cores", p.name);
  std::array<CoreMemory, 2> memories;
  for (size_t c = 0; c < p.cores; ++c) memories[c] = {&cores[c]->sbuf, &cores[c]->psum, slots};
  const auto rows = isa();
  for (const Instruction& in : p.instructions) {
    if (cancelled && cancelled->load(std::memory_order_relaxed))
      throw Error(Fault::undefined, "interrupted before the Program's end", p.name);
    try {
      rows[in.card].run(p.raw_args(in), memories[in.core]);
    } catch (const Error& e) {
      const auto index = &in - p.instructions.data();
      throw Error(e.fault(), e.rule(),
                  e.context() + (e.context().empty() ? "" : ", ") + p.name + " #" + std::to_string(index) + " " +
                      std::string(rows[in.card].name) + (in.source ? ", from " + p.sources[in.source] : ""));
    }
    if (g_injection.card >= 0) inject(p, in, memories[in.core]);
  }
}

}  // namespace trn
