#include "phases.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace burstline {
namespace {

constexpr std::int32_t none = -1;
constexpr std::size_t few = 16;  // phases that are compared one after another

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// Numbers of the pairs of a type and a process, as they occur first.
class Types {
  public:
    std::int32_t number(std::uint64_t type, std::int32_t process) {
        std::size_t place = slot(type, process);
        if (slots_[place].number == none) {
            if (2 * static_cast<std::size_t>(count_) >= slots_.size()) {
                grow();
                place = slot(type, process);
            }
            slots_[place] = {type, process, count_++};
        }
        return slots_[place].number;
    }

    [[nodiscard]] std::int32_t count() const { return count_; }

  private:
    struct Slot {
        std::uint64_t type = 0;
        std::int32_t process = 0, number = none;
    };

    [[nodiscard]] std::size_t slot(std::uint64_t type, std::int32_t process) const {
        const auto salt = static_cast<std::uint64_t>(process) * 0x9E3779B97F4A7C15;
        std::size_t place = mixed(type + salt) & (slots_.size() - 1);
        for (; slots_[place].number != none; place = (place + 1) & (slots_.size() - 1))
            if (slots_[place].type == type && slots_[place].process == process) break;
        return place;
    }

    void grow() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        for (const Slot& each : before)
            if (each.number != none) slots_[slot(each.type, each.process)] = each;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::int32_t count_ = 0;
};

bool alike(std::int64_t a, std::int64_t b, double similarity) {
    if (a == b) return true;
    const auto [less, more] = std::minmax(a, b);
    return static_cast<double>(less) / static_cast<double>(more) >= similarity;
}

/// The phases with one sequence of types: the newest in a list, others in trees, which split
/// them by the work of one event. Each tree is of phases that are older than those of the next,
/// and larger, so that a phase is moved into larger ones a few times only.
class Alternatives {
  public:
    Alternatives(std::span<const std::int64_t> work, const std::vector<std::int64_t>& first,
                 std::size_t events, double similarity)
        : all_work_(work), first_(first), events_(events), similarity_(similarity) {}

    /// The oldest phase that is similar to what begins at an event, or -1.
    [[nodiscard]] std::int32_t find(std::int64_t event) {
        const std::int64_t* const work = &all_work_[event];
        if (!tree_end_.empty()) set_bounds(work);
        std::int32_t oldest = std::numeric_limits<std::int32_t>::max();
        std::size_t begin = 0;
        for (const std::size_t end : tree_end_) {
            search(begin, end, work, oldest);
            if (oldest < std::numeric_limits<std::int32_t>::max()) return oldest;
            begin = end;
        }
        for (; begin < phase_.size(); ++begin)
            if (is_similar(phase_[begin], work)) return phase_[begin];
        return none;
    }

    void add(std::int32_t phase) {
        phase_.push_back(phase);
        std::size_t begin = tree_end_.empty() ? 0 : tree_end_.back();
        const std::size_t end = phase_.size();
        if (end - begin < few) return;
        while (!tree_end_.empty()) {
            const std::size_t before = tree_end_.size() > 1 ? tree_end_.end()[-2] : 0;
            if (begin - before > end - begin) break;
            begin = before;
            tree_end_.pop_back();
        }
        split_by_.resize(end);
        build(begin, end);
        tree_end_.push_back(end);
    }

    /// A phase that there is.
    [[nodiscard]] std::int32_t any() const { return phase_.front(); }

  private:
    [[nodiscard]] std::int64_t work_of(std::int32_t phase, std::size_t event) const {
        return all_work_[static_cast<std::size_t>(first_[phase]) + event];
    }

    [[nodiscard]] bool is_similar(std::int32_t phase, const std::int64_t* work) const {
        const std::int64_t* const other = &all_work_[first_[phase]];
        for (std::size_t k = 0; k < low_.size(); ++k)
            if (other[k] < low_[k] || other[k] > high_[k]) return false;
        for (std::size_t k = 0; k < events_; ++k)
            if (!alike(other[k], work[k], similarity_)) return false;
        return true;
    }

    /// Bounds outside of which work is surely not similar: faster than to divide each.
    void set_bounds(const std::int64_t* work) {
        constexpr double margin = 1e-9, most = 9e18;
        low_.resize(events_);
        high_.resize(events_);
        for (std::size_t k = 0; k < events_; ++k) {
            const auto here = static_cast<double>(work[k]);
            const double high = here / similarity_ * (1 + margin) + 1;
            low_[k] = static_cast<std::int64_t>(here * similarity_ * (1 - margin));
            high_[k] = high < most ? static_cast<std::int64_t>(high)
                                   : std::numeric_limits<std::int64_t>::max();
        }
    }

