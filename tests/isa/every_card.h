#pragma once
#include "isa/isa.h"

namespace trn::test {

// A Program with every example of every card, legal or not: for tests of what only moves Programs about.
inline Program every_card() {
  Program p;
  p.name = "every card, \"quoted\"\n\x01";
  p.cores = 2;
  p.slots = {{"a", SlotUse::input, Dtype::float32, 4096, 0, {32, 32}},
             {"", SlotUse::output, Dtype::bfloat16, 2048, 0, {}},
             {"c d", SlotUse::constant, Dtype::int8, 5, 3, {5}},
             {"s", SlotUse::scratch, Dtype::uint32, int64_t{1} << 40, 0, {-1}}};
  for (int i = 0; i < 131; ++i) p.constants.push_back(static_cast<std::byte>(i * 7));
  p.sources = {"", "aten::add.Tensor", "train.py:12 \\ x"};
  const auto add_all = [&]<class C>(std::type_identity<C>) {
    for (const auto& example : C::examples()) {
      Instruction i;
      i.card = card_index<C>;
      const size_t n = p.instructions.size();
      i.engine = static_cast<Engine>(n % kEngines);
      i.core = n % 2;
      i.queue = static_cast<uint8_t>(n % 7);
      i.waits = static_cast<uint8_t>(n % 3);
      i.first_wait = static_cast<uint32_t>(p.waits.size());
      for (int w = 0; w < i.waits; ++w)
        p.waits.push_back({static_cast<uint16_t>(n + w), static_cast<uint32_t>(n * 1000)});
      if (n % 4) i.update = static_cast<uint16_t>(n);
      i.source = static_cast<uint32_t>(n % p.sources.size());
      i.args = p.push_args(example.args);
      p.instructions.push_back(i);
    }
  };
  [&]<class... C>(std::type_identity<std::tuple<C...>>) {
    (add_all(std::type_identity<C>{}), ...);
  }(std::type_identity<Isa>{});
  return p;
}

}  // namespace trn::test
