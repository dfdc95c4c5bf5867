// journal.cpp -- see journal.hpp.
#include "journal.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace burstline {
namespace {

/// Adds what a stretch of text that comes next has, of one location.
template <typename Counts>
void add(const Counts& more, LocationCounts& all) {
    if (more.event_lines > 0) {
        const bool first = all.event_lines == 0;
        all.events_sorted &= more.events_sorted && (first || more.first_event >= all.last_event);
        all.first_event = first ? more.first_event : std::min(all.first_event, more.first_event);
        all.last_event = std::max(all.last_event, more.last_event);
    }
    if (more.states > 0) {
        const bool first = all.states == 0;
        all.states_sorted &= more.states_sorted && (first || more.first_state >= all.last_state);
        if (first) all.first_state = more.first_state;
        all.last_state = more.last_state;
        all.latest_end = std::max(all.latest_end, more.latest_end);
    }
    all.event_lines += more.event_lines;
    all.pairs += more.pairs;
    all.calls += more.calls;
    all.readings += more.readings;
    all.regions += more.regions;
    all.states += more.states;
}

void add_processor(std::int32_t processor, LocationCounts& all) {
    all.several_processors |= all.processor != unknown && all.processor != processor;
    if (all.processor == unknown) all.processor = processor;
}

}  // namespace

struct Journal::Share {
    std::vector<SegmentHeader> segments;
    std::vector<SendHalf> sends;
    std::vector<ReceiveHalf> receives;
    std::uint64_t payload_begin = 0, payload_end = 0;

    bool empty() const { return segments.empty() && sends.empty() && receives.empty(); }
};

Journal::Journal(const Layout& layout)
    : layout_(&layout), counts_(layout.locations()), buckets_(layout.buckets()) {}

void Journal::count_segments(const Block& block) {
    for (const Segment& segment : block.segments())
        add(segment, counts_[static_cast<std::size_t>(segment.location)]);
    for (const auto& [location, processor] : block.processors())
        add_processor(processor, counts_[static_cast<std::size_t>(location)]);
}

void Journal::count(std::span<const std::uint8_t> counted) {
    static_assert(std::is_trivially_copyable_v<LocationCounts>);
    if (counted.size() != counts_.size() * sizeof(LocationCounts))
        throw std::invalid_argument("counts of other locations");
    for (std::size_t k = 0; k < counts_.size(); ++k) {
        LocationCounts more;
        std::memcpy(&more, counted.data() + k * sizeof more, sizeof more);
        LocationCounts& all = counts_[k];
        add(more, all);
        all.several_processors |= more.several_processors;
        if (more.processor != unknown) add_processor(more.processor, all);
        all.sends += more.sends;
        all.receives += more.receives;
        communications_ += more.sends;
    }
}

void Journal::append(const Block& block) {
    count_segments(block);
    std::vector<Share> shares(buckets_.size());
    for (const Segment& segment : block.segments()) {
        Share& share = shares[layout_->bucket_of(segment.location)];
        if (share.segments.empty()) share.payload_begin = segment.offset;
        share.payload_end = segment.offset + segment.events_size + segment.states_size;
        share.segments.push_back({segment.location, segment.events_size, segment.states_size, 0});
    }
    for (const CommunicationLine& line : block.communications()) {
        LocationCounts& sender = counts_[static_cast<std::size_t>(line.sender)];
        shares[layout_->bucket_of(line.sender)].sends.push_back(
            {line.sender, line.receiver, line.logical_send, line.physical_send, line.size,
             line.tag});
        shares[layout_->bucket_of(line.receiver)].receives.push_back(
            {line.receiver, line.sender, static_cast<std::int64_t>(sender.sends),
             line.logical_receive, line.physical_receive, line.size, line.tag});
        ++sender.sends;
        ++counts_[static_cast<std::size_t>(line.receiver)].receives;
        ++communications_;
    }
    for (std::size_t bucket = 0; bucket < shares.size(); ++bucket) {
        const Share& share = shares[bucket];
        if (share.empty()) continue;
        const PartHeader header{0, share.segments.size(), share.sends.size(),
                                share.receives.size()};
        const std::size_t payload = share.payload_end - share.payload_begin;
        const std::size_t sizes[] = {sizeof header, share.segments.size() * sizeof(SegmentHeader),
                                     share.sends.size() * sizeof(SendHalf),
                                     share.receives.size() * sizeof(ReceiveHalf), payload};
        std::size_t size = 0;
        for (const auto part : sizes) size += part;
        size = (size + 7) / 8 * 8;
        Part part{std::make_unique_for_overwrite<std::uint8_t[]>(size), size};
        const void* const sources[] = {&header, share.segments.data(), share.sends.data(),
                                       share.receives.data(),
                                       block.bytes().data() + share.payload_begin};
        std::uint8_t* at = part.bytes.get();
        for (std::size_t k = 0; k < std::size(sizes); ++k) {
            if (sizes[k] > 0) std::memcpy(at, sources[k], sizes[k]);
            at += sizes[k];
        }
        std::memset(at, 0, static_cast<std::size_t>(part.bytes.get() + size - at));
        std::memcpy(part.bytes.get(), &size, sizeof size);
        add_part(bucket, std::move(part));
    }
}

