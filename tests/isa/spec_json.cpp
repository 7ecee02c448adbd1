#include "isa/spec_json.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "memory/error.h"

using namespace trn;
using Json = nlohmann::ordered_json;
using Catch::Contains;

namespace {

Json trn2_json() { return Json::parse(spec_to_json(trn2())); }

std::string complaint(const std::string& text) {
  try {
    spec_from_json(text, "what_if.json");
  } catch (const Error& e) {
    CHECK(e.fault() == Fault::illegal);
    CHECK(e.context() == "what_if.json");
    return e.rule();
  }
  return "accepted";
}
std::string complaint(const Json& j) { return complaint(j.dump()); }

Json what_if(const std::string& field, Json value) {
  return {{"base", "trn2"}, {"numbers", {{field, std::move(value)}}}};
}

}  // namespace

TEST_CASE("a Spec survives JSON") {
  const std::string text = spec_to_json(trn2());
  const Spec back = spec_from_json(text, "copy");
  for (const SpecField& f : spec_fields()) {
    INFO(f.name);
    const Number &a = trn2().*(f.member), &b = back.*(f.member);
    CHECK(a.value == b.value);
    CHECK(a.provenance == b.provenance);
    CHECK(a.source == b.source);
    CHECK(a.spread == b.spread);
  }
  CHECK(back.name == "trn2");
  CHECK(back.generation == Generation::trn2);
  CHECK(spec_to_json(back) == text);
}

TEST_CASE("a what-if is the lines that differ") {
  const Spec s = spec_from_json(R"({"base": "trn2", "name": "twice", "numbers": {"dma_queues": 32}})", "twice.json");
  CHECK(s.name == "twice");
  CHECK(s.dma_queues == 32);
  CHECK(s.dma_queues.provenance == Provenance::assumed);
  CHECK(s.dma_queues.source == "twice.json");
  CHECK(s.tensor_ghz == trn2().tensor_ghz);
}

TEST_CASE("numbers that are missing, unknown, not numeric or absurd are refused by name and interval") {
  for (const SpecField& f : spec_fields()) {
    const std::string field(f.name);
    Json missing = trn2_json();
    missing["numbers"].erase(field);
    CHECK_THAT(complaint(missing), Contains("\"" + field + "\" is missing") && Contains("must be in ["));
    CHECK_THAT(complaint(what_if(field, "fast")),
               Contains("\"" + field + "\" is not numeric") && Contains("must be in ["));
    CHECK_THAT(complaint(what_if(field, nullptr)), Contains("\"" + field + "\" is not numeric"));
    CHECK_THAT(complaint(what_if(field, -1)), Contains("\"" + field + "\" is -1") && Contains("must be in ["));
    CHECK_THAT(complaint(what_if(field, 1e300)), Contains("\"" + field + "\" is 1.0000000000000001e+300"));
    if (f.whole)
      CHECK_THAT(complaint(what_if(field, f.least + 0.5)), Contains("\"" + field + "\"") && Contains("whole number"));
  }
  CHECK_THAT(complaint(what_if("dma_quues", 3)), Contains("unknown number \"dma_quues\""));
  CHECK_THAT(complaint(what_if("dma_queues", {{"value", 8}, {"note", "?"}})), Contains("unknown member \"note\""));
  CHECK_THAT(complaint(what_if("dma_queues", {{"source", "me"}})), Contains("has no \"value\""));
  CHECK_THAT(complaint(what_if("dma_queues", {{"value", 8}, {"provenance", "guessed"}})),
             Contains("documented, measured or assumed"));
  CHECK_THAT(complaint(what_if("dma_queues", {{"value", 8}, {"source", 1}})),
             Contains("source") && Contains("must be a string"));
  CHECK_THAT(complaint(what_if("dma_queues", {{"value", 8}, {"spread", -1}})),
             Contains("the spread of number \"dma_queues\""));
}

TEST_CASE("numbers that contradict each other are refused") {
  CHECK_THAT(complaint(what_if("sbuf_reserved_bytes", 224 * 1024)),
             Contains("sbuf_reserved_bytes") && Contains("sbuf_partition_bytes"));
  CHECK_THAT(complaint(what_if("psum_banks", 7)), Contains("psum_banks") && Contains("psum_partition_bytes"));
  CHECK_THAT(complaint(what_if("hbm_stacks", 3)), Contains("hbm_stacks") && Contains("cores_per_chip"));
}

TEST_CASE("text that is no Spec is refused") {
  CHECK_THAT(complaint(std::string("{\"name\": ")), Contains("not JSON near byte"));
  CHECK_THAT(complaint(std::string("\xFF\xFE")), Contains("not JSON"));
  CHECK_THAT(complaint(Json::array()), Contains("JSON object"));
  CHECK_THAT(complaint(Json{{"numbers", Json::object()}}), Contains("\"name\" is missing"));
  CHECK_THAT(complaint(Json{{"base", "trn9"}, {"numbers", Json::object()}}),
             Contains("must be one of trn1, inf2, trn2, trn3"));
  CHECK_THAT(complaint(Json{{"base", "trn2"}}), Contains("\"numbers\""));
  CHECK_THAT(complaint(Json{{"base", "trn2"}, {"numbers", Json::object()}, {"generation", "gpu"}}),
             Contains("trn1, trn2 or trn3"));
  CHECK_THAT(complaint(Json{{"base", "trn2"}, {"numbers", Json::object()}, {"clock", 1}}),
             Contains("unknown member \"clock\""));
  CHECK_THROWS_WITH(load_spec("no/such/file.json"), Contains("cannot be read") && Contains("no/such/file.json"));
  CHECK_THROWS_WITH(load_spec("."), Contains("cannot be read"));
}

TEST_CASE("damaged text is read or refused, never worse") {
  const std::string whole = spec_to_json(trn2());
  uint32_t state = 5;
  const auto below = [&](size_t n) { return (state = state * 1664525u + 1013904223u) % n; };
  size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text = whole.substr(0, round % 5 ? whole.size() : below(whole.size()));
    for (size_t i = below(4); i-- > 0 && !text.empty();) text[below(text.size())] = static_cast<char>(below(256));
    try {
      const Spec s = spec_from_json(text, "damaged");
      for (const SpecField& f : spec_fields())
        REQUIRE(((s.*(f.member)).value >= f.least && (s.*(f.member)).value <= f.most));
    } catch (const Error& e) {
      REQUIRE(e.fault() == Fault::illegal);
      ++refused;
    }
  }
  CHECK(refused > 100);
}
