#include "backend/torch/lowerings/lowering.h"
#include "backend/torch/registry.h"

// Rows that do the same to real and imaginary parts, or to every item of lists, never see that there are several.
namespace trn::torch_backend {
namespace {

// A call that asks another one for what it does not know better.
class Part : public Call {
 public:
  explicit Part(Call& whole) : Call(whole.g), whole_(whole) {}

  int arguments() const override { return whole_.arguments(); }
  bool present(int arg) const override { return whole_.present(arg); }
  Value in(int arg) override { return whole_.in(arg); }
  std::vector<Value> list(int arg) override { return whole_.list(arg); }
  std::vector<std::optional<Value>> optional_list(int arg) override { return whole_.optional_list(arg); }
  Value number(int arg, Dtype as) override { return whole_.number(arg, as); }
  bool known(int arg) const override { return whole_.known(arg); }
  double constant(int arg) const override { return whole_.constant(arg); }
  bool complex(int, int) const override { return false; }
  bool complex_result(int) const override { return false; }
  bool integral(int arg) const override { return whole_.integral(arg); }
  int64_t integer(int arg) const override { return whole_.integer(arg); }
  bool flag(int arg) const override { return whole_.flag(arg); }
  Dims integers(int arg) const override { return whole_.integers(arg); }
  std::vector<double> numbers(int arg) const override { return whole_.numbers(arg); }
  std::string text(int arg) const override { return whole_.text(arg); }
  Value random_seed(int64_t draws) override { return whole_.random_seed(draws); }
  int results() const override { return whole_.results(); }
  bool wanted(int result) const override { return whole_.wanted(result); }
  const Dims& shape(int result) const override { return whole_.shape(result); }
  Dtype dtype(int result) const override { return whole_.dtype(result); }
  void out(int result, Value value) override { whole_.out(result, value); }

 protected:
  Call& whole_;
};

// The real (0) or imaginary (1) half.
class Half final : public Part {
 public:
  Half(Call& whole, int half) : Part(whole), half_(half), given_(whole.results()) {
    for (int r = 0; r < whole.results(); ++r) {
      shapes_.push_back(whole.shape(r));
      if (whole.complex_result(r)) shapes_.back().pop_back();
    }
  }

  Value in(int arg) override { return half_of(whole_.in(arg), whole_.complex(arg)); }
  std::vector<Value> list(int arg) override {
    std::vector<Value> values = whole_.list(arg);
    for (size_t i = 0; i < values.size(); ++i) values[i] = half_of(values[i], whole_.complex(arg, static_cast<int>(i)));
    return values;
  }
  Value number(int arg, Dtype as) override {
    return half_ == 0 ? whole_.number(arg, as) : trn::torch_backend::number(g, 0, as);
  }
  bool known(int arg) const override { return half_ == 1 || whole_.known(arg); }
  double constant(int arg) const override { return half_ == 0 ? whole_.constant(arg) : 0; }
  const Dims& shape(int result) const override { return shapes_[result]; }
  void out(int result, Value value) override {
    if (!wanted(result)) return;
    const Value v = convert(value, dtype(result));
    given_[result] = v.numel() == product(shapes_[result]) ? reshape(v, shapes_[result]) : expand(v, shapes_[result]);
  }

  Value given(int result) const { return given_[result]; }

 private:
  Value half_of(Value x, bool is_complex) {
    if (is_complex) return squeeze(slice(x, -1, half_, half_ + 1), -1);
    return half_ == 1 && x.is_float() ? expand(like(x, 0), x.shape()) : x;
  }

  int half_;
  std::vector<Dims> shapes_;
  std::vector<Value> given_;
};

// Item `item` of every list; what is no list, or has one item only, is the same for all.
class Item final : public Part {
 public:
  using Lists = std::vector<std::vector<Value>>;  // by argument, filled when first asked for

  Item(Call& whole, Lists& lists, int item) : Part(whole), lists_(lists), item_(item) {}

  Value in(int arg) override {
    if (lists_.size() <= static_cast<size_t>(arg)) lists_.resize(arg + 1);
    std::vector<Value>& values = lists_[arg];
    if (values.empty()) values = whole_.list(arg);
    if (values.empty()) return whole_.in(arg);
    return values.size() == 1 ? values[0] : values.at(item_);
  }
  int results() const override { return 1; }
  bool wanted(int) const override { return whole_.wanted(item_); }
  const Dims& shape(int) const override { return whole_.shape(item_); }
  Dtype dtype(int) const override { return whole_.dtype(item_); }
  void out(int, Value value) override { whole_.out(item_, value); }

 private:
  Lists& lists_;
  int item_;
};

bool has_complex_result(const Call& c) {
  for (int r = 0; r < c.results(); ++r)
    if (c.complex_result(r)) return true;
  return false;
}

}  // namespace

void lower(const Row& row, Call& call) {
  if (!row.each.empty()) {
    const Row& each = *row_named(row.each);
    Item::Lists lists;
    for (int i = 0; i < call.results(); ++i) {
      Item item(call, lists, i);
      if (call.wanted(i)) lower(each, item);
    }
    return;
  }
  if (row.complex != Complex64::parts || !has_complex_result(call)) return row.lower(call);
  Half real(call, 0), imaginary(call, 1);
  row.lower(real);
  row.lower(imaginary);
  for (int r = 0; r < call.results(); ++r) {
    if (!call.wanted(r)) continue;
    const bool both = call.complex_result(r);
    call.out(r, both ? concat({unsqueeze(real.given(r), -1), unsqueeze(imaginary.given(r), -1)}, -1) : real.given(r));
  }
}

}  // namespace trn::torch_backend
