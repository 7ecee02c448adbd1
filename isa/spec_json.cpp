#include "isa/spec_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "memory/error.h"

namespace trn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kGenerations = {Generation::trn1, Generation::trn2, Generation::trn3};
constexpr std::array kProvenances = {Provenance::documented, Provenance::measured, Provenance::assumed};

// Sources are string views in Spec; those that come from a file live as long as the process.
std::string_view keep(std::string text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> kept;
  const std::lock_guard lock(mutex);
  return *kept.insert(std::move(text)).first;
}

std::string shown(double v) {
  std::ostringstream out;
  out.precision(17);
  out << v;
  return out.str();
}

class Reader {
 public:
  explicit Reader(std::string_view origin) : origin_(origin) {}

  Spec read(std::string_view text) {
    const Json root = parse(text);
    if (!root.is_object()) fail("a Spec is a JSON object");
    for (const auto& [key, value] : root.items())
      if (key != "name" && key != "generation" && key != "base" && key != "numbers")
        fail("unknown member \"" + key + "\"");
    const bool has_base = root.contains("base");
    Spec s = has_base ? base(root["base"]) : Spec{};
    read_text(root, "name", has_base, [&](const std::string& t) { s.name = t; });
    read_text(root, "generation", has_base, [&](const std::string& t) { s.generation = generation(t); });
    if (!root.contains("numbers") || !root["numbers"].is_object()) fail("a Spec has an object \"numbers\"");
    read_numbers(root["numbers"], has_base, s);
    check_together(s);
    return s;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { throw Error(Fault::illegal, rule, std::string(origin_)); }

  Json parse(std::string_view text) const {
    try {
      return Json::parse(text);
    } catch (const Json::parse_error& e) {
      fail("not JSON near byte " + std::to_string(e.byte));
    } catch (const Json::exception& e) {
      fail(std::string("not usable JSON: ") + e.what());
    }
  }

  template <class Use>
  void read_text(const Json& root, const char* key, bool optional, Use use) const {
    if (!root.contains(key)) {
      if (optional) return;
      fail(std::string("\"") + key + "\" is missing");
    }
    if (!root[key].is_string()) fail(std::string("\"") + key + "\" must be a string");
    use(root[key].template get<std::string>());
  }

  Spec base(const Json& j) const {
    const Spec* s = j.is_string() ? spec_named(j.get<std::string>()) : nullptr;
    if (!s) fail("\"base\" must be one of " + std::string(builtin_spec_names()));
    return *s;
  }

  Generation generation(const std::string& text) const {
    for (const Generation g : kGenerations)
      if (name(g) == text) return g;
    fail("\"generation\" must be trn1, trn2 or trn3, not \"" + text + "\"");
  }

  void read_numbers(const Json& numbers, bool has_base, Spec& s) const {
    for (const auto& [key, value] : numbers.items()) {
      const auto known = [&key = key](const SpecField& f) { return f.name == key; };
      if (std::none_of(spec_fields().begin(), spec_fields().end(), known)) fail("unknown number \"" + key + "\"");
    }
    for (const SpecField& f : spec_fields()) {
      const auto at = numbers.find(f.name);
      if (at == numbers.end()) {
        if (!has_base) fail("number \"" + std::string(f.name) + "\" is missing; it must be in " + interval(f));
        continue;
      }
      s.*(f.member) = number(f, *at);
    }
  }

  void check_together(const Spec& s) const {
    if (s.sbuf_reserved_bytes >= s.sbuf_partition_bytes)
      fail("\"sbuf_reserved_bytes\" leaves nothing of \"sbuf_partition_bytes\"");
    if (std::fmod(s.psum_partition_bytes, s.psum_banks) != 0)
      fail("\"psum_banks\" does not divide \"psum_partition_bytes\"");
    if (std::fmod(s.cores_per_chip, s.hbm_stacks) != 0) fail("\"hbm_stacks\" does not divide \"cores_per_chip\"");
  }

  Number number(const SpecField& f, const Json& j) const {
    Number n{.value = 0, .provenance = Provenance::assumed, .source = keep(std::string(origin_)), .spread = 0};
    if (!j.is_object()) {
      n.value = checked(f, "value", j, f.least, f.most);
      return n;
    }
    for (const auto& [key, value] : j.items())
      if (key != "value" && key != "provenance" && key != "source" && key != "spread")
        fail("number \"" + std::string(f.name) + "\" has an unknown member \"" + key + "\"");
    if (!j.contains("value"))
      fail("number \"" + std::string(f.name) + "\" has no \"value\"; it must be in " + interval(f));
    n.value = checked(f, "value", j["value"], f.least, f.most);
    if (j.contains("spread")) n.spread = checked(f, "spread", j["spread"], 0, f.most);
    if (j.contains("source")) {
      if (!j["source"].is_string()) fail("the source of number \"" + std::string(f.name) + "\" must be a string");
      n.source = keep(j["source"].get<std::string>());
    }
    if (j.contains("provenance")) n.provenance = provenance(f, j["provenance"]);
    return n;
  }

  Provenance provenance(const SpecField& f, const Json& j) const {
    for (const Provenance p : kProvenances)
      if (j == name(p)) return p;
    fail("the provenance of number \"" + std::string(f.name) + "\" must be documented, measured or assumed");
  }

  double checked(const SpecField& f, const char* member, const Json& j, double least, double most) const {
    const std::string what = std::string(member) == "value" ? "number \"" + std::string(f.name) + "\""
                                                            : "the spread of number \"" + std::string(f.name) + "\"";
    if (!j.is_number()) fail(what + " is not numeric; it must be in " + interval(f));
    const double v = j.get<double>();
    if (!(v >= least && v <= most))
      fail(what + " is " + shown(v) + "; it must be in [" + shown(least) + ", " + shown(most) + "]");
    if (f.whole && std::string(member) == "value" && v != std::floor(v))
      fail(what + " is " + shown(v) + "; it must be a whole number");
    return v;
  }

  static std::string interval(const SpecField& f) { return "[" + shown(f.least) + ", " + shown(f.most) + "]"; }

  std::string_view origin_;
};

}  // namespace

std::string spec_to_json(const Spec& s) {
  Json numbers = Json::object();
  for (const SpecField& f : spec_fields()) {
    const Number& n = s.*(f.member);
    numbers[std::string(f.name)] = {
        {"value", n.value}, {"provenance", name(n.provenance)}, {"source", n.source}, {"spread", n.spread}};
  }
  const Json root = {{"name", s.name}, {"generation", name(s.generation)}, {"numbers", std::move(numbers)}};
  return root.dump(2) + "\n";
}

Spec spec_from_json(std::string_view text, std::string_view origin) { return Reader(origin).read(text); }

Spec load_spec(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw Error(Fault::illegal, "the Spec file cannot be read", path);
  return spec_from_json(text.str(), path);
}

const Spec& machine_spec(const Spec& otherwise) {
  static const Spec spec = [&otherwise] {
    const char* text = std::getenv("TRNSIM_SPEC");
    if (!text || !*text) return otherwise;
    const Spec* known = spec_named(text);
    return known ? *known : load_spec(text);
  }();
  return spec;
}

const Spec& target_spec(std::string_view target, const Spec& machine) {
  if (target == machine.name) return machine;
  if (const Spec* known = spec_named(target)) return *known;
  throw Error(Fault::illegal,
              "target \"" + std::string(target) + "\" is none of " + std::string(builtin_spec_names()) +
                  ", nor this machine, " + machine.name,
              "program");
}

}  // namespace trn
