#pragma once
#include <optional>
#include <string_view>

#include "isa/activation_functions.h"
#include "isa/operands.h"
#include "isa/program.h"

namespace trn {

// How many values each enum of an instruction's fields has: readers of text and files refuse the rest. An enum without
// a line here does not compile where it is serialised.
template <class E>
inline constexpr size_t enum_count = 0;
template <>
inline constexpr size_t enum_count<Space> = 4;
template <>
inline constexpr size_t enum_count<Dtype> = kDtypes.size();
template <>
inline constexpr size_t enum_count<Engine> = kEngines;
template <>
inline constexpr size_t enum_count<SlotUse> = 5;
template <>
inline constexpr size_t enum_count<Activation> = kActivations.size();
template <>
inline constexpr size_t enum_count<AluOp> = kAluOps.size();
template <>
inline constexpr size_t enum_count<ReduceCmd> = kReduceCmdNames.size();
template <>
inline constexpr size_t enum_count<OobMode> = kOobModeNames.size();
template <>
inline constexpr size_t enum_count<DmaEngine> = kDmaEngineNames.size();
template <>
inline constexpr size_t enum_count<DgeMode> = kDgeModeNames.size();
template <>
inline constexpr size_t enum_count<MatmulPerfMode> = kMatmulPerfModeNames.size();

constexpr std::string_view name(Space s) { return space_name(s); }

template <class E>
constexpr std::optional<E> enum_named(std::string_view text) {
  static_assert(enum_count<E> > 0);
  for (size_t i = 0; i < enum_count<E>; ++i)
    if (name(static_cast<E>(i)) == text) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace trn
