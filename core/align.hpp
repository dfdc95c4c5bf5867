// align.hpp -- Which tokens of one sequence are which of another, in order?
// Knows arrays of numbers; knows nothing of Python, traces or calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// A sequence of tokens, a column for each property.
///
/// Tokens of equal `label` are alike in everything; those of equal `kind` may only be
/// the same thing if their places and sizes are near each other.
struct Tokens {
    std::span<const std::int32_t> label;
    std::span<const std::int32_t> kind;
    std::span<const double> place;       // from 0 to 1
    std::span<const double> size;        // not negative
    std::span<const double> gap;         // what it costs to leave a token out
    std::span<const std::int32_t> turn;  // of a loop that it is in: counted, and may be off

    [[nodiscard]] std::size_t length() const { return label.size(); }
};

/// What it costs to take two tokens for the same.
struct AlignCosts {
    double place = 0.6;  // times the distance of their places
    double size = 0.2;   // times the relative difference of their sizes
    double most = 0.01;  // of the place: it decides between what is else alike
    double limit = 0.3;  // tokens that cost as much are not the same
    double turn = 0.02;  // if their turns neither agree nor differ as those before them did
};

/// Returns for each token of `a` the token of `b` that it is, or -1; none cross.
///
/// Common beginnings and ends are the same. What lies between is aligned at the least cost,
/// `window` tokens at a time: the alignment is optimal where what differs fits into half a
/// window. Where fewer than half of the tokens in sight can be aligned the window is doubled,
/// up to 8 times its length; if that does not help, the tokens whose label is found once in
/// both are the same as far as they are in order ("patience": Bram Cohen's diff).
///
/// Turns of loops decide between what is else alike. A run may count one more than the other
/// from somewhere on: as much as they differed when a token was last aligned they may differ
/// at no cost.
///
/// @param a, b    the sequences
/// @param costs   see there
/// @param window  tokens compared at a time, at least 4
/// Time O((a + b) log(a + b)) where they are alike, O((a + b) * window) at worst;
/// memory O(a + b + window^2).
/// @throws std::invalid_argument  if columns differ in length or `window` is too small
std::vector<std::int64_t> align(const Tokens& a, const Tokens& b, const AlignCosts& costs,
                                std::size_t window);

}  // namespace burstline
