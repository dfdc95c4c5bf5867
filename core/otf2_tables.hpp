// otf2_tables.hpp -- What the events of some locations become: columns in shared memory.
// Knows columns; knows nothing of the library.
#pragma once

#include <cstdint>

#include "otf2_shared.hpp"

namespace burstline::otf2 {

using Int8s = SharedColumn<std::uint8_t>;
using Int16s = SharedColumn<std::int16_t>;
using Int32s = SharedColumn<std::int32_t>;
using Int64s = SharedColumn<std::int64_t>;

using Table = TableOf<SharedColumn>;

inline constexpr std::int64_t no_value = INT64_MIN;

/// MPI calls, by location and enter.
struct Calls : Table {
    using Table::Table;
    Int32s location{*this, "location"}, call{*this, "call"};
    Int16s operation{*this, "operation"};
    Int64s enter_ns{*this, "enter_ns"}, leave_ns{*this, "leave_ns"}, enter_seq{*this, "enter_seq"},
        leave_seq{*this, "leave_seq"};
    Int32s path{*this, "path"};
};

/// Regions that are no MPI call, by location and enter; `team` is a row of the teams begun.
struct Regions : Table {
    using Table::Table;
    Int32s location{*this, "location"}, row{*this, "row"}, region{*this, "region"};
    Int64s enter_ns{*this, "enter_ns"}, leave_ns{*this, "leave_ns"}, enter_seq{*this, "enter_seq"},
        leave_seq{*this, "leave_seq"};
    Int32s parent{*this, "parent"}, path{*this, "path"}, team{*this, "team"},
        barrier{*this, "barrier"};
};

/// Events that describe a call or stand alone; a … g are their values, see otf2_records.hpp.
struct Records : Table {
    using Table::Table;
    Int32s kind{*this, "kind"}, location{*this, "location"};
    Int64s call{*this, "call"}, seq{*this, "seq"}, time_ns{*this, "time_ns"}, a{*this, "a"},
        b{*this, "b"}, c{*this, "c"}, d{*this, "d"}, e{*this, "e"}, f{*this, "f"}, g{*this, "g"};
};

/// Forks of teams, or begins of a team on a thread; `path` and `of` are -1 where unknown.
struct Borders : Table {
    using Table::Table;
    Int32s location{*this, "location"};
    Int64s begin_ns{*this, "begin_ns"}, end_ns{*this, "end_ns"}, begin_seq{*this, "begin_seq"},
        end_seq{*this, "end_seq"};
    Int32s path{*this, "path"}, of{*this, "of"};
    Int64s value{*this, "value"};
};

/// Readings of metrics: `count` values each, one after the other in Values.
struct Readings : Table {
    using Table::Table;
    Int32s location{*this, "location"}, metric{*this, "metric"}, count{*this, "count"};
    Int64s seq{*this, "seq"}, time_ns{*this, "time_ns"};
};

struct Values : Table {
    using Table::Table;
    Int8s type{*this, "type"};
    Int64s value{*this, "value"};
};

/// Nodes of the calling-context tree: parents come before their children.
struct Paths : Table {
    using Table::Table;
    Int32s parent{*this, "parent"}, region{*this, "region"};
};

/// What became of each location.
struct Lives : Table {
    using Table::Table;
    Int64s events{*this, "events"}, born_ns{*this, "born_ns"}, died_ns{*this, "died_ns"},
        status{*this, "status"}, strange{*this, "strange"}, never_left{*this, "never_left"},
        not_entered{*this, "not_entered"}, backwards{*this, "backwards"}, nested{*this, "nested"};
    Int64s open{*this, "open"}, out_of_range{*this, "out_of_range"};
};

/// Rows written; in shared memory, like the columns.
struct Counts {
    std::uint64_t calls = 0, regions = 0, records = 0, forks = 0, teams = 0, readings = 0;
    std::uint64_t values = 0, paths = 0, lives = 0, full = 0;
    std::uint64_t of_kind[96] = {};
};

struct Tables {
    Tables(std::size_t events, std::size_t values, std::size_t locations)
        : room(events), room_values(values), calls(events), regions(events), records(events),
          forks(events), teams(events), readings(events), values(values), paths(events),
          lives(locations), memory(sizeof(Counts)) {
        new (memory.data()) Counts();
    }
    Counts& counts() const { return *static_cast<Counts*>(memory.data()); }

    std::size_t room, room_values;
    Calls calls;
    Regions regions;
    Records records;
    Borders forks, teams;
    Readings readings;
    Values values;
    Paths paths;
    Lives lives;
    Shared memory;
};

}  // namespace burstline::otf2
