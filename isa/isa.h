#pragma once
#include <span>
#include <vector>

#include "isa/program.h"
#include "isa/activation.h"
#include "isa/nc_matmul.h"
#include "isa/tensor_copy.h"

namespace trn {

// The one list. Adding an instruction is one file and one line here. An instruction's number is its place; append, so that older executables load.
using Isa = std::tuple<NcMatmul, TensorCopy, Activation>;

// ---- everything below is derived ----

template <class C, class Tuple>
struct IndexOf;
template <class C, class... Rest>
struct IndexOf<C, std::tuple<C, Rest...>> : std::integral_constant<uint16_t, 0> {};
template <class C, class First, class... Rest>
struct IndexOf<C, std::tuple<First, Rest...>>
    : std::integral_constant<uint16_t, 1 + IndexOf<C, std::tuple<Rest...>>::value> {};

template <Card C>
inline constexpr uint16_t card_index = IndexOf<C, Isa>::value;

// One card with its types erased: what dispatch, tools and tests use. `args` points at the card's Args.
struct CardRow {
  std::string_view name, doc, source;
  Status status;
  Generation since;
  EngineSet engines;
  bool is_dma;
  size_t args_bytes;
  Verdict (*check)(const void* args, Engine, const Spec&);
  Cost (*cost)(const void* args, Engine, const Spec&);
  void (*run)(const void* args, const CoreMemory&);
};

std::span<const CardRow> isa();
const CardRow* card_named(std::string_view name);  // null if there is none
inline const CardRow& row(const Instruction& i) { return isa()[i.card]; }

// Operands of an instruction in memory: visit(const Access&, bool written).
struct AccessList {
  std::array<const Access*, 24> access;
  std::array<bool, 24> written;
  int count = 0;
};
AccessList accesses(const Program& p, const Instruction& i);

// Instruction count or shape errors, dangling indices, illegal operands: the first broken rule with its instruction, or nothing.
// A Program that passes can be executed and timed without reading outside its memories.
Verdict check(const Program& p, const Spec& s);

}  // namespace trn
