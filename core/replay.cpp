#include "replay.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace burstline {
namespace {

constexpr std::int32_t none = -1;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t total;
    if (!__builtin_add_overflow(a, b, &total)) return total;
    return b > 0 ? INT64_MAX : never + 1;
}

std::int64_t difference(std::int64_t a, std::int64_t b) {
    std::int64_t rest;
    if (!__builtin_sub_overflow(a, b, &rest)) return rest;
    return b < 0 ? INT64_MAX : never + 1;
}

void check(const Exchanges& rows) {
    const auto count = static_cast<std::int64_t>(rows.gives.size());
    const auto sources = static_cast<std::int32_t>(rows.before.size());
    if (rows.takes.size() != rows.gives.size() || rows.location_begin.empty() ||
        rows.location_begin.front() != 0 || rows.location_begin.back() != count ||
        !std::ranges::is_sorted(rows.location_begin))
        throw std::invalid_argument("locations lie in the rows, one after another");
    for (const auto column : {rows.gives, rows.takes})
        for (const std::int32_t source : column)
            if (source < none || source >= sources)
                throw std::invalid_argument("a row gives to or takes from a source there is");
    for (std::int32_t s = 0; s < sources; ++s)
        if (rows.before[s] < none || rows.before[s] >= s)
            throw std::invalid_argument("the source before another is a lower one");
}

/// Which source follows on each, -1 without one.
std::vector<std::int32_t> followers(const Exchanges& rows) {
    std::vector<std::int32_t> after(rows.before.size(), none);
    for (std::size_t s = 0; s < after.size(); ++s) {
        if (rows.before[s] == none) continue;
        if (after[rows.before[s]] != none)
            throw std::invalid_argument("a source stands before one other");
        after[rows.before[s]] = static_cast<std::int32_t>(s);
    }
    return after;
}

class Replay {
  public:
    Replay(const Exchanges& rows, std::span<const Weights> weights)
        : rows_(rows), weights_(weights), models_(weights.size()),
          locations_(rows.location_begin.size() - 1), after_(followers(rows)),
          missing_(rows.before.size()), parked_(rows.before.size(), none),
          value_(rows.before.size() * models_, never), next_parked_(locations_, none),
          is_parked_(locations_), ignores_(locations_), clock_(locations_ * models_),
          cursor_(rows.location_begin.begin(), rows.location_begin.end() - 1) {
        out_.stamp.assign(models_, std::vector<std::int64_t>(rows.gives.size()));
        out_.order.reserve(rows.gives.size());
        out_.cycle_begin.push_back(0);
        for (const std::int32_t source : rows.gives)
            if (source != none) ++missing_[source];
        for (std::size_t s = 0; s < missing_.size(); ++s) missing_[s] += rows.before[s] != none;
        for (std::size_t s = 0; s < missing_.size(); ++s)
            if (missing_[s] == 0 && after_[s] != none) --missing_[after_[s]];
    }

    Replayed run() {
        for (std::size_t l = locations_; l-- > 0;) ready_.push_back(static_cast<std::int32_t>(l));
        for (;;) {
            while (!ready_.empty()) {
                const std::int32_t location = ready_.back();
                ready_.pop_back();
                advance(location);
            }
            if (out_.order.size() == rows_.gives.size()) return std::move(out_);
            break_cycles();
        }
    }

  private:
    /// Stamps the rows of a location until one waits.
    void advance(std::int32_t location) {
        std::int64_t& row = cursor_[location];
        for (; row < rows_.location_begin[location + 1]; ++row) {
            const std::int32_t source = ignores_[location] ? none : rows_.takes[row];
            if (source != none && missing_[source] > 0) {
                next_parked_[location] = parked_[source];
                parked_[source] = location;
                is_parked_[location] = 1;
                return;
            }
            ignores_[location] = 0;
            stamp(location, row, source);
            out_.order.push_back(row);
            if (rows_.gives[row] != none) give(location, rows_.gives[row]);
        }
    }

    void stamp(std::int32_t location, std::int64_t row, std::int32_t source) {
        for (std::size_t m = 0; m < models_; ++m) {
            const Weights& weights = weights_[m];
            std::int64_t& clock = clock_[location * models_ + m];
            clock = sum(clock, weights.step[row]);
            if (!weights.floor.empty()) clock = std::max(clock, weights.floor[row]);
            if (source != none && value_[source * models_ + m] != never)
                clock = std::max(clock, sum(value_[source * models_ + m], weights.latency));
            out_.stamp[m][row] = clock;
        }
    }

