// expand.hpp -- The calls that a program of loops and conditions makes, in order.
// Knows arrays of integers; knows nothing of Python or traces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// A sequence of integers per (node, lane), as arithmetic progressions: sequence (i, k) has
/// those from begin[i * lanes + k] up to begin[i * lanes + k + 1].
struct Runs {
    std::span<const std::int64_t> begin, first, step, count;
};

/// A program as its nodes, each before those in it.
///
/// `symbol` is what a call gives, or -1 for a loop or a condition; `end` the node behind the
/// last one inside. `executions` are those of each (node, lane). Where `knows_when` is set,
/// `when` has the executions of the body around; else they are spread evenly. Where
/// `knows_trips` is set, `trips` has the iterations of each of them.
struct Program {
    std::span<const std::int32_t> symbol, end;
    std::span<const std::int64_t> executions;
    std::span<const std::uint8_t> knows_when, knows_trips;
    Runs when, trips;
    std::size_t lanes;
};

/// Gives the symbols of one lane in the order of their execution.
///
/// Throws std::invalid_argument if the program is none: nodes that end outside of the node
/// around, or executions outside of the body around. Time linear in the symbols, times the
/// depth of the program.
std::vector<std::int32_t> expand(const Program& program, std::size_t lane);

}  // namespace burstline
