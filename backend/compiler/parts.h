#pragma once
#include "backend/compiler/split.h"

namespace trn::compiler {

// The physical cores of the logical one that a Program is for. A kernel that one of them needs less than `least_ns` for
// stays on one: the halves of what follows would wait for each other's transfers.
struct Cores {
  int count = 1;
  double least_ns = 8000;
};

// How many cores share kernel `k`, each a range of its outermost loop (TileBuilder::share).
int parts_of(const Plan& p, const Kernel& k, const Cores& cores, const Spec& s);

}  // namespace trn::compiler
