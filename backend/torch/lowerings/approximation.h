#pragma once
#include <initializer_list>

#include "backend/torch/lowerings/value.h"

namespace trn::torch_backend {

// Into [-pi, pi], where the Scalar engine has sin and cos. Past 2^17 periods fp32 has no phase left.
Value reduced_angle(Value x);

Value polynomial(Value x, std::initializer_list<double> coefficients);  // from the constant on

}  // namespace trn::torch_backend
