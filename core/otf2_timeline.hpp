// otf2_timeline.hpp -- The events of one location after the other, on their way into columns.
// Knows records and tables; knows nothing of the library and of Python.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "otf2_records.hpp"
#include "otf2_tables.hpp"

namespace burstline::otf2 {

/// The bits of a value of a type of the format, of which the library sets no more than it has:
/// integers in their width, reals and references as they are.
std::int64_t value_of(std::uint8_t type, std::uint64_t bits);

/// What an archive defines, as far as events need it.
struct Meaning {
    struct Region {
        std::int32_t row;        // of region definitions
        std::int32_t operation;  // of MPI, -1 for any other region
    };
    std::vector<Region> near;  // by reference, where that is small
    std::unordered_map<std::uint32_t, Region> far;
    std::vector<bool> is_barrier;  // by row
    std::int32_t unknown_region = 0, team_region = 0;
    struct Context {
        std::uint32_t region;
        std::int32_t own, caller;  // what a path says for it and its parent; -1 without one
    };
    std::unordered_map<std::uint32_t, Context> contexts;
    std::unordered_map<std::uint32_t, std::uint32_t> like;  // metrics that share members: one
    std::uint64_t resolution = 1'000'000'000, offset = 0;

    Region of(std::uint32_t reference) const {
        if (reference < near.size()) return near[reference];
        const auto found = far.find(reference);
        return found == far.end() ? Region{unknown_region, -1} : found->second;
    }
    Context context(std::uint32_t reference) const {
        const auto found = contexts.find(reference);
        return found == contexts.end() ? Context{~std::uint32_t{1}, unknown_region, -1}
                                       : found->second;
    }
};

class Timeline {
  public:
    Timeline(Tables& tables, const Meaning& meaning) : tables_(tables), meaning_(meaning) {}

    void begin_location(std::int32_t location);
    void end_location(std::int64_t status);

    /// Takes in the time of an event: what follows is at that time, under the next ordinal.
    void at(std::uint64_t ticks) {
        auto now = nanoseconds(ticks);
        if (now < now_) {
            if (seen_) {
                ++life_.backwards;
                now = now_;
            }
        }
        if (!seen_) life_.born = now;
        seen_ = true;
        if (read_ && now != now_) ++seq_;
        read_ = false;
        now_ = now;
    }
    /// Ends an event: the next one has another ordinal.
    void done() { ++seq_; }
    std::int64_t nanoseconds(std::uint64_t ticks);

    void enter(std::uint32_t region);
    void enter_context(std::uint32_t reference);
    void leave(std::uint32_t region);
    void leave_context(std::uint32_t reference) { leave(meaning_.context(reference).region); }
    void sample(std::uint32_t context) {
        record(RecordKind::sample, Other{.value = meaning_.context(context).own});
    }
    void fork(std::int64_t requested);
    void join();
    void begin_team(std::uint32_t team);
    void end_team();
    void switch_task(std::uint64_t task);
    template <class Fields>
    void record(RecordKind kind, const Fields& fields) {
        record_values(kind, std::bit_cast<RecordValues>(fields));
    }
    void begin_collective() {
        forget_collective();
        collective_seq_ = seq_, collective_ns_ = now_;
    }
    void end_collective(std::int64_t root, std::int64_t communicator, std::int64_t operation,
                        std::int64_t sent, std::int64_t received);
    /// Moves on to the next ordinal if the metric was read under this one already.
    void begin_reading(std::uint32_t metric);
    void read_metric(std::uint32_t metric, std::uint8_t count, const std::uint8_t* types,
                     const std::uint64_t* values);
    /// Ends a reading that has attributes: what follows in its moment is another event.
    void end_reading() {
        read_ = false;
        done();
    }
    void strange() { ++life_.strange; }
    void note_full() { ++tables_.counts().full; }

  private:
    struct Open {
        std::uint32_t region;
        std::int32_t path;
        std::int64_t row;  // of regions; ~row of calls
    };
    struct Stack {
        std::vector<Open> open;
        std::int32_t path = -1, parent = -1;
    };
    struct Life {
        std::int64_t born = 0, strange = 0, never_left = 0, not_entered = 0, backwards = 0;
        std::int64_t nested = 0, open = 0, out_of_range = 0;
    };
    struct Team {
        std::int64_t row;
        std::int32_t barriers;
    };

    void record_values(RecordKind kind, const RecordValues& values);
    std::int32_t path() const;
    std::int32_t parent() const;
    std::int32_t child_of(std::int32_t path, std::int32_t region);
    void enter_call(std::uint32_t region, std::int32_t operation, std::int32_t path);
    void enter_region(std::uint32_t region, std::int32_t row, std::int32_t path);
    std::int64_t begin_border(Borders& borders, std::uint64_t& count, std::int64_t of,
                              std::int64_t value);
    void end_border(Borders& borders, std::int64_t at);
    void close(const Open& open, std::int64_t seq);
    void close_all(Stack& stack);
    void forget_collective() {
        if (collective_seq_ != no_value) ++life_.open;
        collective_seq_ = no_value;
    }

    Tables& tables_;
    const Meaning& meaning_;
    Stack stack_;
    std::unordered_map<std::uint64_t, Stack> parked_;
    std::uint64_t task_ = 0;
    std::vector<std::int64_t> forks_;
    std::vector<Team> teams_;
    std::unordered_map<std::uint64_t, std::int32_t> children_;
    std::vector<std::pair<std::int32_t, std::int32_t>> last_child_{{-1, -1}};
    Life life_;
    std::int32_t location_ = 0;
    std::int64_t seq_ = 0, now_ = 0;
    std::int64_t first_call_ = 0, first_region_ = 0, call_ = -1;
    std::int64_t collective_seq_ = no_value, collective_ns_ = no_value;
    bool seen_ = false, read_ = false;
    std::unordered_map<std::uint32_t, std::int64_t> read_at_;  // last ordinal of each metric
};

}  // namespace burstline::otf2
