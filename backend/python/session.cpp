#include "backend/python/session.h"

#include <algorithm>
#include <map>

#include "backend/runtime/runtime.h"
#include "sim/simulate.h"

namespace trn::python {
namespace {

static_assert(static_cast<int>(HostWork::fallback) == static_cast<int>(runtime::HostWork::fallback),
              "records and traces name host work alike");

class Timelines {
 public:
  explicit Timelines(const Spec& spec) : spec_(spec) {}
  // One for each Program, and for each of its runs whose time depended on data.
  std::shared_ptr<const Timeline> of(const std::shared_ptr<const runtime::LoadedProgram>& loaded,
                                     const std::shared_ptr<const Loads>& loads) {
    auto& kept = kept_[{loaded->id, loads}];
    if (!kept) {
      TimelineRecorder recorder;
      const Timing timing = simulate(loaded->program, spec_, &recorder, {}, loads ? *loads : Loads{});
      Timeline t = recorder.take(std::shared_ptr<const Program>(loaded, &loaded->program), timing);
      t.loads = loads;
      kept = std::make_shared<const Timeline>(std::move(t));
    }
    return kept;
  }

 private:
  const Spec& spec_;
  std::map<std::pair<uint32_t, std::shared_ptr<const Loads>>, std::shared_ptr<const Timeline>> kept_;
};

Session of_this_machine() {
  const runtime::MachineDescription machine = runtime::describe_machine();
  Session s;
  s.spec = machine.spec;
  s.physical_cores = machine.lnc;
  return s;
}

Launch launch(const runtime::LaunchRecord& r, Timelines& timelines) {
  return {
      timelines.of(r.what, r.loads), r.core, runtime::interned(r.origin.source), r.submitted_ns, r.start_ns, r.end_ns};
}

}  // namespace

Session take_session(const std::shared_ptr<runtime::Recording>& recording) {
  runtime::synchronise_all();
  const runtime::Recording seen = runtime::recorder().finish(recording);
  Session s = of_this_machine();
  Timelines timelines(*s.spec);
  for (const runtime::LaunchRecord& r : seen.launches)
    if (r.status == NRT_SUCCESS) s.launches.push_back(launch(r, timelines));
  std::stable_sort(s.launches.begin(), s.launches.end(),
                   [](const Launch& a, const Launch& b) { return a.start_ns < b.start_ns; });
  for (const runtime::HostRecord& r : seen.host)
    s.host.push_back(
        {static_cast<HostWork>(r.work), runtime::interned(r.origin.source), r.start_ns, r.end_ns, r.bytes});
  return s;
}

Session last_launch() {
  Session s = of_this_machine();
  Timelines timelines(*s.spec);
  if (const auto last = runtime::recorder().last(); last.what) s.launches.push_back(launch(last, timelines));
  return s;
}

}  // namespace trn::python
