#include "backend/torch/registry.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace trn::torch_backend {
namespace {

const Row* named(std::span<const Row> rows, std::string_view op) {
  const auto found = std::find_if(rows.begin(), rows.end(), [op](const Row& r) { return r.op == op; });
  return found == rows.end() ? nullptr : &*found;
}

// Functional ops whose name does not lead to the row that computes them; both take the same first arguments.
struct Synonym {
  std::string_view op, row;
};
constexpr Synonym kSynonyms[] = {
    {"normal_functional", "normal_"},
    {"bernoulli.p", "bernoulli_.float"},
    {"randperm", "randperm.generator_out"},
    {"convolution", "convolution_overrideable"},
};

}  // namespace

std::span<const Row> operator_table() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (const auto family :
         {unary_rows,     binary_rows,     activation_rows, reduction_rows,     matmul_rows,  convolution_rows,
          movement_rows,  index_rows,      sort_rows,       normalisation_rows, softmax_rows, loss_rows,
          attention_rows, random_rows,     optimizer_rows,  creation_rows,      image_rows,   resample_rows,
          windows_rows,   grid_rows,       fourier_rows,    foreach_rows,       special_rows, recurrent_rows,
          bessel_rows,    polynomial_rows, gamma_rows,      margin_loss_rows,   ctc_rows}) {
      const auto part = family();
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return all;
}

const Row* row_named(std::string_view op) { return named(operator_table(), op); }

const Row* graph_row(std::string_view op) {
  if (const Row* row = named(graph_rows(), op)) return row;
  const auto synonym = std::find_if(std::begin(kSynonyms), std::end(kSynonyms), [op](auto& s) { return s.op == op; });
  if (synonym != std::end(kSynonyms)) return row_named(synonym->row);
  const size_t dot = std::min(op.find('.'), op.size());
  const std::string base(op.substr(0, dot)), overload(op.substr(dot)), whole(op);
  for (const std::string& form : {whole, base + "_" + overload, whole + (overload.empty() ? ".out" : "_out")})
    if (const Row* row = row_named(form)) return row;
  return nullptr;
}

}  // namespace trn::torch_backend
