#pragma once
#include <stdexcept>
#include <string>

#include "isa/card.h"
#include "memory/error.h"
#include "nrt/nrt_status.h"

namespace trn::runtime {

// An error that already knows its public status.
class StatusError : public std::runtime_error {
 public:
  StatusError(NRT_STATUS status, const std::string& text) : std::runtime_error(text), status_(status) {}
  NRT_STATUS status() const { return status_; }

 private:
  NRT_STATUS status_;
};

[[noreturn]] inline void fail(NRT_STATUS status, const std::string& text) { throw StatusError(status, text); }

// What the catch block that calls it caught, as status and text. `in_execution`: the error came out of a running
// Program, not out of a call.
struct Failure {
  NRT_STATUS status = NRT_SUCCESS;
  std::string text;
};
Failure current_failure(bool in_execution);

// The public status of an execution that breaks a rule of this kind.
NRT_STATUS status_of(RuleKind k);

// nrt_sim_last_error() of this thread.
void set_last_error(std::string text);
const std::string& last_error();

}  // namespace trn::runtime
