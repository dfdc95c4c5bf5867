// conditions.hpp -- The conditions in the body of a loop, around those of its elements where
// they take the fewest words, and what it costs to write the loop down.
// Knows which iterations execute what; knows nothing of Python or traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// The iterations of a loop, entry after entry and lane after lane.
struct Iterations {
    std::size_t elements;
    std::span<const bool> executed;      ///< for each (element, iteration)
    std::span<const bool> begins;        ///< whether an iteration begins an entry
    std::span<const std::int64_t> lane;  ///< of each iteration
};

/// What it costs to write a body down.
struct BodyCost {
    std::int64_t unexplained = 0;  ///< conditions, and trip counts, that follow no rule
    std::int64_t length = 0;
    std::int64_t conditions = 0;  ///< those that name no end of the loop twice
    std::int64_t letters = 0;     ///< of the words for conditions
    std::int64_t lists = 0;       ///< what rules that are long lists would cost as trip counts
};

/// What a loop, and the conditions in it, cost. A loop of single iterations is none.
///
/// Throws std::invalid_argument if the columns are of different lengths, or empty, the first
/// iteration of a lane begins no entry, or an element is executed in no iteration.
BodyCost loop_cost(const Iterations& iterations);

/// The elements of a body in order, those on one condition between `begin_condition` and
/// `end_condition`. Throws as loop_cost.
constexpr std::int32_t begin_condition = -1, end_condition = -2;
std::vector<std::int32_t> conditional_body(const Iterations& iterations);

/// What the trip counts of entries cost, by the iteration around that each is in; if none are
/// told, as if each iteration around had one entry.
///
/// Throws std::invalid_argument if the columns are of different lengths, or empty.
BodyCost trips_cost(std::span<const std::int64_t> trips, std::span<const std::int64_t> lane,
                    std::span<const std::int64_t> place);

}  // namespace burstline
