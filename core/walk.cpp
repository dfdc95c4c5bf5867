// walk.cpp -- see walk.hpp.
#include "walk.hpp"

#include <algorithm>

#include "bursts.hpp"

namespace burstline {

namespace {
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
}  // namespace

LocationWalk::LocationWalk(Builder& builder, std::int32_t location, Extras& extras)
    : builder_(builder), words_(*builder.vocabulary_), location_(location), extras_(extras),
      path_(*builder.paths_), sampled_(*builder.paths_),
      first_(builder.offset_[builder.local(location)]), first_gap_(extras.gaps.size()),
      set_seen_(words_.counters, false) {}

void LocationWalk::line(std::int64_t time, const std::uint32_t* codes, const std::int64_t* values,
                        std::size_t pairs) {
    introducing_ = false;
    if (time != row_time_) row_open_ = false;
    for (std::size_t k = 0; k < pairs; ++k) pair(time, codes[k], values[k]);
}

void LocationWalk::pair(std::int64_t time, std::uint32_t code, std::int64_t value) {
    if (builder_.raw_) {
        const auto row = first_.events + events_++;
        builder_.events.location[row] = location_;
        builder_.events.seq[row] = seq_;
        builder_.events.time_ns[row] = time;
        builder_.events.type[row] = words_.type[code];
        builder_.events.value[row] = value;
    }
    switch (const auto kind = words_.kind[code]; kind) {
        case EventClass::mpi_call:
            row_open_ = false;
            if (value != 0)
                open_call(time, value);
            else
                close_call(time, seq_);
            break;
        case EventClass::counter:
            reading(time, static_cast<std::size_t>(words_.counter[code]), value);
            break;
        case EventClass::counter_set:
            set_ = value;
            std::ranges::fill(set_seen_, false);
            introducing_ = true;
            break;
        case EventClass::caller_function:
            if (in_call() && time == enter_)
                path_.add_function(words_.type[code] - words_.first_function, value);
            break;
        case EventClass::caller_line:
            if (in_call() && time == enter_)
                path_.add_line(words_.type[code] - words_.first_line, value);
            break;
        case EventClass::sample_function:
            sample_frame(time, words_.type[code] - words_.sampled_function, kind, value);
            break;
        case EventClass::sample_line:
            sample_frame(time, words_.type[code] - words_.sampled_line, kind, value);
            break;
        case EventClass::sample_periods:
            if (sample_ == time) periods_ = std::max<std::int64_t>(value, 1);
            break;
        case EventClass::poll_count:
        case EventClass::poll_time:
        case EventClass::poll_waiting:
            poll(time, kind, value);
            break;
        case EventClass::flush:
            watch(time, flush_since_, value != 0, flush_gap);
            break;
        case EventClass::tracing:
            watch(time, off_since_, value == 0, tracing_off_gap);
            break;
        case EventClass::region:
            region(time, words_.type[code], value);
            break;
        case EventClass::lock:
            lock(time, words_.type[code], value);
            break;
        case EventClass::lock_address:
            lock_address_ = value;
            break;
        case EventClass::region_line:
            if (value != 0 && !stack_.empty()) builder_.regions.line[stack_.back().row] = value;
            break;
        case EventClass::other:
        case EventClass::application:
            break;
        default:
            call_attribute(time, kind, value);
    }
    ++seq_;
}

void LocationWalk::open_call(std::int64_t time, std::int64_t value) {
    if (in_call()) {
        extras_.report("call_entered_inside_another", location_, time);
        close_call(time, seq_);
    }
    open_ = static_cast<std::int64_t>(calls_++);
    enter_ = time;
    target_seen_ = false;
    path_.clear();
    CallTable& calls = builder_.calls;
    const auto row = call_row();
    const bool known = value > 0 && value < static_cast<std::int64_t>(words_.operation.size()) &&
                       words_.operation[static_cast<std::size_t>(value)] >= 0;
    constexpr std::int64_t largest = 32000;
    calls.location[row] = location_;
    calls.call[row] = static_cast<std::int32_t>(open_);
    calls.operation[row] =
        known ? words_.operation[static_cast<std::size_t>(value)]
              : static_cast<std::int16_t>(-1 - (value > 0 && value < largest ? value : largest));
    calls.enter_ns[row] = time;
    calls.enter_seq[row] = seq_;
    calls.communicator[row] = calls.peer[row] = calls.tag[row] = calls.root[row] = unknown;
    calls.sent_bytes[row] = calls.received_bytes[row] = no_value;
    if (pending_polls_ || !polls_.empty()) {
        polls_.resize(calls_);
        polls_.back() = pending_polls_.value_or(Polls{});
        pending_polls_.reset();
    }
}

void LocationWalk::close_call(std::int64_t time, std::int64_t seq) {
    if (!in_call()) {
        extras_.report("call_left_but_never_entered", location_, time);
        return;
    }
    const auto row = call_row();
    builder_.calls.leave_ns[row] = time;
    builder_.calls.leave_seq[row] = seq;
    const auto place =
        static_cast<std::uint64_t>(location_) << 32 | static_cast<std::uint32_t>(open_);
    builder_.calls.call_path[row] = path_.number(place);
    open_ = unknown;
}

void LocationWalk::call_attribute(std::int64_t time, EventClass kind, std::int64_t value) {
    if (!in_call() || time != enter_) return;
    CallTable& calls = builder_.calls;
    const auto row = call_row();
    switch (kind) {
        case EventClass::collective_sent:
            calls.sent_bytes[row] = value;
            break;
        case EventClass::collective_received:
            calls.received_bytes[row] = value;
            break;
        case EventClass::collective_root:
            if (value != 0) calls.root[row] = builder_.layout_->rank_of(location_);
            break;
        case EventClass::collective_communicator: {
            const auto key =
                std::pair(words_.application[static_cast<std::size_t>(location_)], value);
            const auto found = words_.communicator.find(key);
            if (found != words_.communicator.end())
                calls.communicator[row] = found->second;
            else if (0 < value && value < INT32_MAX - 2)
                calls.communicator[row] = -2 - static_cast<std::int32_t>(value);
            break;
        }
        case EventClass::rma_size:
            sizes_of_transfer(value, true);
            break;
        case EventClass::io_size:
            sizes_of_transfer(value, false);
            break;
        case EventClass::rma_target:
            if (!target_seen_) calls.peer[row] = static_cast<std::int32_t>(value);
            target_seen_ = true;
            break;
        default:
            break;
    }
}

void LocationWalk::sizes_of_transfer(std::int64_t value, bool remote_memory) {
    const auto row = call_row();
    const auto operation = builder_.calls.operation[row];
    const unsigned kinds =
        operation < 0 ? 0u : words_.call_kind[static_cast<std::size_t>(operation)];
    const bool in = (kinds & (remote_memory ? gets_memory : reads_file)) != 0;
    const bool out = (kinds & (remote_memory ? puts_memory : writes_file)) != 0;
    if (in && builder_.calls.received_bytes[row] == no_value)
        builder_.calls.received_bytes[row] = value;
    if (out && builder_.calls.sent_bytes[row] == no_value) builder_.calls.sent_bytes[row] = value;
}

void LocationWalk::reading(std::int64_t time, std::size_t counter, std::int64_t value) {
    if (!set_seen_[counter]) note_set_member(static_cast<std::int32_t>(counter));
    if (introducing_ && value == 0) return;  // names a counter of the new set, measures nothing
    ReadingTable& out = builder_.readings;
    if (!row_open_ || out.values[counter][first_.readings + readings_ - 1] != no_value) {
        const auto row = first_.readings + readings_++;
        out.location[row] = location_;
        out.seq[row] = seq_;
        out.time_ns[row] = time;
        for (auto& column : out.values) column[row] = no_value;
        row_open_ = true;
        row_time_ = time;
    }
    out.values[counter][first_.readings + readings_ - 1] = value;
}

void LocationWalk::note_set_member(std::int32_t counter) {
    set_seen_[static_cast<std::size_t>(counter)] = true;
    extras_.set_members.emplace(set_, counter);
}

void LocationWalk::poll(std::int64_t time, EventClass kind, std::int64_t value) {
    if (value == 0) return;
    const bool is_told_by_call = in_call() && time == enter_;
    if (is_told_by_call) polls_.resize(calls_);
    if (!is_told_by_call && !pending_polls_) pending_polls_.emplace();
    Polls& polls = is_told_by_call ? polls_.back() : *pending_polls_;
    auto& sum = kind == EventClass::poll_count  ? polls.count
                : kind == EventClass::poll_time ? polls.ns
                                                : polls.waiting_ns;
    sum = sum == no_value ? value : wrapping_add(sum, value);
}

/// The function at level 0 begins a sample; 0 is none, of a sample that is over.
void LocationWalk::sample_frame(std::int64_t time, std::int64_t level, EventClass kind,
                                std::int64_t value) {
    const bool is_function = kind == EventClass::sample_function;
    if (is_function && level == 0) {
        close_sample();
        if (value == 0) return;
        sample_ = time;
        periods_ = 1;
        sampled_.clear();
    }
    if (sample_ != time || value == 0) return;
    if (is_function)
        sampled_.add_function(first_sampled_level + level, value);
    else
        sampled_.add_line(first_sampled_level + level, value);
}

void LocationWalk::close_sample() {
    if (sample_ == no_value) return;
    auto& samples = extras_.samples;
    const auto place =
        static_cast<std::uint64_t>(location_) << 32 | static_cast<std::uint32_t>(calls_);
    samples.location.push_back(location_);
    samples.time.push_back(sample_);
    samples.periods.push_back(periods_);
    samples.path.push_back(sampled_.number(place));
    sample_ = no_value;
}

void LocationWalk::region(std::int64_t time, std::int64_t type, std::int64_t value) {
    if (value == 0) {
        if (!close_region_of(type, time))
            extras_.report("region_left_but_never_entered", location_, time);
        return;
    }
    RegionTable& out = builder_.regions;
    const auto row = first_.regions + regions_;
    out.location[row] = location_;
    out.row[row] = static_cast<std::int32_t>(regions_++);
    out.type[row] = type;
    out.value[row] = value;
    out.line[row] = no_value;
    out.enter_ns[row] = time;
    out.enter_seq[row] = seq_;
    out.parent[row] =
        stack_.empty() ? unknown : static_cast<std::int32_t>(stack_.back().row - first_.regions);
    open_of_type_[type].push_back(stack_.size());
    stack_.push_back({type, row});
}

bool LocationWalk::close_region_of(std::int64_t type, std::int64_t time) {
    const auto open = open_of_type_.find(type);
    if (open == open_of_type_.end() || open->second.empty()) return false;
    close_region(time, open->second.back());
    open->second.pop_back();
    return true;
}

void LocationWalk::close_region(std::int64_t time, std::size_t position) {
    const auto row = stack_[position].row;
    builder_.regions.leave_ns[row] = time;
    builder_.regions.leave_seq[row] = seq_;
    stack_[position].is_open = false;
    while (!stack_.empty() && !stack_.back().is_open) stack_.pop_back();
}

void LocationWalk::lock(std::int64_t time, std::int64_t type, std::int64_t value) {
    const auto found = words_.lock_step.find(value);
    if (found == words_.lock_step.end()) return;
    const auto step = found->second;
    if (step == LockStep::requested) return region(time, type, value);
    if (step == LockStep::acquired) {
        held_.push_back(
            {location_, lock_address_ != 0 ? lock_address_ : type, time, seq_, no_value, no_value});
    } else if (step == LockStep::released) {
        if (!held_.empty()) {
            held_.back().release = time;
            held_.back().release_seq = seq_;
            extras_.locks.push_back(held_.back());
            held_.pop_back();
        }
        close_region_of(type, time);
    }
}

void LocationWalk::watch(std::int64_t time, std::int64_t& since, bool unwatched, GapKind kind) {
    if (unwatched && since == no_value) since = time;
    if (!unwatched && since != no_value) {
        add_gap(since, time, kind);
        since = no_value;
    }
}

void LocationWalk::add_gap(std::int64_t start, std::int64_t end, GapKind kind) {
    if (end > start) extras_.gaps.push_back({location_, start, end, kind});
}

void LocationWalk::finish(std::int64_t end) {
    close_sample();
    if (in_call()) {
        extras_.report("call_never_left", location_, enter_);
        close_call(end, never_left);
        ++seq_;
    }
    while (!stack_.empty()) {
        extras_.report("region_never_left", location_,
                       builder_.regions.enter_ns[stack_.back().row]);
        close_region(end, stack_.size() - 1);
        ++seq_;
    }
    for (const auto& lock : held_) extras_.locks.push_back(lock);
    watch(end, flush_since_, false, flush_gap);
    watch(end, off_since_, false, tracing_off_gap);
    std::ranges::sort(extras_.gaps.begin() + static_cast<std::ptrdiff_t>(first_gap_),
                      extras_.gaps.end(), {}, &Extras::Gap::start);
    fill_bursts_of_location();
    auto& filled = builder_.filled_[builder_.local(location_)];
    filled.calls = calls_;
    filled.readings = readings_;
    filled.regions = regions_;
    filled.bursts = calls_ > 0 ? calls_ - 1 : 0;
    filled.events = events_;
}

void LocationWalk::fill_bursts_of_location() {
    LocationView view;
    view.location = location_;
    view.enter_ns = builder_.calls.enter_ns.part(first_.calls, calls_);
    view.leave_ns = builder_.calls.leave_ns.part(first_.calls, calls_);
    view.enter_seq = builder_.calls.enter_seq.part(first_.calls, calls_);
    view.leave_seq = builder_.calls.leave_seq.part(first_.calls, calls_);
    if (!polls_.empty()) {
        polls_.resize(calls_);
        view.polls = polls_;
    }
    view.reading_seq = builder_.readings.seq.part(first_.readings, readings_);
    view.reading_ns = builder_.readings.time_ns.part(first_.readings, readings_);
    for (const auto& column : builder_.readings.values)
        view.values.push_back(column.part(first_.readings, readings_));
    std::vector<std::int64_t> starts, ends;
    for (auto gap = first_gap_; gap < extras_.gaps.size(); ++gap) {
        starts.push_back(extras_.gaps[gap].start);
        ends.push_back(extras_.gaps[gap].end);
    }
    view.gap_start = starts;
    view.gap_end = ends;
    fill_bursts(view, builder_.bursts, first_.bursts);
}

}  // namespace burstline
