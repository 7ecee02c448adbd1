#include "backend/torch/registry.h"

#include <algorithm>
#include <vector>

namespace trn::torch_backend {

std::span<const Row> operator_table() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (const auto family :
         {unary_rows,     binary_rows, activation_rows, reduction_rows,     matmul_rows,  convolution_rows,
          movement_rows,  index_rows,  sort_rows,       normalisation_rows, softmax_rows, loss_rows,
          attention_rows, random_rows, optimizer_rows,  creation_rows,      image_rows,   resample_rows,
          windows_rows,   grid_rows,   fourier_rows,    foreach_rows,       special_rows, recurrent_rows}) {
      const auto part = family();
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return all;
}

const Row* row_named(std::string_view op) {
  const auto rows = operator_table();
  const auto found = std::find_if(rows.begin(), rows.end(), [op](const Row& r) { return r.op == op; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace trn::torch_backend
