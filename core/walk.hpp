// walk.hpp -- One location's events, in order: what each pair opens, closes or adds.
// Knows the builder; knows nothing of text and of files.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "builder.hpp"
#include "bursts.hpp"

namespace burstline {

/// Fills the rows of one location from its event lines.
class LocationWalk {
  public:
    LocationWalk(Builder& builder, std::int32_t location, Extras& extras);

    /// Takes the next line; times must not decrease.
    void line(std::int64_t time, const std::uint32_t* codes, const std::int64_t* values,
              std::size_t pairs);
    /// Closes what is still open at `end`, and derives the bursts.
    void finish(std::int64_t end);

    std::size_t calls() const { return calls_; }

  private:
    void pair(std::int64_t time, std::uint32_t code, std::int64_t value);
    void open_call(std::int64_t time, std::int64_t value);
    void close_call(std::int64_t time, std::int64_t seq);
    void call_attribute(std::int64_t time, EventClass kind, std::int64_t value);
    void sizes_of_transfer(std::int64_t value, bool remote_memory);
    void reading(std::int64_t time, std::size_t counter, std::int64_t value);
    void poll(std::int64_t time, EventClass kind, std::int64_t value);
    void sample_frame(std::int64_t time, std::int64_t level, EventClass kind, std::int64_t value);
    void close_sample();
    void region(std::int64_t time, std::int64_t type, std::int64_t value);
    void lock(std::int64_t time, std::int64_t type, std::int64_t value);
    bool close_region_of(std::int64_t type, std::int64_t time);
    void close_region(std::int64_t time, std::size_t position);
    void watch(std::int64_t time, std::int64_t& since, bool unwatched, GapKind kind);
    void add_gap(std::int64_t start, std::int64_t end, GapKind kind);
    void note_set_member(std::int32_t counter);
    void fill_bursts_of_location();
    bool in_call() const { return open_ != unknown; }
    std::size_t call_row() const { return first_.calls + static_cast<std::size_t>(open_); }

    struct OpenRegion {
        std::int64_t type;
        std::size_t row;
        bool is_open = true;
    };

    Builder& builder_;
    const Vocabulary& words_;
    std::int32_t location_;
    Extras& extras_;
    PathReader path_, sampled_;
    Builder::Rows first_;
    std::size_t calls_ = 0, readings_ = 0, regions_ = 0, events_ = 0;
    std::int64_t seq_ = 0;
    std::int64_t open_ = unknown, enter_ = no_value;
    bool target_seen_ = false, row_open_ = false, introducing_ = false;
    std::int64_t row_time_ = no_value;
    std::vector<Polls> polls_;
    std::optional<Polls> pending_polls_;
    // The last is open. Regions that were left before those inside of them stay until they are
    // last: types that cross would make it quadratic to search them, or to take them out.
    std::vector<OpenRegion> stack_;
    std::unordered_map<std::int64_t, std::vector<std::size_t>> open_of_type_;  // places in stack_
    std::size_t first_gap_;
    std::int64_t flush_since_ = no_value, off_since_ = no_value;
    std::int64_t lock_address_ = 0;
    std::int64_t sample_ = no_value, periods_ = 1;  // of the sample being read: its time
    std::vector<Extras::Lock> held_;
    std::int64_t set_ = 0;
    std::vector<char> set_seen_;
};

}  // namespace burstline
