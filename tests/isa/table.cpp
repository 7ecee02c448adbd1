#include "isa/table.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "isa/isa.h"

using namespace trn;

TEST_CASE("the JSON table has every card with its engines and arguments") {
  const auto j = nlohmann::json::parse(isa_json());
  REQUIRE(j["instructions"].size() == isa().size());
  for (size_t i = 0; i < isa().size(); ++i) {
    const auto& entry = j["instructions"][i];
    INFO(isa()[i].name);
    CHECK(entry["name"] == isa()[i].name);
    CHECK(entry["arguments"].size() == card_docs()[i].fields.size());
    for (const auto& e : entry["engines"]) {
      bool found = false;
      for (int k = 0; k < kEngines; ++k)
        found = found || (e == name(static_cast<Engine>(k)) && isa()[i].engines.has(static_cast<Engine>(k)));
      CHECK(found);
    }
    CHECK(entry["engines"].size() >= 1);
  }
  CHECK(j["alu_operators"].size() == kAluOps.size());
  CHECK(j["activation_functions"].size() == kActivations.size());
  CHECK(j["dtypes"].size() == kDtypes.size());
}

TEST_CASE("a card's arguments are told as AWS's page tells them") {
  const CardDoc* matmul = nullptr;
  for (const CardDoc& d : card_docs())
    if (d.name == "nc_matmul") matmul = &d;
  REQUIRE(matmul);
  CHECK(matmul->fields[0].name == "dst");
  CHECK(matmul->fields[0].written);
  CHECK(matmul->fields[0].type == "tile");
  CHECK(matmul->fields[1].name == "stationary");
  CHECK_FALSE(matmul->fields[1].written);
  for (const CardDoc& d : card_docs()) {
    INFO(d.name);
    CHECK_FALSE(d.doc.empty());
    CHECK_FALSE(d.source.empty());
    for (const FieldDoc& f : d.fields) {
      INFO(f.name);
      CHECK_FALSE(f.doc.empty());
      CHECK((f.type != "bool" || f.initial == "True" || f.initial == "False"));
    }
  }
}

TEST_CASE("the Markdown table has one well-formed row per entry") {
  const std::string text = isa_markdown();
  size_t columns = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') {
      columns = 0;
      continue;
    }
    const auto bars = static_cast<size_t>(std::count(line.begin(), line.end(), '|'));
    if (columns == 0) columns = bars;
    INFO(line);
    CHECK(bars == columns);
  }
  for (const CardRow& r : isa()) CHECK(text.find("\n## " + std::string(r.name) + "\n") != std::string::npos);
}
