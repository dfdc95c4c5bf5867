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

inline constexpr std::int64_t no_value = INT64_MIN;

/// MPI calls, by location and enter.
struct Calls {
    explicit Calls(std::size_t n)
        : location(n), call(n), operation(n), enter_ns(n), leave_ns(n), enter_seq(n), leave_seq(n),
          path(n) {}
    Int32s location, call;
    Int16s operation;
    Int64s enter_ns, leave_ns, enter_seq, leave_seq;
    Int32s path;
    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("call", call), visit("operation", operation);
        visit("enter_ns", enter_ns), visit("leave_ns", leave_ns);
        visit("enter_seq", enter_seq), visit("leave_seq", leave_seq), visit("path", path);
    }
};

/// Regions that are no MPI call, by location and enter; `team` is a row of the teams begun.
struct Regions {
    explicit Regions(std::size_t n)
        : location(n), row(n), region(n), enter_ns(n), leave_ns(n), enter_seq(n), leave_seq(n),
          parent(n), path(n), team(n), barrier(n) {}
    Int32s location, row, region;
    Int64s enter_ns, leave_ns, enter_seq, leave_seq;
    Int32s parent, path, team, barrier;
    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("row", row), visit("region", region);
        visit("enter_ns", enter_ns), visit("leave_ns", leave_ns);
        visit("enter_seq", enter_seq), visit("leave_seq", leave_seq);
        visit("parent", parent), visit("path", path), visit("team", team);
        visit("barrier", barrier);
    }
};

/// Events that describe a call or stand alone; a … g are their values, see otf2_records.hpp.
struct Records {
    explicit Records(std::size_t n)
        : kind(n), location(n), call(n), seq(n), time_ns(n), a(n), b(n), c(n), d(n), e(n), f(n),
          g(n) {}
    Int32s kind, location;
    Int64s call, seq, time_ns, a, b, c, d, e, f, g;
    template <class Visit>
    void each(Visit&& visit) {
        visit("kind", kind), visit("location", location), visit("call", call), visit("seq", seq);
        visit("time_ns", time_ns), visit("a", a), visit("b", b), visit("c", c), visit("d", d);
        visit("e", e), visit("f", f), visit("g", g);
    }
};

/// Forks of teams, or begins of a team on a thread; `path` and `of` are -1 where unknown.
struct Borders {
    explicit Borders(std::size_t n)
        : location(n), begin_ns(n), end_ns(n), begin_seq(n), end_seq(n), path(n), of(n), value(n) {}
    Int32s location;
    Int64s begin_ns, end_ns, begin_seq, end_seq;
    Int32s path, of;
    Int64s value;
    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("begin_ns", begin_ns), visit("end_ns", end_ns);
        visit("begin_seq", begin_seq), visit("end_seq", end_seq), visit("path", path);
        visit("of", of), visit("value", value);
    }
};

/// Readings of metrics: `count` values each, one after the other in Values.
struct Readings {
    explicit Readings(std::size_t n) : location(n), metric(n), count(n), seq(n), time_ns(n) {}
    Int32s location, metric, count;
    Int64s seq, time_ns;
    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("metric", metric), visit("count", count);
        visit("seq", seq), visit("time_ns", time_ns);
    }
};

struct Values {
    explicit Values(std::size_t n) : type(n), value(n) {}
    Int8s type;
    Int64s value;
    template <class Visit>
    void each(Visit&& visit) {
        visit("type", type), visit("value", value);
    }
};

/// Nodes of the calling-context tree: parents come before their children.
struct Paths {
    explicit Paths(std::size_t n) : parent(n), region(n) {}
    Int32s parent, region;
    template <class Visit>
    void each(Visit&& visit) {
        visit("parent", parent), visit("region", region);
    }
};

/// What became of each location.
struct Lives {
    explicit Lives(std::size_t n)
        : events(n), born_ns(n), died_ns(n), status(n), strange(n), never_left(n), not_entered(n),
          backwards(n), nested(n), open(n), out_of_range(n) {}
    Int64s events, born_ns, died_ns, status, strange, never_left, not_entered, backwards, nested;
    Int64s open, out_of_range;
    template <class Visit>
    void each(Visit&& visit) {
        visit("events", events), visit("born_ns", born_ns), visit("died_ns", died_ns);
        visit("status", status), visit("strange", strange), visit("never_left", never_left);
        visit("not_entered", not_entered), visit("backwards", backwards), visit("nested", nested);
        visit("open", open), visit("out_of_range", out_of_range);
    }
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
