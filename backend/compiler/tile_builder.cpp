#include "backend/compiler/tile_builder.h"

#include <algorithm>
#include <cstring>

#include "backend/compiler/issue_model.h"

namespace trn::compiler {
namespace {

void require(bool legal, const char* rule, const Access& a) {
  if (!legal) throw Error(Fault::internal, rule, to_string(a));
}

DmaCopy::Args copy(const Access& dst, const Access& src) {
  DmaCopy::Args a;
  a.dst = dst;
  a.src = src;
  return a;
}

template <class T>
void append_bytes(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Access slice(Access a, int dim, int64_t start, int64_t count, int64_t step) {
  require(dim >= 0 && dim < a.ndim, "slice of a dim that is not there", a);
  Dim& d = a.dims[dim];
  require(start >= 0 && count >= 1 && step >= 1 && start + (count - 1) * step < d.count,
          "slice reaches outside its dim", a);
  if (dim == 0 && a.on_chip()) {
    require(step == 1, "partitions have step 1", a);
    a.partition = static_cast<uint8_t>(a.partition + start * d.step);
    d.count = static_cast<int32_t>(count);
    return a;
  }
  a.offset += start * d.step * size_of(a.dtype);
  d = {static_cast<int32_t>(d.step * step), static_cast<int32_t>(count)};
  return a;
}

Access broadcast(Access a, int dim, int64_t count) {
  require(a.ndim < Access::kMaxDims, "no room for another dim", a);
  require(dim >= (a.on_chip() ? 1 : 0) && dim <= a.ndim, "broadcast of a dim that cannot be", a);
  std::copy_backward(a.dims.begin() + dim, a.dims.begin() + a.ndim, a.dims.begin() + a.ndim + 1);
  a.dims[dim] = {0, static_cast<int32_t>(count)};
  ++a.ndim;
  return a;
}

Access split(Access a, int dim, int64_t inner) {
  require(a.ndim < Access::kMaxDims, "no room for another dim", a);
  require(dim >= (a.on_chip() ? 1 : 0) && dim < a.ndim && inner >= 1 && a.dims[dim].count % inner == 0,
          "dim does not split so", a);
  const Dim whole = a.dims[dim];
  a = broadcast(a, dim, whole.count / inner);
  a.dims[dim].step = static_cast<int32_t>(whole.step * inner);
  a.dims[dim + 1] = {whole.step, static_cast<int32_t>(inner)};
  return a;
}

Access transposed(Access a, int first, int second) {
  const int least = a.on_chip() ? 1 : 0;
  require(first >= least && second >= least && first < a.ndim && second < a.ndim, "dims cannot be exchanged", a);
  std::swap(a.dims[first], a.dims[second]);
  return a;
}

Access reinterpreted(Access a, Dtype dtype) {
  const int from = size_of(a.dtype), to = size_of(dtype);
  a.dtype = dtype;
  if (from == to) return a;
  const int first = a.on_chip() ? 1 : 0;
  require(a.ndim > first && a.dims[a.ndim - 1].step == 1 && a.dims[a.ndim - 1].count * from % to == 0,
          "innermost dim is not whole elements", a);
  for (int i = first; i < a.ndim - 1; ++i) {
    require(a.dims[i].step * from % to == 0, "step is not whole elements", a);
    a.dims[i].step = a.dims[i].step * from / to;
  }
  a.dims[a.ndim - 1].count = a.dims[a.ndim - 1].count * from / to;
  return a;
}

TileBuilder::TileBuilder(std::string name, const Spec& spec) : spec_(spec) {
  program_.program.name = std::move(name);
  program_.program.target = spec.name;
}

uint32_t TileBuilder::slot(Slot s) {
  program_.program.slots.push_back(std::move(s));
  return static_cast<uint32_t>(program_.program.slots.size() - 1);
}

uint32_t TileBuilder::scratch(std::string name, int64_t bytes) {
  return slot(
      {.name = std::move(name), .use = SlotUse::scratch, .dtype = Dtype::uint8, .bytes = bytes, .shape = {bytes}});
}

uint32_t TileBuilder::constant(std::string name, std::span<const std::byte> bytes, Dtype dtype) {
  std::string key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  key += static_cast<char>(dtype);
  const auto [known, is_new] =
      constants_.try_emplace(std::move(key), static_cast<uint32_t>(program_.program.slots.size()));
  if (!is_new) return known->second;
  std::vector<std::byte>& all = program_.program.constants;
  all.resize((all.size() + 63) / 64 * 64);
  const auto at = static_cast<int64_t>(all.size()), size = static_cast<int64_t>(bytes.size());
  all.insert(all.end(), bytes.begin(), bytes.end());
  return slot({.name = std::move(name),
               .use = SlotUse::constant,
               .dtype = dtype,
               .bytes = size,
               .constant_offset = at,
               .shape = {size / size_of(dtype)}});
}

Tile TileBuilder::tile(Space space, int partitions, Dtype dtype, std::span<const int64_t> free) {
  Access a{.space = space, .dtype = dtype, .ndim = static_cast<uint8_t>(free.size() + 1)};
  require(partitions >= 1 && partitions <= spec_.partitions && free.size() + 1 <= Access::kMaxDims, "tile shape", a);
  a.buffer = static_cast<uint32_t>(program_.tiles.size());
  a.dims[0] = {1, partitions};
  int64_t elements = 1;
  for (size_t i = free.size(); i-- > 0;) {
    require(free[i] >= 1, "tile of no elements", a);
    a.dims[i + 1] = {static_cast<int32_t>(elements), static_cast<int32_t>(free[i])};
    elements *= free[i];
  }
  program_.tiles.push_back({space, static_cast<uint8_t>(part_), partitions, elements * size_of(dtype), source_});
  return {a};
}

void TileBuilder::load(const Access& dst, const Access& hbm) { emit<DmaCopy>(Engine::sync, copy(dst, hbm)); }

void TileBuilder::store(const Access& hbm, const Access& src) {
  emit<DmaCopy>(Engine::scalar, copy(hbm, src));
  std::erase_if(loaded_, [&](const auto& entry) {
    Access held;
    std::memcpy(&held, entry.first.data(), sizeof held);
    return held.buffer == hbm.buffer;
  });
}

Tile TileBuilder::load_once(const Access& hbm, int partitions, std::initializer_list<int64_t> free, Dtype as) {
  static_assert(std::has_unique_object_representations_v<Access>);
  std::string key;
  append_bytes(key, hbm);
  append_bytes(key, partitions);
  append_bytes(key, as);
  append_bytes(key, part_);
  for (int64_t n : free) append_bytes(key, n);
  if (const auto known = loaded_.find(key); known != loaded_.end()) return known->second;
  const Tile t = sbuf(partitions, as, free);
  load(t, hbm);
  loaded_.emplace(std::move(key), t);
  return t;
}

void TileBuilder::weigh() {
  const auto& instructions = program_.program.instructions;
  for (; weighed_ < instructions.size(); ++weighed_) {
    const Instruction& i = instructions[weighed_];
    load_[engine_stream(i)] += issue_cost(program_.program, i, spec_).busy;
  }
}

Engine TileBuilder::least_loaded(EngineSet among) {
  weigh();
  int best = -1;
  for (int e = 0; e < kEngines; ++e)
    if (among.has(static_cast<Engine>(e)) && (best < 0 || load_[part_ * kEngines + e] < load_[part_ * kEngines + best]))
      best = e;
  if (best < 0) throw Error(Fault::internal, "no engine to choose from");
  return static_cast<Engine>(best);
}

void TileBuilder::begin_part(int part, int of) {
  part_ = part;
  parts_ = of;
  part_ends_.resize(static_cast<size_t>(part) + 1);
  part_ends_[part] = program_.program.instructions.size();
}

// Passes look at windows of the sequence, and the cores work at the same time: what the second part emitted stands
// beside as much of the first.
void TileBuilder::end_parts() {
  auto& all = program_.program.instructions;
  if (parts_ == 2) {
    weigh();
    const std::vector<Instruction> one(all.begin() + part_ends_[0], all.begin() + part_ends_[1]),
        two(all.begin() + part_ends_[1], all.end());
    auto out = all.begin() + part_ends_[0];
    for (size_t i = 0, j = 0; i < one.size() || j < two.size();)
      *out++ = j == two.size() || (i < one.size() && i * two.size() <= j * one.size()) ? one[i++] : two[j++];
  }
  part_ = 0;
  parts_ = 1;
}

TileBuilder::Range TileBuilder::share(int64_t n, int64_t unit) const {
  const auto bound = [&](int64_t part) {
    const int64_t even = (n * part + parts_ - 1) / parts_;
    return std::min(n, (even + unit - 1) / unit * unit);
  };
  return {bound(part_), bound(part_ + 1)};
}

void TileBuilder::source(std::string text) {
  auto& sources = program_.program.sources;
  if (sources.back() != text) sources.push_back(std::move(text));
  source_ = static_cast<uint32_t>(sources.size() - 1);
}

TileProgram TileBuilder::finish() && { return std::move(program_); }

void TileBuilder::append(uint16_t card, Engine engine, uint32_t args, bool is_dma) {
  Instruction i{.card = card, .engine = engine, .core = static_cast<uint8_t>(part_)};
  program_.program.cores = std::max<uint8_t>(program_.program.cores, static_cast<uint8_t>(i.core + 1));
  if (is_dma) i.queue = queue_of(engine);
  i.args = args;
  i.source = source_;
  program_.program.instructions.push_back(i);
}

void TileBuilder::fail(std::string_view card, const Complaint& c) const {
  const std::string& source = program_.program.sources[source_];
  throw Error(c.fault, c.rule,
              std::string(card) + (source.empty() ? "" : " of " + source) + " in " + program_.program.name);
}

}  // namespace trn::compiler
