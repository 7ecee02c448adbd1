#include "isa/card_page.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "isa/isa.h"
#include "isa/spec_json.h"

using namespace trn;
using Catch::Matchers::Contains;

TEST_CASE("a page tells everything that a card says") {
  for (const CardRow& r : isa()) {
    INFO(r.name);
    const std::string text = card_text(r.name, trn2()), markdown = card_markdown(r.name, trn2());
    for (const std::string& page : {text, markdown}) {
      CHECK_THAT(page, Contains(std::string(r.doc)));
      CHECK_THAT(page, Contains(std::string(r.source)));
      CHECK((page.find("refused here") != std::string::npos || page.find("Refused here") != std::string::npos) ==
            (r.since > Generation::trn2));
    }
    const auto j = nlohmann::json::parse(card_json(r.name, trn2()));
    CHECK(j["name"] == r.name);
    CHECK(j["refused"].get<std::string>().empty() == (r.since <= Generation::trn2));
    for (const auto& a : j["arguments"]) CHECK_THAT(text, Contains("\n  " + a["name"].get<std::string>()));
    int legal = 0;
    for (const auto& e : j["examples"]) {
      if (!e["legal"].get<bool>()) {
        CHECK_FALSE(e["rule"].get<std::string>().empty());
        continue;
      }
      ++legal;
      if (!r.is_dma) CHECK(e["latency_ns"].get<double>() >= e["busy_ns"].get<double>());
    }
    CHECK(legal > 0);
  }
}

TEST_CASE("a page's figures are the machine's, and name the numbers behind them") {
  const auto example = [](const Spec& s) { return nlohmann::json::parse(card_json("nc_matmul", s))["examples"][0]; };
  // N = 512 and 5 fixed cycles at 2.4 GHz, 2.8 on trn1.
  CHECK(example(trn2())["busy_ns"].get<double>() == Approx(517 / 2.4));
  CHECK(example(trn1())["busy_ns"].get<double>() == Approx(517 / 2.8));
  const auto numbers = nlohmann::json::parse(card_json("nc_matmul", trn2()))["numbers"];
  std::set<std::string> names;
  for (const auto& n : numbers) {
    names.insert(n["name"].get<std::string>());
    CHECK_FALSE(n["source"].get<std::string>().empty());
  }
  CHECK(names.count("pe_fixed_cycles") == 1);
  CHECK(names.count("pe_fp32_passes") == 1);
  CHECK(names.count("vector_ghz") == 0);
}

TEST_CASE("operators and functions have lines of their own") {
  CHECK_THAT(card_text("power", trn2()), Contains("ALU operator") && Contains("gpsimd"));
  CHECK_THAT(card_text("gelu", trn2()), Contains("activation function") && Contains("nki.api.shared"));
  CHECK_THAT(card_text("square", trn2()), Contains("ALU operator") && Contains("activation function"));
  CHECK_THROWS_AS(card_text("no_such_thing", trn2()), Error);
}

TEST_CASE("the text table marks what the machine does not have") {
  const std::string old = isa_text(trn2()), fresh = isa_text(trn3());
  CHECK_THAT(old, Contains("[trn3 only]"));
  CHECK_THAT(fresh, !Contains("[trn3 only]"));
  for (const CardRow& r : isa()) CHECK_THAT(old, Contains("\n  " + std::string(r.name) + " "));
}

TEST_CASE("a Program is judged by its target's machine") {
  CHECK(&target_spec("trn3", trn2()) == &trn3());
  CHECK(&target_spec("trn2", trn2()) == &trn2());
  Spec twice = trn2();
  twice.name = "twice";
  CHECK(&target_spec("twice", twice) == &twice);
  CHECK_THROWS_AS(target_spec("twice", trn2()), Error);
}
