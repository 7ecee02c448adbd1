#include "traces/replay/text_file.h"

#include <zlib.h>

#include <filesystem>
#include <memory>

#include "memory/error.h"

namespace trn::replay {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// zlib reads plain files through the same door.
std::string read_text(const std::string& path, size_t most) {
  if (!exists(path)) throw Error(Fault::illegal, "there is no such file", path);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file) throw Error(Fault::illegal, "the file cannot be opened", path);
  std::string text;
  char block[1 << 16];
  int n;
  while ((n = gzread(file.get(), block, sizeof block)) > 0) {
    text.append(block, static_cast<size_t>(n));
    if (text.size() > most)
      throw Error(Fault::illegal, "the file holds more than " + std::to_string(most >> 20) + " MiB of text", path);
  }
  int status = Z_OK;
  gzerror(file.get(), &status);
  if (n < 0 || (status != Z_OK && status != Z_STREAM_END))
    throw Error(Fault::illegal, "the compressed data is damaged or cut off", path);
  return text;
}

}  // namespace trn::replay
