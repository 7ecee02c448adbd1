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
uint32_t repack(const void* from, Program& to) {
  using Args = typename C::Args;
  Args old, fresh{};
  std::memcpy(&old, from, sizeof old);
  std::array<uint64_t, (sizeof(Args) + 7) / 8> words{};
  auto* bytes = reinterpret_cast<std::byte*>(words.data());
  std::apply(
      [&](const auto&... field) {
        (
            [&] {
              auto value = old.*(field.member);
              tidy(value);
              const auto* member = reinterpret_cast<const std::byte*>(&(fresh.*(field.member)));
              std::memcpy(bytes + (member - reinterpret_cast<const std::byte*>(&fresh)), &value, sizeof value);
            }(),
            ...);
      },
      C::fields);
  return to.pool.place(words, to.words);
}

using Repack = uint32_t (*)(const void*, Program&);
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
  out.waits.reserve(p.waits.size());
  for (Instruction& in : out.instructions) {
    const auto waits = p.waits_of(in);
    in.first_wait = static_cast<uint32_t>(out.waits.size());
    out.waits.insert(out.waits.end(), waits.begin(), waits.end());
    in.args = kRepackers.at(in.card)(p.raw_args(in), out);
  }
  if (out.sources.empty()) out.sources.emplace_back();
  out.pool = {};
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
