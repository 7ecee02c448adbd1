#pragma once
#include "isa/program.h"

namespace trn {

// The same Program in the one form that files and text give back: waits of every instruction in instruction
// order without gaps or sharing, arguments in the order of their first use as push_args stores them, zero padding,
// unused dims and operands reset. canonical(canonical(p)) == canonical(p).
Program canonical(const Program& p);

// Equal in every member, padding included; meant for canonical Programs.
bool identical(const Program& a, const Program& b);

}  // namespace trn