    void search(std::size_t begin, std::size_t end, const std::int64_t* work,
                std::int32_t& oldest) const {
        const auto try_one = [&](std::int32_t phase) {
            if (phase < oldest && is_similar(phase, work)) oldest = phase;
        };
        if (end - begin <= few) {
            for (; begin < end; ++begin) try_one(phase_[begin]);
            return;
        }
        const std::size_t middle = begin + (end - begin) / 2;
        const std::int32_t event = split_by_[middle];
        const std::int64_t here = work[event], there = work_of(phase_[middle], event);
        const bool in_reach = alike(here, there, similarity_);
        if (in_reach) try_one(phase_[middle]);
        if (in_reach || here < there) search(begin, middle, work, oldest);
        if (in_reach || here > there) search(middle + 1, end, work, oldest);
    }

    void build(std::size_t begin, std::size_t end) {
        const auto at = [&](std::size_t k) {
            return phase_.begin() + static_cast<std::ptrdiff_t>(k);
        };
        if (end - begin <= few) return std::sort(at(begin), at(end));
        const std::size_t middle = begin + (end - begin) / 2;
        const std::size_t event = widest(begin, end);
        std::nth_element(at(begin), at(middle), at(end), [&](std::int32_t a, std::int32_t b) {
            return work_of(a, event) < work_of(b, event);
        });
        split_by_[middle] = static_cast<std::int32_t>(event);
        build(begin, middle);
        build(middle + 1, end);
    }

    /// The event whose work differs most.
    [[nodiscard]] std::size_t widest(std::size_t begin, std::size_t end) const {
        std::size_t best = 0;
        double most = 0;
        for (std::size_t event = 0; event < events_; ++event) {
            std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
            for (std::size_t k = begin; k < end; ++k) {
                const std::int64_t work = work_of(phase_[k], event);
                low = std::min(low, work);
                high = std::max(high, work);
            }
            const double ratio = (static_cast<double>(high) + 1) / (static_cast<double>(low) + 1);
            if (ratio > most) most = ratio, best = event;
        }
        return best;
    }

    std::span<const std::int64_t> all_work_;
    const std::vector<std::int64_t>& first_;
    std::size_t events_;
    double similarity_;
    std::vector<std::int32_t> phase_;     // oldest first, but in trees
    std::vector<std::int32_t> split_by_;  // the event that divides a tree at a phase
    std::vector<std::size_t> tree_end_;
    std::vector<std::int64_t> low_, high_;  // of what is searched, once there are trees
};

class Detection {
  public:
    Detection(const Ticks& ticks, double similarity)
        : ticks_(ticks), similarity_(similarity), number_(ticks.type.size()) {}

    PhaseOccurrences run() {
        const std::size_t events = ticks_.type.size();
        const std::size_t ticks = ticks_.begin.empty() ? events : ticks_.begin.size() - 1;
        std::uint64_t hash = 0;
        for (std::size_t tick = 0; tick < ticks; ++tick) {
            const auto [begin, end] = events_of(tick);
            bool repeats = false;
            for (std::size_t k = begin; k < end; ++k) {
                const std::int32_t process = ticks_.process.empty() ? 0 : ticks_.process[k];
                number_[k] = types_.number(ticks_.type[k], process);
                if (seen_.size() < static_cast<std::size_t>(types_.count()))
                    seen_.resize(2 * static_cast<std::size_t>(types_.count()), none);
                repeats = repeats || seen_[number_[k]] == opened();
            }
            if (repeats) {
                close(tick, hash);
                hash = 0;
            }
            if (out_.begin.size() == out_.phase.size())
                out_.begin.push_back(static_cast<std::int64_t>(tick));
            for (std::size_t k = begin; k < end; ++k) {
                seen_[number_[k]] = opened();
                hash = mixed(hash + static_cast<std::uint64_t>(number_[k]) + 1);
            }
            if (!ticks_.begin.empty()) hash = mixed(hash ^ ~std::uint64_t{end - begin});
        }
        if (ticks > 0) close(ticks, hash);
        out_.begin.push_back(static_cast<std::int64_t>(ticks));
        return std::move(out_);
    }

