#include "isa/unroll.h"

#include <algorithm>

#include "isa/isa.h"
#include "isa/walk.h"

namespace trn {
namespace {

class Writer : public Walker {
 public:
  explicit Writer(const Program& p) : p_(p) {
    Program& out = result.program;
    out.name = p.name;
    out.target = p.target;
    out.cores = p.cores;
    out.slots = p.slots;
    out.constants = p.constants;
    out.words = p.words;
    out.sources = p.sources;
    for (const Instruction& i : p.instructions) {
      if (i.update != Instruction::kNoUpdate) semaphores_ = std::max<uint32_t>(semaphores_, i.update + 1u);
      for (const Wait& w : p.waits_of(i)) semaphores_ = std::max<uint32_t>(semaphores_, w.semaphore + 1u);
    }
    label_args_ = out.push_args(Label::Args{});
  }

  void issue(uint32_t stream, uint32_t index, const void* args, std::span<const Wait> waits) override {
    add(index, p_.instructions[index].update, waits, args);
    result.placed_by_data.back() = walk_->placed_by_data(stream);
  }
  void run(Walk walk) {
    walk_ = &walk;
    walk.run();
  }

  void meet(const Side& core0, const Side& core1) override {
    const std::array sides{&core0, &core1};
    const Instruction& first = p_.instructions[core0.index];
    Meeting& m = meetings_[{first.card, row(first).tag(core0.args)}];
    if (m.count++ == 0)
      for (auto& numbers : {&m.arrived, &m.moved})
        for (uint16_t& n : *numbers) n = fresh();
    for (size_t c = 0; c < 2; ++c) add_label(sides[c]->index, m.arrived[c], sides[c]->waits);
    const bool moves = row(first).is_dma;
    for (size_t c = 0; c < 2; ++c) {
      const Wait other(m.arrived[1 - c], m.count);
      const uint16_t update = moves ? m.moved[c] : p_.instructions[sides[c]->index].update;
      add(sides[c]->index, update, {&other, 1}, sides[c]->args);
    }
    if (!moves) return;
    const std::array both{Wait(m.moved[0], m.count), Wait(m.moved[1], m.count)};
    for (size_t c = 0; c < 2; ++c) add_label(sides[c]->index, p_.instructions[sides[c]->index].update, both);
  }

  Unrolled result;

 private:
  struct Meeting {
    uint32_t count = 0;
    std::array<uint16_t, 2> arrived{}, moved{};  // semaphores, by core
  };

  uint16_t fresh() {
    if (semaphores_ >= Instruction::kNoUpdate)
      throw Error(Fault::unsupported, "no semaphore numbers are left for the meetings of two cores", p_.name);
    return static_cast<uint16_t>(semaphores_++);
  }

  Instruction& add(uint32_t index, uint16_t update, std::span<const Wait> waits, const void* args) {
    Program& out = result.program;
    Instruction i = p_.instructions[index];
    if (args != p_.raw_args(i)) {
      const auto* words = static_cast<const uint64_t*>(args);
      i.args = out.pool.place({words, (row(i).args_bytes + 7) / 8}, out.words);
      if (out.words.size() > kMostUnrolledWords)
        throw Error(Fault::unsupported, "a run of this Program has more operands placed by registers than can be held",
                    p_.name);
    }
    i.update = update;
    i.first_wait = static_cast<uint32_t>(out.waits.size());
    i.waits = static_cast<uint8_t>(waits.size());
    out.waits.insert(out.waits.end(), waits.begin(), waits.end());
    result.origin.push_back(index);
    result.added.push_back(false);
    result.placed_by_data.push_back(false);
    return out.instructions.emplace_back(i);
  }

  void add_label(uint32_t index, uint16_t update, std::span<const Wait> waits) {
    Instruction& i = add(index, update, waits, p_.raw_args(p_.instructions[index]));
    i.card = card_index<Label>;
    i.args = label_args_;
    result.added.back() = true;
  }

  const Program& p_;
  const Walk* walk_ = nullptr;
  uint32_t semaphores_ = 0;
  uint32_t label_args_ = 0;
  std::map<std::pair<uint16_t, int32_t>, Meeting> meetings_;
};

}  // namespace

namespace {

Unrolled written(const Program& p, const Spec& s, Loads loads, const Walk::Options& options) {
  Writer writer(p);
  writer.run(Walk(p, s, writer, loads, options));
  return std::move(writer.result);
}

}  // namespace

Unrolled unroll(const Program& p, const Spec& s, const Loads& loads, uint64_t most) {
  return written(p, s, loads, {.most_steps = most});
}

Unrolled unroll_beginning(const Program& p, const Spec& s, const Loads& loads, uint64_t most) {
  constexpr uint64_t kTurn = 64;
  return written(p, s, loads, {.most_steps = most, .turn = kTurn, .may_end_early = true});
}

}  // namespace trn
