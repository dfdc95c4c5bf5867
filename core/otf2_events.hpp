// otf2_events.hpp -- Reads the events of some locations of an archive into tables.
// Knows the library's events and the timeline; knows nothing of Python.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "otf2_definitions.hpp"
#include "otf2_library.hpp"
#include "otf2_tables.hpp"
#include "otf2_timeline.hpp"

namespace burstline::otf2 {

inline constexpr int known_kinds = 84;

/// Names of the kinds that are counted, in the order of the counts.
const char* const* kind_names();

/// Locations to read: their references, and the numbers that rows give them.
struct Wanted {
    std::span<const std::uint64_t> reference;
    std::span<const std::int32_t> number;
};

/// Reads in a child process; gives the signal that ended it, or 0.
int read_events(const Library& library, const std::string& anchor, const Wanted& wanted,
                const Meaning& meaning, Tables& tables, Report& report, const Limits& limits,
                const std::function<bool()>& is_over = {});

}  // namespace burstline::otf2
