#include "traces/replay/operands.h"

#include <charconv>

#include "memory/error.h"

namespace trn::replay {
namespace {

template <class Int>
bool read(std::string_view& text, Int& value) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

[[noreturn]] void unreadable(std::string_view word) {
  throw Error(Fault::illegal, "a semaphore operand cannot be read", std::string(word.substr(0, 80)));
}

// "S[24] (qSyncDynamicHW)>=16", "$S[2]==8", "S[5] (Tensor)++@complete", "$S[2]+=1@complete", "$S[2]=0@complete",
// "$E[4]==1-" (events are semaphores of their own; the trailing sign clears).
void semaphore(std::string_view word, Operands& o) {
  std::string_view text = word;
  take(text, "$");
  const bool event = text.starts_with("E[");
  text.remove_prefix(2);
  uint32_t id = 0, value = 1;
  if (!read(text, id) || !take(text, "]") || id > 4095) unreadable(word);
  const int number = static_cast<int>(id) + (event ? 4096 : 0);
  std::string_view updater;
  take(text, " ");
  if (take(text, "(")) {
    const size_t close = text.find(')');
    if (close == std::string_view::npos) unreadable(word);
    updater = text.substr(0, close);
    text.remove_prefix(close + 1);
  }
  const auto change = [&](Change c, bool has_value) {
    if (has_value && !read(text, value)) unreadable(word);
    o.updates.push_back({number, c, value});
  };
  const auto wait = [&](Compare c) {
    if (!read(text, value)) unreadable(word);
    o.waits.push_back({number, updater, c, value});
    if (take(text, "-")) o.updates.push_back({number, Change::set, 0});
  };
  if (take(text, "++")) return change(Change::add, false);
  if (take(text, "--")) return change(Change::subtract, false);
  if (take(text, "+=")) return change(Change::add, true);
  if (text.starts_with("+@")) return change(Change::add, false);
  if (take(text, "-=")) return change(Change::subtract, true);
  if (take(text, ">=")) return wait(Compare::at_least);
  if (take(text, "<=")) return wait(Compare::at_most);
  if (take(text, "==")) return wait(Compare::equal);
  if (take(text, ">")) return wait(Compare::above);
  if (take(text, "<")) return wait(Compare::below);
  if (take(text, "=")) return change(Change::set, true);
  unreadable(word);
}

struct ProfileDtype {
  std::string_view name;
  Dtype dtype;
};
constexpr ProfileDtype kProfileDtypes[] = {{"fp32", Dtype::float32},
                                           {"float32", Dtype::float32},
                                           {"fp32r", Dtype::tfloat32},
                                           {"tf32", Dtype::tfloat32},
                                           {"bfloat16", Dtype::bfloat16},
                                           {"bf16", Dtype::bfloat16},
                                           {"fp16", Dtype::float16},
                                           {"float16", Dtype::float16},
                                           {"int32", Dtype::int32},
                                           {"uint32", Dtype::uint32},
                                           {"int16", Dtype::int16},
                                           {"uint16", Dtype::uint16},
                                           {"int8", Dtype::int8},
                                           {"uint8", Dtype::uint8},
                                           {"fp8e4", Dtype::float8_e4m3},
                                           {"fp8_e4m3", Dtype::float8_e4m3},
                                           {"fp8e5", Dtype::float8_e5m2},
                                           {"fp8_e5m2", Dtype::float8_e5m2},
                                           {"fp8e3", Dtype::float8_e3m4},
                                           {"fp8_e3m4", Dtype::float8_e3m4},
                                           {"fp8_exp4", Dtype::float8_e4m3},
                                           {"fp8_exp5", Dtype::float8_e5m2},
                                           {"fp8_exp3", Dtype::float8_e3m4}};

// "[a,b,c]" off the front of `text`.
bool list(std::string_view& text, std::vector<int64_t>& numbers) {
  numbers.clear();
  if (!take(text, "[")) return false;
  do {
    int64_t n = 0;
    if (!read(text, n) || numbers.size() == 8) return false;
    numbers.push_back(n);
  } while (take(text, ","));
  return take(text, "]");
}

constexpr int64_t kPsumBase = 0x2000000, kPsumEnd = 0x4000000;

}  // namespace

std::string_view Operands::field(std::string_view key) const {
  for (const auto& [name, value] : fields)
    if (name == key) return value;
  return {};
}

int64_t Operands::number(std::string_view key, int64_t otherwise) const {
  std::string_view text = field(key);
  int64_t n = 0;
  return !text.empty() && read(text, n) ? n : otherwise;
}

Operands parse_operands(std::string_view text) {
  Operands o;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    size_t end = std::min(text.find(' ', at), text.size());
    if (end + 1 < text.size() && text[end + 1] == '(') end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const std::string_view bare = word.starts_with('$') ? word.substr(1) : word;
    const size_t equals = word.find('=');
    if (bare.starts_with("S[") || bare.starts_with("E["))
      semaphore(word, o);
    else if (equals != std::string_view::npos)
      o.fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else
      o.words.push_back(word);
  }
  return o;
}

std::optional<Access> parse_access(std::string_view text, int64_t partitions) {
  Access a;
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    const std::string_view name = text.substr(0, at);
    bool known = false;
    for (const ProfileDtype& d : kProfileDtypes)
      if (d.name == name) {
        a.dtype = d.dtype;
        known = true;
      }
    if (!known) return {};
    text.remove_prefix(at + 1);
  }
  int64_t address = 0;
  std::vector<int64_t> steps, counts;
  if (!read(text, address) || !list(text, steps) || !list(text, counts) || steps.size() != counts.size()) return {};
  a.space = address >= kPsumBase && address < kPsumEnd ? Space::psum : Space::sbuf;
  a.offset = address - (a.space == Space::psum ? kPsumBase : 0);
  a.dims[0] = {1, static_cast<int32_t>(partitions)};
  a.ndim = 1;
  for (size_t i = steps.size(); i-- > 0;) {
    if (counts[i] < 1 || counts[i] > 65536 || std::abs(steps[i]) > (1 << 24)) return {};
    if (counts[i] == 1) continue;
    if (a.ndim == Access::kMaxDims) return {};
    a.dims[a.ndim++] = {static_cast<int32_t>(steps[i]), static_cast<int32_t>(counts[i])};
  }
  return a;
}

std::vector<std::pair<int64_t, int64_t>> parse_pattern(std::string_view text) {
  std::vector<int64_t> steps, counts;
  if (!list(text, steps) || !list(text, counts) || steps.size() != counts.size()) return {};
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (counts[i] < 1 || counts[i] > (1 << 24)) return {};
    dims.emplace_back(steps[i], counts[i]);
  }
  return dims;
}

}  // namespace trn::replay
