#pragma once
#include <span>
#include <vector>

#include "isa/program.h"

namespace trn {

// The Program as bytes: the container's own member. Cards and their fields go by name, so a file survives renumbering;
// a file whose card has other fields than ours is refused. serialise(deserialise(b)) == b, and
// deserialise(serialise(p)) == canonical(p). Layout: magic, version, CRC-32 of what follows, then strings, slots,
// constants, cards used, sources, instructions with their waits and arguments.
std::vector<std::byte> serialise(const Program& p);

// Throws trn::Error: illegal (damaged), unsupported (newer version, unknown instruction or field). Memory is bounded by
// a small multiple of the input's size. What comes back is well-formed, not yet legal: isa.h's check() says that.
Program deserialise(std::span<const std::byte> bytes);

}  // namespace trn
