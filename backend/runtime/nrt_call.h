#pragma once
#include <string>
#include <utility>

#include "backend/runtime/log.h"
#include "backend/runtime/process.h"

namespace trn::runtime {

// Status of the exception being handled; remembers its text for the thread and logs it under the function's name.
inline NRT_STATUS failed(const char* function) noexcept {
  try {
    Failure f = current_failure(false);
    log(Level::error, Component::nrt, function, f.text);
    set_last_error(std::move(f.text));
    return f.status;
  } catch (...) {
    return NRT_FAIL_HOST_MEM_ALLOC;
  }
}

// The body of a C function that needs the runtime open. No exception leaves it.
template <class Body>
NRT_STATUS call(const char* function, Body&& body) noexcept {
  try {
    process();
    body();
    return NRT_SUCCESS;
  } catch (...) {
    return failed(function);
  }
}

// The same for functions that may come before nrt_init().
template <class Body>
NRT_STATUS call_any_time(const char* function, Body&& body) noexcept {
  try {
    body();
    return NRT_SUCCESS;
  } catch (...) {
    return failed(function);
  }
}

template <class T>
T& required(T* out, const char* name) {
  if (!out) fail(NRT_INVALID, std::string(name) + " is null");
  return *out;
}

inline std::string_view optional_text(const char* text) { return text ? std::string_view(text) : std::string_view(); }

[[noreturn]] inline void not_modelled(const std::string& what) {
  fail(NRT_FAILURE, what + " is not in this version of the simulator");
}

}  // namespace trn::runtime
