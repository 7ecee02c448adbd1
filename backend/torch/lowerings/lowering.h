#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/torch/lowerings/value.h"

namespace trn::torch_backend {

// One aten call being lowered, seen without libtorch: arguments by schema position, results by position. Shapes,
// strides and dtypes of arguments are part of the Program's key; so are all numbers except those that the row names as
// run-time parameters.
class Call {
 public:
  explicit Call(Graph& graph) : g(graph) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Graph& g;

  virtual int arguments() const = 0;
  virtual bool present(int arg) const = 0;                               // not None
  virtual Value in(int arg) = 0;                                         // Tensor argument, in its own dtype
  virtual std::vector<Value> list(int arg) = 0;                          // Tensor[] argument
  virtual std::vector<std::optional<Value>> optional_list(int arg) = 0;  // Tensor?[] argument (index, index_put)
  // Scalar, float or int argument: a run-time parameter if the row says so, else a constant.
  virtual Value number(int arg, Dtype as) = 0;
  virtual bool known(int arg) const = 0;  // a number that is part of the key, so that constant() may be asked for it
  virtual double constant(int arg) const = 0;
  // complex64: seen as float32 with a last dim of 2 (real, imaginary); only by rows that say so. `item`: of a list.
  virtual bool complex(int arg, int item = 0) const = 0;
  virtual bool complex_result(int result) const = 0;
  virtual bool integral(int arg) const = 0;  // a Scalar that holds an int or a bool
  virtual int64_t integer(int arg) const = 0;
  virtual bool flag(int arg) const = 0;                    // false if None
  virtual Dims integers(int arg) const = 0;                // int[] argument; empty if None
  virtual std::vector<double> numbers(int arg) const = 0;  // float[] argument; empty if None
  virtual std::string text(int arg) const = 0;             // str argument, empty if None
  // (seed, offset) of the device's generator; advances it by `draws` values.
  virtual Value random_seed(int64_t draws) = 0;

  virtual int results() const = 0;
  virtual bool wanted(int result) const = 0;        // false for results that the schema leaves undefined (output_mask)
  virtual const Dims& shape(int result) const = 0;  // from PyTorch's own shape inference
  virtual Dtype dtype(int result) const = 0;
  // Converts, then reshapes or broadcasts, to the result's dtype and shape.
  virtual void out(int result, Value value) = 0;

  // Tensor argument in the dtype that lowerings compute in; its dims.
  Value arg(int i) { return to_compute(in(i)); }
  Value arg_float(int i) { return to_float(in(i)); }
  Value constant_value(double v, Dtype d = Dtype::float32) { return trn::torch_backend::number(g, v, d); }
  int dim(int i, int rank) const { return wrap(integer(i), rank); }
};

// What a row makes of complex64: nothing; pairs of float32 (Call::complex); or the same work on the real and on the
// imaginary parts, which moves and sums allow. Floating operands that are not complex have no imaginary part.
enum class Complex64 : uint8_t { refused, pairs, parts };

// One row of the operator table: what the documentation, the registration and the tests are made from. `op` is the
// functional overload without "aten::" ("add.Tensor"); its in-place and out= variants are registered with it, writing
// through the same lowering. An op that exists only in place
// ("uniform_") or with out= ("arange.start_out") is named as such.
struct Row {
  std::string_view op;
  void (*lower)(Call&);
  // Space-separated arguments whose value is a run-time parameter (does not make a new Program); "=x": unless it is 1.
  std::string_view runtime = "";
  std::string_view notes = "";
  Complex64 complex = Complex64::refused;
  std::string_view each = "";  // the row that is done to every item of the lists; then `lower` is null
};

// Lowers a call by its row: once, or once for each part of its complex numbers or each item of its lists.
void lower(const Row& row, Call& call);

// Rows by family, one file each; registry.cpp joins them.
std::span<const Row> unary_rows();
std::span<const Row> binary_rows();
std::span<const Row> activation_rows();
std::span<const Row> reduction_rows();
std::span<const Row> matmul_rows();
std::span<const Row> convolution_rows();
std::span<const Row> movement_rows();
std::span<const Row> index_rows();
std::span<const Row> sort_rows();
std::span<const Row> normalisation_rows();
std::span<const Row> softmax_rows();
std::span<const Row> loss_rows();
std::span<const Row> attention_rows();
std::span<const Row> random_rows();
std::span<const Row> optimizer_rows();
std::span<const Row> creation_rows();
std::span<const Row> image_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> resample_rows();
std::span<const Row> windows_rows();
std::span<const Row> grid_rows();
std::span<const Row> fourier_rows();
std::span<const Row> foreach_rows();
std::span<const Row> special_rows();
std::span<const Row> bessel_rows();
std::span<const Row> polynomial_rows();
std::span<const Row> gamma_rows();
std::span<const Row> margin_loss_rows();
std::span<const Row> ctc_rows();

// Only for nodes of compiled graphs: ops that eager PyTorch does without a kernel of the device (views, factories), and
// functional forms that only graphs have.
std::span<const Row> graph_rows();

}  // namespace trn::torch_backend
