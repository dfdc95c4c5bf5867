// fold.hpp -- Tandem repeats in sequences, folded from the inside out.
// Knows sequences of integers; knows nothing of Python, traces or calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// The places in a program at which the symbols of sequences stand.
///
/// `site` has one number per symbol of the sequence, from 0 in the order of first use;
/// `symbol` the symbol of each site, on the first lane that has it.
struct Sites {
    std::vector<std::int64_t> site;
    std::vector<std::int64_t> symbol;
};

/// Folds what is repeated one after another in each lane, and tells apart where symbols stand.
///
/// `a b a c a b a c` is folded to a loop over four sites, the first and third of which are
/// `a`. How often a loop iterates does not matter: loops with equal bodies are equal. Two
/// symbols are at one site if they are at the same position of the same loop, in a lane of the
/// same shape by the `kinds` of its symbols, each the number of a symbol: what is repeated is
/// told by symbols, what lanes have in common by their kinds. Shorter repeats are folded
/// first, from the left; those of `first_times` and more before those of fewer. What stands
/// beside a loop of a lane and is like an iteration but for one call of eight is one.
///
/// At most `work` comparisons of symbols are made; what would need more stays unfolded.
/// Throws std::invalid_argument like check_lanes.
Sites fold_sites(std::span<const std::int32_t> sequence, std::span<const std::int64_t> lane_begin,
                 std::span<const std::int32_t> kinds, std::int64_t first_times, std::int64_t work);

}  // namespace burstline
