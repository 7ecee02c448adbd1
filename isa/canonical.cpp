#include "isa/canonical.h"

#include "isa/isa.h"

namespace trn {
namespace {

void tidy(Access& a) {
  if (!a.present()) a = Access{};
  for (size_t i = a.ndim; i < a.dims.size(); ++i) a.dims[i] = Dim{};
}

void tidy(Operand& o) {
  tidy(o.tile);
  if (o.is_tile()) o.immediate = 0;
}

void tidy(RegisterOperand& o) {
  if (o.is_register()) o.immediate = 0;
}

template <class T>
void tidy(T&) {}

// Copies field by field into zeroed words, so that padding is zero too.
template <class C>
void repack(const void* from, std::vector<uint64_t>& words) {
  using Args = typename C::Args;
  Args old, fresh{};
  std::memcpy(&old, from, sizeof old);
  const size_t at = words.size();
  words.resize(at + (sizeof(Args) + 7) / 8);
  std::byte* to = reinterpret_cast<std::byte*>(&words[at]);
  std::apply(
      [&](const auto&... field) {
        (
            [&] {
              auto value = old.*(field.member);
              tidy(value);
              const auto* member = reinterpret_cast<const std::byte*>(&(fresh.*(field.member)));
              std::memcpy(to + (member - reinterpret_cast<const std::byte*>(&fresh)), &value, sizeof value);
            }(),
            ...);
      },
      C::fields);
}

using Repack = void (*)(const void*, std::vector<uint64_t>&);
template <class... C>
constexpr std::array<Repack, sizeof...(C)> repackers(std::type_identity<std::tuple<C...>>) {
  return {&repack<C>...};
}
constexpr auto kRepackers = repackers(std::type_identity<Isa>{});

}  // namespace

Program canonical(const Program& p) {
  Program out = p;
  out.words.clear();
  out.waits.clear();
  out.words.reserve(p.words.size());
  out.waits.reserve(p.waits.size());
  for (Instruction& in : out.instructions) {
    const auto waits = p.waits_of(in);
    in.first_wait = static_cast<uint32_t>(out.waits.size());
    out.waits.insert(out.waits.end(), waits.begin(), waits.end());
    const void* args = p.raw_args(in);
    in.args = static_cast<uint32_t>(out.words.size());
    kRepackers.at(in.card)(args, out.words);
  }
  if (out.sources.empty()) out.sources.emplace_back();
  return out;
}

bool identical(const Program& a, const Program& b) {
  const auto same = [](const Instruction& x, const Instruction& y) {
    return x.card == y.card && x.engine == y.engine && x.core == y.core && x.queue == y.queue && x.waits == y.waits &&
           x.update == y.update && x.first_wait == y.first_wait && x.args == y.args && x.source == y.source;
  };
  return a.name == b.name && a.target == b.target && a.cores == b.cores && a.slots == b.slots &&
         a.constants == b.constants && a.waits == b.waits && a.words == b.words && a.sources == b.sources &&
         std::equal(a.instructions.begin(), a.instructions.end(), b.instructions.begin(), b.instructions.end(), same);
}

}  // namespace trn
