#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "isa/engine.h"
#include "isa/spec.h"
#include "memory/access.h"
#include "memory/error.h"
#include "memory/memories.h"

namespace trn {

// A scalar operand: an immediate, or a [P,1] tile that gives one value per partition (nki.isa: "scalar or vector").
struct Operand {
  Access tile{};
  double immediate = 0;
  bool is_tile() const { return tile.present(); }
  friend bool operator==(const Operand&, const Operand&) = default;
};

// What a rule protects. Tools sort findings by it; sim/finding.cpp has its name and its page of the documentation.
enum class RuleKind : uint8_t {
  structure,  // dangling indices, values that no enum has: the Program cannot be looked at further
  operand,
  engine,
  dtype,
  shape,
  bounds,
  partition_start,
  psum_bank,
  semaphore_overflow,
  semaphore_underflow,
  deadlock,
  order,  // the Program's sequence is none in which it can run
  capacity,
  overlap,
  race,
  uninitialised,
  psum_group,
  bank_conflict,
  queue_overflow,
  numeric,      // NaN that was not there before
  index_bounds  // an index read from data leaves its table
};
inline constexpr int kRuleKinds = 21;

// A broken rule: whose fault, the sentence, what it protects.
struct Complaint {
  Fault fault;
  std::string rule;
  RuleKind kind = RuleKind::operand;
};
using Verdict = std::optional<Complaint>;

// What a DMA instruction moves, as the DMA engines see it: `rows` rows (partitions, or the outermost HBM dim) dealt to
// the engines in groups, each row `chunks` descriptors' elements of `chunk_bytes` contiguous bytes on both sides.
struct Transfer {
  int64_t rows = 0;
  int64_t chunks = 0;
  int64_t chunk_bytes = 0;
  bool reads_hbm = false;
  bool writes_hbm = false;
  bool software = false;    // SWDGE: descriptors are built by GpSimd (indirect patterns)
  bool cast = false;        // source and destination dtypes differ
  bool fixed_ring = false;  // descriptors stand ready in memory; the instruction is a doorbell
  int pattern_dims = 1;     // dims the descriptor generator walks (1-D and 2-D triggers differ)
  int64_t neighbours = 1;   // chunks in sequence that are neighbours in HBM: software descriptors gather them
  double peak = 1;          // part of the engines' rate that it can reach: below 1 where they turn elements
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// Time of one instruction, in cycles of its engine (fractions allowed; sim/ rounds to ticks once).
struct Cost {
  double busy = 0;          // until the engine can start its next instruction
  double latency = 0;       // from start until a semaphore update at completion; >= busy
  double fresh = 0;         // part of the latency that an instruction right behind another one does not see
  double interval = 0;      // at least this long from the previous instruction's end to this one's
  double preload = 0;       // tensor engine: weight load, hidden behind the previous instruction's stream
  double flops = 0;         // multiply-adds count 2
  Transfer transfer{};      // DMA instructions only
  bool table_load = false;  // scalar engine: uses an activation table
  int table = 0;            // which one; a change costs Spec::scalar_table_load_ns
  bool control = false;     // takes the sequencer's time alone, not the engine's data path
  friend bool operator==(const Cost&, const Cost&) = default;
};

// How well an instruction is known: its numbers against published results, its time against measurements.
enum class Status : uint8_t { measured, documented, assumed };

// A named member of Args, in the order of AWS's documentation page. Everything that walks arguments (assembly,
// container, Python signatures, instruction tables, fault injection) walks these.
template <class Args, class T>
struct Field {
  std::string_view name;
  T Args::*member;
  std::string_view doc;
};
template <class Args, class T>
Field(std::string_view, T Args::*, std::string_view) -> Field<Args, T>;

// An example that is a test: `broken` is empty when legal, else the first words of the rule that must reject it.
template <class Args>
struct Example {
  std::string_view what;
  Args args;
  std::string_view broken;
};

// What an instruction does to the order in which its engine goes on. Cards other than `none` are control cards: the
// engine's sequencer performs them.
enum class Flow : uint8_t {
  none,
  registers,  // register_move and its like: on to the next instruction
  loop,
  end_loop,
  label,
  branch,
  meeting,  // waits for the same instruction of the other core
};

class Sequencer;

template <class C>
inline constexpr Flow flow_of = Flow::none;
template <class C>
requires requires { C::flow; }
inline constexpr Flow flow_of<C> = C::flow;

// What a card does: run() on memory, for some cards by engine; a control card's step() on its engine's sequencer; or,
// where two cores meet, exchange() on both cores' memories at once, with tag() saying which instructions belong
// together.
template <class C>
concept RunsOnAnyEngine = requires(const typename C::Args& a, const CoreMemory& m) {
  { C::run(a, m) } -> std::same_as<void>;
};
template <class C>
concept RunsByEngine = requires(const typename C::Args& a, Engine e, const CoreMemory& m) {
  { C::run(a, e, m) } -> std::same_as<void>;
};
template <class C>
concept Runs = RunsOnAnyEngine<C> || RunsByEngine<C>;
template <class C>
concept Steps = flow_of<C>
!= Flow::none&& requires(const typename C::Args& a, Sequencer& q) {
  { C::step(a, q) } -> std::same_as<void>;
};
template <class C>
concept Meets = flow_of<C>
== Flow::meeting&& requires(const typename C::Args& a, const CoreMemory& m) {
  { C::tag(a) } -> std::same_as<int32_t>;
  { C::exchange(a, m, a, m) } -> std::same_as<void>;
};

// One public nki.isa operation. A missing member is a compile error.
template <class C>
concept Card = std::is_trivially_copyable_v<typename C::Args> &&
    (Runs<C> || Steps<C> || Meets<C>)&&requires(const typename C::Args& a, Engine e, const Spec& s) {
  { C::name } -> std::convertible_to<std::string_view>;
  { C::doc } -> std::convertible_to<std::string_view>;
  { C::source } -> std::convertible_to<std::string_view>;
  { C::status } -> std::convertible_to<Status>;
  { C::since } -> std::convertible_to<Generation>;
  { C::engines } -> std::convertible_to<EngineSet>;
  { C::is_dma } -> std::convertible_to<bool>;
  { std::tuple_size<std::remove_cvref_t<decltype(C::fields)>>::value } -> std::convertible_to<size_t>;
  { C::check(a, e, s) } -> std::same_as<Verdict>;
  { C::cost(a, e, s) } -> std::same_as<Cost>;
  { C::examples() } -> std::convertible_to<std::vector<Example<typename C::Args>>>;
};

// The card's own rules, after its generation's.
template <class C>
Verdict check_card(const typename C::Args& args, Engine e, const Spec& s) {
  if (C::since > s.generation)
    return Complaint{Fault::illegal, std::string(C::name) + " needs " + std::string(name(C::since)) + " (NeuronCore-v" +
                                         std::to_string(static_cast<int>(C::since)) + "); this machine is " + s.name +
                                         " (NeuronCore-v" + std::to_string(static_cast<int>(s.generation)) + ")"};
  return C::check(args, e, s);
}

template <class C>
void run_card(const typename C::Args& args, Engine e, const CoreMemory& m) {
  if constexpr (RunsByEngine<C>)
    C::run(args, e, m);
  else
    C::run(args, m);
}

// Calls visit(name, value, doc) for every field of `args`.
template <class C, class Args, class Visit>
constexpr void for_each_field(Args& args, Visit&& visit) {
  std::apply([&](const auto&... f) { (visit(f.name, args.*(f.member), f.doc), ...); }, C::fields);
}

// The fields that an instruction writes, by AWS's names. Some cards read them too (accumulation, predicated copies).
constexpr bool is_written(std::string_view field) {
  return field.starts_with("dst") || field.ends_with("_dst") || field == "reduce_res" || field == "counter";
}

// Calls visit(access, is_written) for every operand in memory.
template <class C, class Visit>
constexpr void for_each_access(const typename C::Args& args, Visit&& visit) {
  for_each_field<C>(args, [&](std::string_view field, const auto& value, std::string_view) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Access>) {
      if (value.present()) visit(value, is_written(field));
    } else if constexpr (std::is_same_v<T, Operand>) {
      if (value.is_tile()) visit(value.tile, false);
    }
  });
}

}  // namespace trn
