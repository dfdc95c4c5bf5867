#include "segments.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace burstline {
namespace {

/// Ordinal of the end of a program: behind all others, and its place is no overflow.
constexpr std::int64_t last_place = std::numeric_limits<std::int64_t>::max() / (2 * places);
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

void check(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void check_locations(std::span<const std::int64_t> begin, std::size_t rows) {
    check(!begin.empty() && begin.front() == 0 && std::ranges::is_sorted(begin) &&
              begin.back() == static_cast<std::int64_t>(rows),
          "locations lie in a column, one after another");
}

void check_intervals(const Intervals& rows, std::int32_t nodes) {
    const std::size_t n = rows.node.size();
    check(rows.enter_ns.size() == n && rows.leave_ns.size() == n && rows.enter_seq.size() == n &&
              rows.leave_seq.size() == n,
          "columns of intervals are equally long");
    check_locations(rows.location_begin, n);
    const auto is_ordinal = [](std::int64_t seq) { return seq >= 0 && seq < last_place; };
    check(std::ranges::all_of(rows.enter_seq, is_ordinal) &&
              std::ranges::all_of(rows.leave_seq, is_ordinal),
          "an ordinal is negative or too large");
    check(std::ranges::all_of(rows.node, [&](auto node) { return node < nodes; }),
          "a node is none of the call tree");
}

/// An interval that a location is in.
struct Open {
    std::int64_t leave_seq, leave_ns, join_ns;
    std::int32_t node;
    bool forked_here;
    std::int32_t after = -1;  // of a call
};

/// Walks the events of one location after another.
class Walk {
  public:
    Walk(const Programs& programs, const Intervals& calls, Between between,
         const Intervals& regions, const Parallels& parallels, const Cuts& cuts, std::int32_t nodes)
        : programs_(programs), calls_(calls), between_(between), regions_(regions),
          parallels_(parallels), cuts_(cuts), time_(static_cast<std::size_t>(nodes)) {
        out_.begin.reserve(cuts.place.size() + cuts.location_begin.size());
        out_.begin.push_back(0);
    }

    void location(std::size_t l) {
        std::int64_t call = calls_.location_begin[l], region = regions_.location_begin[l];
        point_ = cuts_.location_begin[l], last_point_ = cuts_.location_begin[l + 1];
        const std::int64_t calls = calls_.location_begin[l + 1];
        const std::int64_t regions = regions_.location_begin[l + 1];
        after_ = -1;
        if (programs_.node[l] >= 0) {
            open_.push_back({last_place, programs_.leave_ns[l], 0, programs_.node[l], false});
            last_ns_ = programs_.enter_ns[l];
        }
        for (;;) {
            while (region < regions && regions_.node[region] < 0) skip_parallel(region++);
            while (call < calls && calls_.node[call] < 0) ++call;
            const std::int64_t next_call = call < calls ? calls_.enter_seq[call] : never;
            const std::int64_t next_region = region < regions ? regions_.enter_seq[region] : never;
            const std::int64_t next = std::min(next_call, next_region);
            if (!open_.empty() && open_.back().leave_seq <= next)
                leave();
            else if (next == never)
                break;
            else if (next_region <= next_call)
                enter(regions_, region), skip_parallel(region++);
            else
                enter(calls_, call++);
        }
        while (point_ < last_point_) cut();
        close_segment();
    }

    Segments take() { return std::move(out_); }

  private:
    void enter(const Intervals& rows, std::int64_t row) {
        Open opened{rows.leave_seq[row], rows.leave_ns[row], 0, rows.node[row], false};
        if (!open_.empty() && open_.back().leave_seq < opened.leave_seq) {
            opened.leave_seq = open_.back().leave_seq;
            opened.leave_ns = std::min(open_.back().leave_ns, opened.leave_ns);
            ++out_.clipped;
        }
        if (&rows == &calls_ && !between_.empty()) opened.after = between_[row];
        std::int64_t fork_ns = 0;
        if (&rows == &regions_ && parallel_ < parallels_.row.size() &&
            parallels_.row[parallel_] == row) {
            fork_ns = parallels_.fork_ns[parallel_];
            opened.join_ns = parallels_.join_ns[parallel_];
            opened.forked_here = parallels_.forked_here[parallel_] != 0;
        }
        const std::int64_t place = rows.enter_seq[row] * places + enter_place;
        cut_before(place);
        pass(rows.enter_ns[row] - (opened.forked_here ? fork_ns : 0));
        last_ns_ = rows.enter_ns[row];
        cut_before(place + 2);
        open_.push_back(opened);
        credit(opened.node, fork_ns);
    }

    void leave() {
        const Open left = open_.back();
        cut_before(left.leave_seq * places + leave_place);
        pass(left.leave_ns);
        open_.pop_back();
        credit(left.node, left.join_ns);
        if (left.after >= 0) after_ = left.after;
        if (left.forked_here) last_ns_ += left.join_ns;
    }

    void skip_parallel(std::int64_t row) {
        while (parallel_ < parallels_.row.size() && parallels_.row[parallel_] <= row) ++parallel_;
    }

    /// The time since the record before belongs to what is open, or to what follows a call.
    void pass(std::int64_t now) {
        const std::int32_t node = open_.empty() ? after_ : open_.back().node;
        if (node >= 0) credit(node, now - last_ns_);
        last_ns_ = now;
    }

    void credit(std::int32_t node, std::int64_t time) {
        if (time == 0) return;
        if (time_[node] == 0) touched_.push_back(node);
        time_[node] += time;
    }

    void cut_before(std::int64_t place) {
        while (point_ < last_point_ && cuts_.place[point_] < place) cut();
    }

    void cut() {
        close_segment();
        ++point_;
    }

    void close_segment() {
        // A node whose time came back to 0 and rose again was touched twice.
        for (const std::int32_t node : touched_) {
            if (time_[node] == 0) continue;
            out_.node.push_back(node);
            out_.time_ns.push_back(time_[node]);
            time_[node] = 0;
        }
        touched_.clear();
        out_.begin.push_back(static_cast<std::int64_t>(out_.node.size()));
    }

    const Programs& programs_;
    const Intervals& calls_;
    Between between_;
    const Intervals& regions_;
    const Parallels& parallels_;
    const Cuts& cuts_;
    std::vector<std::int64_t> time_;
    std::vector<std::int32_t> touched_;
    std::vector<Open> open_;
    std::size_t parallel_ = 0;
    std::int32_t after_ = -1;
    std::int64_t point_ = 0, last_point_ = 0, last_ns_ = 0;
    Segments out_;
};

}  // namespace

Segments segments(const Programs& programs, const Intervals& calls, Between between,
                  const Intervals& regions, const Parallels& parallels, const Cuts& cuts,
                  std::int32_t nodes) {
    check(nodes >= 0, "there is no negative number of nodes");
    const std::size_t locations = programs.node.size();
    check(programs.enter_ns.size() == locations && programs.leave_ns.size() == locations &&
              calls.location_begin.size() == locations + 1 &&
              std::ranges::all_of(programs.node, [&](auto node) { return node < nodes; }),
          "each location has a program, or none");
    check_intervals(calls, nodes);
    check_intervals(regions, nodes);
    check((between.empty() || between.size() == calls.node.size()) &&
              std::ranges::all_of(between, [&](auto node) { return node < nodes; }),
          "each call is followed by a node, or nothing");
    check_locations(cuts.location_begin, cuts.place.size());
    check(calls.location_begin.size() == regions.location_begin.size() &&
              calls.location_begin.size() == cuts.location_begin.size(),
          "calls, regions and points are of the same locations");
    check(parallels.fork_ns.size() == parallels.row.size() &&
              parallels.join_ns.size() == parallels.row.size() &&
              parallels.forked_here.size() == parallels.row.size() &&
              std::ranges::is_sorted(parallels.row),
          "parallel regions are rising rows with as many times");
    Walk walk(programs, calls, between, regions, parallels, cuts, nodes);
    for (std::size_t l = 0; l + 1 < calls.location_begin.size(); ++l) walk.location(l);
    return walk.take();
}

}  // namespace burstline