void Journal::add_part(std::size_t bucket, Part part) {
    resident_ += part.size;
    buckets_[bucket].push_back(std::move(part));
}

std::vector<std::span<const std::uint8_t>> Journal::parts(std::size_t bucket) const {
    std::vector<std::span<const std::uint8_t>> result;
    for (const Part& part : buckets_[bucket]) result.emplace_back(part.bytes.get(), part.size);
    return result;
}

void Journal::release(std::size_t bucket) {
    for (const Part& part : buckets_[bucket]) resident_ -= part.size;
    std::vector<Part>().swap(buckets_[bucket]);
}

void Journal::shift_ordinals(const Part& part, std::span<const std::int64_t> sent_before) const {
    PartHeader header;
    std::memcpy(&header, part.bytes.get(), sizeof header);
    const std::size_t before =
        sizeof header + header.segments * sizeof(SegmentHeader) + header.sends * sizeof(SendHalf);
    if (before + header.receives * sizeof(ReceiveHalf) > part.size)
        throw std::invalid_argument("a spilled part is cut short");
    auto* const receives = reinterpret_cast<ReceiveHalf*>(part.bytes.get() + before);
    for (std::uint64_t k = 0; k < header.receives; ++k) {
        const auto sender = static_cast<std::size_t>(receives[k].sender);
        if (sender >= sent_before.size())
            throw std::invalid_argument("a spilled part names a location that is not there");
        receives[k].ordinal += sent_before[sender];
    }
}

void Journal::restore(std::size_t bucket, std::span<const std::uint8_t> written,
                      std::span<const std::int64_t> sent_before) {
    if (!sent_before.empty() && sent_before.size() != counts_.size())
        throw std::invalid_argument("counts of other locations");
    std::vector<Part> parts;
    while (!written.empty()) {
        PartHeader header;
        if (written.size() < sizeof header)
            throw std::invalid_argument("a spilled part is cut short");
        std::memcpy(&header, written.data(), sizeof header);
        if (header.size < sizeof header || header.size > written.size()) {
            throw std::invalid_argument("a spilled part is cut short");
        }
        Part part{std::make_unique_for_overwrite<std::uint8_t[]>(header.size), header.size};
        std::memcpy(part.bytes.get(), written.data(), header.size);
        if (!sent_before.empty()) shift_ordinals(part, sent_before);
        resident_ += header.size;
        parts.push_back(std::move(part));
        written = written.subspan(header.size);
    }
    for (Part& part : buckets_[bucket]) parts.push_back(std::move(part));
    buckets_[bucket] = std::move(parts);
}

BucketIndex Journal::open(std::size_t bucket) const {
    BucketIndex index;
    index.first_location = layout_->bucket_begin(bucket);
    const auto locations =
        static_cast<std::size_t>(layout_->bucket_begin(bucket + 1) - index.first_location);
    index.events.resize(locations);
    index.states.resize(locations);
    index.sends.resize(locations);
    index.receives.resize(locations);
    const auto local = [&](std::int32_t location) {
        return static_cast<std::size_t>(location - index.first_location);
    };
    for (const Part& part : buckets_[bucket]) {
        PartHeader header;
        std::memcpy(&header, part.bytes.get(), sizeof header);
        const auto* const segments =
            reinterpret_cast<const SegmentHeader*>(part.bytes.get() + sizeof header);
        const auto* const sends = reinterpret_cast<const SendHalf*>(segments + header.segments);
        const auto* const receives = reinterpret_cast<const ReceiveHalf*>(sends + header.sends);
        const auto* payload = reinterpret_cast<const std::uint8_t*>(receives + header.receives);
        for (std::uint64_t k = 0; k < header.segments; ++k) {
            const SegmentHeader& segment = segments[k];
            const auto* const behind = payload + segment.events_size;
            if (segment.events_size > 0)
                index.events[local(segment.location)].push_back({payload, behind});
            if (segment.states_size > 0) {
                index.states[local(segment.location)].push_back(
                    {behind, behind + segment.states_size});
            }
            payload = behind + segment.states_size;
        }
        for (std::uint64_t k = 0; k < header.sends; ++k)
            index.sends[local(sends[k].location)].push_back(sends + k);
        for (std::uint64_t k = 0; k < header.receives; ++k) {
            index.receives[local(receives[k].location)].push_back(receives + k);
        }
    }
    return index;
}

}  // namespace burstline
