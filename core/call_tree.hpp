// call_tree.hpp -- Where in the nesting of a program things happen, and the paths that makes.
// Knows rows, event ordinals and symbols; knows no call, region or team.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// What is entered and left, sorted by location and ordinal of the enter. `parent`: the row
/// around each, which is before it, or -1; empty where nothing is in anything.
struct Nested {
    std::span<const std::int64_t> location_begin;
    std::span<const std::int64_t> enter_seq, leave_seq, parent;
};

/// The innermost row that is open at each moment of a location, -1 without one: entered
/// before it, and not left before it.
///
/// Linear where the moments of a location are beside each other and rise. Throws
/// std::invalid_argument if columns have different lengths, or a parent is not before its row.
std::vector<std::int64_t> innermost(const Nested& rows, std::span<const std::int32_t> location,
                                    std::span<const std::int64_t> seq);

/// Distinct paths: `path` of each item, and of each path its last symbol and the path above.
/// Path 0 is the root, without symbols; other paths come behind those above them.
struct Paths {
    std::vector<std::int32_t> path;
    std::vector<std::int32_t> above;
    std::vector<std::int64_t> symbol;
};

/// The paths of symbols from the root to each item. `parent`: the item above each, -1 for the
/// root; all items of a circle, and those below them, are right below the root. An item without
/// a symbol, -1, has the path of its parent. Linear in its input.
///
/// Throws std::invalid_argument if columns have different lengths, or a parent is no item.
Paths paths_of(std::span<const std::int64_t> parent, std::span<const std::int64_t> symbol);

}  // namespace burstline
