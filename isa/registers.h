#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

#include "memory/access.h"

namespace trn {

// Every engine's sequencer has 64 scalar registers of 32 bits (nki.isa.register_alloc).
inline constexpr int kRegisters = 64;
inline constexpr uint8_t kNoRegister = 0xFF;

struct Register {
  uint8_t number = 0;
  friend bool operator==(const Register&, const Register&) = default;
};

// A constant, or the value that a register has when the instruction is issued.
struct RegisterOperand {
  int32_t immediate = 0;  // 0 where there is a register
  uint32_t reg = kNoRegister;
  bool is_register() const { return reg != kNoRegister; }
  static constexpr RegisterOperand of(Register r) { return {0, r.number}; }
  friend bool operator==(const RegisterOperand&, const RegisterOperand&) = default;
};
static_assert(std::has_unique_object_representations_v<RegisterOperand>, "compared and stored as bytes");

// What a register holds. `known` is false where only a run on data could tell: whoever times a Program without data
// may add such words up and address with them, but must not branch on them.
struct Word {
  int32_t value = 0;
  bool known = true;
};

// The registers of one engine. Reading one that nothing has set is undefined, and an error.
class RegisterFile {
 public:
  Word read(int reg) const;
  Word read(Register r) const { return read(r.number); }
  Word read(RegisterOperand o) const { return o.is_register() ? read(static_cast<int>(o.reg)) : Word{o.immediate}; }
  void write(Register r, Word w);
  bool knows(uint64_t registers) const { return !(registers & unknown_); }

  // All set to 0: for judging what does not depend on them.
  static RegisterFile zeros();

 private:
  std::array<int32_t, kRegisters> values_{};
  uint64_t set_ = 0, unknown_ = 0;
};

// `a` with its dynamic dims gone into the offset.
Access resolved(Access a, const RegisterFile& registers);
// A bit for each register that its dynamic dims name; 0: it has none.
uint64_t registers_of(const Access& a);

}  // namespace trn
