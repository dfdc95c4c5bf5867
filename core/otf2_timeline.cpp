// otf2_timeline.cpp -- see otf2_timeline.hpp.
#include "otf2_timeline.hpp"

#include <algorithm>

namespace burstline::otf2 {

namespace {

constexpr std::uint64_t a_second = 1'000'000'000;
constexpr std::uint32_t team_mark = ~std::uint32_t{0};
constexpr std::int64_t latest = std::int64_t{1} << 61;

template <class T>
std::int64_t as(std::uint64_t bits) {
    return static_cast<std::int64_t>(static_cast<T>(bits));
}

}  // namespace

std::int64_t value_of(std::uint8_t type, std::uint64_t bits) {
    enum { uint8 = 1, uint16, uint32, uint64, int8, int16, int32, int64, real32, real64 };
    enum { first_reference = 11, location = 13, last_reference = 25 };
    switch (type) {
        case uint8:
            return as<std::uint8_t>(bits);
        case uint16:
            return as<std::uint16_t>(bits);
        case uint32:
        case real32:
            return as<std::uint32_t>(bits);
        case int8:
            return as<std::int8_t>(bits);
        case int16:
            return as<std::int16_t>(bits);
        case int32:
            return as<std::int32_t>(bits);
        default:
            break;
    }
    const bool is_narrow = type >= first_reference && type <= last_reference && type != location;
    return is_narrow ? as<std::uint32_t>(bits) : as<std::int64_t>(bits);
}

std::int64_t Timeline::nanoseconds(std::uint64_t ticks) {
    const bool early = ticks < meaning_.offset;
    const auto span = early ? meaning_.offset - ticks : ticks - meaning_.offset;
    std::uint64_t length = span;
    if (meaning_.resolution != a_second) {
        const auto whole = span / meaning_.resolution, rest = span % meaning_.resolution;
        const auto part =
            meaning_.resolution < (std::uint64_t{1} << 34)
                ? rest * a_second / meaning_.resolution
                : static_cast<std::uint64_t>(static_cast<double>(rest) /
                                             static_cast<double>(meaning_.resolution) *
                                             static_cast<double>(a_second));
        length = whole > static_cast<std::uint64_t>(latest) / a_second ? ~std::uint64_t{0}
                                                                       : whole * a_second + part;
    }
    if (length > static_cast<std::uint64_t>(latest)) [[unlikely]]
        ++life_.out_of_range;
    const auto bounded =
        static_cast<std::int64_t>(std::min(length, static_cast<std::uint64_t>(latest)));
    return early ? -bounded : bounded;
}

void Timeline::begin_location(std::int32_t location) {
    location_ = location;
    life_ = Life();
    stack_ = Stack();
    parked_.clear();
    task_ = 0;
    forks_.clear();
    teams_.clear();
    seq_ = now_ = 0;
    seen_ = read_ = false;
    call_ = -1;
    collective_seq_ = no_value;
    read_at_.clear();
    first_call_ = static_cast<std::int64_t>(tables_.counts().calls);
    first_region_ = static_cast<std::int64_t>(tables_.counts().regions);
}

void Timeline::end_location(std::int64_t status) {
    auto& counts = tables_.counts();
    const auto events = seq_;
    close_all(stack_);
    for (auto& [task, stack] : parked_) close_all(stack);
    forget_collective();
    for (const auto row : forks_) tables_.forks.end_ns[row] = now_;
    for (const auto& team : teams_) tables_.teams.end_ns[team.row] = now_;
    const auto row = counts.lives++;
    auto& lives = tables_.lives;
    lives.events[row] = events;
    lives.born_ns[row] = life_.born;
    lives.died_ns[row] = seen_ ? now_ : life_.born;
    lives.status[row] = seen_ ? status : (status == 0 ? no_value : status);
    lives.strange[row] = life_.strange;
    lives.never_left[row] = life_.never_left;
    lives.not_entered[row] = life_.not_entered;
    lives.backwards[row] = life_.backwards;
    lives.nested[row] = life_.nested;
    lives.open[row] = life_.open;
    lives.out_of_range[row] = life_.out_of_range;
}

std::int32_t Timeline::path() const {
    return stack_.open.empty() ? stack_.path : stack_.open.back().path;
}

std::int32_t Timeline::parent() const {
    for (auto at = stack_.open.rbegin(); at != stack_.open.rend(); ++at) {
        if (at->row >= 0) return static_cast<std::int32_t>(at->row - first_region_);
    }
    return stack_.parent;
}

std::int32_t Timeline::child_of(std::int32_t path, std::int32_t region) {
    auto& last = last_child_[static_cast<std::size_t>(path + 1)];
    if (last.first == region) return last.second;
    const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(path)) << 32 |
                     static_cast<std::uint32_t>(region);
    const auto [found, is_new] = children_.try_emplace(key, 0);
    if (is_new) {
        auto& counts = tables_.counts();
        if (counts.paths >= tables_.room) {
            note_full();
            children_.erase(found);
            return path;
        }
        const auto row = counts.paths++;
        tables_.paths.parent[row] = path;
        tables_.paths.region[row] = region;
        found->second = static_cast<std::int32_t>(row);
        const auto number = found->second;
        last = {region, number};
        last_child_.emplace_back(-1, -1);
        return number;
    }
    last = {region, found->second};
    return found->second;
}

