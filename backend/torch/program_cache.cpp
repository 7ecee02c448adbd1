#include "backend/torch/program_cache.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>

#include "backend/compiler/compile.h"
#include "backend/runtime/runtime.h"
#include "backend/torch/runtime.h"
#include "isa/container.h"
#include "isa/spec.h"

namespace trn::torch_backend {
namespace {

namespace fs = std::filesystem;

// Two independent 64-bit hashes over everything that decides the Program.
class Digest {
 public:
  void add(uint64_t w) {
    a_ = (a_ ^ w) * 0xFF51AFD7ED558CCDull;
    a_ ^= a_ >> 32;
    b_ = std::rotl(b_ + w * 0xC2B2AE3D27D4EB4Full, 31) * 0x9E3779B185EBCA87ull;
  }
  void add(std::string_view s) {
    add(s.size());
    for (char c : s) add(static_cast<unsigned char>(c));
  }
  std::string hex() const {
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a_),
                  static_cast<unsigned long long>(b_));
    return text;
  }

 private:
  uint64_t a_ = 0x243F6A8885A308D3ull, b_ = 0x13198A2E03707344ull;
};

// A rebuilt compiler makes other Programs: size and time of the libraries that it lives in.
void add_build(Digest& d) {
  for (const void* symbol :
       {reinterpret_cast<const void*>(&compiler::compile), reinterpret_cast<const void*>(&load_program)}) {
    Dl_info library{};
    struct stat file {};
    if (!dladdr(symbol, &library) || !library.dli_fname || stat(library.dli_fname, &file) != 0) continue;
    d.add(static_cast<uint64_t>(file.st_size));
    d.add(static_cast<uint64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(file.st_mtim.tv_nsec));
  }
}

void add_machine(Digest& d, const Spec& s) {
  d.add(s.name);
  for (const SpecField& f : spec_fields()) d.add(std::bit_cast<uint64_t>((s.*f.member).value));
}

void add_graph(Digest& d, const compiler::Graph& g) {
  d.add(g.name);
  for (const Slot& s : g.slots) {
    d.add(s.name);
    d.add(static_cast<uint64_t>(s.use) << 8 | static_cast<uint64_t>(s.dtype));
    d.add(static_cast<uint64_t>(s.bytes));
  }
  for (const compiler::Node& n : g.nodes)
    compiler::for_each_word(n, [&d](int64_t word) { d.add(static_cast<uint64_t>(word)); });
}

std::string digest(const compiler::Graph& g, const Spec& s, const compiler::Cores& cores) {
  static const Digest start = [] {
    Digest d;
    add_build(d);
    return d;
  }();
  Digest d = start;
  add_machine(d, s);
  d.add(static_cast<uint64_t>(cores.count));
  add_graph(d, g);
  return d.hex();
}

bool is_set(const char* variable) {
  const char* v = std::getenv(variable);
  return v && *v && std::string_view(v) != "0" && std::string_view(v) != "False";
}

std::optional<fs::path> cache_directory() {
  if (is_set("TORCH_NEURONX_NEFF_DISABLE_CACHE") || is_set("TORCH_NEURONX_DISABLE_NEFF_CACHE")) return std::nullopt;
  if (const char* d = std::getenv("TORCH_NEURONX_NEFF_CACHE_DIR"); d && *d) return fs::path(d);
  if (const char* d = std::getenv("XDG_CACHE_HOME"); d && *d) return fs::path(d) / "trnsim" / "neff";
  if (const char* d = std::getenv("HOME"); d && *d) return fs::path(d) / ".cache" / "trnsim" / "neff";
  return std::nullopt;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) return {};
  return bytes;
}

// Other processes see the whole file or none. A cache that cannot be written is no error.
void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path part = path.string() + "." + std::to_string(getpid()) + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out) return void(fs::remove(part, failed));
  }
  fs::rename(part, path, failed);
  if (failed) fs::remove(part, failed);
}

LoadedProgram loaded(std::span<const std::byte> bytes, const Program& p, int device) {
  LoadedProgram l;
  check(nrt_load(bytes.data(), bytes.size(), device, -1, &l.model), "nrt_load");
  for (const Slot& s : p.slots)
    if (s.use == SlotUse::input || s.use == SlotUse::output || s.use == SlotUse::inout)
      l.slots.push_back({s.name, static_cast<uint64_t>(s.bytes)});
  return l;
}

}  // namespace

Statistics& statistics() {
  static Statistics s;
  return s;
}

LoadedProgram load_program(const compiler::Graph& graph, int device) {
  ensure_runtime();  // operands without elements have not
  const runtime::MachineDescription machine = runtime::describe_machine();
  const Spec& spec = *machine.spec;
  const compiler::Cores cores{.count = machine.lnc};
  const auto directory = cache_directory();
  const fs::path path = directory ? *directory / (digest(graph, spec, cores) + ".neff") : fs::path();
  if (directory) {
    try {
      if (const std::vector<std::byte> bytes = read_file(path); !bytes.empty()) {
        const Program p = from_container(bytes);
        LoadedProgram l = loaded(bytes, p, device);
        statistics().disk_hits.fetch_add(1, std::memory_order_relaxed);
        return l;
      }
    } catch (const Error&) {
      std::error_code ignored;
      fs::remove(path, ignored);  // damaged, or of another version
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const Program p = compiler::compile(graph, spec, cores);
  const std::vector<std::byte> bytes = to_container(p);
  const auto spent = std::chrono::steady_clock::now() - start;
  statistics().compiled.fetch_add(1, std::memory_order_relaxed);
  statistics().compile_ns.fetch_add(static_cast<uint64_t>(std::chrono::nanoseconds(spent).count()),
                                    std::memory_order_relaxed);
  if (directory) write_file(path, bytes);
  return loaded(bytes, p, device);
}

}  // namespace trn::torch_backend
