#include "reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "layout.hpp"

namespace burstline {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t nobody = -1;
constexpr std::uint32_t not_met = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t no_burst = -1;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Subtracts without caring for overflow: garbage in, garbage out, never undefined.
std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Mean and spread of values, by their deviations from the first.
struct Moments {
    std::int64_t count = 0;
    double first = 0.0, sum = 0.0, squares = 0.0;

    void add(std::int64_t value) {
        if (count++ == 0) first = static_cast<double>(value);
        const double deviation = static_cast<double>(value) - first;
        sum += deviation;
        squares += deviation * deviation;
    }
    [[nodiscard]] double mean() const {
        return count ? first + sum / static_cast<double>(count) : undefined;
    }
    [[nodiscard]] double spread() const {
        if (!count) return undefined;
        const double shift = sum / static_cast<double>(count);
        return std::sqrt(std::max(squares / static_cast<double>(count) - shift * shift, 0.0));
    }
};

struct Extremes {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = nobody;

    void add(std::int64_t value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    void append_to(std::vector<std::int64_t>& pairs) const {
        pairs.push_back(high == nobody ? nobody : low);
        pairs.push_back(high);
    }
};

/// What is gathered about one unique call.
struct Gathered {
    std::int64_t next = 0;  // where its next enter time goes
    std::int64_t communicator = nobody;
    Moments time, size, burst;
    Extremes peer, offset;
    bool is_root = false;
};

/// One counter of one unique call.
struct Counted {
    double sum = 0.0;
    std::int64_t count = 0;
    std::uint64_t at_first = 0, at_last = 0;  // what the lane had computed by then
};

/// Reduces lane by lane; what a lane needs is kept for the next.
class Reducer {
  public:
    Reducer(const SignedCalls& calls, const BurstsBefore& bursts, std::size_t signatures)
        : calls_(calls), bursts_(bursts), unique_of_(signatures, not_met) {
        result_.enter_ns.resize(calls.signature.size());
        result_.begin.push_back(0);
    }

    void add(std::size_t lane) {
        first_ = at(calls_.lane_begin[lane]);
        length_ = at(calls_.lane_begin[lane + 1]) - first_;
        number(lane);
        find_bursts(lane);
        gather(calls_.rank[lane]);
        for (const Gathered& gathered : gathered_) append(gathered);
        count();
    }

    UniqueCalls take() { return std::move(result_); }

  private:
    /// Numbers the unique calls of a lane by their signature, and gives each its place.
    void number(std::size_t lane) {
        const auto signature = calls_.signature.subspan(first_, length_);
        std::vector<std::int64_t> found;
        std::vector<std::int64_t> executions;
        of_call_.resize(length_);
        for (std::size_t k = 0; k < length_; ++k) {
            if (signature[k] < 0 || at(signature[k]) >= unique_of_.size())
                throw std::invalid_argument("a signature is out of range");
            std::uint32_t& unique = unique_of_[at(signature[k])];
            if (unique == not_met) {
                unique = static_cast<std::uint32_t>(found.size());
                found.push_back(signature[k]);
                executions.push_back(0);
            }
            of_call_[k] = unique;
            ++executions[unique];
        }
        std::vector<std::int64_t> in_order = found;
        std::sort(in_order.begin(), in_order.end());
        gathered_.assign(found.size(), {});
        for (std::size_t unique = 0; unique < in_order.size(); ++unique) {
            const std::uint32_t met = unique_of_[at(in_order[unique])];
            gathered_[unique].next = result_.begin.back();
            result_.lane.push_back(static_cast<std::int64_t>(lane));
            result_.signature.push_back(in_order[unique]);
            result_.begin.push_back(result_.begin.back() + executions[met]);
            unique_of_[at(in_order[unique])] = static_cast<std::uint32_t>(unique);
        }
        renumbered_.resize(found.size());
        for (std::size_t met = 0; met < found.size(); ++met) {
            renumbered_[met] = unique_of_[at(found[met])];
            unique_of_[at(found[met])] = not_met;
        }
        for (std::uint32_t& unique : of_call_) unique = renumbered_[unique];
    }

    /// Finds the row of the burst before each call of a lane.
    void find_bursts(std::size_t lane) {
        burst_of_.assign(length_, no_burst);
        const auto ordinal = calls_.ordinal.subspan(first_, length_);
        std::size_t next = 0;  // both are in order, so the next is nearly always the one
        for (std::int64_t row = bursts_.begin[lane]; row < bursts_.end[lane]; ++row) {
            const std::int32_t after = bursts_.call_after[at(row)];
            if (after < 0) continue;
            if (next >= length_ || ordinal[next] != after)
                next = static_cast<std::size_t>(
                    std::lower_bound(ordinal.begin(), ordinal.end(), after) - ordinal.begin());
            if (next < length_ && ordinal[next] == after) burst_of_[next++] = row;
        }
    }

