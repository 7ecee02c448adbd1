#include "isa/accumulate.h"

#include <algorithm>
#include <limits>

#include "isa/rules.h"

namespace trn {

Verdict rules::accumulation(const Accumulation& a, std::initializer_list<ReduceCmd> commands,
                            std::initializer_list<AluOp> ops, int partitions, const Spec& s) {
  const auto list = [](const auto& items) {
    std::string text;
    for (const auto item : items) text += (text.empty() ? "" : ", ") + std::string(name(item));
    return text;
  };
  if (std::find(commands.begin(), commands.end(), a.cmd) == commands.end())
    return illegal("reduce_cmd must be one of ", list(commands), ", not ", name(a.cmd));
  const bool uses = a.reduces() || a.result.present();
  if (uses && std::find(ops.begin(), ops.end(), a.op) == ops.end())
    return illegal("reduce_op must be ", list(ops), ", not ", name(a.op));
  if (a.cmd == ReduceCmd::load_reduce)
    if (auto bad = scalar_operand("reduce_init", a.init, partitions, s)) return bad;
  return a.result.present() ? column("reduce_res", a.result, partitions, s) : Verdict{};
}

Accumulator::Accumulator(const Accumulation& a, EngineState::Registers* registers, const Access& data,
                         const CoreMemory& m)
    : what_(a), registers_(registers), first_lane_(data.partition) {
  const bool continues = a.cmd == ReduceCmd::reduce || (a.cmd == ReduceCmd::idle && a.result.present());
  if (!registers && continues) throw Error(Fault::internal, "an accumulating instruction without engine state");
  // One partition that all lanes read is still one value per lane.
  if (first_lane_ + data.partitions() > EngineState::kLanes) first_lane_ = 0;
  if (a.result.present()) result_.emplace(a.result, m);
  if (a.cmd == ReduceCmd::load_reduce && a.init.is_tile()) initial_.emplace(a.init.tile, m);
}

float Accumulator::start(int p) const {
  if (what_.cmd != ReduceCmd::load_reduce) return info(what_.op).identity;
  return initial_ ? initial_->scalar(p) : static_cast<float>(what_.init.immediate);
}

float& Accumulator::begin(int p, bool first) {
  const bool starts =
      what_.cmd == ReduceCmd::reset || what_.cmd == ReduceCmd::reset_reduce || what_.cmd == ReduceCmd::load_reduce;
  float& sum = held(p);
  if (first && starts) sum = start(p);
  return sum;
}

void Accumulator::add(int p, const float* values, int64_t n, bool first, bool last) {
  float& sum = begin(p, first);
  if (what_.forgets && what_.cmd == ReduceCmd::idle) sum = std::numeric_limits<float>::quiet_NaN();
  if (reduces()) sum = info(what_.op).on_float(sum, reduce_float(what_.op, values, static_cast<size_t>(n)));
  if (!last || !result_) return;
  const float written = what_.negate ? -sum : sum;
  result_->store(p, 0, 1, &written);
}

}  // namespace trn
