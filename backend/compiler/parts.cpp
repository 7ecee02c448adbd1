#include "backend/compiler/parts.h"

#include <algorithm>

namespace trn::compiler {
namespace {

constexpr double kRandomSteps = 130;  // Vector instructions per word of Philox, four words at a time

double bytes_of(const View& v) { return static_cast<double>(elements(v.shape) * size_of(v.dtype)); }

double bytes_moved(const Plan& p, const Kernel& k) {
  double bytes = k.kind == Kernel::Kind::copy ? bytes_of(k.from) : 0;
  for (const Result& r : k.results) bytes += bytes_of(r.to);
  for (const NodeId id : k.nodes)
    for (const NodeId i : p.graph[id].inputs)
      if (p.where[i] && p.graph[id].op != Op::gather &&  // which reads some rows of its table
          std::find(k.nodes.begin(), k.nodes.end(), i) == k.nodes.end())
        bytes += bytes_of(p.view(i));
  return bytes;
}

// Elements times the instructions that each needs, on the engine that has most of them.
double engine_ns(const Plan& p, const Node& n, const Spec& s) {
  const auto count = static_cast<double>(elements(n.shape));
  const double lanes = s.partitions * s.vector_ghz;
  switch (n.op) {
    case Op::matmul:
    case Op::attention: {
      const Dims& a = p.graph[n.inputs[0]].shape;
      const auto k = static_cast<double>(n.op == Op::matmul ? a.back() : 2 * p.graph[n.inputs[1]].shape[a.size() - 2]);
      const double passes = size_of(p.graph[n.inputs[0]].dtype) == 4 ? s.pe_fp32_passes : 1;
      return count * k * passes / (s.pe_rows * s.pe_columns * s.tensor_ghz);
    }
    case Op::gather: return static_cast<double>(n.shape[0]) / s.partitions * s.dma_swdge_build_ns;
    case Op::random: return count / 4 * kRandomSteps / lanes;
    case Op::sort:
    case Op::arg_sort: {
      double steps = 1;
      for (int64_t length = n.shape[n.dim]; length > 1; length /= 2) ++steps;
      return count * steps * steps / lanes;
    }
    default: return count / lanes;
  }
}

bool comes_in_parts(const Plan& p, const Kernel& k) {
  if (k.kind != Kernel::Kind::island) return true;
  const Node& n = p.graph[k.nodes[0]];
  switch (n.op) {
    case Op::matmul:
    case Op::attention:
    case Op::attention_log_sum:
    case Op::gather:
    case Op::scan:
    case Op::sort:
    case Op::arg_sort: return true;
    case Op::random: return reshaped(k.results[0].to, {elements(n.shape)}).has_value();  // else it is copied at the end
    default: return false;
  }
}

}  // namespace

int parts_of(const Plan& p, const Kernel& k, const Cores& cores, const Spec& s) {
  if (cores.count == 1 || !comes_in_parts(p, k)) return 1;
  double ns = bytes_moved(p, k) / (s.dma_bytes_per_ns * s.dma_engines);
  double engines = 0;
  for (const NodeId id : k.nodes) engines += engine_ns(p, p.graph[id], s);
  return std::max(ns, engines) < cores.least_ns ? 1 : cores.count;
}

}  // namespace trn::compiler
