// rule_words.hpp -- How long the words are for a set of iterations, as Python writes them.
// Knows sets of integers and the shape of their texts; knows nothing of loops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace burstline {

/// What the words of a rule cost: `first iteration`, `iteration in {1, 4..7, 9..15 by 2}`.
struct RuleWords {
    std::int64_t letters = 0;
    std::int64_t list = 0;  ///< beside a rule: a long list as much as trip counts of its numbers
    bool names_end = false;
};

/// The words for some iterations that are none of the others, both in ascending order and
/// counted from 0; none if they are many. There are some. Lists may be longer that are the same
/// in several entries of a loop: such a rule is hardly chance.
std::optional<RuleWords> set_words(std::span<const std::int64_t> chosen,
                                   std::span<const std::int64_t> others, bool is_again);

}  // namespace burstline
