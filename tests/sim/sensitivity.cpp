#include "sim/sensitivity.h"

#include <catch2/catch.hpp>

#include "sim/simulate.h"
#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

// A load, a copy on Vector, a product, a store: each waits for the one before.
Program chain() {
  Program p;
  const auto fp = Dtype::float32;
  add<DmaCopy>(p, Engine::sync, dma(sbuf(fp, 128, 0, 512), hbm(fp, 0, 128, 512)), {}, 0);
  add<TensorCopy>(p, Engine::vector, copy(sbuf(fp, 128, 4096, 512), sbuf(fp, 128, 0, 512)), {{0, 1}}, 1);
  NcMatmul::Args product{};
  product.dst = psum(fp, 128, 0, 512);
  product.stationary = sbuf(fp, 128, 0, 128);
  product.moving = sbuf(fp, 128, 4096, 512);
  add<NcMatmul>(p, Engine::tensor, product, {{1, 1}}, 2);
  add<TensorCopy>(p, Engine::scalar, copy(sbuf(fp, 128, 8192, 512), psum(fp, 128, 0, 512)), {{2, 1}}, 3);
  add<DmaCopy>(p, Engine::sync, dma(hbm(fp, 1, 128, 512), sbuf(fp, 128, 8192, 512)), {{3, 1}}, 4);
  return p;
}

double of(const std::vector<double>& all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i)
    if (spec_fields()[i].name == name) return all[i];
  FAIL("no number " << name);
  return 0;
}

}  // namespace

TEST_CASE("durations and rates together make up the whole time") {
  const Program p = chain();
  const double makespan = Clock(trn2()).to_ns(simulate(p, trn2()).makespan);
  const auto ns = sensitivity(p, trn2());
  double sum = 0;
  for (size_t i = 0; i < ns.size(); ++i) {
    const std::string_view name = spec_fields()[i].name;
    if (name.ends_with("_per_ns") || name.ends_with("_ghz"))
      sum -= ns[i];
    else if (name.ends_with("_ns"))
      sum += ns[i];
  }
  // Euler's theorem: time is homogeneous of degree 1 in them. Ticks are 0.2 ns, and 60 differences of 4 % are summed.
  CHECK(sum == Approx(makespan).epsilon(0.01));
}

TEST_CASE("a number that is met once on the path counts with its own size") {
  const auto ns = sensitivity(chain(), trn2());
  CHECK(of(ns, "program_preamble_ns") == Approx(trn2().program_preamble_ns).epsilon(0.001));
  CHECK(of(ns, "dma_completion_store_ns") == Approx(trn2().dma_completion_store_ns).epsilon(0.02));
  CHECK(of(ns, "vector_bn_aggr_cycles_per_element") == 0);
  CHECK(of(ns, "host_dispatch_ns") == 0);
}
