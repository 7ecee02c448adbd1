#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "isa/alu.h"
#include "isa/card.h"

namespace trn {

// What an instruction with accumulator registers does to them (nki.isa.reduce_cmd).
enum class ReduceCmd : uint8_t { idle, reset, reduce, reset_reduce, load_reduce };
inline constexpr std::array<std::string_view, 5> kReduceCmdNames = {"idle", "reset", "reduce", "reset_reduce",
                                                                    "load_reduce"};
constexpr std::string_view name(ReduceCmd c) { return kReduceCmdNames[static_cast<size_t>(c)]; }

// What an indirect DMA does with an index that is out of range (nki.isa.oob_mode): stop with NRT status 1006, or leave
// that row alone.
enum class OobMode : uint8_t { error, skip };
inline constexpr std::array<std::string_view, 2> kOobModeNames = {"error", "skip"};
constexpr std::string_view name(OobMode m) { return kOobModeNames[static_cast<size_t>(m)]; }

// Who moves a sendrecv's bytes (nki.isa.dma_engine).
enum class DmaEngine : uint8_t { dma, gpsimd_dma };
inline constexpr std::array<std::string_view, 2> kDmaEngineNames = {"dma", "gpsimd_dma"};
constexpr std::string_view name(DmaEngine e) { return kDmaEngineNames[static_cast<size_t>(e)]; }
// Who makes the descriptors of a DMA (nki.isa.dge_mode). Here `unknown` is GpSimd's software for an indirect transfer
// or one that GpSimd triggers, else hardware.
enum class DgeMode : uint8_t { unknown, swdge, hwdge, none };
inline constexpr std::array<std::string_view, 4> kDgeModeNames = {"unknown", "swdge", "hwdge", "none"};
constexpr std::string_view name(DgeMode m) { return kDgeModeNames[static_cast<size_t>(m)]; }

// nki.isa.matmul_perf_mode.
enum class MatmulPerfMode : uint8_t { none, double_row };
inline constexpr std::array<std::string_view, 2> kMatmulPerfModeNames = {"none", "double_row"};
constexpr std::string_view name(MatmulPerfMode m) { return kMatmulPerfModeNames[static_cast<size_t>(m)]; }

// A place or a size in the PE array: (row, column).
using RowColumn = std::array<int32_t, 2>;

// Affine pattern over the free index of iota and affine_select: [[step, count], ...], outermost first; unused dims are
// {0, 1}.
using Pattern = std::array<Dim, 4>;

// nc_stream_shuffle: source partition inside its group of 32 for each of 32 destination partitions; 255 leaves that
// partition unwritten.
using ShuffleMask = std::array<uint8_t, 32>;

}  // namespace trn
