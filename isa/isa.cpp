#include "isa/isa.h"

#include <utility>

#include "isa/enum_names.h"

namespace trn {

namespace {

template <class C>
const typename C::Args& as(const void* args) {
  return *static_cast<const typename C::Args*>(args);
}

template <class T>
bool is_damaged(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<size_t>(value) >= enum_count<T>;
  } else if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const unsigned char*>(&value) > 1;  // as a byte: reading it as a bool would be undefined
  } else if constexpr (std::is_same_v<T, Access>) {
    if (is_damaged(value.space) || is_damaged(value.dtype) || value.ndim > Access::kMaxDims) return true;
    for (int i = 0; i < value.ndim; ++i)
      if (value.dims[i].is_dynamic() && (value.dims[i].reg() >= kRegisters || (i == 0 && value.on_chip()))) return true;
    return false;
  } else if constexpr (std::is_same_v<T, Register>) {
    return value.number >= kRegisters;
  } else if constexpr (std::is_same_v<T, RegisterOperand>) {
    return value.is_register() && value.reg >= kRegisters;
  } else if constexpr (std::is_same_v<T, Operand>) {
    return is_damaged(value.tile);
  } else {
    return false;
  }
}

// Calls visit(access) for every operand in memory, by reference.
template <class C, class Args, class Visit>
void for_each_place(Args& args, Visit&& visit) {
  for_each_field<C>(args, [&](std::string_view, auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Access>) visit(value);
    if constexpr (std::is_same_v<T, Operand>) visit(value.tile);
  });
}

template <class C>
int set_register(const void* args) {
  int reg = -1;
  for_each_field<C>(as<C>(args), [&](std::string_view field, const auto& value, std::string_view) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Register>)
      if (is_written(field)) reg = value.number;
  });
  return reg;
}

template <class C>
constexpr CardRow make_row() {
  CardRow r{
      .name = C::name,
      .doc = C::doc,
      .source = C::source,
      .status = C::status,
      .since = C::since,
      .engines = C::engines,
      .is_dma = C::is_dma,
      .args_bytes = sizeof(typename C::Args),
      .check = [](const void* a, Engine e, const Spec& s) { return check_card<C>(as<C>(a), e, s); },
      .cost = [](const void* a, Engine e, const Spec& s) { return C::cost(as<C>(a), e, s); },
      .run = nullptr,
      .accesses =
          [](const void* a, AccessList& list) {
            for_each_access<C>(as<C>(a), [&](const Access& access, bool written) {
              list.access[list.count] = &access;
              list.written[list.count++] = written;
            });
          },
      .indexed = [](const void* a) -> const Access* {
        if constexpr (requires { C::indexed(as<C>(a)); })
          return as<C>(a).index.present() ? C::indexed(as<C>(a)) : nullptr;
        return nullptr;
      },
      .damaged =
          [](const void* a) {
            std::string_view first;
            for_each_field<C>(as<C>(a), [&](std::string_view field, const auto& value, std::string_view) {
              if (first.empty() && is_damaged(value)) first = field;
            });
            return first;
          },
      .flow = flow_of<C>,
      .step = nullptr,
      .exchange = nullptr,
      .tag = nullptr,
      .sets_register = flow_of<C> == Flow::none ? nullptr : &set_register<C>,
      .registers =
          [](const void* a) {
            uint64_t all = 0;
            for_each_place<C>(as<C>(a), [&](const Access& access) { all |= registers_of(access); });
            return all;
          },
      .resolve =
          [](void* a, const RegisterFile& registers) {
            for_each_place<C>(*static_cast<typename C::Args*>(a),
                              [&](Access& access) { access = resolved(access, registers); });
          },
  };
  if constexpr (Runs<C>) r.run = [](const void* a, Engine e, const CoreMemory& m) { run_card<C>(as<C>(a), e, m); };
  if constexpr (Steps<C>) r.step = [](const void* a, Sequencer& q) { C::step(as<C>(a), q); };
  if constexpr (Meets<C>)
    r.exchange = [](const void* a, const CoreMemory& m, const void* b, const CoreMemory& n) {
      C::exchange(as<C>(a), m, as<C>(b), n);
    };
  if constexpr (requires(const typename C::Args& a) { C::tag(a); })
    r.tag = [](const void* a) { return C::tag(as<C>(a)); };
  return r;
}

template <class C>
constexpr bool fits_access_list = std::tuple_size_v<std::remove_cvref_t<decltype(C::fields)>> <= AccessList::kMost;

template <class... C>
constexpr std::array<CardRow, sizeof...(C)> make_rows(std::type_identity<std::tuple<C...>>) {
  static_assert((Card<C> && ...));
  static_assert((fits_access_list<C> && ...));
  return {make_row<C>()...};
}

constexpr auto kRows = make_rows(std::type_identity<Isa>{});

}  // namespace

std::span<const CardRow> isa() { return kRows; }

const CardRow* card_named(std::string_view name) {
  for (const CardRow& r : kRows)
    if (r.name == name) return &r;
  return nullptr;
}

void share_arguments(Program& p) {
  if (p.words.size() < ArgumentPool::kFromWords) return;
  const std::vector<uint64_t> old = std::exchange(p.words, {});
  p.pool = {};
  for (Instruction& i : p.instructions)
    i.args = p.pool.place(std::span(old).subspan(i.args, (row(i).args_bytes + 7) / 8), p.words);
  p.words.shrink_to_fit();
  p.pool = {};
}

bool has_control(const Program& p) {
  return std::any_of(p.instructions.begin(), p.instructions.end(),
                     [](const Instruction& i) { return kRows[i.card].flow != Flow::none; });
}

AccessList accesses(const Program& p, const Instruction& i) {
  AccessList list;
  row(i).accesses(p.raw_args(i), list);
  return list;
}

}  // namespace trn
