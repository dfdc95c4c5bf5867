// builder.hpp -- From the journal of a location to its rows of the tables: a walk
// over its events that opens and closes calls, regions, gaps and readings.
// Knows the journal, the layout and the columns; knows nothing of text and of files.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "columns.hpp"
#include "journal.hpp"
#include "layout.hpp"
#include "paths.hpp"

namespace burstline {

/// What kind of call an operation is: bits.
enum CallKind : std::uint16_t {
    blocking_send = 1,
    immediate_send = 2,
    start = 4,
    blocking_receive = 8,
    immediate_receive = 16,
    completion = 32,
    collective = 64,
    reads_file = 128,
    writes_file = 256,
    gets_memory = 512,
    puts_memory = 1024,
};

/// What a value of a lock event says that the thread does with the lock.
enum class LockStep : std::uint8_t { released, requested, acquired, releasing };

struct Vocabulary {
    std::vector<EventClass> kind;       // of each event code
    std::vector<std::int64_t> type;     // of each event code
    std::vector<std::int32_t> counter;  // column of each event code, or -1
    std::size_t counters = 0;
    std::vector<std::int16_t> operation;   // of each value of an MPI event, or -1
    std::vector<std::uint16_t> call_kind;  // of each operation
    std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t>
        communicator;                                     // (application, id)
    std::vector<std::int32_t> application;                // of each location
    std::map<std::int64_t, LockStep> lock_step;           // of each value of a lock event
    std::int64_t first_function = 0, first_line = 0;      // types of callers at level 0
    std::int64_t sampled_function = 0, sampled_line = 0;  // and of what was executed
    std::int64_t end_of_time = 0;                         // closes what never ends
};

/// Small things that few locations have many of.
struct Extras {
    struct Gap {
        std::int32_t location;
        std::int64_t start, end;
        std::int8_t kind;
    };
    struct Lock {
        std::int32_t location;
        std::int64_t lock, acquire, acquire_seq, release, release_seq;
    };
    struct Defect {
        std::uint64_t count = 0;
        std::int32_t location = unknown;
        std::int64_t time = 0;
    };
    std::vector<Gap> gaps;
    struct Samples {  // one row each
        std::vector<std::int32_t> location, path;
        std::vector<std::int64_t> time, periods;
    };
    std::vector<Lock> locks;
    Samples samples;
    std::set<std::pair<std::int64_t, std::int32_t>> set_members;  // (set, counter column)
    std::map<std::string, Defect> defects;

    void report(const std::string& kind, std::int32_t location, std::int64_t time) {
        Defect& defect = defects[kind];
        if (defect.count++ == 0) defect.location = location, defect.time = time;
    }
};

/// Order of gap kinds, as in schema.GAP_KINDS.
enum GapKind : std::int8_t { flush_gap, tracing_off_gap, not_created_gap, cut_gap, dropped_gap };

/// Builds the locations of buckets [first_bucket, last_bucket) into tables that are
/// allocated once for all of them. Buckets may be built by different threads.
///
/// What has no name yet stays recognisable: an operation without a code is -1 - its
/// value, a communicator without a line -2 - its id.
class Builder {
  public:
    /// @param raw     whether events are kept as recorded
    /// @param states  whether states are
    /// A builder of all buckets joins both sides of a message in place; one of a part
    /// leaves the receiver's side apart, with its key.
    Builder(Journal& journal, const Layout& layout, const Vocabulary& vocabulary, PathTable& paths,
            std::size_t first_bucket, std::size_t last_bucket, bool raw, bool states);

    /// Builds one bucket and frees its journal.
    void build(std::size_t bucket);

    /// Closes the holes that generous bounds left; call once, after the last bucket.
    void finish();

    struct Rows {
        std::uint64_t calls = 0, readings = 0, regions = 0, bursts = 0, events = 0, states = 0,
                      sends = 0, receives = 0;
    };
    /// Rows of all tables; exact after finish().
    const Rows& rows() const { return total_; }
    const Extras& extras() const { return extras_; }

    CallTable calls;
    ReadingTable readings;
    RegionTable regions;
    BurstTable bursts;
    EventTable events;
    StateTable states;
    SendTable sends;
    ReceiveTable receives;

  private:
    friend class LocationWalk;
    friend class MessageSides;

    /// Where each location's rows begin, and at last where all of them end.
    static std::vector<Rows> offsets(const Journal& journal, const Layout& layout,
                                     std::size_t first, std::size_t last, bool raw, bool states);
    Builder(Journal& journal, const Layout& layout, const Vocabulary& vocabulary, PathTable& paths,
            std::int32_t first_location, bool joined, bool raw, bool states,
            std::vector<Rows> offset);
    std::size_t local(std::int32_t location) const {
        return static_cast<std::size_t>(location - first_location_);
    }
    void build_location(const BucketIndex& index, std::int32_t location, Extras& extras);
    void build_states(const std::vector<Bytes>& parts, std::int32_t location);
    void merge(Extras&& extras);

    Journal* journal_;
    const Layout* layout_;
    const Vocabulary* vocabulary_;
    PathTable* paths_;
    std::int32_t first_location_;
    bool raw_, keep_states_, joined_;
    Rows total_;
    std::vector<Rows> offset_;                // of each location, one more at the end
    std::vector<Rows> filled_;                // of each location
    std::vector<std::uint64_t> send_offset_;  // of each location of the trace, where joined
    std::mutex mutex_;
    Extras extras_;
};

}  // namespace burstline