    void gather(std::int64_t rank) {
        for (std::size_t k = 0; k < length_; ++k) {
            const std::size_t call = first_ + k;
            Gathered& gathered = gathered_[of_call_[k]];
            if (gathered.time.count == 0) gathered.communicator = calls_.communicator[call];
            result_.enter_ns[at(gathered.next++)] = calls_.enter_ns[call];
            gathered.time.add(difference(calls_.leave_ns[call], calls_.enter_ns[call]));
            const std::int64_t size =
                std::max(calls_.sent_bytes[call], calls_.received_bytes[call]);
            if (size != no_value) gathered.size.add(size);
            if (const std::int64_t row = burst_of_[k]; row != no_burst)
                gathered.burst.add(difference(bursts_.end_ns[at(row)], bursts_.start_ns[at(row)]));
            if (const std::int64_t peer = calls_.peer[call]; peer >= 0) {
                if (peer >= calls_.ranks) throw std::invalid_argument("a peer is out of range");
                gathered.peer.add(peer);
                gathered.offset.add(peer >= rank ? peer - rank : peer - rank + calls_.ranks);
            }
            gathered.is_root |= calls_.root[call] >= 0;
        }
    }

    void append(const Gathered& gathered) {
        result_.communicator.push_back(gathered.communicator);
        result_.time_ns.push_back(gathered.time.mean());
        result_.time_spread_ns.push_back(gathered.time.spread());
        result_.size_bytes.push_back(gathered.size.mean());
        result_.size_spread_bytes.push_back(gathered.size.spread());
        result_.burst_ns.push_back(gathered.burst.mean());
        gathered.peer.append_to(result_.peer);
        gathered.offset.append_to(result_.offset);
        result_.is_root.push_back(gathered.is_root);
    }

    /// Counters before calls, and between their executions: one counter after the other.
    void count() {
        const std::size_t counters = bursts_.counters.size();
        const std::size_t row = result_.burst_counters.size();
        result_.burst_counters.resize(row + gathered_.size() * counters, undefined);
        result_.iteration_counters.resize(row + gathered_.size() * counters, undefined);
        for (std::size_t c = 0; c < counters; ++c) {
            sum_up(bursts_.counters[c]);
            for (std::size_t unique = 0; unique < gathered_.size(); ++unique) {
                const Counted& counted = counted_[unique];
                const std::size_t cell = row + unique * counters + c;
                if (counted.count)
                    result_.burst_counters[cell] = counted.sum / static_cast<double>(counted.count);
                const std::int64_t steps = gathered_[unique].time.count - 1;
                if (steps > 0)
                    result_.iteration_counters[cell] =
                        static_cast<double>(
                            static_cast<std::int64_t>(counted.at_last - counted.at_first)) /
                        static_cast<double>(steps);
            }
        }
    }

    void sum_up(std::span<const std::int64_t> values) {
        counted_.assign(gathered_.size(), {});
        met_.assign(gathered_.size(), 0);
        std::uint64_t so_far = 0;
        for (std::size_t k = 0; k < length_; ++k) {
            const std::uint32_t unique = of_call_[k];
            Counted& counted = counted_[unique];
            const std::int64_t row = burst_of_[k];
            const std::int64_t value = row == no_burst ? no_value : values[at(row)];
            if (value != no_value) {
                counted.sum += static_cast<double>(value);
                ++counted.count;
                so_far += static_cast<std::uint64_t>(value);
            }
            counted.at_last = so_far;
            if (!met_[unique]) {
                met_[unique] = 1;
                counted.at_first = so_far;
            }
        }
    }

    const SignedCalls& calls_;
    const BurstsBefore& bursts_;
    UniqueCalls result_;
    std::vector<std::uint32_t> unique_of_;  // of each signature met in the lane
    std::size_t first_ = 0, length_ = 0;    // the lane's calls
    std::vector<std::uint32_t> of_call_, renumbered_;
    std::vector<std::int64_t> burst_of_;
    std::vector<Gathered> gathered_;
    std::vector<Counted> counted_;
    std::vector<std::uint8_t> met_;
};

void check(const SignedCalls& calls, const BurstsBefore& bursts) {
    const std::size_t lanes = calls.rank.size(), count = calls.signature.size();
    const auto as_long = [](std::size_t length, auto... columns) {
        return ((columns.size() == length) && ...);
    };
    if (!as_long(count, calls.enter_ns, calls.leave_ns, calls.sent_bytes, calls.received_bytes,
                 calls.communicator, calls.peer, calls.root, calls.ordinal) ||
        !as_long(bursts.call_after.size(), bursts.start_ns, bursts.end_ns) ||
        !as_long(lanes, bursts.begin, bursts.end) || calls.lane_begin.size() != lanes + 1)
        throw std::invalid_argument("columns differ in length");
    for (const auto& values : bursts.counters)
        if (values.size() != bursts.call_after.size())
            throw std::invalid_argument("columns differ in length");
    const bool whole = calls.lane_begin.front() == 0 && at(calls.lane_begin.back()) == count;
    if (!whole || !std::is_sorted(calls.lane_begin.begin(), calls.lane_begin.end()))
        throw std::invalid_argument("lanes do not cover the calls in order");
    const auto rows = static_cast<std::int64_t>(bursts.call_after.size());
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (calls.rank[lane] < 0 || calls.rank[lane] >= calls.ranks)
            throw std::invalid_argument("a rank is out of range");
        if (bursts.begin[lane] < 0 || bursts.end[lane] > rows)
            throw std::invalid_argument("bursts of a lane are out of range");
    }
}

}  // namespace

UniqueCalls reduce(const SignedCalls& calls, const BurstsBefore& bursts, std::size_t signatures) {
    check(calls, bursts);
    Reducer reducer(calls, bursts, signatures);
    for (std::size_t lane = 0; lane < calls.rank.size(); ++lane) reducer.add(lane);
    return reducer.take();
}

}  // namespace burstline
