// layout.cpp -- see layout.hpp.
#include "layout.hpp"

#include <utility>

namespace burstline {

Layout::Layout(const std::vector<std::int32_t>& tasks_per_application,
               const std::vector<std::int32_t>& threads_per_task,
               const std::vector<std::int32_t>& bucket_of_task) {
    first_task_.push_back(0);
    for (const auto tasks : tasks_per_application)
        first_task_.push_back(first_task_.back() + tasks);
    first_location_.push_back(0);
    for (const auto threads : threads_per_task)
        first_location_.push_back(first_location_.back() + threads);

    std::size_t application = 0;
    for (std::size_t task = 0; task < threads_per_task.size(); ++task) {
        while (static_cast<std::int64_t>(task) >= first_task_[application + 1]) ++application;
        const auto bucket = static_cast<std::uint32_t>(bucket_of_task[task]);
        while (bucket_begin_.size() <= bucket) bucket_begin_.push_back(first_location_[task]);
        for (auto thread = 0; thread < threads_per_task[task]; ++thread) {
            process_.push_back(static_cast<std::int32_t>(task));
            rank_.push_back(static_cast<std::int32_t>(task) - first_task_[application]);
            bucket_.push_back(bucket);
        }
    }
    bucket_begin_.push_back(first_location_.back());
}

TypeTable::TypeTable(std::unordered_map<std::int64_t, EventClass> known, std::vector<Range> ranges)
    : known_(std::move(known)), ranges_(std::move(ranges)) {}

EventClass TypeTable::classify(std::int64_t type) const {
    if (const auto found = known_.find(type); found != known_.end()) return found->second;
    for (const auto& range : ranges_) {
        if (range.first <= type && type <= range.last) return range.kind;
    }
    return EventClass::other;
}

std::uint32_t TypeTable::code(std::int64_t type) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto found = codes_.find(type); found != codes_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    const auto [at, is_new] = codes_.try_emplace(type, static_cast<std::uint32_t>(types_.size()));
    if (is_new) {
        types_.push_back(type);
        kinds_.push_back(classify(type));
    }
    return at->second;
}

EventClass TypeTable::kind(std::uint32_t code) const {
    const std::shared_lock lock(mutex_);
    return kinds_[code];
}

std::vector<std::int64_t> TypeTable::types() const {
    const std::shared_lock lock(mutex_);
    return types_;
}

}  // namespace burstline
