#pragma once

namespace trn {

// Rare functions, one fp64 value at a time. Special values as in PyTorch.
double erfinv(double y);
double lgamma_of(double x);
double digamma(double x);

}  // namespace trn
