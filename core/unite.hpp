// unite.hpp -- Which symbols of sequences stand at one place of the program that made them.
// Knows sequences of integers; knows nothing of Python, traces or calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// The places in a program at which the symbols of sequences stand, and how long it seems.
struct UnitedSites {
    std::vector<std::int64_t> site;  ///< one of those before per symbol of the sequence
    std::int64_t length = 0;
};

/// Unites sites of the same symbol as long as the program gets shorter, the best two first.
///
/// A program is as long as its sites are many, plus three for each site that may follow
/// another but for the first, plus the surprises: how often what follows a site of several
/// successors is not what followed in the longest stretch before that is alike.
///
/// Two sites are united alone, or with them, again and again, those of one symbol that follow
/// the united one, those that it follows, or both. Where `work` visits of sites have been looked
/// at, it ends with what there is. After A. Stolcke and S. M. Omohundro, Best-first Model Merging
/// for Hidden Markov Model Induction, arXiv:cmp-lg/9405017.
///
/// Throws std::invalid_argument like check_lanes, for sequences and for the `sites` of their
/// symbols, of which there are no more than symbols, and if one site has several symbols.
UnitedSites unite_sites(std::span<const std::int32_t> sequence,
                        std::span<const std::int64_t> lane_begin,
                        std::span<const std::int32_t> sites, std::int64_t work);

}  // namespace burstline
