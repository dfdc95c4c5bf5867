// segments.hpp -- Where each thread's time went, cut at the points where it met others.
// Knows intervals, their nodes in the call tree, and event ordinals; knows no metric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Calls, or regions, of all locations: sorted by location and ordinal of the enter.
struct Intervals {
    std::span<const std::int64_t> location_begin;
    std::span<const std::int64_t> enter_ns, leave_ns, enter_seq, leave_seq;
    std::span<const std::int32_t> node;  // in the call tree; -1: not in it
};

/// What a thread does after each of its calls while no region is open: nodes, -1 for nothing.
/// Empty where no time is spent outside of regions.
using Between = std::span<const std::int32_t>;

/// Parallel regions among the regions, by their rows in rising order. Threads wait from the
/// fork to their enter, and from their leave to the join: that time is the region's, and not
/// that of the code around it on the thread that forked.
struct Parallels {
    std::span<const std::int64_t> row, fork_ns, join_ns;
    std::span<const std::uint8_t> forked_here;
};

/// The program itself, around all else on each location that says when it began and ended.
struct Programs {
    std::span<const std::int64_t> enter_ns, leave_ns;
    std::span<const std::int32_t> node;  // (locations,) -1: not told
};

/// Points cut a location's time: sorted by location and place. In places, 4 times the ordinal
/// of an event and 1 is an enter, and 3 a leave; 2 is what happens in the call that is entered
/// or left by the same event, 0 what happens before.
struct Cuts {
    std::span<const std::int64_t> location_begin, place;
};
inline constexpr std::int64_t places = 4, enter_place = 1, leave_place = 3;

/// Segment k of a location lies before its point k; a last one follows the last point.
/// Location l's segments begin at location_begin[l] of the points, plus l.
struct Segments {
    std::vector<std::int64_t> begin;    // (segments + 1,) where the rows of each begin
    std::vector<std::int32_t> node;     // (rows,) the call path
    std::vector<std::int64_t> time_ns;  // (rows,) time of it alone; never 0
    std::int64_t clipped = 0;           // intervals that outlived those around them
};

/// Time of each call path alone between neighbouring points. Linear in its input.
///
/// Throws std::invalid_argument if columns have different lengths, locations do not lie in
/// them one after another, or a node is not below `nodes`.
Segments segments(const Programs& programs, const Intervals& calls, Between between,
                  const Intervals& regions, const Parallels& parallels, const Cuts& cuts,
                  std::int32_t nodes);

}  // namespace burstline
