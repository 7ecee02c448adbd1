#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace trn::runtime {

// Physical NeuronCores that this process holds. A core is held by a lock on its file in a directory that all processes
// of one user share (TRNSIM_RUNTIME_DIR; else trnsim in XDG_RUNTIME_DIR; else /tmp/trnsim-UID): processes with the same
// directory share one simulated machine. The kernel drops a lock when its process ends, however it ends; forked
// children do not inherit it.
class CoreClaims {
 public:
  CoreClaims() = default;
  ~CoreClaims() { release(); }
  CoreClaims(const CoreClaims&) = delete;
  CoreClaims& operator=(const CoreClaims&) = delete;

  // 0 when the core is now ours, else the pid that holds it (-1 if the system does not tell). Throws StatusError if the
  // directory cannot be used.
  pid_t claim(int physical_core);
  void release();
  void release_last(size_t n);

 private:
  std::vector<int> files_;
};

// The process that holds a core; 0 if it is free or ours.
pid_t owner_of(int physical_core);

}  // namespace trn::runtime
