#include "traces/replay/profile.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "traces/replay/csv.h"
#include "traces/replay/text_file.h"

namespace trn::replay {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLongest = int64_t{1} << 53;  // nanoseconds: a hundred days

void check_span(int64_t start, int64_t duration, const std::string& where) {
  if (start < 0 || duration < 0 || start > kLongest || duration > kLongest)
    throw Error(Fault::illegal, "a time or duration is negative or longer than a hundred days", where);
}

// What the two formats and tool versions call the same field; the condensed tables' name first.
constexpr std::string_view kStart[] = {"timestamp", "start_ts", "start", "ts"};
constexpr std::string_view kDuration[] = {"duration", "duration_ns", "dur"};
constexpr std::string_view kLabel[] = {"label", "engine", "timeline_track"};
constexpr std::string_view kSubgraph[] = {"subgraph", "pcore_idx", "nc_idx"};
constexpr std::string_view kType[] = {"instruction_type", "instructionType"};
constexpr std::string_view kBytes[] = {"transfer_size", "size", "bytes"};
constexpr std::string_view kEngine[] = {"dma_engine", "engine", "engine_idx"};
constexpr std::string_view kQueue[] = {"dma_queue", "queue", "queue_idx"};
constexpr std::string_view kKind[] = {"queue_type", "type"};
constexpr std::string_view kId[] = {"id", "semaphore", "name"};

const Json* find(const Json& object, const Names& names) {
  for (const std::string_view name : names)
    if (const auto at = object.find(name); at != object.end() && !at->is_null()) return &*at;
  return nullptr;
}

// Exports write numbers as numbers or as text.
int64_t number(const Json& object, Names names, const std::string& where, int64_t otherwise = INT64_MIN) {
  const Json* value = find(object, names);
  if (!value) {
    if (otherwise != INT64_MIN) return otherwise;
    throw Error(Fault::illegal, "a row has no '" + std::string(*names.begin()) + "'", where);
  }
  if (value->is_number()) {
    const double d = value->get<double>();
    if (!(d >= -9e15 && d <= 9e15)) throw Error(Fault::illegal, "a number is out of range", where);
    return value->is_number_integer() ? value->get<int64_t>() : static_cast<int64_t>(std::llround(d));
  }
  if (value->is_string()) {
    const std::string& s = value->get_ref<const std::string&>();
    int64_t n = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
    if (error == std::errc{} && end == s.data() + s.size()) return n;
  }
  throw Error(Fault::illegal, "'" + std::string(*names.begin()) + "' is no whole number", where);
}

std::string text(const Json& object, Names names) {
  const Json* value = find(object, names);
  if (!value) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

// The first of `names` that is a list; an empty one if none is.
const Json& table(const Json& document, Names names) {
  static const Json kEmpty = Json::array();
  for (const std::string_view name : names)
    if (const auto at = document.find(name); at != document.end() && at->is_array()) return *at;
  return kEmpty;
}

void read_throttle(const Json& document, const std::string& source, std::vector<ThrottleRow>& rows) {
  for (const Json& row : table(document, {"throttle_events", "throttle", "ham", "Throttle"})) {
    if (!row.is_object() || !find(row, {"k"})) continue;
    ThrottleRow t;
    t.start = number(row, kStart, source);
    t.duration = number(row, kDuration, source, 0);
    t.k = number(row, {"k"}, source);
    t.n = number(row, {"n"}, source, 8);
    t.subgraph = text(row, kSubgraph);
    check_span(t.start, t.duration, source);
    rows.push_back(std::move(t));
  }
}

Json parse_json(std::string_view text, const std::string& source) {
  int depth = 0, deepest = 0;  // hostile nesting would end in the parser's stack
  for (const char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    deepest = std::max(deepest, depth);
  }
  if (deepest > 200) throw Error(Fault::illegal, "the JSON nests more than 200 deep", source);
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    throw Error(Fault::illegal, "the file is no JSON object", source);
  return document;
}

}  // namespace

std::vector<InstructionRow> parse_instructions(std::string_view csv, const std::string& source) {
  CsvReader in(csv, source);
  const int start = in.required(kStart), duration = in.required(kDuration), label = in.required(kLabel),
            opcode = in.required({"opcode"}), operands = in.required({"operands"}), subgraph = in.column(kSubgraph),
            pc = in.required({"pc"}), type = in.required(kType);
  std::vector<InstructionRow> rows;
  while (in.next()) {
    rows.push_back({in.number(start), in.number(duration), in.text(label), in.text(opcode), in.text(operands),
                    in.text(subgraph), in.number(pc), in.text(type)});
    check_span(rows.back().start, rows.back().duration, in.where());
  }
  return rows;
}

std::vector<PacketRow> parse_packets(std::string_view csv, const std::string& source) {
  CsvReader in(csv, source);
  const int start = in.required(kStart), duration = in.required(kDuration), subgraph = in.column(kSubgraph),
            kind = in.column(kKind), engine = in.required(kEngine), queue = in.required(kQueue),
            bytes = in.required(kBytes);
  std::vector<PacketRow> rows;
  while (in.next()) {
    rows.push_back({in.number(start), in.number(duration), in.text(subgraph), in.text(kind),
                    static_cast<int>(in.number(engine)), static_cast<int>(in.number(queue)), in.number(bytes)});
    check_span(rows.back().start, rows.back().duration, in.where());
  }
  return rows;
}

std::vector<SemaphoreRow> parse_semaphores(std::string_view csv, const std::string& source) {
  CsvReader in(csv, source);
  const int time = in.required(kStart), subgraph = in.column(kSubgraph), id = in.required(kId),
            value = in.required({"value"});
  std::vector<SemaphoreRow> rows;
  while (in.next()) rows.push_back({in.number(time), in.text(subgraph), in.text(id), in.number(value)});
  return rows;
}

Profile parse_export(std::string_view json, const std::string& source) {
  const Json document = parse_json(json, source);
  Profile p;
  const Json& instructions = table(document, {"instruction", "instructions", "Instruction"});
  if (instructions.empty()) throw Error(Fault::illegal, "the export has no list 'instruction'", source);
  for (const Json& row : instructions) {
    if (!row.is_object()) throw Error(Fault::illegal, "a row of 'instruction' is no object", source);
    InstructionRow r;
    r.start = number(row, kStart, source);
    const int64_t end = number(row, {"end_ts", "end"}, source, r.start);
    r.duration = number(row, kDuration, source, end - r.start);
    r.label = text(row, kLabel);
    r.opcode = text(row, {"opcode"});
    r.operands = text(row, {"operands"});
    r.subgraph = text(row, kSubgraph);
    r.pc = number(row, {"pc"}, source, 0);
    r.type = text(row, kType);
    check_span(r.start, r.duration, source);
    p.instructions.push_back(std::move(r));
  }
  for (const Json& row : table(document, {"dma", "dma_packets", "DmaPacket"})) {
    PacketRow r{number(row, kStart, source),
                number(row, kDuration, source, 0),
                text(row, kSubgraph),
                text(row, kKind),
                static_cast<int>(number(row, kEngine, source, 0)),
                static_cast<int>(number(row, kQueue, source, 0)),
                number(row, kBytes, source, 0)};
    check_span(r.start, r.duration, source);
    p.packets.push_back(std::move(r));
  }
  for (const Json& row : table(document, {"semaphore_update", "semaphores", "semaphore", "SemaphoreUpdate"}))
    p.semaphores.push_back(
        {number(row, kStart, source), text(row, kSubgraph), text(row, kId), number(row, {"value"}, source, 0)});
  read_throttle(document, source, p.throttle);
  return p;
}

Profile load_profile(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string file = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (file.ends_with(".json") || file.ends_with(".json.gz")) {
    Profile p = parse_export(read_text(path), path);
    p.name = file.substr(0, file.find('.'));
    return p;
  }
  constexpr std::string_view kTable = ".instructions.csv";
  const size_t at = path.rfind(kTable);
  if (at == std::string::npos)
    throw Error(Fault::illegal, "a profile is NAME.instructions.csv[.gz] or a JSON export", path);
  Profile p;
  p.instructions = parse_instructions(read_text(path), path);
  const std::string stem = path.substr(0, at);
  p.name = stem.substr(slash == std::string::npos ? 0 : slash + 1);
  const auto beside = [&](const char* table) {
    for (const char* ending : {".csv.gz", ".csv"})
      if (const std::string name = stem + table + ending; exists(name)) return name;
    return std::string();
  };
  if (const std::string name = beside(".dma"); !name.empty()) p.packets = parse_packets(read_text(name), name);
  if (const std::string name = beside(".semaphores"); !name.empty())
    p.semaphores = parse_semaphores(read_text(name), name);
  if (const std::string name = stem + ".meta.json"; exists(name))
    read_throttle(parse_json(read_text(name), name), name, p.throttle);
  return p;
}

}  // namespace trn::replay
