// phases.hpp -- What do the events of a process, or of all processes together, repeat?
// Knows types and amounts of work in ticks; knows nothing of Python, MPI or time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Events in the order of logical time; those of a tick are of different processes.
struct Ticks {
    std::span<const std::uint64_t> type;    // (events,)
    std::span<const std::int32_t> process;  // (events,), or empty: all are of one
    std::span<const std::int64_t> work;     // (events,) not negative
    std::span<const std::int64_t> begin;    // (ticks + 1,), or empty: each event is a tick
};

struct PhaseOccurrences {
    std::vector<std::int32_t> phase;  // (occurrences,) phases by their first occurrence
    std::vector<std::int64_t> begin;  // (occurrences + 1,) the first tick of each
};

/// Returns the phases that ticks are cut into, without overlap or rest.
///
/// A phase ends before the tick in which any process would repeat a type. It is an occurrence
/// of the oldest phase with the same types in the same ticks whose first occurrence did similar
/// work in each event, the less at least `similarity` of the more; else it is a new phase.
///
/// Phases of the same types are searched by ranges of their work, so that time is O(events)
/// with few of them, and hardly grows with their number; in the worst case O(events * phases).
///
/// @param similarity  0 to 1
/// @throws std::invalid_argument  if columns do not fit, or work is negative
PhaseOccurrences phases_of(const Ticks& ticks, double similarity);

}  // namespace burstline
