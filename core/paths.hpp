// paths.hpp -- Call paths as a trace writes them: sequences of (level, function,
// line) ids, each distinct one stored once.
// Knows numbers; knows nothing of Python, files or calls.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "layout.hpp"

namespace burstline {

using RawPath = std::vector<std::int64_t>;  // level, function, line; level, function, line; …

/// What the levels of a sampled stack are counted from: their labels are others than those of
/// calls.
constexpr std::int64_t first_sampled_level = 1000;

struct RawPathHash {
    std::size_t operator()(const RawPath& path) const {
        std::uint64_t hash = path.size();
        for (const auto value : path)
            hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ull;
        return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
};

/// Distinct paths, numbered in order of arrival, with the first place each occurs
/// at: that makes an order which no number of threads can change.
class PathTable {
  public:
    /// The number of a path; `place` is (location << 32 | call) of one occurrence.
    std::int32_t intern(const RawPath& path, std::uint64_t place) {
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] =
            numbers_.try_emplace(path, static_cast<std::int32_t>(paths_.size()));
        if (is_new) {
            paths_.push_back(&at->first);
            first_.push_back(place);
        } else {
            auto& first = first_[static_cast<std::size_t>(at->second)];
            if (place < first) first = place;
        }
        return at->second;
    }
    std::size_t size() const { return paths_.size(); }
    const RawPath& path(std::size_t number) const { return *paths_[number]; }
    std::uint64_t first(std::size_t number) const { return first_[number]; }

  private:
    std::mutex mutex_;
    std::unordered_map<RawPath, std::int32_t, RawPathHash> numbers_;
    std::vector<const RawPath*> paths_;
    std::vector<std::uint64_t> first_;
};

/// The frames of the call being read, and one location's view of a PathTable.
class PathReader {
  public:
    explicit PathReader(PathTable& table) : table_(&table) {}

    void clear() { frames_.clear(); }
    void add_function(std::int64_t level, std::int64_t function) { frame(level)[1] = function; }
    void add_line(std::int64_t level, std::int64_t line) { frame(level)[2] = line; }

    /// The number of the path collected since clear(), or -1 if there is none.
    std::int32_t number(std::uint64_t place) {
        if (frames_.empty()) return unknown;
        const auto [at, is_new] = known_.try_emplace(frames_, 0);
        if (is_new) at->second = table_->intern(frames_, place);
        return at->second;
    }

  private:
    std::int64_t* frame(std::int64_t level) {
        std::size_t at = frames_.size();
        while (at >= 3 && frames_[at - 3] >= level) at -= 3;
        if (at == frames_.size() || frames_[at] != level) {
            frames_.insert(frames_.begin() + static_cast<std::ptrdiff_t>(at), {level, 0, 0});
        }
        return frames_.data() + at;
    }

    PathTable* table_;
    RawPath frames_;
    std::unordered_map<RawPath, std::int32_t, RawPathHash> known_;
};

}  // namespace burstline
