// loop_run.hpp -- What a loop executes, call by call, and where its iterations begin, as a reading
// of the loop says.
// Knows arrays of integers; knows nothing of Python or traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace burstline {

/// The calls of a loop, entry after entry and lane after lane: the site of each, its place among
/// all calls, in ascending order, whether it begins an entry, and its lane.
struct EnteredCalls {
    std::span<const std::int32_t> symbol;
    std::span<const std::int64_t> place;
    std::span<const bool> begins;
    std::span<const std::int64_t> lane;
};

/// The elements of a loop: which one each symbol is in, which are loops, and the places at which
/// one of these is entered once more, beside those where another element comes before.
struct LoopElements {
    std::span<const std::int32_t> of_symbol;
    std::span<const bool> is_loop;
    std::span<const std::int64_t> again;
};

/// Where iterations begin beside those whose first element is not behind the one before: between
/// pairs of elements, first * elements + second, and at places; both in ascending order.
struct Parted {
    std::span<const std::int64_t> apart, cuts;
};

/// The elements that a loop executes one after another, by their first calls.
struct LoopRun {
    std::vector<std::int32_t> element;
    std::vector<std::uint8_t> begins;
    std::vector<std::int64_t> lane, place;
};

/// A loop in the loop is executed once, however many calls it makes.
///
/// Throws std::invalid_argument if the columns are of different lengths, or a symbol is in no
/// element.
LoopRun loop_run(const EnteredCalls& calls, const LoopElements& elements);

/// Whether an iteration begins with each element of a run, by its elements, where entries begin,
/// and its places.
///
/// Throws std::invalid_argument if the columns are of different lengths.
std::vector<std::uint8_t> iteration_begins(std::span<const std::int32_t> element,
                                           std::span<const bool> begins,
                                           std::span<const std::int64_t> place,
                                           std::int64_t elements, const Parted& parted);

/// The iterations of a loop: for each (element, iteration) whether it is executed; for each
/// iteration whether it begins an entry, its lane, and the place of its first call.
struct LoopIterations {
    std::vector<std::uint8_t> executed, begins;
    std::vector<std::int64_t> lane, first;
};

/// Reads the calls of a loop as loop_run and iteration_begins do; nothing if there are more than
/// `sparsest` elements and iterations for each call.
std::optional<LoopIterations> loop_iterations(const EnteredCalls& calls,
                                              const LoopElements& elements, const Parted& parted,
                                              std::int64_t sparsest);

/// How many elements are executed in some, but not all of the iterations of one place, whether
/// that is counted from the begin of the entry, or from its end.
///
/// Throws std::invalid_argument if the columns are of different lengths, an element is none, or
/// the first one begins no iteration, or an entry does not begin with one.
std::int64_t irregular_elements(std::span<const std::int32_t> element, std::span<const bool> begins,
                                std::span<const bool> is_new, std::size_t elements);

}  // namespace burstline
