// pairing.hpp -- Which of what is left over on two sides belongs together?
// Knows arrays of numbers; knows nothing of Python, traces or calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Things left over on one side: what they are, where they are, how large.
struct Leftovers {
    std::span<const std::int32_t> key;
    std::span<const std::int64_t> ordinal;
    std::span<const std::int64_t> reach;  // how far from it its twin may be
    std::span<const double> size;
};

/// Returns for each thing of `a` the thing of `b` with the same key near it, or -1.
///
/// Of each key the things are taken in the order of their ordinals, so pairs of one key do
/// not cross. Sizes may differ by `tolerance` of the larger one; 0: not at all.
/// Time O((a + b) log(a + b)).
std::vector<std::int64_t> pair_near(const Leftovers& a, const Leftovers& b, double tolerance);

/// Bursts of one run within groups, group after group, in the order of their places.
struct Candidates {
    std::span<const std::int64_t> group_begin;  // one more than there are groups
    std::span<const double> place;
    std::span<const double> size_before, size_after;
    std::span<const std::int32_t> partner_before, partner_after;  // -1: none
};

/// Weights of a similarity, and from where on nothing is similar.
struct Similarity {
    double place = 0.6, size = 0.2, partner = 0.2, limit = 0.3;
    bool both_sizes = false;  // or the size before alone
};

/// How unlike two bursts are: 0 if they are alike.
double unlikeness(const Candidates& a, std::size_t i, const Candidates& b, std::size_t j,
                  const Similarity& weights);

/// Returns for each burst of `a` the burst of `b` in the same group that it is matched to, or -1.
///
/// Pairs are taken from the most alike on, ties in the order of a, then of b. Groups of more
/// than `block` members on a side are cut into equally many blocks of proportional length,
/// and matched block by block.
/// Time O(sum over blocks of |a| |b| log), at most O((a + b) block log block).
std::vector<std::int64_t> pair_alike(const Candidates& a, const Candidates& b,
                                     const Similarity& weights, std::size_t block);

}  // namespace burstline
