// block.hpp -- A stretch of whole lines of a .prv: scanned into columns, then
// encoded per location. Knows bytes and integers; knows nothing of files.
//
//     bytes --scan--> event, state and communication columns --encode--> segments
//
// A block is recycled: its columns keep their memory from one stretch to the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "layout.hpp"
#include "varint.hpp"

namespace burstline {

/// Why a line, or a part of it, was not used. The names are kinds of defects.
enum class Flaw : std::uint8_t {
    malformed_line,
    wrong_field_count,
    odd_pairs,
    undeclared_object,
    time_out_of_range,
    number_out_of_range,
    unknown_record,
    obsolete_record,
    inverted_state,
    unterminated_line,
    count
};

constexpr std::size_t flaw_kinds = static_cast<std::size_t>(Flaw::count);

struct FlawSeen {
    std::uint64_t count = 0;
    std::uint64_t first_line = 0;  // within the block, from 1
    std::string excerpt;
};

/// Room for the most that a stretch of text can hold; touched only where it is used.
template <class T>
class Room {
  public:
    void require(std::size_t size) {
        if (size <= size_) return;
        values_ = std::make_unique_for_overwrite<T[]>(size);
        size_ = size;
    }
    T* data() const { return values_.get(); }
    T& operator[](std::size_t at) const { return values_[at]; }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0;
};

struct EventLine {
    std::int32_t location;
    std::uint32_t first_pair;
    std::int64_t time;
};

struct StateLine {
    std::int32_t location;
    std::int64_t begin, end, state;
};

struct CommunicationLine {
    std::int32_t sender, receiver;
    std::int64_t logical_send, physical_send, logical_receive, physical_receive, size, tag;
};

/// Where one location's part of a block lies in Block::bytes().
struct Segment {
    std::int32_t location;
    std::uint32_t events_size, states_size;  // bytes, events first
    std::uint64_t offset;
    std::uint32_t event_lines, pairs, states;
    std::uint32_t calls, readings, regions;
    std::int64_t first_event, last_event;  // by time
    std::int64_t first_state, last_state;  // in the order of the file
    std::int64_t latest_end;
    bool events_sorted, states_sorted;
};

class Block {
  public:
    /// @param layout  the declared objects; outlives the block
    /// @param types   shared table of event types; outlives the block
    /// @param unit    nanoseconds per unit of the file's times
    Block(const Layout& layout, TypeTable& types, std::int64_t unit);

    /// Reads whole lines into columns; whatever an earlier scan left is gone.
    /// The last line may lack its end; it is then dropped and counted.
    /// Time O(bytes); memory in proportion to the bytes, never to a number in them.
    void scan(std::span<const char> text);

    /// Groups what was scanned by location and packs it. Time O(records + locations).
    void encode();

    std::uint64_t lines() const { return lines_; }
    std::span<const EventLine> events() const { return {events_.data(), events_.size() - 1}; }
    std::span<const std::int64_t> pair_values() const { return {values_.data(), pairs_}; }
    std::span<const StateLine> states() const { return states_; }
    std::span<const CommunicationLine> communications() const { return communications_; }
    std::span<const Segment> segments() const { return segments_; }
    std::span<const std::uint8_t> bytes() const { return {bytes_.data(), used_}; }
    const std::array<FlawSeen, flaw_kinds>& flaws() const { return flaws_; }
    /// The lines that are no records, communicators and comments, with their line number.
    const std::vector<std::pair<std::uint64_t, std::string>>& texts() const { return texts_; }
    /// The processor of a location's first record here, or -1: (location, cpu).
    const std::vector<std::pair<std::int32_t, std::int32_t>>& processors() const {
        return processors_;
    }

  private:
    const char* scan_line(const char* at, const char* end);
    bool scan_state(const char*& at);
    bool scan_event(const char*& at);
    bool scan_communication(const char*& at);
    bool head(const char*& at, std::int64_t& cpu, std::int32_t& location);
    bool colon(const char*& at);
    bool line_ends(const char* at);
    bool time(const char*& at, std::int64_t& value);
    bool fail(Flaw flaw) {
        flaw_ = flaw;
        return false;
    }
    void note(Flaw flaw, const char* at, const char* end);
    void note_processor(std::int32_t location, std::int64_t cpu);
    void encode_events(Segment& segment, std::span<const std::uint32_t> rows);
    void encode_states(Segment& segment, std::span<const std::uint32_t> rows);
    std::uint8_t* reserve(std::size_t size);

    const Layout* layout_;
    TypeCache cache_;
    std::int64_t unit_, latest_;
    Flaw flaw_ = Flaw::malformed_line;
    std::uint64_t lines_ = 0;
    std::vector<EventLine> events_;
    Room<std::int64_t> types_, values_;
    std::size_t pairs_ = 0;
    std::vector<StateLine> states_;
    std::vector<CommunicationLine> communications_;
    std::array<FlawSeen, flaw_kinds> flaws_;
    std::vector<std::pair<std::uint64_t, std::string>> texts_;
    std::vector<std::pair<std::int32_t, std::int32_t>> processors_;
    std::vector<std::int32_t> cpu_seen_;
    std::vector<Segment> segments_;
    std::vector<std::uint32_t> event_rows_, state_rows_, event_begin_, state_begin_;
    std::vector<std::uint64_t> last_row_;
    std::uint64_t row_ = 0;
    std::vector<std::uint8_t> bytes_;
    std::size_t used_ = 0;
};

}  // namespace burstline
