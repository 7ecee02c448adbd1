#include "backend/runtime/status.h"

#include <array>
#include <new>
#include <utility>

namespace trn::runtime {
namespace {

thread_local std::string t_last_error;

NRT_STATUS execution_status(const Error& e) {
  if (std::string_view(e.rule()).starts_with(kIndexOutOfBounds)) return NRT_EXEC_OOB;
  return NRT_EXEC_COMPLETED_WITH_ERR;
}

NRT_STATUS call_status(const Error& e) {
  switch (e.fault()) {
    case Fault::unsupported:
    case Fault::unmodelled:
    case Fault::untested: return NRT_UNSUPPORTED_NEFF_VERSION;
    case Fault::internal: return NRT_FAILURE;
    default: return NRT_INVALID;
  }
}

}  // namespace

Failure current_failure(bool in_execution) {
  try {
    throw;
  } catch (const StatusError& e) {
    return {e.status(), e.what()};
  } catch (const Error& e) {
    return {in_execution ? execution_status(e) : call_status(e), e.what()};
  } catch (const std::bad_alloc&) {
    return {NRT_FAIL_HOST_MEM_ALLOC, "this machine is out of memory"};
  } catch (const std::exception& e) {
    return {NRT_FAILURE, e.what()};
  } catch (...) {
    return {NRT_FAILURE, "unknown exception"};
  }
}

// nrt_status.rst: what hardware and runtime would most nearly say. A deadlock is a timeout there.
NRT_STATUS status_of(RuleKind k) {
  switch (k) {
    case RuleKind::numeric: return NRT_EXEC_COMPLETED_WITH_NUM_ERR;
    case RuleKind::index_bounds: return NRT_EXEC_OOB;
    case RuleKind::uninitialised: return NRT_EXEC_HW_ERR_NC_UE;  // memory without valid parity
    case RuleKind::deadlock:
    case RuleKind::semaphore_underflow: return NRT_TIMEOUT;
    case RuleKind::queue_overflow: return NRT_EXEC_SW_NQ_OVERFLOW;
    default: return NRT_EXEC_COMPLETED_WITH_ERR;
  }
}

void set_last_error(std::string text) { t_last_error = std::move(text); }
const std::string& last_error() { return t_last_error; }

}  // namespace trn::runtime
