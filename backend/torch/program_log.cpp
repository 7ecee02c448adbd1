#include "backend/torch/program_log.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace trn::torch_backend {
namespace {

struct Log {
  std::mutex mutex;
  std::vector<MadeProgram> programs;
  std::map<std::pair<std::string, std::string>, int64_t> by_place;  // op, line
  int64_t repeated = 0, warn_at = kManyPrograms;
};

Log& log() {
  static auto* l = new Log;
  return *l;
}

std::string described(const c10::IValue& v) {
  std::ostringstream out;
  if (v.isTensor() && v.toTensor().defined()) {
    const at::Tensor& t = v.toTensor();
    out << c10::getDtypeNames(t.scalar_type()).first << t.sizes();
    if (!t.is_contiguous()) out << " strides " << t.strides();
  } else if (v.isTensorList() || v.isOptionalTensorList()) {
    for (const c10::IValue& item : v.toListRef()) out << (out.tellp() > 0 ? " " : "") << described(item);
  } else {
    out << v;
  }
  return out.str();
}

}  // namespace

std::vector<std::string> described_arguments(const c10::FunctionSchema& schema, const c10::IValue* arguments,
                                             const std::vector<Role>& roles) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < roles.size(); ++i)
    if (roles[i] == Role::keyed) texts.push_back(schema.arguments()[i].name() + " " + described(arguments[i]));
  return texts;
}

void note_program(MadeProgram p) {
  Log& l = log();
  std::string worst;
  int64_t repeated = 0;
  {
    const std::lock_guard lock(l.mutex);
    if (l.by_place[{p.op, p.line}]++ > 0) repeated = ++l.repeated;
    l.programs.push_back(std::move(p));
    if (repeated >= l.warn_at) {
      l.warn_at *= 10;
      const auto most = std::max_element(l.by_place.begin(), l.by_place.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      worst = most->first.first + (most->first.second.empty() ? "" : " at " + most->first.second) + " has made " +
              std::to_string(most->second);
    }
  }
  if (!worst.empty())
    TORCH_WARN("RECOMPILATION: ", repeated,
               " Programs were made again for other shapes or constants, and hardware compiles each of them; ", worst,
               ". trnsim.recompiles() lists them and says what helps.");
}

std::vector<MadeProgram> made_programs() {
  Log& l = log();
  const std::lock_guard lock(l.mutex);
  return l.programs;
}

}  // namespace trn::torch_backend
