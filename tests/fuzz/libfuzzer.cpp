// libFuzzer's door: one executable for each parser, fuzz_TARGET. `fuzz_TARGET --seeds DIR` writes valid inputs and a
// dictionary, DIR/seeds/N and DIR/words.dict.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/targets.h"

namespace {

const trn::test::FuzzTarget& target() {
  static const trn::test::FuzzTarget& t = trn::test::fuzz_target(TRN_FUZZ_TARGET);
  return t;
}

void write_seeds(const std::filesystem::path& dir) {
  std::filesystem::create_directories(dir / "seeds");
  int n = 0;
  for (const auto& seed : target().seeds())
    std::ofstream(dir / "seeds" / std::to_string(n++), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  std::ofstream dictionary(dir / "words.dict");
  for (const std::string& word : target().words()) {
    dictionary << '"';
    for (const char c : word) {
      char text[8];
      std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      dictionary << text;
    }
    dictionary << "\"\n";
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::string_view((*argv)[1]) != "--seeds") return 0;
  write_seeds((*argv)[2]);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target().feed(std::as_bytes(std::span(data, size)));
  return 0;
}
