#pragma once
#include <catch2/catch.hpp>
#include <random>

#include "backend/compiler/compile.h"
#include "backend/compiler/view.h"
#include "sim/execute.h"
#include "sim/hazards.h"
#include "tests/compiler/reference.h"

namespace trn::test {

inline int64_t count_of(const Program& p, std::string_view card) {
  return std::count_if(p.instructions.begin(), p.instructions.end(),
                       [&](const Instruction& i) { return row(i).name == card; });
}

// A graph with random inputs: compiled, executed, and compared with the reference.
class Lab {
 public:
  // Judging a longer Program under sanitizers takes longer than running it.
  static constexpr size_t kMostJudged = 2000;

  Graph g{"test"};
  std::vector<std::vector<std::byte>> slots;

  // Contiguous; floats are about -2..2, integers `low`..`high`.
  NodeId input(Dims shape, Dtype d = Dtype::float32, int low = -100, int high = 100) {
    const auto slot = add_slot(shape, d, SlotUse::input);
    fill(slots[slot], d, low, high);
    return g.input(slot, d, shape, compiler::contiguous_strides(shape));
  }
  NodeId values(const std::vector<double>& v, Dims shape, Dtype d) {
    const auto slot = add_slot(shape, d, SlotUse::input);
    for (size_t i = 0; i < v.size(); ++i) write(slots[slot], d, i, v[i]);
    return g.input(slot, d, shape, compiler::contiguous_strides(shape));
  }
  void output(NodeId n) {
    const Node& node = g[n];
    const auto slot = add_slot(node.shape, node.dtype, SlotUse::output);
    outputs_.push_back({n, slot});
    g.output(n, slot, compiler::contiguous_strides(g[n].shape));
  }
  uint32_t add_slot(const Dims& shape, Dtype d, SlotUse use) {
    slots.emplace_back(count(shape) * size_of(d), std::byte{0xA5});
    return g.slot({.name = "s" + std::to_string(slots.size()),
                   .use = use,
                   .dtype = d,
                   .bytes = static_cast<int64_t>(slots.back().size()),
                   .constant_offset = 0,
                   .shape = shape});
  }

  // Relative error against the largest magnitude of the result, on one core and in parts on two.
  void check(double tolerance = 1e-6) {
    Reference reference(g, slots);
    compare(reference, tolerance, {});
    compare(reference, tolerance, {.count = 2, .least_ns = 0});
  }

  Program run(std::vector<std::vector<std::byte>>& bound, const compiler::Cores& on = {}) {
    const Program p = compiler::compile(g, trn2(), on);
    std::vector<std::span<std::byte>> spans;
    bound.resize(p.slots.size());
    for (size_t i = 0; i < p.slots.size(); ++i) {
      const Slot& s = p.slots[i];
      if (i >= slots.size()) bound[i].assign(s.bytes, std::byte{0xFF});
      if (s.use == SlotUse::constant) std::memcpy(bound[i].data(), p.constants.data() + s.constant_offset, s.bytes);
      spans.push_back(bound[i]);
    }
    static CoreState first(trn2()), second(trn2());
    CoreState* cores[] = {&first, &second};
    execute(p, cores, spans);
    return p;
  }

  static double read(const std::vector<std::byte>& bytes, Dtype d, size_t i) {
    if (is_float(d)) {
      float f;
      read_as_float(d, bytes.data() + i * size_of(d), size_of(d), &f, 1);
      return f;
    }
    int32_t x;
    read_as_int(d, bytes.data() + i * size_of(d), size_of(d), &x, 1);
    return info(d).is_signed || size_of(d) < 4 ? x : static_cast<double>(static_cast<uint32_t>(x));
  }
  static void write(std::vector<std::byte>& bytes, Dtype d, size_t i, double v) {
    if (is_float(d)) {
      const auto f = static_cast<float>(v);
      write_float(d, bytes.data() + i * size_of(d), size_of(d), &f, 1);
      return;
    }
    const auto x = static_cast<int32_t>(static_cast<int64_t>(v));
    write_int(d, bytes.data() + i * size_of(d), size_of(d), &x, 1);
  }

 private:
  void compare(Reference& reference, double tolerance, const compiler::Cores& on) {
    auto bound = slots;
    const Program p = run(bound, on);
    if (on.count > p.cores) return;  // not in parts
    INFO(compiler::listing(g));
    for (const auto& [id, slot] : outputs_) {
      const Array& expected = reference(id);
      double scale = 1e-30;
      for (double x : expected.v)
        if (std::isfinite(x)) scale = std::max(scale, std::fabs(x));
      for (size_t i = 0; i < expected.v.size(); ++i) {
        const double got = read(bound[slot], g[id].dtype, i), want = expected.v[i];
        const bool same =
            got == want || (std::isnan(got) && std::isnan(want)) || std::fabs(got - want) <= tolerance * scale;
        if (same) continue;
        INFO("node " << id << " element " << i << ": got " << got << ", expected " << want);
        REQUIRE(same);
      }
    }
    REQUIRE_FALSE(trn::check(p, trn2()));
    if (p.instructions.size() > kMostJudged) return;
    for (const Finding& f : find_hazards(p, trn2())) {
      INFO(explain(f, p));
      REQUIRE(f.advice);
    }
  }

  void fill(std::vector<std::byte>& bytes, Dtype d, int low, int high) {
    std::uniform_real_distribution<double> real(-2, 2);
    std::uniform_int_distribution<int> whole(d == Dtype::boolean ? 0 : low, d == Dtype::boolean ? 1 : high);
    for (size_t i = 0; i < bytes.size() / size_of(d); ++i)
      write(bytes, d, i, is_float(d) ? real(random_) : whole(random_));
  }

  std::mt19937 random_{7};
  std::vector<std::pair<NodeId, uint32_t>> outputs_;
};

}  // namespace trn::test
