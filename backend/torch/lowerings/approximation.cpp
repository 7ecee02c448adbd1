#include "backend/torch/lowerings/approximation.h"

#include <numbers>

namespace trn::torch_backend {

// Cody-Waite reduction with 2*pi in three parts.
Value reduced_angle(Value x) {
  const Value turns = apply(Activation::round, x * (0.5 / std::numbers::pi));
  return x - turns * 6.28125 - turns * 1.9350051879882812e-3 - turns * 3.01986e-7;
}

Value polynomial(Value x, std::initializer_list<double> coefficients) {
  Value y{};
  for (auto k = std::rbegin(coefficients); k != std::rend(coefficients); ++k) y = y.g ? y * x + *k : like(x, *k);
  return y;
}

}  // namespace trn::torch_backend
