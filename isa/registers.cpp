#include "isa/registers.h"

#include "memory/error.h"

namespace trn {
namespace {

constexpr uint64_t bit(int reg) { return uint64_t{1} << reg; }

}  // namespace

Word RegisterFile::read(int reg) const {
  if (reg < 0 || reg >= kRegisters) throw Error(Fault::illegal, "there is no register r" + std::to_string(reg));
  if (!(set_ & bit(reg)))
    throw Error(Fault::undefined, "register r" + std::to_string(reg) + " is read before anything sets it");
  return {values_[static_cast<size_t>(reg)], !(unknown_ & bit(reg))};
}

void RegisterFile::write(Register r, Word w) {
  if (r.number >= kRegisters) throw Error(Fault::illegal, "there is no register r" + std::to_string(r.number));
  values_[r.number] = w.value;
  set_ |= bit(r.number);
  unknown_ = w.known ? unknown_ & ~bit(r.number) : unknown_ | bit(r.number);
}

RegisterFile RegisterFile::zeros() {
  RegisterFile f;
  f.set_ = ~uint64_t{0};
  return f;
}

uint64_t registers_of(const Access& a) {
  uint64_t all = 0;
  for (int i = 0; i < a.ndim; ++i)
    if (const Dim d = a.dims[static_cast<size_t>(i)]; d.is_dynamic()) all |= bit(d.reg());
  return all;
}

Access resolved(Access a, const RegisterFile& registers) {
  int kept = 0;
  for (int i = 0; i < a.ndim; ++i) {
    const Dim d = a.dims[static_cast<size_t>(i)];
    if (d.is_dynamic())
      a.offset += int64_t{d.step} * registers.read(d.reg()).value * size_of(a.dtype);
    else
      a.dims[static_cast<size_t>(kept++)] = d;
  }
  for (size_t i = static_cast<size_t>(kept); i < a.dims.size(); ++i) a.dims[i] = {};
  a.ndim = static_cast<uint8_t>(kept);
  return a;
}

}  // namespace trn
