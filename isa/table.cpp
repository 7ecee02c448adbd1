#include "isa/table.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "isa/isa.h"

namespace trn {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
constexpr std::string_view kType = {};
template <>
constexpr std::string_view kType<Access> = "tile";
template <>
constexpr std::string_view kType<Operand> = "scalar or tile";
template <>
constexpr std::string_view kType<AluOp> = "ALU operator";
template <>
constexpr std::string_view kType<Activation> = "activation function";
template <>
constexpr std::string_view kType<ReduceCmd> = "reduce_cmd";
template <>
constexpr std::string_view kType<OobMode> = "oob_mode";
template <>
constexpr std::string_view kType<DmaEngine> = "dma_engine";
template <>
constexpr std::string_view kType<Register> = "register";
template <>
constexpr std::string_view kType<RegisterOperand> = "int or register";
template <>
constexpr std::string_view kType<DgeMode> = "dge_mode";
template <>
constexpr std::string_view kType<MatmulPerfMode> = "matmul_perf_mode";
template <>
constexpr std::string_view kType<RowColumn> = "(row, column)";
template <>
constexpr std::string_view kType<Pattern> = "pattern [[step, count], ...]";
template <>
constexpr std::string_view kType<ShuffleMask> = "32 partition numbers";

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float";
  } else if constexpr (std::is_integral_v<T>) {
    return "int";
  } else {
    static_assert(!kType<T>.empty(), "give the new field type its words");
    return kType<T>;
  }
}

template <class T>
std::string initial_value(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::ostringstream out;
    out << +value;
    return out.str();
  } else if constexpr (std::is_same_v<T, Operand> || std::is_same_v<T, RegisterOperand>) {
    return initial_value(value.immediate);
  } else if constexpr (std::is_same_v<T, RowColumn>) {
    return "(" + initial_value(value[0]) + ", " + initial_value(value[1]) + ")";
  } else {
    return {};
  }
}

template <class C>
CardDoc describe() {
  CardDoc d{C::name, C::doc, C::source, C::status, C::since, C::engines, C::is_dma, {}};
  const typename C::Args args{};
  for_each_field<C>(args, [&]<class T>(std::string_view field, const T& value, std::string_view doc) {
    d.fields.push_back(
        {field, type_name<T>(), doc, initial_value(value), std::is_same_v<T, Access> && is_written(field)});
  });
  return d;
}

template <class... C>
std::vector<CardDoc> describe_all(std::type_identity<std::tuple<C...>>) {
  return {describe<C>()...};
}

std::vector<std::string_view> engine_names(EngineSet set) {
  std::vector<std::string_view> names;
  for (int e = 0; e < kEngines; ++e)
    if (set.has(static_cast<Engine>(e))) names.push_back(name(static_cast<Engine>(e)));
  return names;
}

std::string joined(const std::vector<std::string_view>& parts) {
  std::string text;
  for (const auto part : parts) text += (text.empty() ? "" : ", ") + std::string(part);
  return text;
}

Json number_or_text(double v) {
  if (std::isfinite(v)) return v;
  return v > 0 ? "inf" : "-inf";
}

}  // namespace

const std::vector<CardDoc>& card_docs() {
  static const std::vector<CardDoc> docs = describe_all(std::type_identity<Isa>{});
  return docs;
}

std::string isa_markdown() {
  std::ostringstream out;
  out << "# Instructions\n\n| instruction | engines | since | status | what it does | source "
         "|\n|---|---|---|---|---|---|\n";
  for (const CardDoc& d : card_docs())
    out << "| " << d.name << " | " << joined(engine_names(d.engines)) << (d.is_dma ? " (DMA)" : "") << " | "
        << name(d.since) << " | " << name(d.status) << " | " << d.doc << " | " << d.source << " |\n";
  for (const CardDoc& d : card_docs()) {
    out << "\n## " << d.name << "\n\n| argument | type | default | |\n|---|---|---|---|\n";
    for (const FieldDoc& f : d.fields)
      out << "| " << f.name << (f.written ? " (written)" : "") << " | " << f.type << " | " << f.initial << " | "
          << f.doc << " |\n";
  }
  out << "\n# ALU operators\n\n| operator | engines | kind | operands | reduces | source "
         "|\n|---|---|---|---|---|---|\n";
  for (const AluRow& r : kAluOps)
    out << "| " << r.name << " | " << joined(engine_names(r.engines)) << " | "
        << (r.is_bitvec ? "bitvec" : "arithmetic") << " | " << r.arity << " | " << (r.reduces ? "yes" : "no") << " | "
        << r.source << " |\n";
  out << "\n# Activation functions\n\n| function | source | published input range |\n|---|---|---|\n";
  for (const ActivationRow& r : kActivations)
    out << "| " << r.name << " | " << name(r.source) << " | [" << r.least << ", " << r.most << "] |\n";
  out << "\n# Dtypes\n\n| dtype | bytes |\n|---|---|\n";
  for (const DtypeInfo& d : kDtypes) out << "| " << d.name << " | " << int{d.size} << " |\n";
  return out.str();
}

std::string isa_json() {
  Json cards = Json::array(), alu = Json::array(), activations = Json::array(), dtypes = Json::array();
  for (const CardDoc& d : card_docs()) {
    Json fields = Json::array();
    for (const FieldDoc& f : d.fields)
      fields.push_back(
          {{"name", f.name}, {"type", f.type}, {"default", f.initial}, {"written", f.written}, {"doc", f.doc}});
    cards.push_back({{"name", d.name},
                     {"doc", d.doc},
                     {"source", d.source},
                     {"status", name(d.status)},
                     {"since", name(d.since)},
                     {"engines", engine_names(d.engines)},
                     {"dma", d.is_dma},
                     {"arguments", std::move(fields)}});
  }
  for (const AluRow& r : kAluOps)
    alu.push_back({{"name", r.name},
                   {"engines", engine_names(r.engines)},
                   {"bitvec", r.is_bitvec},
                   {"arity", r.arity},
                   {"reduces", r.reduces},
                   {"source", r.source}});
  for (const ActivationRow& r : kActivations)
    activations.push_back({{"name", r.name},
                           {"source", name(r.source)},
                           {"table", r.table},
                           {"range", {number_or_text(r.least), number_or_text(r.most)}}});
  for (const DtypeInfo& d : kDtypes) dtypes.push_back({{"name", d.name}, {"bytes", d.size}});
  const Json root = {{"instructions", std::move(cards)},
                     {"alu_operators", std::move(alu)},
                     {"activation_functions", std::move(activations)},
                     {"dtypes", std::move(dtypes)}};
  return root.dump(2) + "\n";
}

}  // namespace trn