    void give(std::int32_t location, std::int32_t source) {
        const std::int64_t* given = &clock_[location * models_];
        for (; source != none; source = after_[source]) {
            std::int64_t* value = &value_[source * models_];
            for (std::size_t m = 0; m < models_; ++m) value[m] = std::max(value[m], given[m]);
            if (--missing_[source] > 0) return;
            for (std::int32_t l = parked_[source]; l != none; l = next_parked_[l]) {
                is_parked_[l] = 0;
                ready_.push_back(l);
            }
            parked_[source] = none;
            given = value;
        }
    }

    // --- circles ------------------------------------------------------------------------

    void list_givers() {
        giver_begin_.assign(missing_.size() + 1, 0);
        for (const std::int32_t source : rows_.gives)
            if (source != none) ++giver_begin_[source + 1];
        for (std::size_t s = 0; s < missing_.size(); ++s) giver_begin_[s + 1] += giver_begin_[s];
        giver_row_.resize(giver_begin_.back());
        next_giver_.assign(giver_begin_.begin(), giver_begin_.end() - 1);
        for (std::size_t row = 0; row < rows_.gives.size(); ++row)
            if (rows_.gives[row] != none)
                giver_row_[next_giver_[rows_.gives[row]]++] = static_cast<std::int64_t>(row);
        next_giver_.assign(giver_begin_.begin(), giver_begin_.end() - 1);
    }

    std::int32_t location_of(std::int64_t row) const {
        const auto after = std::ranges::upper_bound(rows_.location_begin, row);
        return static_cast<std::int32_t>(after - rows_.location_begin.begin() - 1);
    }

    /// The location of the first row that a parked location waits for.
    std::int32_t waits_for(std::int32_t location) {
        std::int32_t source = rows_.takes[cursor_[location]];
        for (;; source = rows_.before[source]) {
            for (std::int64_t& k = next_giver_[source]; k < giver_begin_[source + 1]; ++k) {
                const std::int32_t giver = location_of(giver_row_[k]);
                if (giver_row_[k] >= cursor_[giver]) return giver;
            }
            ++work_;
        }
    }

    /// Lets all who wait in circles go on without what they wait for. Once that has cost as
    /// much as all else, all who wait go on: broken input takes no longer than what is whole.
    void break_cycles() {
        if (giver_begin_.empty()) list_givers();
        std::vector<std::int32_t> first(locations_, none), members;
        for (std::size_t l = 0; l < locations_; ++l) {
            if (!is_parked_[l]) continue;
            auto here = static_cast<std::int32_t>(l);
            while (first[here] == none && work_ < most_work_) {
                first[here] = static_cast<std::int32_t>(l);
                here = waits_for(here);
            }
            work_ += 1;
            if (first[here] != static_cast<std::int32_t>(l)) continue;
            std::vector<std::int32_t> circle{here};
            for (auto next = waits_for(here); next != here; next = waits_for(next))
                circle.push_back(next);
            std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()),
                        circle.end());
            for (const std::int32_t member : circle) out_.cycle_row.push_back(cursor_[member]);
            out_.cycle_begin.push_back(static_cast<std::int64_t>(out_.cycle_row.size()));
            members.insert(members.end(), circle.begin(), circle.end());
        }
        work_ += static_cast<std::int64_t>(locations_);
        if (members.empty())
            for (std::size_t l = 0; l < locations_; ++l)
                if (is_parked_[l]) members.push_back(static_cast<std::int32_t>(l));
        for (const std::int32_t l : members) release(l);
        for (auto l = members.rbegin(); l != members.rend(); ++l) ready_.push_back(*l);
    }

    void release(std::int32_t location) {
        std::int32_t* link = &parked_[rows_.takes[cursor_[location]]];
        for (; *link != location; ++work_) link = &next_parked_[*link];
        *link = next_parked_[location];
        is_parked_[location] = 0;
        ignores_[location] = 1;
    }

    const Exchanges& rows_;
    std::span<const Weights> weights_;
    std::size_t models_, locations_;
    std::vector<std::int32_t> after_, missing_, parked_;
    std::vector<std::int64_t> value_;  // (sources, models)
    std::vector<std::int32_t> next_parked_;
    std::vector<std::uint8_t> is_parked_, ignores_;
    std::vector<std::int64_t> clock_;  // (locations, models)
    std::vector<std::int64_t> cursor_;
    std::vector<std::int32_t> ready_;
    std::vector<std::int64_t> giver_begin_, giver_row_, next_giver_;
    std::int64_t work_ = 0;
    std::int64_t most_work_ = 1'000'000 + 64 * static_cast<std::int64_t>(rows_.gives.size());
    Replayed out_;
};

}  // namespace

