// grid.hpp -- Which points of a plane belong together?
// Knows arrays of numbers; knows nothing of Python, traces or loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Largest number of coordinates of a point that `connected_within` takes.
inline constexpr std::size_t max_dimensions = 3;

/// Returns, for every point, the number of its cluster: the connected component
/// of the graph that joins all pairs of points at Euclidean distance <= reach.
///
/// That is DBSCAN with one point per core [Ester et al., KDD 1996]. Components are
/// numbered by their first point. Points are binned in cubes whose diagonal is
/// just below `reach`, so that all points of a cube belong together and only
/// cubes at most two steps apart are ever compared.
///
/// @param coordinates  points one after the other, `dimensions` numbers each
/// @param dimensions   1 to `max_dimensions`
/// @param reach        largest distance that joins two points, > 0
/// @return             one component per point
/// @throws std::invalid_argument  for anything else, for coordinates that are not
///                                finite or more than 2^52 cubes away from zero
///
/// Time O(points log points) while neighbouring cubes are joined by their first
/// pairs, quadratic in the points of two full neighbouring cubes at worst;
/// extra memory O(points).
std::vector<std::int64_t> connected_within(std::span<const double> coordinates,
                                           std::size_t dimensions, double reach);

}  // namespace burstline
