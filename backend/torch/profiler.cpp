// torch.profiler's device side (ProfilerActivity.PrivateUse1): what the cores did, at simulated times, each launch and
// copy linked to the aten call that asked for it. The trace's zero of simulated time is the wall time of its start.
#define USE_KINETO  // as torch was built; its header asks
#define FMT_HEADER_ONLY
#include <c10/util/ApproximateClock.h>
#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <nrt/nrt_sim.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace trn::torch_backend {
namespace {

using libkineto::ActivityType;
using libkineto::GenericTraceActivity;

enum Row : int32_t { kPrograms, kCopies };

struct Record {
  bool is_launch;
  nrt_sim_host_work_t work;
  int32_t device;
  uint64_t correlation;
  std::string name, source;
  double start_ns, end_ns;
  uint64_t bytes;
  std::vector<std::pair<const char*, double>> busy_ns;  // engines that worked: the busiest first, sync last
};

std::vector<std::pair<const char*, double>> busy(const nrt_sim_record_t& r) {
  constexpr const char* names[] = {"tensor", "vector", "scalar", "gpsimd"};
  std::vector<std::pair<const char*, double>> all{{"dma", r.dma_busy_ns}};
  for (int e = NRT_SIM_ENGINE_TENSOR; e < NRT_SIM_ENGINE_SYNC; ++e) all.emplace_back(names[e], r.engine_busy_ns[e]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  all.emplace_back("sync", r.engine_busy_ns[NRT_SIM_ENGINE_SYNC]);  // it only starts the others' work
  std::erase_if(all, [](const auto& engine) { return engine.second <= 0; });
  return all;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The calling thread's correlations outside the innermost op, so that leaving an op restores its caller's.
std::vector<uint64_t>& outer_correlations() {
  thread_local std::vector<uint64_t> stack;
  return stack;
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  ~Session() override {
    if (recording_) nrt_sim_recording_finish(&recording_, nullptr, nullptr);
  }

  void start() override {
    if (nrt_sim_recording_start(&recording_) != NRT_SUCCESS) return fail();
    wall_start_ns_ = c10::getTime();
    simulated_start_ns_ = nrt_sim_host_time();
    status_ = libkineto::TraceStatus::RECORDING;
  }

  void stop() override {
    const auto keep = [](const nrt_sim_record_t* r, void* self) {
      const bool copy = r->work == NRT_SIM_HOST_COPY_TO_DEVICE || r->work == NRT_SIM_HOST_COPY_FROM_DEVICE;
      if (r->is_launch || copy)
        static_cast<Session*>(self)->records_.push_back({r->is_launch, r->work, std::max(r->vnc, 0), r->correlation,
                                                         r->name, r->source, r->start_ns, r->end_ns, r->bytes,
                                                         busy(*r)});
    };
    if (nrt_sim_recording_finish(&recording_, keep, this) != NRT_SUCCESS) return fail();
    status_ = libkineto::TraceStatus::PROCESSING;
  }

  std::vector<std::string> errors() override { return errors_; }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(
        logger, [](int32_t) { return nullptr; }, 0, 0);
  }

  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked, int64_t,
                    int64_t) override {
    buffer_->span = libkineto::TraceSpan(wall_start_ns_, c10::getTime(), "neuron");
    std::set<int32_t> devices;
    for (const Record& r : records_) {
      ++flow_;
      devices.insert(r.device);
      const libkineto::ITraceActivity* op = r.correlation ? linked(static_cast<int32_t>(r.correlation)) : nullptr;
      if (op) log_call(logger, r, *op);
      log_work(logger, r, op);
    }
    for (const int32_t d : devices) {
      const std::string label = "neuron:" + std::to_string(d);
      logger.handleDeviceInfo({d, libkineto::kExceedMaxPid + d, label, label + ", simulated time"}, wall_start_ns_);
      logger.handleResourceInfo({kPrograms, kPrograms, d, "Programs"}, wall_start_ns_);
      logger.handleResourceInfo({kCopies, kCopies, d, "copies"}, wall_start_ns_);
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

  void pushCorrelationId(uint64_t id) override { outer_correlations().push_back(nrt_sim_set_correlation(id)); }
  void popCorrelationId() override {
    auto& outer = outer_correlations();
    nrt_sim_set_correlation(outer.empty() ? 0 : outer.back());
    if (!outer.empty()) outer.pop_back();
  }

 private:
  void fail() {
    errors_.emplace_back(nrt_sim_last_error());
    status_ = libkineto::TraceStatus::ERROR;
  }

  int64_t wall_ns(double simulated_ns) const {
    return wall_start_ns_ + static_cast<int64_t>(simulated_ns - simulated_start_ns_);
  }

  GenericTraceActivity& add(ActivityType type, const std::string& name, int32_t device, int32_t row) {
    buffer_->emplace_activity(buffer_->span, type, name);
    GenericTraceActivity& a = *buffer_->activities.back();
    a.device = device;
    a.resource = row;
    return a;
  }

  void log_work(libkineto::ActivityLogger& logger, const Record& r, const libkineto::ITraceActivity* op) {
    const bool to_device = r.work == NRT_SIM_HOST_COPY_TO_DEVICE;
    GenericTraceActivity& a =
        r.is_launch ? add(ActivityType::CONCURRENT_KERNEL, r.name, r.device, kPrograms)
                    : add(ActivityType::GPU_MEMCPY, to_device ? "Memcpy HtoD" : "Memcpy DtoH", r.device, kCopies);
    a.startTime = wall_ns(r.start_ns);
    a.endTime = wall_ns(r.end_ns);
    a.id = static_cast<int32_t>(r.correlation);
    a.linked = op;
    if (op) a.flow = flow(false);
    if (op) a.addMetadata("op", quoted(op->name()));
    a.addMetadata("source", quoted(r.source));
    if (!r.is_launch) a.addMetadata("bytes", r.bytes);
    if (!r.busy_ns.empty()) a.addMetadata("engine", quoted(r.busy_ns.front().first));
    for (const auto& [engine, ns] : r.busy_ns) a.addMetadata(engine + std::string(" busy us"), ns / 1e3);
    a.log(logger);
  }

  // Where the op called the runtime: a point, so that the op keeps its own time.
  void log_call(libkineto::ActivityLogger& logger, const Record& r, const libkineto::ITraceActivity& op) {
    GenericTraceActivity& a =
        add(ActivityType::PRIVATEUSE1_RUNTIME, r.is_launch ? "nrta_execute_schedule" : "nrta_tensor_copy",
            static_cast<int32_t>(op.deviceId()), static_cast<int32_t>(op.resourceId()));
    a.threadId = op.getThreadId();
    a.startTime = a.endTime = op.timestamp();
    a.id = static_cast<int32_t>(r.correlation);
    a.linked = &op;
    a.flow = flow(true);
    a.log(logger);
  }

  // From the op's call to its work on the device.
  GenericTraceActivity::Flow flow(bool start) const {
    GenericTraceActivity::Flow f;
    f.id = flow_;
    f.type = libkineto::kLinkAsyncCpuGpu;
    f.start = start;
    return f;
  }

  nrt_sim_recording_t* recording_ = nullptr;
  int64_t wall_start_ns_ = 0;
  double simulated_start_ns_ = 0;
  std::vector<Record> records_;
  uint32_t flow_ = 0;
  std::vector<std::string> errors_;
  // Activities point to its span.
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return activities_; }
  // Null where nobody asked for the device.
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& types,
                                                                 const libkineto::Config&) override {
    return types.contains(ActivityType::CONCURRENT_KERNEL) ? std::make_unique<Session>() : nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType>& types,
                                                                 const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  std::string name_ = "neuron";
  std::set<ActivityType> activities_{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                                     ActivityType::PRIVATEUSE1_RUNTIME};
};

REGISTER_PRIVATEUSE1_PROFILER(Profiler);

}  // namespace
}  // namespace trn::torch_backend
