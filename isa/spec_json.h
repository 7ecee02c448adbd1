#pragma once
#include <string>
#include <string_view>

#include "isa/spec.h"

namespace trn {

// A Spec as JSON: {"name": ..., "generation": "trn2", "numbers": {FIELD: {"value", "provenance", "source", "spread"}}}.
std::string spec_to_json(const Spec& s);

// The inverse. `numbers` holds every field of spec_fields(), each an object as above or a plain number. With "base":
// "trn2" (or another built-in Spec) fields may be left out; they keep its values, so a what-if is the lines that
// differ. Throws trn::Error(illegal) that names the field and the allowed interval for a missing, unknown, non-numeric
// or absurd number, and the position for text that is not JSON. `origin` names the text in messages.
Spec spec_from_json(std::string_view text, std::string_view origin);
Spec load_spec(const std::string& path);

// The machine of this process: the built-in Spec or the file that TRNSIM_SPEC names, or the first caller's `otherwise`.
// Read once; throws as load_spec does.
const Spec& machine_spec(const Spec& otherwise = trn2());

// What a Program for `target` is checked against: `machine` if that is its name, else the built-in Spec. Throws
// trn::Error(illegal) for any other name.
const Spec& target_spec(std::string_view target, const Spec& machine);

}  // namespace trn
