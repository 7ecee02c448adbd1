#pragma once
#include "isa/spec.h"
#include "sim/work.h"
#include "traces/replay/profile.h"

namespace trn::replay {

// A profile's body (rows with an instruction_type) as records for the simulator.
struct ProfileWork {
  Work work;
  std::vector<uint32_t> rows;  // by record: its row in Profile::instructions; kNoRow for what a row starts besides
  std::vector<uint32_t> body;  // rows of the body, in the profile's own order
  std::vector<uint32_t> unmodelled;  // rows whose opcode or operands have no law here
  std::vector<std::string> notes;    // what could not be taken from the profile, in words
  int64_t origin = 0;                // start of the body's first row
  uint32_t first_row = 0;            // that row
  static constexpr uint32_t kNoRow = 0xFFFFFFFF;
};

// Throws trn::Error (illegal) when there is no body, an engine's label is unknown or more than two subgraphs take part.
ProfileWork work_of(const Profile& p, const Spec& s);

}  // namespace trn::replay
