// splice.hpp -- Pairs put into the event records of a .prv, all other bytes as they are.
// Knows text and the layout; knows nothing of Python, files or tables.
//
//     bytes, moments of threads --find_records--> the event records there, and where they end
//     bytes, places, values     --with_pairs----> the same bytes with ":type:value" in them
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout.hpp"

namespace burstline {

/// Moments of threads: those of location k are times[begin[k]] up to times[begin[k + 1]],
/// ascending, in the unit of the file.
struct Moments {
    std::span<const std::int64_t> begin, times;
};

/// Event records at moments that were asked for, in the order of the text.
struct RecordsFound {
    std::vector<std::int64_t> moment;  // position in Moments::times
    std::vector<std::int64_t> end;     // behind the last digit of the record, in the text
    std::vector<std::uint8_t> holds;   // bits of Holds
};

/// What an event record holds.
enum Holds : std::uint8_t { enters_call = 1, leaves_call = 2, has_counter = 4 };

/// Event types that tell a record of a burst.
struct SoughtTypes {
    std::span<const std::int64_t> calls, counters;  // ascending
};

/// Finds the event records of some moments in whole lines. Records that are not digits and
/// colons throughout, or lack the value of their last type, are no place for more pairs.
/// Time O(bytes + records log moments); in order of time, O(bytes).
RecordsFound find_records(std::span<const char> text, const Layout& layout, const Moments& moments,
                          const SoughtTypes& types);

/// Gives text with pairs put in.
/// @param places  positions in the text, ascending
/// @param types   event types
/// @param values  for each place a value of each type; no_value is left out
std::vector<std::uint8_t> with_pairs(std::span<const char> text,
                                     std::span<const std::int64_t> places,
                                     std::span<const std::int64_t> types,
                                     std::span<const std::int64_t> values);

}  // namespace burstline