Replayed replay(const Exchanges& rows, std::span<const Weights> weights) {
    check(rows);
    for (const Weights& each : weights)
        if (each.step.size() != rows.gives.size() ||
            (!each.floor.empty() && each.floor.size() != rows.gives.size()))
            throw std::invalid_argument("weights have a value for each row");
    return Replay(rows, weights).run();
}

std::vector<std::int64_t> source_times(const Exchanges& rows, std::span<const std::int64_t> time) {
    check(rows);
    if (time.size() != rows.gives.size())
        throw std::invalid_argument("there is a time of each row");
    std::vector<std::int64_t> latest(rows.before.size(), never);
    for (std::size_t row = 0; row < time.size(); ++row)
        if (rows.gives[row] != none)
            latest[rows.gives[row]] = std::max(latest[rows.gives[row]], time[row]);
    for (std::size_t s = 0; s < latest.size(); ++s)
        if (rows.before[s] != none) latest[s] = std::max(latest[s], latest[rows.before[s]]);
    std::vector<std::int64_t> out(time.size(), never);
    for (std::size_t row = 0; row < time.size(); ++row)
        if (rows.takes[row] != none) out[row] = latest[rows.takes[row]];
    return out;
}

std::vector<std::int64_t> amortised(const Exchanges& rows, std::span<const std::int64_t> order,
                                    std::span<const std::int64_t> time,
                                    std::span<const std::int64_t> stamp, std::int64_t latency,
                                    std::int32_t bits) {
    check(rows);
    const auto count = static_cast<std::int64_t>(rows.gives.size());
    if (time.size() != rows.gives.size() || stamp.size() != time.size() ||
        order.size() != time.size() || bits < 0 || bits > 62 ||
        !std::ranges::all_of(order, [&](auto row) { return row >= 0 && row < count; }))
        throw std::invalid_argument("there is a time and a stamp of each row");
    // How late what gives to a source may be: of chains by the stamps of all that wait for it,
    // else by what these have become, who come first: then all that hangs together moves.
    std::vector<std::int64_t> latest(rows.before.size(), INT64_MAX);
    std::vector<std::uint8_t> chained(rows.before.size());
    for (std::size_t s = 0; s < rows.before.size(); ++s)
        if (rows.before[s] != none) chained[s] = chained[rows.before[s]] = 1;
    for (std::size_t row = 0; row < time.size(); ++row)
        if (rows.takes[row] != none && chained[rows.takes[row]])
            latest[rows.takes[row]] =
                std::min(latest[rows.takes[row]], difference(stamp[row], latency));
    for (std::size_t s = latest.size(); s-- > 0;)
        if (rows.before[s] != none)
            latest[rows.before[s]] = std::min(latest[rows.before[s]], latest[s]);
    std::vector<std::uint8_t> is_last(time.size());
    for (std::size_t l = 0; l + 1 < rows.location_begin.size(); ++l)
        if (rows.location_begin[l] < rows.location_begin[l + 1])
            is_last[rows.location_begin[l + 1] - 1] = 1;
    std::vector<std::int64_t> out(stamp.begin(), stamp.end());
    for (std::size_t k = order.size(); k-- > 0;) {
        const std::int64_t row = order[k];
        if (!is_last[row]) {
            const std::int64_t ramp = (time[row + 1] >> bits) - (time[row] >> bits);
            std::int64_t moved = sum(difference(out[row + 1], time[row + 1]),
                                     sum(time[row], -std::max<std::int64_t>(ramp, 0)));
            moved = std::min(moved, out[row + 1]);
            if (rows.gives[row] != none) moved = std::min(moved, latest[rows.gives[row]]);
            out[row] = std::max(out[row], moved);
        }
        if (rows.takes[row] != none && !chained[rows.takes[row]])
            latest[rows.takes[row]] =
                std::min(latest[rows.takes[row]], difference(out[row], latency));
    }
    return out;
}

}  // namespace burstline
