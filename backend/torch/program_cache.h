#pragma once
#include <nrt/nrt.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/compiler/graph.h"

namespace trn::torch_backend {

// Counters of the process, for Python.
struct Statistics {
  std::atomic<uint64_t> calls{0}, compiled{0}, memory_hits{0}, disk_hits{0}, fallbacks{0}, compile_ns{0};
};
Statistics& statistics();

// A Program on a core, and the names of its bound slots in slot order.
struct LoadedProgram {
  nrt_model_t* model = nullptr;
  struct BoundSlot {
    std::string name;
    uint64_t bytes;
  };
  std::vector<BoundSlot> slots;
};

// Compiles the graph, or finds its executable on disk, and loads it on a core. Executables stand under
// TORCH_NEURONX_NEFF_CACHE_DIR (default: $XDG_CACHE_HOME or ~/.cache, trnsim/neff), named by a hash of graph, machine
// and this build; TORCH_NEURONX_NEFF_DISABLE_CACHE=1 (or
// ..._DISABLE_NEFF_CACHE=1) turns that off. A damaged file is compiled anew. Throws trn::Error.
LoadedProgram load_program(const compiler::Graph& graph, int device);

}  // namespace trn::torch_backend
