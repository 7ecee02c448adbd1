#pragma once
#include <string>
#include <string_view>

#include "isa/program.h"

namespace trn {

// A Program as text, one instruction a line:
//
//   program "add" target "trn2" cores 1
//   slot 0 input "a" float32 16384 [64,64]
//   source 1 "aten::add.Tensor"
//   c0.sync dma_copy dst=sbuf.float32@p0+0[1x64,1x64] src=hbm.float32@s0+0[64x64,1x64] queue=0 post=s0 from=1
//   c0.vector tensor_tensor dst=... data1=... data2=... op=add wait=s0>=1 post=s1 from=1
//
// An operand is space.dtype@place[dims]: place is p<partition>+<byte> on chip, s<slot>+<byte> in HBM, and dims are
// <step>x<count>, outermost first, or <step>xr<register>, which adds step times a register's value to the place.
// A wait's count may move with a register: wait=s0>=1+2*r5. Control cards (loop, compare_branch, register_move, ...)
// are instructions of their engine's stream like all others. Fields that have their card's default are left out. ';'
// starts a comment outside quotes. from_assembly(to_assembly(p)) == canonical(p), and to_assembly(from_assembly(t)) ==
// t for every t that to_assembly wrote.
std::string to_assembly(const Program& p);

// Throws trn::Error(illegal) whose context is the line's number and text.
Program from_assembly(std::string_view text);

// One instruction as its line in the text above.
std::string to_assembly(const Program& p, uint32_t instruction);

// One instruction's arguments as in the text above ("dst=... src=..."), for listings and messages.
std::string arguments(const Program& p, const Instruction& i);

}  // namespace trn