  private:
    [[nodiscard]] std::pair<std::size_t, std::size_t> events_of(std::size_t tick) const {
        if (ticks_.begin.empty()) return {tick, tick + 1};
        return {static_cast<std::size_t>(ticks_.begin[tick]),
                static_cast<std::size_t>(ticks_.begin[tick + 1])};
    }

    [[nodiscard]] std::size_t event_of(std::size_t tick) const {
        return ticks_.begin.empty() ? tick : static_cast<std::size_t>(ticks_.begin[tick]);
    }

    /// The occurrence that is open.
    [[nodiscard]] std::int32_t opened() const {
        return static_cast<std::int32_t>(out_.phase.size());
    }

    void close(std::size_t end, std::uint64_t hash) {
        const auto begin = static_cast<std::size_t>(out_.begin.back());
        Alternatives& same = sequence(begin, end, hash);
        const auto event = static_cast<std::int64_t>(event_of(begin));
        std::int32_t phase = is_new_ ? none : same.find(event);
        if (phase == none) {
            phase = static_cast<std::int32_t>(first_tick_.size());
            first_tick_.push_back(begin);
            first_event_.push_back(event);
            same.add(phase);
        }
        out_.phase.push_back(phase);
    }

    /// The phases with the types of some ticks; sequences of one hash stand in a row.
    Alternatives& sequence(std::size_t begin, std::size_t end, std::uint64_t hash) {
        for (;; ++hash) {
            const auto [entry, is_new] = sequences_.try_emplace(hash, alternatives_.size());
            is_new_ = is_new;
            if (is_new)
                alternatives_.emplace_back(ticks_.work, first_event_,
                                           event_of(end) - event_of(begin), similarity_);
            Alternatives& same = alternatives_[entry->second];
            if (is_new || has_types(first_tick_[same.any()], begin, end)) return same;
        }
    }

    /// Whether the types in some ticks are those in the ticks from another one on.
    [[nodiscard]] bool has_types(std::size_t other, std::size_t begin, std::size_t end) const {
        if (other + (end - begin) > last_tick()) return false;
        const std::size_t events = event_of(end) - event_of(begin);
        if (event_of(other + (end - begin)) - event_of(other) != events) return false;
        for (std::size_t k = 0; !ticks_.begin.empty() && k < end - begin; ++k)
            if (event_of(begin + k) - event_of(begin) != event_of(other + k) - event_of(other))
                return false;
        const std::int32_t* const numbers = number_.data();
        return std::equal(numbers + event_of(begin), numbers + event_of(begin) + events,
                          numbers + event_of(other));
    }

    [[nodiscard]] std::size_t last_tick() const {
        return ticks_.begin.empty() ? ticks_.type.size() : ticks_.begin.size() - 1;
    }

    const Ticks& ticks_;
    double similarity_;
    Types types_;
    std::vector<std::int32_t> number_;  // (events,) of the type
    std::vector<std::int32_t> seen_;    // the last occurrence that has a type
    std::vector<std::size_t> first_tick_;
    std::vector<std::int64_t> first_event_;  // of the first occurrence of each phase
    std::unordered_map<std::uint64_t, std::size_t> sequences_;
    std::vector<Alternatives> alternatives_;
    bool is_new_ = false;
    PhaseOccurrences out_;
};

void check(const Ticks& ticks, double similarity) {
    const std::size_t events = ticks.type.size();
    if (ticks.work.size() != events || (!ticks.process.empty() && ticks.process.size() != events))
        throw std::invalid_argument("events have a type, a process and an amount of work");
    if (events > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("phases are searched in less than 2^31 events");
    if (!(similarity >= 0 && similarity <= 1))
        throw std::invalid_argument("a similarity is a number from 0 to 1");
    if (std::ranges::any_of(ticks.work, [](std::int64_t work) { return work < 0; }))
        throw std::invalid_argument("work is not negative");
    if (ticks.begin.empty()) return;
    if (ticks.begin.front() != 0 || ticks.begin.back() != static_cast<std::int64_t>(events) ||
        !std::ranges::is_sorted(ticks.begin))
        throw std::invalid_argument("ticks lie in the events, one after another");
}

}  // namespace

PhaseOccurrences phases_of(const Ticks& ticks, double similarity) {
    check(ticks, similarity);
    return Detection(ticks, similarity).run();
}

}  // namespace burstline
