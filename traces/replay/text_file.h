#pragma once
#include <string>

namespace trn::replay {

// The whole text of `path`, decompressed if it is gzip. Throws trn::Error (illegal) when it cannot be read, is damaged
// or holds more than `most` bytes of text.
std::string read_text(const std::string& path, size_t most = size_t{1} << 30);
bool exists(const std::string& path);

}  // namespace trn::replay
