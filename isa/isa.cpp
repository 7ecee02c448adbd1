#include "isa/isa.h"

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
    return is_damaged(value.space) || is_damaged(value.dtype) || value.ndim > Access::kMaxDims;
  } else if constexpr (std::is_same_v<T, Operand>) {
    return is_damaged(value.tile);
  } else {
    return false;
  }
}

template <class C>
constexpr CardRow make_row() {
  return {
      .name = C::name,
      .doc = C::doc,
      .source = C::source,
      .status = C::status,
      .since = C::since,
      .engines = C::engines,
      .is_dma = C::is_dma,
      .args_bytes = sizeof(typename C::Args),
      .check = [](const void* a, Engine e, const Spec& s) { return C::check(as<C>(a), e, s); },
      .cost = [](const void* a, Engine e, const Spec& s) { return C::cost(as<C>(a), e, s); },
      .run = [](const void* a, const CoreMemory& m) { C::run(as<C>(a), m); },
      .accesses =
          [](const void* a, AccessList& list) {
            for_each_access<C>(as<C>(a), [&](const Access& access, bool written) {
              list.access[list.count] = &access;
              list.written[list.count++] = written;
            });
          },
      .damaged =
          [](const void* a) {
            std::string_view first;
            for_each_field<C>(as<C>(a), [&](std::string_view field, const auto& value, std::string_view) {
              if (first.empty() && is_damaged(value)) first = field;
            });
            return first;
          },
  };
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

AccessList accesses(const Program& p, const Instruction& i) {
  AccessList list;
  row(i).accesses(p.raw_args(i), list);
  return list;
}

}  // namespace trn
