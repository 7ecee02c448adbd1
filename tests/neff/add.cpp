// Writes the executable that the C program loads.
#include <fstream>

#include "isa/container.h"
#include "tests/runtime/programs.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto bytes = trn::to_container(trn::test::add_program());
  std::ofstream(argv[1], std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}
