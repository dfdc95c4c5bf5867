// prv_writer.hpp -- Columns of records -> the body of a .prv, in order of time.
// Knows arrays of integers and a buffer of characters; knows no Python and no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace burstline {

using Integers = std::span<const std::int64_t>;

/// How each location is called in records: the four ids, as printed.
struct RecordObjects {
    Integers cpu, application, task, thread;
};

/// Records of every location. Rows of location k are `offsets[k] .. offsets[k + 1]`, by time.
struct RecordColumns {
    Integers event_offsets, event_time, event_type, event_value;
    Integers state_offsets, state_begin, state_end, state_value;
    /// Communications by sender, in order of `link_leave` within a sender.
    Integers link_offsets, link_send, link_leave, link_receiver, link_post, link_receive;
    Integers link_size, link_tag;
};

/// Merges the records of all locations by time and prints them.
///
/// At one moment of one location the order is: states that begin, events (one line for all
/// of them, up to `most_pairs`), communications whose sender left its call. Among locations
/// of equal time the first comes first. Time O(records log locations).
class BodyWriter {
  public:
    static constexpr std::int64_t most_pairs = 1024;
    /// No line is longer: 1024 pairs of two 20-digit numbers, and the ids before them.
    static constexpr std::size_t longest_line = 48 * 1024;

    explicit BodyWriter(const RecordObjects& objects);

    /// Starts on other records; they must outlive the calls of `fill`.
    /// Throws std::invalid_argument if lengths or offsets contradict each other.
    void load(const RecordColumns& columns);

    /// Prints whole lines while there is room for the longest one.
    /// @return characters written; 0 when every record is printed
    std::size_t fill(std::span<char> out);

    /// Records left out so far because no reader accepts them: states that end before they
    /// begin, event types outside 1 .. 2^31 - 1.
    [[nodiscard]] std::int64_t dropped() const { return dropped_; }
    /// First location whose records run backwards in time, or -1.
    [[nodiscard]] std::int64_t disordered() const { return disordered_; }

  private:
    struct Cursor {
        std::int64_t event, event_end, state, state_end, link, link_end;
    };

    [[nodiscard]] std::int64_t next_time(const Cursor& cursor) const;
    void build_tree();
    void advance(std::size_t location);
    char* print_moment(char* out, std::size_t location, std::int64_t time);
    char* print_state(char* out, std::size_t location, std::int64_t row);
    char* print_events(char* out, std::size_t location, Cursor& cursor, std::int64_t time);
    char* print_link(char* out, std::size_t location, std::int64_t row);

    std::vector<std::string> names_;
    RecordColumns columns_;
    std::vector<Cursor> cursors_;
    std::vector<std::int64_t> times_;     // next time of each location, `never` when it is done
    std::vector<std::uint32_t> winners_;  // a tournament over locations; winners_[1] is next
    std::size_t leaves_ = 1;
    std::int64_t dropped_ = 0;
    std::int64_t disordered_ = -1;
};

}  // namespace burstline
