#pragma once
#include "isa/sequencer.h"
#include "isa/spec.h"
#include "sim/finding.h"

namespace trn {

class Order;
class Streams;

// Everything that can be told to be wrong with a Program without its data: the rules of isa/, semaphores, deadlock,
// races, uninitialised reads, PSUM. At most `most` findings, in Program order per kind; what makes a Program unreadable
// or unable to run hides what would be found in a run of it. Linear in instructions for Programs of the usual kind.
//
// With control flow: of a run's first kMostCheckedSteps instructions. With `loads`, the words that the run has read, it
// is that run; without, every run that can be told of without data (runs.cpp).
inline constexpr size_t kMostFindings = 32;
Findings find_hazards(const Program& p, const Spec& s, size_t most = kMostFindings, const Loads* loads = nullptr);
// The same of a Program that check() has accepted: its rules need not be looked at again.
Findings find_hazards_of_legal(const Program& p, const Spec& s, size_t most = kMostFindings,
                               const Loads* loads = nullptr);

// Its parts. All but the first want a Program that check() accepts.
Findings find_broken_rules(const Program& p, const Spec& s, size_t most);
// Of a straight line whose instructions keep their rules. Its order must be one that can be met for the rest to be
// asked.
Findings find_in_line(const Program& p, const Spec& s, size_t most);
Findings find_in_runs(const Program& p, const Spec& s, size_t most, const Loads* loads);
// More posts than a semaphore counts, by loops whose bounds the Program has.
Findings find_endless_counts(const Program& p, const Spec& s, size_t most);
// Waits that no post meets, cycles of waits, counts beyond the largest, full queues, and a sequence that cannot run
// from front to back.
Findings find_stuck_waits(const Program& p, const Streams& streams, const Spec& s, size_t most);
Findings find_races(const Program& p, Order& order, const Spec& s, size_t most);
Findings find_uninitialised_reads(const Program& p, size_t most);
Findings find_overlapping_operands(const Program& p, size_t most);
// Accumulation onto what no matmul started.
Findings find_psum_misuse(const Program& p, const Spec& s, size_t most);
// More descriptors than a DMA queue's rings hold.
Findings find_full_queues(const Program& p, Order& order, const Spec& s, size_t most);
// Advice: SBUF that is not a Program's to use; engines that meet in one PSUM bank.
Findings find_reserved_memory(const Program& p, const Spec& s, size_t most);
Findings find_bank_conflicts(const Program& p, Order& order, const Spec& s, size_t most);

}  // namespace trn
