// journal.hpp -- What a file says about each location, in the file's order and
// packed: about a quarter of the text. Blocks are appended in file order;
// buckets of locations are built, or spilled and restored, one at a time.
// Knows blocks and the layout; knows nothing of files or tables.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "block.hpp"
#include "layout.hpp"

namespace burstline {

/// A communication seen by its sender.
struct SendHalf {
    std::int32_t location, receiver;
    std::int64_t logical, physical, size, tag;
};

/// The same seen by its receiver; `ordinal` counts the sender's communications.
struct ReceiveHalf {
    std::int32_t location, sender;
    std::int64_t ordinal, logical, physical, size, tag;
};

/// What is known of a location before it is built. Calls are exact; readings
/// and regions are upper bounds.
struct LocationCounts {
    std::uint64_t event_lines = 0, pairs = 0, calls = 0, readings = 0, regions = 0, states = 0;
    std::uint64_t sends = 0, receives = 0;
    std::int64_t first_event = no_value, last_event = no_value;  // by time
    std::int64_t first_state = no_value, last_state = no_value;  // in the order of the file
    std::int64_t latest_end = no_value;
    bool events_sorted = true, states_sorted = true;
    std::int32_t processor = unknown;
    bool several_processors = false;
};

struct Bytes {
    const std::uint8_t* begin;
    const std::uint8_t* end;
};

/// A bucket opened for building: the parts of each of its locations, in file order.
struct BucketIndex {
    std::int32_t first_location = 0;
    std::vector<std::vector<Bytes>> events, states;         // by location in the bucket
    std::vector<std::vector<const SendHalf*>> sends;        // likewise
    std::vector<std::vector<const ReceiveHalf*>> receives;  // likewise
};

class Journal {
  public:
    explicit Journal(const Layout& layout);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Takes over what a block has encoded; blocks must come in file order.
    void append(const Block& block);

    const LocationCounts& counts(std::int32_t location) const {
        return counts_[static_cast<std::size_t>(location)];
    }
    std::uint64_t communications() const { return communications_; }
    /// The counts of all locations as bytes, for `count` of another journal.
    std::span<const std::uint8_t> counted() const {
        return {reinterpret_cast<const std::uint8_t*>(counts_.data()),
                counts_.size() * sizeof(LocationCounts)};
    }
    /// Counts what the journal of the stretch of text that comes next has counted.
    /// @throws std::invalid_argument if these are not the counts of all locations
    void count(std::span<const std::uint8_t> counted);
    /// Bytes held in memory, over all buckets.
    std::uint64_t resident() const { return resident_; }

    /// The parts of a bucket held in memory, as spans to write out one after the other.
    std::vector<std::span<const std::uint8_t>> parts(std::size_t bucket) const;
    /// Forgets the parts of a bucket: they are written out, or built.
    void release(std::size_t bucket);
    /// Takes back the parts of a bucket as they were written out, before those in memory.
    /// @param sent_before  communications that each location had sent before the text of these
    ///                     parts, which ordinals do not count yet; none if they do
    /// @throws std::invalid_argument if the bytes are not whole parts
    void restore(std::size_t bucket, std::span<const std::uint8_t> written,
                 std::span<const std::int64_t> sent_before = {});

    BucketIndex open(std::size_t bucket) const;

  private:
    struct Part {
        std::unique_ptr<std::uint8_t[]> bytes;
        std::size_t size;
    };
    struct PartHeader {
        std::uint64_t size, segments, sends, receives;
    };
    struct SegmentHeader {
        std::int32_t location;
        std::uint32_t events_size, states_size, reserved;
    };
    struct Share;  // what one bucket takes of a block

    void count_segments(const Block& block);
    void add_part(std::size_t bucket, Part part);
    void shift_ordinals(const Part& part, std::span<const std::int64_t> sent_before) const;

    const Layout* layout_;
    std::vector<LocationCounts> counts_;
    std::vector<std::vector<Part>> buckets_;
    std::uint64_t resident_ = 0, communications_ = 0;
};

}  // namespace burstline