void Timeline::enter(std::uint32_t region) {
    const auto what = meaning_.of(region);
    if (what.operation >= 0 && call_ < 0) return enter_call(region, what.operation, path());
    if (what.operation >= 0) ++life_.nested;
    enter_region(region, what.row, child_of(path(), what.row));
}

/// A context tells its whole path, whatever was entered before it; one without parents, its end.
void Timeline::enter_context(std::uint32_t reference) {
    const auto context = meaning_.context(reference);
    const auto what = meaning_.of(context.region);
    const auto caller = context.caller < 0 ? path() : child_of(-1, context.caller);
    if (what.operation >= 0 && call_ < 0) {
        return enter_call(context.region, what.operation, caller);
    }
    if (what.operation >= 0) ++life_.nested;
    const auto own = child_of(context.caller < 0 ? path() : -1, context.own);
    enter_region(context.region, what.row, own);
}

void Timeline::enter_call(std::uint32_t region, std::int32_t operation, std::int32_t path) {
    auto& counts = tables_.counts();
    if (counts.calls >= tables_.room) return note_full();
    forget_collective();
    const auto row = counts.calls;
    auto& calls = tables_.calls;
    calls.location[row] = location_;
    calls.call[row] = static_cast<std::int32_t>(static_cast<std::int64_t>(row) - first_call_);
    calls.operation[row] = static_cast<std::int16_t>(operation);
    calls.enter_ns[row] = calls.leave_ns[row] = now_;
    calls.enter_seq[row] = calls.leave_seq[row] = seq_;
    calls.path[row] = path;
    counts.calls = row + 1;
    call_ = static_cast<std::int64_t>(row);
    stack_.open.push_back({region, path, ~call_});
}

void Timeline::enter_region(std::uint32_t region, std::int32_t what, std::int32_t path) {
    auto& counts = tables_.counts();
    if (counts.regions >= tables_.room) return note_full();
    const auto row = counts.regions;
    auto& regions = tables_.regions;
    regions.location[row] = location_;
    regions.row[row] = static_cast<std::int32_t>(static_cast<std::int64_t>(row) - first_region_);
    regions.region[row] = what;
    regions.enter_ns[row] = regions.leave_ns[row] = now_;
    regions.enter_seq[row] = regions.leave_seq[row] = seq_;
    regions.parent[row] = parent();
    regions.path[row] = path;
    const bool counted = !teams_.empty() && meaning_.is_barrier[static_cast<std::size_t>(what)];
    regions.team[row] = teams_.empty() ? -1 : static_cast<std::int32_t>(teams_.back().row);
    regions.barrier[row] = counted ? teams_.back().barriers++ : -1;
    counts.regions = row + 1;
    stack_.open.push_back({region, path, static_cast<std::int64_t>(row)});
}

void Timeline::close(const Open& open, std::int64_t seq) {
    if (open.row < 0) {
        const auto row = static_cast<std::size_t>(~open.row);
        tables_.calls.leave_ns[row] = now_;
        tables_.calls.leave_seq[row] = seq;
        forget_collective();
        call_ = -1;
    } else {
        const auto row = static_cast<std::size_t>(open.row);
        tables_.regions.leave_ns[row] = now_;
        tables_.regions.leave_seq[row] = seq;
    }
}

/// What is open at the end is closed there, each under an ordinal of its own.
void Timeline::close_all(Stack& stack) {
    while (!stack.open.empty()) {
        ++life_.never_left;
        close(stack.open.back(), seq_++);
        stack.open.pop_back();
    }
}

void Timeline::leave(std::uint32_t region) {
    auto& open = stack_.open;
    const auto found = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Open& one) { return one.region == region; });
    if (found == open.rend()) {
        ++life_.not_entered;
        return;
    }
    const auto depth = static_cast<std::size_t>(open.rend() - found);
    while (open.size() > depth) {
        ++life_.never_left;
        close(open.back(), seq_++);
        open.pop_back();
    }
    close(open.back(), seq_);
    open.pop_back();
}

