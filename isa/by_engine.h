#pragma once
#include <array>

#include "isa/engine.h"
#include "isa/spec.h"

// Numbers that a Spec has for each engine and that more than one place asks for.
namespace trn::by_engine {

inline double ghz(Engine e, const Spec& s) {
  const std::array all{&s.tensor_ghz, &s.vector_ghz, &s.scalar_ghz, &s.gpsimd_ghz, &s.sync_ghz};
  return *all[static_cast<size_t>(e)];
}

// From a visible semaphore to the start of an instruction that waited for it.
inline double semaphore_wait_ns(Engine e, const Spec& s) {
  if (e == Engine::tensor) return s.semaphore_wait_tensor_ns;
  return e == Engine::sync ? s.semaphore_wait_sync_ns : s.semaphore_wait_vector_ns;
}

inline double doorbell_ns(Engine e, const Spec& s) {
  const std::array all{&s.doorbell_tensor_ns, &s.doorbell_vector_ns, &s.doorbell_scalar_ns, &s.doorbell_gpsimd_ns,
                       &s.doorbell_sync_ns};
  return *all[static_cast<size_t>(e)];
}

// From the end of an instruction of the sequencer itself to the next one.
inline double sequencer_gap_ns(Engine e, const Spec& s) {
  const std::array all{&s.sequencer_gap_tensor_ns, &s.sequencer_gap_vector_ns, &s.sequencer_gap_scalar_ns,
                       &s.sequencer_gap_gpsimd_ns, &s.sequencer_gap_sync_ns};
  return *all[static_cast<size_t>(e)];
}

}  // namespace trn::by_engine
