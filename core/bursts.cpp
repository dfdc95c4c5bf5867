// bursts.cpp -- see bursts.hpp.
#include "bursts.hpp"

#include <algorithm>

namespace burstline {

namespace {

/// Walks the readings of a location once, in step with its bursts.
class ReadingWalk {
  public:
    explicit ReadingWalk(const LocationView& view)
        : view_(view), sums_(view.values.size()), at_start_(view.values.size()),
          at_end_(view.values.size()), per_burst_(view.values.size(), true) {
        find_per_burst();
    }

    /// Sums the counters over the burst between calls k and k + 1.
    void advance(std::size_t k) {
        std::ranges::fill(sums_, 0);
        std::ranges::fill(at_start_, false);
        std::ranges::fill(at_end_, false);
        const auto start = view_.leave_ns[k], end = view_.enter_ns[k + 1];
        const auto start_seq = view_.leave_seq[k], end_seq = view_.enter_seq[k + 1];
        const auto next_leave = view_.leave_seq[k + 1];
        for (; row_ < view_.reading_seq.size(); ++row_) {
            const auto seq = view_.reading_seq[row_];
            const auto time = view_.reading_ns[row_];
            if (seq < start_seq) continue;
            if (seq < end_seq && time == start) {
                mark(at_start_);
            } else if (seq < end_seq || (time == end && seq < next_leave)) {
                add(time == end);
            } else {
                break;
            }
        }
    }

    std::int64_t sum(std::size_t counter) const {
        const bool is_whole = at_start_[counter] || per_burst_[counter];
        return is_whole && at_end_[counter] ? sums_[counter] : no_value;
    }

  private:
    /// A counter that is never read where a call is left was put in burst by burst.
    void find_per_burst() {
        auto left = per_burst_.size();
        std::size_t row = 0;
        for (std::size_t k = 0; k + 1 < view_.enter_ns.size() && left > 0; ++k) {
            const auto seq = view_.leave_seq[k], next = view_.enter_seq[k + 1];
            while (row < view_.reading_seq.size() && view_.reading_seq[row] < seq) ++row;
            for (auto r = row; r < view_.reading_seq.size() && view_.reading_seq[r] < next &&
                               view_.reading_ns[r] == view_.leave_ns[k];
                 ++r) {
                for (std::size_t c = 0; c < per_burst_.size(); ++c) {
                    if (!per_burst_[c] || view_.values[c][r] == no_value) continue;
                    per_burst_[c] = false;
                    --left;
                }
            }
        }
    }
    void mark(std::vector<char>& seen) const {
        for (std::size_t c = 0; c < sums_.size(); ++c) seen[c] |= view_.values[c][row_] != no_value;
    }
    void add(bool is_end) {
        for (std::size_t c = 0; c < sums_.size(); ++c) {
            const auto value = view_.values[c][row_];
            if (value == no_value) continue;
            // Deltas are claims of a file: they wrap instead of overflowing.
            sums_[c] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums_[c]) +
                                                 static_cast<std::uint64_t>(value));
            at_end_[c] |= is_end;
        }
    }

    const LocationView& view_;
    std::vector<std::int64_t> sums_;
    std::vector<char> at_start_, at_end_, per_burst_;
    std::size_t row_ = 0;
};

}  // namespace

void fill_bursts(const LocationView& view, BurstTable& table, std::size_t first) {
    ReadingWalk readings(view);
    std::size_t gap = 0;
    for (std::size_t k = 0; k + 1 < view.enter_ns.size(); ++k) {
        const std::size_t row = first + k;
        const auto start = view.leave_ns[k], end = view.enter_ns[k + 1];
        table.location[row] = view.location;
        table.burst[row] = static_cast<std::int32_t>(k);
        table.start_ns[row] = start;
        table.end_ns[row] = end;
        table.call_before[row] = static_cast<std::int32_t>(k);
        table.call_after[row] = static_cast<std::int32_t>(k + 1);
        const Polls polls = view.polls.empty() ? Polls{} : view.polls[k + 1];
        table.polls[row] = polls.count;
        table.polling_ns[row] = polls.ns;
        table.waiting_ns[row] = polls.waiting_ns;
        while (gap < view.gap_start.size() && view.gap_end[gap] <= start) ++gap;
        std::int64_t unwatched = 0;
        for (auto g = gap; g < view.gap_start.size() && view.gap_start[g] < end; ++g) {
            unwatched += std::max<std::int64_t>(
                0, std::min(end, view.gap_end[g]) - std::max(start, view.gap_start[g]));
        }
        table.gap_ns[row] = unwatched;
        readings.advance(k);
        for (std::size_t c = 0; c < view.values.size(); ++c) table.values[c][row] = readings.sum(c);
    }
}

}  // namespace burstline
