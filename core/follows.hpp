// follows.hpp -- Which symbol follows which in sequences, and how often.
// Knows sequences of integers; knows nothing of Python, traces or calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// The edges of a graph of symbols, sorted by (from, to), and those of each lane.
///
/// Lane k has the edges number lane_edge[lane_edge_begin[k]] up to
/// lane_edge[lane_edge_begin[k + 1]], exclusive, in the order in which they were first taken.
struct Follows {
    std::vector<std::int64_t> from, to, count;
    std::vector<std::int64_t> lane_edge_begin, lane_edge;
};

/// Counts the pairs of neighbours within each lane of a sequence.
///
/// Lane k is sequence[lane_begin[k]] up to sequence[lane_begin[k + 1]], exclusive. Throws
/// std::invalid_argument if a symbol is not in 0 .. symbols - 1 or the lanes do not lie in
/// the sequence one after another. Time linear in the sequence.
Follows count_follows(std::span<const std::int32_t> sequence,
                      std::span<const std::int64_t> lane_begin, std::int32_t symbols);

/// Checks what all kernels over lanes of symbols take for granted; throws as above.
void check_lanes(std::span<const std::int32_t> sequence, std::span<const std::int64_t> lane_begin,
                 std::int32_t symbols);

}  // namespace burstline