/// A row of a fork, or of the begin of a team, at this moment; -1 where no room is left.
std::int64_t Timeline::begin_border(Borders& borders, std::uint64_t& count, std::int64_t of,
                                    std::int64_t value) {
    if (count >= tables_.room) return note_full(), -1;
    const auto row = count++;
    borders.location[row] = location_;
    borders.begin_ns[row] = borders.end_ns[row] = now_;
    borders.begin_seq[row] = seq_;
    borders.end_seq[row] = no_value;
    borders.path[row] = path();
    borders.of[row] = static_cast<std::int32_t>(of);
    borders.value[row] = value;
    return static_cast<std::int64_t>(row);
}

void Timeline::fork(std::int64_t requested) {
    const auto of = teams_.empty() ? -1 : teams_.back().row;
    const auto row = begin_border(tables_.forks, tables_.counts().forks, of, requested);
    if (row >= 0) forks_.push_back(row);
}

void Timeline::end_border(Borders& borders, std::int64_t at) {
    const auto row = static_cast<std::size_t>(at);
    borders.end_ns[row] = now_;
    borders.end_seq[row] = seq_;
}

void Timeline::join() {
    if (forks_.empty()) return strange();
    end_border(tables_.forks, forks_.back());
    forks_.pop_back();
}

void Timeline::begin_team(std::uint32_t team) {
    const bool is_own =
        !forks_.empty() && (teams_.empty() || tables_.teams.of[teams_.back().row] != forks_.back());
    const auto of = is_own ? forks_.back() : -1;
    const auto row = begin_border(tables_.teams, tables_.counts().teams, of, team);
    if (row < 0) return;
    teams_.push_back({row, 0});
    enter_region(team_mark, meaning_.team_region, path());
}

void Timeline::end_team() {
    if (teams_.empty()) return strange();
    leave(team_mark);
    end_border(tables_.teams, teams_.back().row);
    teams_.pop_back();
}

/// Each task has regions of its own; those of a task that is switched away stay open.
void Timeline::switch_task(std::uint64_t task) {
    if (task == task_) return;
    Stack fresh;
    fresh.path = path();
    fresh.parent = parent();
    parked_[task_] = std::move(stack_);
    const auto found = parked_.find(task);
    stack_ = found == parked_.end() ? std::move(fresh) : std::move(found->second);
    if (found != parked_.end()) parked_.erase(found);
    task_ = task;
}

void Timeline::record_values(RecordKind kind, const RecordValues& values) {
    auto& counts = tables_.counts();
    if (counts.records >= tables_.room) return note_full();
    const auto row = counts.records;
    auto& records = tables_.records;
    records.kind[row] = static_cast<std::int32_t>(kind);
    records.location[row] = location_;
    records.call[row] = call_;
    records.seq[row] = seq_;
    records.time_ns[row] = now_;
    records.a[row] = values[0], records.b[row] = values[1], records.c[row] = values[2];
    records.d[row] = values[3], records.e[row] = values[4], records.f[row] = values[5];
    records.g[row] = values[6];
    counts.records = row + 1;
}

void Timeline::end_collective(std::int64_t root, std::int64_t communicator, std::int64_t operation,
                              std::int64_t sent, std::int64_t received) {
    auto begin_seq = seq_, begin_ns = now_;
    if (collective_seq_ != no_value) {
        begin_seq = collective_seq_, begin_ns = collective_ns_;
    } else if (call_ >= 0) {
        const auto row = static_cast<std::size_t>(call_);
        begin_seq = tables_.calls.enter_seq[row], begin_ns = tables_.calls.enter_ns[row];
    }
    record(RecordKind::collective, Collective{.root = root,
                                              .communicator = communicator,
                                              .operation = operation,
                                              .sent = sent,
                                              .begin_ns = begin_ns,
                                              .received = received,
                                              .begin_seq = begin_seq});
    collective_seq_ = no_value;
}

void Timeline::begin_reading(std::uint32_t metric) {
    const auto like = meaning_.like.find(metric);
    const auto what = like == meaning_.like.end() ? metric : like->second;
    const auto [known, is_new] = read_at_.try_emplace(what, seq_);
    if (!is_new && known->second == seq_) ++seq_;
    known->second = seq_;
}

void Timeline::read_metric(std::uint32_t metric, std::uint8_t count, const std::uint8_t* types,
                           const std::uint64_t* values) {
    auto& counts = tables_.counts();
    if (counts.readings >= tables_.room || counts.values + count > tables_.room_values) {
        return note_full();
    }
    const auto row = counts.readings;
    auto& readings = tables_.readings;
    readings.location[row] = location_;
    readings.metric[row] = static_cast<std::int32_t>(metric);
    readings.count[row] = count;
    readings.seq[row] = seq_;
    readings.time_ns[row] = now_;
    for (std::uint8_t k = 0; k < count; ++k) {
        tables_.values.type[counts.values + k] = types[k];
        tables_.values.value[counts.values + k] = value_of(types[k], values[k]);
    }
    counts.values += count;
    counts.readings = row + 1;
    read_ = true;
}

}  // namespace burstline::otf2
