#include "isa/streams.h"

#include <map>

#include "isa/dispatch.h"

namespace trn {
namespace {

// Matches loops and labels of one stream.
class Linker {
 public:
  Linker(const Program& p, Stream& s) : p_(p), s_(s) { s_.target.assign(s_.instructions.size(), 0); }

  void link() {
    for (place_ = 0; place_ < s_.instructions.size(); ++place_) visit();
    if (!open_.empty()) fail(open_.back(), "a loop has no end_loop");
    for (const Branch& b : branches_) {
      const auto label = labels_.find(b.tag);
      if (label == labels_.end()) fail(b.place, "there is no label " + std::to_string(b.tag) + " in this stream");
      if (label->second.block != b.block) fail(b.place, "a branch may not enter or leave a loop");
      s_.target[b.place] = label->second.place;
    }
  }

 private:
  struct Label {
    uint32_t place, block;
  };
  struct Branch {
    uint32_t place, block;
    int32_t tag;
  };

  const Instruction& at(uint32_t place) const { return p_.instructions[s_.instructions[place]]; }
  uint32_t block() const { return open_.empty() ? UINT32_MAX : open_.back(); }  // a loop's place names it

  void visit() {
    const Instruction& in = at(place_);
    const CardRow& r = row(in);
    const void* args = p_.raw_args(in);
    if (const int reg = r.sets_register ? r.sets_register(args) : -1; reg >= 0)
      for (const uint32_t loop : open_)
        if (row(at(loop)).sets_register(p_.raw_args(at(loop))) == reg)
          fail(place_, "register r" + std::to_string(reg) + " counts a loop around this instruction and is read-only");
    switch (r.flow) {
      case Flow::loop:
        if (open_.size() == kMostOpenLoops)
          fail(place_, "more than " + std::to_string(kMostOpenLoops) + " loops are open at once");
        open_.push_back(place_);
        return;
      case Flow::end_loop:
        if (open_.empty()) fail(place_, "there is no loop to end");
        s_.target[open_.back()] = place_;
        open_.pop_back();
        return;
      case Flow::label:
        if (!labels_.emplace(r.tag(args), Label{place_, block()}).second)
          fail(place_, "label " + std::to_string(r.tag(args)) + " is given twice in this stream");
        return;
      case Flow::branch: branches_.push_back({place_, block(), r.tag(args)}); return;
      case Flow::none:
      case Flow::registers:
      case Flow::meeting: return;
    }
  }

  [[noreturn]] void fail(uint32_t place, const std::string& rule) const {
    throw Error(Fault::illegal, rule, describe(p_, s_.instructions[place]));
  }

  const Program& p_;
  Stream& s_;
  uint32_t place_ = 0;
  std::vector<uint32_t> open_;  // places of loops
  std::map<int32_t, Label> labels_;
  std::vector<Branch> branches_;
};

}  // namespace

std::vector<Stream> streams(const Program& p) {
  std::vector<Stream> all(size_t{p.cores} * kEngines);
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    const Instruction& in = p.instructions[i];
    all[in.core * size_t{kEngines} + static_cast<size_t>(in.engine)].instructions.push_back(i);
  }
  for (Stream& s : all) Linker(p, s).link();
  return all;
}

}  // namespace trn
