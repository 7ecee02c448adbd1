#pragma once
#include <string>
#include <string_view>

namespace trn::compiler {

// TRNSIM_DUMP=DIR writes each compilation's stages as DIR/NUMBER.PROGRAM.STAGE.txt; without it this costs one test per
// stage. Throws trn::Error(illegal) if DIR cannot be written.
class Dump {
 public:
  Dump() = default;  // off
  explicit Dump(const std::string& program);
  bool on() const { return !prefix_.empty(); }

  // `stage` is anything that listing() prints.
  template <class Stage>
  void operator()(std::string_view name, const Stage& stage) const {
    if (on()) write(name, listing(stage));
  }

 private:
  void write(std::string_view name, const std::string& text) const;
  std::string prefix_;  // empty: off
};

}  // namespace trn::compiler
