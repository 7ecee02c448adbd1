#include "isa/alu.h"

#include <hwy/targets.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace trn;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const std::vector<float> kFloats = {0,     -0.0f,    1,      -1,      2,        -2,     0.5f, -0.5f,
                                    3.25f, -7.5f,    1e-40f, -1e-40f, 1e30f,    -1e30f, kInf, -kInf,
                                    kNan,  16777216, 5,      -5,      100.125f, 7,      3};
const std::vector<int32_t> kInts = {
    0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 100000, -100000, 46341, INT32_MAX, INT32_MIN, INT32_MIN + 1, 255, 65536, 3};

// Every pair of values, as two long arrays: covers whole vectors and tails.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs(const std::vector<T>& values) {
  std::vector<T> a, b;
  for (T x : values)
    for (T y : values) a.push_back(x), b.push_back(y);
  return {a, b};
}

bool same(float x, float y) {
  return std::isnan(x) ? std::isnan(y) : std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

template <class Visit>
void for_each_op(Visit visit) {
  for (size_t i = 0; i < kAluOps.size(); ++i) visit(static_cast<AluOp>(i), kAluOps[i]);
}

float one(AluOp op, float a, float b = 0) {
  float r = 0;
  apply_float(op, &r, &a, b, 1);
  return r;
}
int32_t one_int(AluOp op, int32_t a, int32_t b = 0, bool is_unsigned = false) {
  int32_t r = 0;
  apply_int(op, is_unsigned, &r, &a, b, 1);
  return r;
}

}  // namespace

TEST_CASE("operators mean what nki.language and numpy say") {
  CHECK(one(AluOp::add, 1.5f, 2) == 3.5f);
  CHECK(one(AluOp::subtract, 1, 2) == -1);
  CHECK(one(AluOp::divide, 1, 3) == 1.0f / 3);
  CHECK(one(AluOp::maximum, 3, 5) == 5);
  CHECK(std::isnan(one(AluOp::maximum, kNan, 5)));
  CHECK(std::isnan(one(AluOp::maximum, 5, kNan)));
  CHECK(std::isnan(one(AluOp::minimum, kNan, 5)));
  CHECK(std::isnan(one(AluOp::minimum, 5, kNan)));
  CHECK(one(AluOp::not_equal, kNan, kNan) == 1);
  CHECK(one(AluOp::greater_equal, 2, 2) == 1);
  CHECK(one(AluOp::logical_xor, 3, 0) == 1);
  CHECK(one(AluOp::logical_and, kNan, 1) == 1);
  CHECK(one(AluOp::power, 3, 2) == 9);
  CHECK(one(AluOp::abs_max, -5, 3) == -5);
  CHECK(one(AluOp::abs_max, 1, -1) == -1);
  CHECK(one(AluOp::abs_min, 5, -3) == -3);
  CHECK(one(AluOp::abs_min, 1, -1) == -1);
  CHECK(one(AluOp::mod, -7, 3) == 2);
  CHECK(one(AluOp::mod, 7, -3) == -2);
  CHECK(std::signbit(one(AluOp::mod, 6, -3)));
  CHECK(one(AluOp::fmod, -7, 3) == -1);
  CHECK(one(AluOp::relu, -4) == 0);
  CHECK(one(AluOp::rsqrt, 4) == 0.5f);
  CHECK(one(AluOp::reciprocal, 8) == 0.125f);

  CHECK(one_int(AluOp::add, INT32_MAX, 1) == INT32_MIN);
  CHECK(one_int(AluOp::multiply, 65536, 65537) == 65536);
  CHECK(one_int(AluOp::invert, 5) == -6);
  CHECK(one_int(AluOp::left_shift, 1, 31) == INT32_MIN);
  CHECK(one_int(AluOp::left_shift, 1, 32) == 0);
  CHECK(one_int(AluOp::right_shift, -1, 28) == 15);
  CHECK(one_int(AluOp::maximum, -1, 1) == 1);
  CHECK(one_int(AluOp::maximum, -1, 1, true) == -1);
  CHECK(one_int(AluOp::less, -1, 1, true) == 0);
  CHECK(one_int(AluOp::mod, -7, 3) == 2);
  CHECK(one_int(AluOp::mod, -7, 3, true) == static_cast<int32_t>(4294967289u % 3));
  CHECK(one_int(AluOp::fmod, INT32_MIN, -1) == 0);
  CHECK(one_int(AluOp::mod, 5, 0) == 0);
  CHECK(one_int(AluOp::power, -3, 3) == -27);
  CHECK(one_int(AluOp::power, 2, -1) == 0);
  CHECK(one_int(AluOp::power, -1, -3) == -1);
  CHECK(one_int(AluOp::abs, INT32_MIN) == INT32_MIN);
}

