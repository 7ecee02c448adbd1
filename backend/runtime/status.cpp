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

void set_last_error(std::string text) { t_last_error = std::move(text); }
const std::string& last_error() { return t_last_error; }

}  // namespace trn::runtime
