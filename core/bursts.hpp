// bursts.hpp -- The stretches between consecutive MPI calls of one location, with
// what the counters, polls and gaps say about each.
// Knows columns of one location; knows nothing of files or formats.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"
#include "layout.hpp"

namespace burstline {

/// Failed polls of a burst, summed up by the source; `waiting_ns` if it told that, too.
struct Polls {
    std::int64_t count = 0, ns = 0, waiting_ns = no_value;
};

/// One location's tables, each in order.
struct LocationView {
    std::int32_t location = 0;
    std::span<const std::int64_t> enter_ns, leave_ns, enter_seq, leave_seq;  // calls
    std::span<const Polls> polls;  // before each call; may be empty
    std::span<const std::int64_t> reading_seq, reading_ns;
    std::vector<std::span<const std::int64_t>> values;  // one per counter
    std::span<const std::int64_t> gap_start, gap_end;
};

/// Fills one row per pair of consecutive calls, from row `first` of the table.
///
/// A counter of a burst is the sum of its deltas read after the call before was
/// left and up to the moment the call after is entered. It is known only if the
/// counter was read at both borders; otherwise it is `no_value`, never a part. A counter
/// that this location never reads where a burst begins was put in burst by burst, by a
/// merge: it is known where it was read at the end.
/// Time O(calls + readings * counters + gaps).
void fill_bursts(const LocationView& view, BurstTable& table, std::size_t first);

}  // namespace burstline