TEST_CASE("bulk forms equal the table's functions, on every CPU") {
  const auto [a, b] = pairs(kFloats);
  const auto [ia, ib] = pairs(kInts);
  const int64_t widest = hwy::SupportedTargets();
  for (const int64_t targets : {widest, int64_t{HWY_STATIC_TARGET}}) {
    hwy::GetChosenTarget().Update(targets);
    for_each_op([&, &a = a, &b = b, &ia = ia, &ib = ib](AluOp op, const AluRow& row) {
      INFO(row.name);
      size_t wrong = 0;
      if (row.on_float) {
        std::vector<float> r(a.size());
        apply_float(op, r.data(), a.data(), b.data(), a.size());
        for (size_t i = 0; i < a.size(); ++i) wrong += !same(r[i], row.on_float(a[i], b[i]));
        for (const float s : kFloats) {
          apply_float(op, r.data(), a.data(), s, a.size());
          for (size_t i = 0; i < a.size(); ++i) wrong += !same(r[i], row.on_float(a[i], s));
          apply_float(op, r.data(), s, b.data(), b.size());
          for (size_t i = 0; i < b.size(); ++i)
            wrong += !same(r[i], row.arity == 1 ? row.on_float(b[i], 0) : row.on_float(s, b[i]));
        }
      }
      for (const bool is_unsigned : {false, true}) {
        if (!row.on_int) continue;
        std::vector<int32_t> r(ia.size());
        apply_int(op, is_unsigned, r.data(), ia.data(), ib.data(), ia.size());
        for (size_t i = 0; i < ia.size(); ++i) wrong += r[i] != row.on_int(ia[i], ib[i], is_unsigned);
        apply_int(op, is_unsigned, r.data(), ia.data(), 3, ia.size());
        for (size_t i = 0; i < ia.size(); ++i) wrong += r[i] != row.on_int(ia[i], 3, is_unsigned);
        apply_int(op, is_unsigned, r.data(), 3, ib.data(), ib.size());
        for (size_t i = 0; i < ib.size(); ++i)
          wrong += r[i] != (row.arity == 1 ? row.on_int(ib[i], 0, is_unsigned) : row.on_int(3, ib[i], is_unsigned));
      }
      CHECK(wrong == 0);
    });
  }
  hwy::GetChosenTarget().Update(widest);
}

TEST_CASE("a result may replace its input") {
  std::vector<float> a(37, 2), want(37, 4);
  apply_float(AluOp::square, a.data(), a.data(), 0.f, a.size());
  CHECK(a == want);
  apply_float(AluOp::add, a.data(), a.data(), a.data(), a.size());
  CHECK(a == std::vector<float>(37, 8));
}

TEST_CASE("reductions follow the published order: 16 interleaved partials, then a tree") {
  const int64_t widest = hwy::SupportedTargets();
  for (const int64_t targets : {widest, int64_t{HWY_STATIC_TARGET}}) {
    hwy::GetChosenTarget().Update(targets);
    for (size_t n : {1, 2, 15, 16, 17, 31, 32, 33, 100, 513}) {
      std::vector<float> a(n);
      for (size_t i = 0; i < n; ++i)
        a[i] = std::sin(static_cast<float>(i) * 12.9898f) * std::exp2(static_cast<float>(i % 13));
      for (const AluOp op : {AluOp::add, AluOp::multiply, AluOp::maximum, AluOp::minimum}) {
        std::vector<float> partial(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min<size_t>(n, 16)));
        for (size_t i = 16; i < n; ++i) partial[i % 16] = info(op).on_float(partial[i % 16], a[i]);
        for (size_t half : {8, 4, 2, 1})
          for (size_t k = 0; k < half && k + half < partial.size(); ++k)
            partial[k] = info(op).on_float(partial[k], partial[k + half]);
        INFO(name(op) << " of " << n);
        CHECK(same(reduce_float(op, a.data(), n), partial[0]));
      }
    }
  }
  hwy::GetChosenTarget().Update(widest);
}

