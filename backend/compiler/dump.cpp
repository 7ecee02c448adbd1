#include "backend/compiler/dump.h"

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "memory/error.h"

namespace trn::compiler {

Dump::Dump(const std::string& program) {
  const char* directory = std::getenv("TRNSIM_DUMP");
  if (!directory || !*directory) return;
  static std::atomic<int> compilations{0};
  std::string number = std::to_string(compilations++);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
  std::string file = number + "." + program;
  for (char& c : file)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  prefix_ = (std::filesystem::path(directory) / file).string();
}

void Dump::write(std::string_view name, const std::string& text) const {
  const std::string path = prefix_ + "." + std::string(name) + ".txt";
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw Error(Fault::illegal, "TRNSIM_DUMP names a directory that cannot be written", path);
}

}  // namespace trn::compiler
