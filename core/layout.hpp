// layout.hpp -- What a trace's header and labels say before its body is read:
// which objects exist, how they are grouped, and what each event type means.
// Knows ids and numbers; knows nothing of text.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace burstline {

/// What an event type means to the builder.
enum class EventClass : std::uint8_t {
    other = 0,
    mpi_call = 1,
    collective_sent = 2,
    collective_received = 3,
    collective_root = 4,
    collective_communicator = 5,
    counter = 6,
    counter_set = 7,
    caller_function = 8,
    caller_line = 9,
    poll_count = 10,
    poll_time = 11,
    application = 12,
    flush = 13,
    tracing = 14,
    rma_size = 15,
    rma_target = 16,
    io_size = 17,
    region = 18,
    lock = 19,
    region_line = 20,
    lock_address = 21,
    poll_waiting = 22,
    sample_function = 23,
    sample_line = 24,
    sample_periods = 25,
};

constexpr std::int64_t no_value = INT64_MIN;
constexpr std::int32_t unknown = -1;
constexpr std::int64_t never_left = std::int64_t{1} << 35;  // as NEVER_LEFT of the schema

/// The declared objects: application, task and thread of the file (counted
/// from 1) to a location (counted from 0), and the bucket of each location.
class Layout {
  public:
    /// @param tasks_per_application  tasks of each application
    /// @param threads_per_task       threads of each task, over all applications
    /// @param bucket_of_task         bucket of each task, ascending
    Layout(const std::vector<std::int32_t>& tasks_per_application,
           const std::vector<std::int32_t>& threads_per_task,
           const std::vector<std::int32_t>& bucket_of_task);

    /// The location, or -1 if the header declares no such object.
    std::int32_t locate(std::int64_t application, std::int64_t task, std::int64_t thread) const {
        if (application < 1 || application >= static_cast<std::int64_t>(first_task_.size()))
            return unknown;
        const auto before = first_task_[static_cast<std::size_t>(application) - 1];
        const auto behind = first_task_[static_cast<std::size_t>(application)];
        if (task < 1 || task > behind - before) return unknown;
        const auto process = static_cast<std::size_t>(before + task - 1);
        const auto first = first_location_[process];
        if (thread < 1 || thread > first_location_[process + 1] - first) return unknown;
        return first + static_cast<std::int32_t>(thread) - 1;
    }

    std::size_t locations() const { return process_.size(); }
    std::size_t buckets() const { return bucket_begin_.size() - 1; }
    std::size_t bucket_of(std::int32_t location) const {
        return bucket_[static_cast<std::size_t>(location)];
    }
    std::int32_t process_of(std::int32_t location) const {
        return process_[static_cast<std::size_t>(location)];
    }
    std::int32_t rank_of(std::int32_t location) const {
        return rank_[static_cast<std::size_t>(location)];
    }
    /// Locations of bucket k are [bucket_begin(k), bucket_begin(k + 1)).
    std::int32_t bucket_begin(std::size_t bucket) const { return bucket_begin_[bucket]; }

  private:
    std::vector<std::int32_t> first_task_, first_location_;
    std::vector<std::int32_t> process_, rank_, bucket_begin_;
    std::vector<std::uint32_t> bucket_;
};

/// Event types met so far, numbered in order of arrival, with their class.
/// Threads share one table; each keeps a cache of its own (TypeCache).
class TypeTable {
  public:
    struct Range {
        std::int64_t first, last;
        EventClass kind;
    };

    /// @param known   classes of types that the labels name
    /// @param ranges  classes of whole ranges, for types without a label
    TypeTable(std::unordered_map<std::int64_t, EventClass> known, std::vector<Range> ranges);

    std::uint32_t code(std::int64_t type);
    EventClass kind(std::uint32_t code) const;
    /// Types by code, as of now.
    std::vector<std::int64_t> types() const;

  private:
    EventClass classify(std::int64_t type) const;

    std::unordered_map<std::int64_t, EventClass> known_;
    std::vector<Range> ranges_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::int64_t, std::uint32_t> codes_;
    std::vector<std::int64_t> types_;
    std::vector<EventClass> kinds_;
};

/// One thread's view of a TypeTable: a small open-addressed cache in front of it.
class TypeCache {
  public:
    struct Entry {
        std::int64_t type = -1;
        std::uint32_t code = 0;
        EventClass kind = EventClass::other;
    };

    explicit TypeCache(TypeTable& table) : table_(&table), entries_(size) {}

    const Entry& find(std::int64_t type) {
        Entry& entry = entries_[(static_cast<std::uint64_t>(type) * 0x9E3779B97F4A7C15ull) >> 54];
        if (entry.type != type) {
            entry.code = table_->code(type);
            entry.kind = table_->kind(entry.code);
            entry.type = type;
        }
        return entry;
    }

  private:
    static constexpr std::size_t size = 1024;
    TypeTable* table_;
    std::vector<Entry> entries_;
};

}  // namespace burstline