TEST_CASE("reductions: subtract, logical, integers, NaN") {
  const std::vector<float> a = {10, 1, 2, 3};
  CHECK(reduce_float(AluOp::subtract, a.data(), 4) == 4);
  CHECK(reduce_float(AluOp::subtract, a.data(), 1) == 10);
  CHECK(reduce_float(AluOp::logical_and, a.data(), 1) == 1);
  CHECK(reduce_float(AluOp::logical_or, a.data(), 4) == 1);
  CHECK(reduce_float(AluOp::logical_xor, a.data(), 1) == 1);
  std::vector<float> with_nan(100, 1);
  with_nan[57] = kNan;
  CHECK(std::isnan(reduce_float(AluOp::maximum, with_nan.data(), 100)));
  CHECK(std::isnan(reduce_float(AluOp::minimum, with_nan.data(), 100)));

  std::vector<int32_t> i(1000);
  int32_t sum = 0, largest = INT32_MIN;
  uint32_t x = 1, bits = 0, largest_unsigned = 0;
  for (auto& v : i) {
    v = static_cast<int32_t>(x = x * 1664525u + 1013904223u);
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + x);
    largest = std::max(largest, v);
    largest_unsigned = std::max(largest_unsigned, x);
    bits ^= x;
  }
  CHECK(reduce_int(AluOp::add, false, i.data(), i.size()) == sum);
  CHECK(reduce_int(AluOp::maximum, false, i.data(), i.size()) == largest);
  CHECK(reduce_int(AluOp::maximum, true, i.data(), i.size()) == static_cast<int32_t>(largest_unsigned));
  CHECK(reduce_int(AluOp::bitwise_xor, false, i.data(), i.size()) == static_cast<int32_t>(bits));
}

TEST_CASE("the identity is neutral") {
  for_each_op([](AluOp op, const AluRow& row) {
    if (!row.reduces || !row.on_float || row.name.starts_with("logical")) return;
    INFO(row.name);
    for (float x : {-3.5f, 0.25f, 1e20f}) CHECK(row.on_float(row.identity, x) == (op == AluOp::subtract ? -x : x));
  });
}

TEST_CASE("scan follows its recurrence") {
  const std::vector<float> d0 = {0.5f, 2, -1, 3, 0.25f}, d1 = {1, 2, 3, 4, 5};
  for (const AluOp op0 : {AluOp::multiply, AluOp::add, AluOp::maximum, AluOp::subtract, AluOp::divide, AluOp::bypass})
    for (const AluOp op1 : {AluOp::add, AluOp::minimum, AluOp::subtract, AluOp::bypass, AluOp::less})
      for (const bool r0 : {false, true})
        for (const bool r1 : {false, true}) {
          std::vector<float> out(5), want(5);
          scan_float({op0, op1, r0, r1}, out.data(), d0.data(), d1.data(), 1.5f, 5);
          float r = 1.5f;
          for (size_t i = 0; i < 5; ++i) {
            const float t = r0 ? info(op0).on_float(r, d0[i]) : info(op0).on_float(d0[i], r);
            want[i] = r = r1 ? info(op1).on_float(d1[i], t) : info(op1).on_float(t, d1[i]);
          }
          INFO(name(op0) << " " << name(op1) << " " << r0 << r1);
          for (size_t i = 0; i < 5; ++i) CHECK(same(out[i], want[i]));
        }
}

TEST_CASE("names lead back to operators") {
  for_each_op([](AluOp op, const AluRow& row) { CHECK(alu_named(row.name) == op); });
  CHECK_FALSE(alu_named("nothing"));
}
