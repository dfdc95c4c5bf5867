// similarity.hpp -- How much of one sequence is found in another, in order?
// Knows arrays of integers; knows nothing of Python, traces or calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace burstline {

/// Returns how many symbols the two sequences have in common, in order.
///
/// That is the length of a longest common subsequence as long as the parts that
/// differ, after a common beginning and end, are not longer than `window`.
/// Longer ones are compared window by window at proportional positions: the
/// result is then the length of some common subsequence, a lower bound.
///
/// Sequences that are equal cost one pass. Otherwise the bit-parallel method of
/// Hyyro [Bit-parallel LCS-length computation revisited, AWOCA 2004] costs
/// O(window / 64) steps per symbol; extra memory is O(symbols differing) in a window.
///
/// @param a, b    the sequences, any integers
/// @param window  longest stretch compared exactly, > 0
/// @throws std::invalid_argument  if `window` is 0
std::int64_t common_in_order(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                             std::size_t window);

}  // namespace burstline
