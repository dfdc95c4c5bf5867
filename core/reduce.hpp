// reduce.hpp -- From all calls of a run to the few that are different.
// Knows columns of integers; knows nothing of Python, traces or loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// The calls of all lanes, lane after lane, each in the order of time.
struct SignedCalls {
    std::span<const std::int64_t> lane_begin;  // one more than there are lanes
    std::span<const std::int64_t> rank;        // of each lane
    std::int64_t ranks = 0;                    // there are; every rank and peer is below
    std::span<const std::int32_t> signature;   // from here: one per call
    std::span<const std::int64_t> enter_ns, leave_ns;
    std::span<const std::int64_t> sent_bytes, received_bytes;  // `no_value` if unknown
    std::span<const std::int32_t> communicator, peer, root;    // negative if there is none
    std::span<const std::int32_t> ordinal;                     // on its location, rising
};

/// The stretches between calls; those of a lane are a range of the columns.
struct BurstsBefore {
    std::span<const std::int64_t> begin, end;  // range of each lane
    std::span<const std::int32_t> call_after;  // ordinal; negative if there is none
    std::span<const std::int64_t> start_ns, end_ns;
    std::vector<std::span<const std::int64_t>> counters;  // `no_value` where not read
};

/// One row per unique call: a pair of lane and signature that occurs, in that order.
/// What is undefined (a mean of nothing) is not a number.
struct UniqueCalls {
    std::vector<std::int64_t> lane, signature, communicator;  // communicator: of the first
    std::vector<std::int64_t> begin;     // of each one's executions in enter_ns, and the end
    std::vector<std::int64_t> enter_ns;  // unique call after unique call, in the order of time
    std::vector<double> time_ns, time_spread_ns;
    std::vector<double> size_bytes, size_spread_bytes;  // the larger of sent and received
    std::vector<double> burst_ns;                       // the stretch before the call
    std::vector<double> burst_counters;                 // row after row
    std::vector<double> iteration_counters;             // from one execution to the next
    std::vector<std::int64_t> peer, offset;             // pairs of smallest and largest, or -1
    std::vector<std::uint8_t> is_root;                  // whether ever
};

/// Returns the unique calls of a run with their means and standard deviations.
///
/// Deviations are summed from the first value of each unique call, which loses no
/// digits however large the values are. Sums of counters may wrap around; their
/// differences, which are what is used, do not.
///
/// @param calls       columns of equal length
/// @param bursts      of two bursts before one call the later in the columns counts
/// @param signatures  every signature is below
/// @throws std::invalid_argument  if columns do not fit together, or a signature, rank or
///                                peer is out of its range
///
/// Time O(calls * counters), and u log u for the u unique calls of a lane; extra memory
/// O(signatures + calls of the longest lane).
UniqueCalls reduce(const SignedCalls& calls, const BurstsBefore& bursts, std::size_t signatures);

}  // namespace burstline
