// pyramid.hpp -- How long each kind of time lasts in columns of time, fine ones and coarse ones.
// Knows pieces of time and their kinds by number; knows nothing of Python, traces or pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Pieces of all locations: those of one in the order of time, none over another.
struct Pieces {
    std::span<const std::int64_t> location_begin;  // one more than there are locations
    std::span<const std::int64_t> start_ns, end_ns;
    std::span<const std::uint8_t> kind;
};

/// Columns of one width, side by side from a first moment on.
struct TimeColumns {
    std::int64_t first_ns = 0, width_ns = 1, count = 1;
};

/// Returns the time of each kind in each column of each location: of all columns first, then of
/// pairs of them, of pairs of these, and so on until one column is the whole.
///
/// Level after level, location after location, column after column, kind after kind. What lies
/// outside of all columns is left out. Sums are whole nanoseconds: a kind that is present in a
/// column is present in every wider one.
///
/// @throws std::invalid_argument  if the pieces' columns do not fit together, pieces are out of
///                                order, a kind is not below `kinds`, there is no column, or
///                                the columns reach past the last time there is
///
/// Time O(pieces + locations * columns * kinds); no memory beside the result.
std::vector<std::int64_t> pyramid(const Pieces& pieces, const TimeColumns& columns,
                                  std::size_t kinds);

}  // namespace burstline
