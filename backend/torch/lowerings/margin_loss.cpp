#include "backend/torch/lowerings/lowering.h"

// Losses of classes against a margin. Reduction: 0 none, 1 mean, 2 sum.
namespace trn::torch_backend {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

// Scores [N, C], and N labels or lists of labels.
Value rows_of(Value x) { return x.rank() == 2 ? x : reshape(x, {1, x.numel()}); }

// By row, [N, 1].
Value reduced(Value loss, int64_t reduction) {
  if (reduction == kNone) return loss;
  return reduction == kMean ? mean(loss, {}) : sum(loss, {});
}
Value gradient_by_row(Call& c, int64_t rows, int64_t reduction) {
  const Value grad = c.arg_float(0);
  if (grad.numel() == 1) return reduction == kMean ? grad / static_cast<double>(rows) : grad;
  return reshape(grad, {rows, 1});
}

// What every score exceeds the margin by, 0 at the label itself: (self, target, p, margin, weight?, ...) from `first`.
struct Excess {
  Value by, is_label, factor;  // factor: weight / C
};
Excess excess(Call& c, int first) {
  const Value x = rows_of(c.arg_float(first)), label = reshape(to_index(c.in(first + 1)), {x.size(0), 1});
  const Value is_label = equal(iota(c.g, x.shape(), 1), label);
  const Value by = maximum(x - take_along(x, label, 1) + c.constant(first + 3), 0);
  Value factor = like(x, 1.0 / static_cast<double>(x.size(1)));
  if (c.present(first + 4))
    factor = factor * reshape(gather_rows(c.arg_float(first + 4), flatten(label)), label.shape());
  return {where(is_label, 0, by), is_label, factor};
}

// (self, target, p, margin, weight?, reduction)
void multi_margin_loss(Call& c) {
  const Excess e = excess(c, 0);
  const Value each = (c.constant(2) == 1 ? e.by : square(e.by)) * e.factor;
  c.out(0, reduced(sum(each, {1}), c.integer(5)));
}
// (grad_output, self, target, p, margin, weight?, reduction)
void multi_margin_loss_backward(Call& c) {
  const Excess e = excess(c, 1);
  const Value slope = c.constant(3) == 1 ? to_float(e.by > 0) : e.by * 2;
  const Value each = slope * e.factor * gradient_by_row(c, e.by.size(0), c.integer(6));
  c.out(0, where(e.is_label, -sum(each, {1}), each));
}

// Labels of each row up to the first that is negative, and which classes they name.
struct Labels {
  Value index, valid;  // [N, C]; index 0 where not valid
  Value named;         // [N, C]: 1 or 0
};
Labels labels_of(Call& c, int target) {
  const Value t = rows_of(to_index(c.in(target)));
  const Value valid = scan(AluOp::minimum, to_int(t >= 0), 1);
  const Value index = where(to_bool(valid), t, 0);
  const Value hit = equal(unsqueeze(index, 2), reshape(iota(c.g, t.size(1)), {1, 1, t.size(1)}));
  const Value counted = where(unsqueeze(to_bool(valid), 2), to_float(hit), 0);
  return {index, valid, squeeze(max(counted, {1}), 1)};
}
// [N, labels, C]: 1 - x[label] + x[class] where that is positive and only the label is one.
Value violations(Value x, const Labels& labels) {
  const Value gap = unsqueeze(x, 1) - unsqueeze(take_along(x, labels.index, 1), 2) + 1;
  const Value counts = to_float(unsqueeze(labels.valid, 2)) * (1.0 - unsqueeze(labels.named, 1));
  return maximum(gap, 0) * counts;
}

// (self, target, reduction) -> output, is_target
void multilabel_margin_loss(Call& c) {
  const Value x = rows_of(c.arg_float(0));
  const Labels labels = labels_of(c, 1);
  const Value each = sum(violations(x, labels), {1, 2}) / static_cast<double>(x.size(1));
  c.out(0, reduced(each, c.integer(2)));
  c.out(1, labels.named);
}
// (grad_output, self, target, reduction, is_target)
void multilabel_margin_loss_backward(Call& c) {
  const Value x = rows_of(c.arg_float(1));
  const Labels labels = labels_of(c, 2);
  const Value hit = to_float(violations(x, labels) > 0);
  const Value classes = squeeze(sum(hit, {1}), 1), by_label = sum(hit, {2});
  const Value at_label = equal(unsqueeze(labels.index, 2), reshape(iota(c.g, x.size(1)), {1, 1, x.size(1)}));
  const Value slope = classes - squeeze(sum(where(at_label, by_label, 0), {1}), 1);
  const Value share = gradient_by_row(c, x.size(0), c.integer(3)) / static_cast<double>(x.size(1));
  c.out(0, slope * share);
}

constexpr Row kRows[] = {
    {"multi_margin_loss", multi_margin_loss},
    {"multi_margin_loss_backward", multi_margin_loss_backward},
    {"multilabel_margin_loss_forward", multilabel_margin_loss},
    {"multilabel_margin_loss_backward", multilabel_margin_loss_backward},
};

}  // namespace

std::span<const Row> margin_loss_rows() { return kRows; }

}  // namespace trn::torch_backend
