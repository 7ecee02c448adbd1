#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace trn {

// The instruction streams of one NeuronCore: four compute engines and the Sync engine. DMA instructions are issued from
// one of these streams and then run on a DMA queue.
enum class Engine : uint8_t { tensor, vector, scalar, gpsimd, sync };
inline constexpr int kEngines = 5;

struct EngineName {
  std::string_view nki;       // nki.isa.engine spelling
  std::string_view profiler;  // label in neuron-profile's tables
};
inline constexpr std::array<EngineName, kEngines> kEngineNames = {
    {{"tensor", "Tensor"}, {"vector", "Vector"}, {"scalar", "Scalar"}, {"gpsimd", "GpSimd"}, {"sync", "Sync"}}};
constexpr std::string_view name(Engine e) { return kEngineNames[static_cast<int>(e)].nki; }

// DMA queues of one core by number, with the labels of neuron-profile's tables; each is fed by one engine's stream and
// works in order.
struct QueueName {
  std::string_view profiler;
  Engine engine;
};
inline constexpr std::array<QueueName, 3> kQueues = {
    {{"qSyncDynamicHW", Engine::sync}, {"qScalarDynamicHW", Engine::scalar}, {"qGpSimdDynamic", Engine::gpsimd}}};

// A set of engines; the first of `Engine`'s order is the default choice.
struct EngineSet {
  uint8_t bits = 0;
  constexpr EngineSet() = default;
  template <class... E>
  constexpr explicit EngineSet(E... e) : bits(static_cast<uint8_t>(((1u << static_cast<int>(e)) | ... | 0u))) {}
  constexpr bool has(Engine e) const { return bits >> static_cast<int>(e) & 1; }
};

}  // namespace trn
