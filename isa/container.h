#pragma once
#include <span>
#include <vector>

#include "isa/program.h"

namespace trn {

// The Program inside the public NEFF layout: a 1024-byte header and a tar archive (info.json, sgNN/def.json per
// physical core for people and for neuron-packager, trnsim/program for us). A private feature bit marks it, so that
// AWS's runtime refuses it and we recognise it. to_container(from_container(b)) == b, from_container(to_container(p))
// == canonical(p).
std::vector<std::byte> to_container(const Program& p);

// Throws trn::Error: illegal (damaged, truncated, not a NEFF), unsupported (newer, or compiled for hardware). Allocates
// no more than a small multiple of what it was given.
Program from_container(std::span<const std::byte> bytes);

// Feature bit of our executables; AWS's own are small numbers.
inline constexpr uint64_t kContainerFeature = uint64_t{1} << 62;

}  // namespace trn
