// turns.hpp -- Do two things happen in turns, or one after the other?
// Knows sorted moments; knows nothing of Python, calls or loops.
#pragma once

#include <cstdint>
#include <span>

namespace burstline {

/// Returns how many stretches one series of moments has that no moment of another
/// interrupts: 1 if all of it is before or after the other, its length in strict turns.
///
/// Of moments that are equal, the first series' comes first.
///
/// @param of, other  moments in order
/// Time O(of + other), no memory.
std::int64_t count_runs(std::span<const std::int64_t> of, std::span<const std::int64_t> other);

/// What the iterations of a loop do in the body around them.
struct Steps {
    std::int64_t entries = 0;  // iterations around in which there is any
    std::int64_t count = 0;    // pairs of neighbours in the same iteration around
    std::int64_t sum = 0;      // of the time from one to the other
};

/// Returns how often a loop is entered, and how long its iterations take within an entry.
///
/// @param begins  when its iterations begin, in order
/// @param around  when the iterations around begin, in order; one at the same moment as an
///                inner one is before it; what is before all of them is in one more
/// Time O(begins + around), no memory.
Steps steps_within(std::span<const std::int64_t> begins, std::span<const std::int64_t> around);

}  // namespace burstline
