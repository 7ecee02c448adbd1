#include "backend/runtime/model.h"

#include <algorithm>
#include <cstring>

#include "backend/runtime/clock.h"
#include "backend/runtime/log.h"
#include "backend/runtime/process.h"
#include "isa/dispatch.h"
#include "sim/hazards.h"
#include "sim/simulate.h"

namespace trn::runtime {
namespace {

std::atomic<uint32_t> g_loaded{0};

void check_fits(const Program& p, const Core& core) {
  const Spec& s = core.spec();
  if (p.target != s.name && p.target != trn::name(s.generation))
    fail(NRT_INVALID, "Program " + p.name + " is compiled for " + p.target + ", this machine is " + s.name);
  if (p.cores > core.physical_cores())
    fail(NRT_LOAD_NOT_ENOUGH_NC, "Program " + p.name + " needs " + std::to_string(p.cores) +
                                     " physical cores, a logical core has " + std::to_string(core.physical_cores()) +
                                     " (NEURON_LOGICAL_NC_CONFIG)");
  const Verdict broken = check(p, s);
  if (!broken) return;
  const Findings explained = find_hazards(p, s, 1);
  if (!explained.empty()) throw as_error(explained.front(), p);
  throw Error(broken->fault, broken->rule, p.name);
}

void check_constant(const Program& p, const Slot& s) {
  const auto total = static_cast<int64_t>(p.constants.size());
  if (s.constant_offset < 0 || s.bytes < 0 || s.constant_offset > total || s.bytes > total - s.constant_offset)
    throw Error(Fault::illegal, "constant " + s.name + " lies outside the Program's constants", p.name);
}

constexpr int64_t aligned(int64_t n) {
  return (n + HbmStack::kAlignment - 1) / HbmStack::kAlignment * HbmStack::kAlignment;
}

// The tensor's first `bytes` bytes, if the core can use it.
std::span<std::byte> memory_for(const Executable& e, const Executable::Bound& b, const Tensor& t, uint64_t offset,
                                uint64_t size, bool needs_memory) {
  const std::string& slot = e.program().slots[b.slot].name;
  if (size < static_cast<uint64_t>(b.bytes) || offset > t.size || size > t.size - offset)
    fail(NRT_INVALID, "the tensor for " + slot + " of " + e.program().name + " has " +
                          std::to_string(std::min<uint64_t>(size, t.size)) + " bytes, the Program needs " +
                          std::to_string(b.bytes));
  if (t.core() && t.core() != &e.core())
    fail(NRT_INVALID, "the tensor for " + slot + " of " + e.program().name + " is on core " +
                          std::to_string(t.core()->index()) + ", the Program on core " +
                          std::to_string(e.core().index()));
  std::byte* data = t.data();
  if (!data && needs_memory) fail(NRT_INVALID, "the tensor for " + slot + " of " + e.program().name + " has no memory");
  return {data ? data + offset : nullptr, static_cast<size_t>(b.bytes)};
}

// Gives a half-filled launch back when binding fails.
class Borrowed {
 public:
  explicit Borrowed(Executable& e) : launch_(e.borrow()) {}
  ~Borrowed() {
    if (launch_) launch_->executable->give_back(launch_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Launch* operator->() const { return launch_; }
  Launch* release() { return std::exchange(launch_, nullptr); }

 private:
  Launch* launch_;
};

// Sets made for a model list its slots in order, so the guess `place` is mostly right and each name is compared once.
void* tensor_named(TensorSet& set, size_t& place, std::string_view name) {
  if (place < set.count && set.entries[place].name == name) return set.entries[place++].tensor;
  const TensorSet::Entry* e = set.find(name);
  if (!e) return nullptr;
  ++place;
  return e->tensor;
}

[[noreturn]] void unknown_name(const Executable& e, const TensorSet& set, SlotUse use) {
  for (size_t i = 0; i < set.count; ++i) {
    const auto& slots = e.program().slots;
    const auto fits = [&](const Slot& s) {
      return s.name == set.entries[i].name && (s.use == use || s.use == SlotUse::inout);
    };
    if (std::none_of(slots.begin(), slots.end(), fits))
      fail(NRT_INVALID,
           "Program " + e.program().name + " has no " + std::string(trn::name(use)) + " named " + set.entries[i].name);
  }
  fail(NRT_FAILURE, "a tensor set changed while it was used");
}

}  // namespace

Executable::Executable(Program program, Core& core) : core_(core) {
  check_fits(program, core);
  loaded_ = std::make_shared<LoadedProgram>(LoadedProgram{++g_loaded, std::move(program)});
  const Program& p = loaded_->program;
  const CardRow* load = card_named("register_load");
  loads_registers_ =
      std::any_of(p.instructions.begin(), p.instructions.end(), [&](const Instruction& i) { return &row(i) == load; });
  prepared_.resize(p.slots.size());
  int64_t scratch = 0;
  for (uint32_t i = 0; i < p.slots.size(); ++i) {
    const Slot& s = p.slots[i];
    switch (s.use) {
      case SlotUse::constant: check_constant(p, s); break;
      case SlotUse::scratch:
        scratch_.push_back({i, scratch, s.bytes});
        if (s.bytes < 0 || s.bytes > core.memory().capacity() ||
            (scratch += aligned(s.bytes)) > core.memory().capacity())
          fail(NRT_RESOURCE,
               "Allocation Failure (OOM): the scratch buffers of " + p.name + " are larger than the core's HBM");
        break;
      default: bound_.push_back({i, s.use, s.bytes});
    }
  }
  core.reserve_scratch(scratch);
  if (!p.constants.empty()) place_constants();
}

void Executable::place_constants() {
  const Program& p = program();
  constants_ = core_.memory().allocate(static_cast<int64_t>(p.constants.size()), Usage::model_constants, p.name);
  const HbmAccess access(core_.memory().stack());
  std::memcpy(constants_, p.constants.data(), p.constants.size());
  for (size_t i = 0; i < p.slots.size(); ++i)
    if (p.slots[i].use == SlotUse::constant)
      prepared_[i] = {constants_ + p.slots[i].constant_offset, static_cast<size_t>(p.slots[i].bytes)};
}

Executable::~Executable() {
  if (constants_) core_.memory().free(constants_, Usage::model_constants);
}

std::shared_ptr<const Timing> Executable::timing(const std::shared_ptr<const Loads>& loads) {
  if (timing_known()) return timing_;
  const std::lock_guard lock(timing_mutex_);
  if (timing_known()) return timing_;
  if (loads && timed_loads_ && *loads == *timed_loads_) return timing_;
  timing_ = std::make_shared<const Timing>(simulate(program(), core_.spec(), nullptr, {}, loads ? *loads : Loads{}));
  timed_loads_ = loads;
  timing_known_.store(!loads_registers_, std::memory_order_release);
  ++counters().timings;
  return timing_;
}

std::optional<Failure> Executable::find_hazard(const Loads* loads) const {
  for (const Finding& f : find_hazards_of_legal(program(), core_.spec(), kMostFindings, loads)) {
    const std::string text = as_error(f, program()).what();
    if (!f.advice) return Failure{status_of(f.kind), text};
    log(Level::warn, Component::nmgr, "strict", text);
  }
  return {};
}

const Failure* Executable::hazard() {
  std::call_once(hazard_once_, [this] {
    const Loads none;
    hazard_ = find_hazard(loads_registers_ ? &none : nullptr);
  });
  return hazard_ ? &*hazard_ : nullptr;
}

std::optional<Failure> Executable::hazard(const Loads& loads) {
  const std::lock_guard lock(judged_mutex_);
  if (judged_loads_ != loads) {
    judged_ = find_hazard(&loads);
    judged_loads_ = loads;
  }
  return judged_;
}

const NumericErrors& Executable::numeric_errors() {
  std::call_once(numeric_once_, [this] { numeric_errors_.emplace(program()); });
  return *numeric_errors_;
}

Launch* Executable::borrow() {
  {
    const std::lock_guard lock(launches_lock_);
    if (!launches_.empty()) {
      Launch* l = launches_.back().release();
      launches_.pop_back();
      return l;
    }
  }
  return new Launch{this, prepared_, {}};
}

void Executable::give_back(Launch* l) {
  l->written.clear();
  const std::lock_guard lock(launches_lock_);
  launches_.emplace_back(l);
}

Models& models() {
  static Models& table = *new Models;
  return table;
}

Executable& model(const void* handle) {
  if (!handle) fail(NRT_INVALID, "the model is null");
  ModelHandle* m = models().find(handle);
  if (!m) fail(NRT_INVALID_HANDLE, "this is no model, or it is unloaded");
  return *m->executable;
}

void* load(Program program, Core& core) {
  auto executable = std::make_shared<Executable>(std::move(program), core);
  const auto made = models().make();
  if (!made.object) fail(NRT_RESOURCE, "too many models");
  made.object->executable = std::move(executable);
  ++counters().loads;
  return made.handle;
}

void unload(void* handle) {
  model(handle).core().queue().drain();
  std::shared_ptr<Executable> executable;
  models().release(handle, [&](ModelHandle& m) { executable = std::move(m.executable); });
}

Launch* bind(Executable& e, TensorSet& inputs, TensorSet& outputs, bool needs_memory) {
  Borrowed l(e);
  size_t in = 0, out = 0;
  for (const Executable::Bound& b : e.bound()) {
    const std::string& name = e.program().slots[b.slot].name;
    void* read = b.use == SlotUse::output ? nullptr : tensor_named(inputs, in, name);
    void* written = b.use == SlotUse::input ? nullptr : tensor_named(outputs, out, name);
    if (!read && !written)
      fail(NRT_INVALID, "Program " + e.program().name + " needs an " + (b.use == SlotUse::output ? "output" : "input") +
                            " named " + name);
    const Tensor& t = tensor(written ? written : read);
    const auto memory = memory_for(e, b, t, 0, t.size, needs_memory);
    if (read && written && tensor(read).data() != t.data())
      fail(NRT_INVALID,
           name + " of " + e.program().name + " is read and written in place, so both tensors must be the same memory");
    l->slots[b.slot] = memory;
    if (b.use != SlotUse::input) l->written.push_back(written ? written : read);
  }
  if (in < inputs.count) unknown_name(e, inputs, SlotUse::input);
  if (out < outputs.count) unknown_name(e, outputs, SlotUse::output);
  return l.release();
}

Launch* bind(Executable& e, std::span<const nrt_sim_binding_t> bindings, bool needs_memory) {
  const auto bound = e.bound();
  if (bindings.size() != bound.size())
    fail(NRT_INVALID, "Program " + e.program().name + " has " + std::to_string(bound.size()) + " inputs and outputs, " +
                          std::to_string(bindings.size()) + " are given");
  Borrowed l(e);
  for (size_t i = 0; i < bound.size(); ++i) {
    const Tensor& t = tensor(bindings[i].tensor);
    l->slots[bound[i].slot] = memory_for(e, bound[i], t, bindings[i].offset, bindings[i].size, needs_memory);
    if (bound[i].use != SlotUse::input) l->written.push_back(bindings[i].tensor);
  }
  return l.release();
}

}  // namespace trn::runtime
