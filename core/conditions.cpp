#include "conditions.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "iteration_sets.hpp"
#include "progressions.hpp"
#include "rule_words.hpp"

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;
using std::size_t;
using std::uint64_t;
using std::uint8_t;

/// Trip counts that are told one by one.
constexpr size_t kFew = 4;

/// Periods of trip counts that are tried; numbers that seem to have more have none.
constexpr int kMostPeriods = 64;

/// Neighbouring conditions up to which any of them may be in one that none of them is.
constexpr size_t kShort = 4;

/// Neighbouring conditions from which on not all ways to put some into one are tried.
constexpr size_t kMany = 16;

/// Conditions of a chain; more of them are no choice that anybody reads as one.
constexpr size_t kMostBranches = 32;

/// What a condition costs whose iterations follow a rule.
constexpr int64_t kByRule = 2;

/// Conditions in which a condition may be; what is deeper is not put into one.
constexpr int kDeepest = 100;

/// What the last of conditions costs one of which always holds: no words.
constexpr BodyCost kElse{0, 0, 1, 0, 0};

BodyCost operator+(const BodyCost& a, const BodyCost& b) {
    return {a.unexplained + b.unexplained, a.length + b.length, a.conditions + b.conditions,
            a.letters + b.letters, a.lists + b.lists};
}

int64_t left_open(const BodyCost& cost) { return cost.length + 2 * cost.unexplained; }

/// Whether the first is the better way to write a body.
bool is_better(const BodyCost& a, const BodyCost& b) {
    const auto words = [](const BodyCost& cost) {
        return std::tuple(left_open(cost), cost.length, cost.conditions, cost.letters);
    };
    return words(a) < words(b);
}

/// How many progressions the shortest period has of which the numbers are repetitions.
int64_t period_length(std::span<const int64_t> numbers) {
    size_t period = numbers.size();
    int tried = 0;
    for (size_t at = 1; at < numbers.size() && tried < kMostPeriods; ++at) {
        if (numbers[at] != numbers[0]) continue;
        ++tried;
        if (std::equal(numbers.begin() + static_cast<std::ptrdiff_t>(at), numbers.end(),
                       numbers.begin())) {
            period = at;
            break;
        }
    }
    Coder coder;
    Progressions found;
    for (const int64_t number : numbers.first(period)) coder.add(number, found);
    coder.end(found);
    return static_cast<int64_t>(found.first.size());
}

/// Where rows of another lane than the one before begin, and the end.
std::vector<size_t> lane_bounds(std::span<const int64_t> lane) {
    std::vector<size_t> bounds{0};
    for (size_t k = 1; k < lane.size(); ++k)
        if (lane[k] != lane[k - 1]) bounds.push_back(k);
    bounds.push_back(lane.size());
    return bounds;
}

bool is_constant(std::span<const int64_t> numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t number) { return number == numbers[0]; });
}

/// Whether all numbers are linear in their places, of which there are several.
bool is_linear(std::span<const int64_t> numbers, std::span<const int64_t> place) {
    const auto other =
        std::find_if(place.begin(), place.end(), [&](int64_t each) { return each != place[0]; });
    if (other == place.end()) return false;
    const int64_t run = *other - place[0];
    const int64_t rise = numbers[static_cast<size_t>(other - place.begin())] - numbers[0];
    for (size_t k = 0; k < numbers.size(); ++k)
        if ((numbers[k] - numbers[0]) * run != (place[k] - place[0]) * rise) return false;
    return true;
}

/// Some neighbouring elements, from the first to the last.
struct Stretch {
    int32_t first, last;
};

/// A condition in a body, or one of the elements that stand in none.
struct Part {
    Stretch elements;
    bool is_condition;
};

struct Body {
    BodyCost cost;
    std::vector<Part> parts;
};

class Level {
  public:
    explicit Level(const Iterations& iterations)
        : total_(iterations.lane.size()), words_((total_ + 63) / 64), sets_(words_) {
        if (total_ == 0 || iterations.begins.size() != total_ || iterations.elements == 0 ||
            iterations.executed.size() / total_ != iterations.elements ||
            iterations.executed.size() % total_ != 0)
            throw std::invalid_argument("each element is executed, or not, in each iteration");
        if (iterations.elements > INT32_MAX)
            throw std::invalid_argument("a body has at most 2^31 elements");
        find_lanes(iterations);
        find_entries(iterations);
        Words set(words_);
        for (size_t begin = 0; begin < iterations.executed.size(); begin += total_) {
            set_bits(iterations.executed.subspan(begin, total_), set);
            if (std::all_of(set.begin(), set.end(), [](uint64_t word) { return word == 0; }))
                throw std::invalid_argument("an element is executed in no iteration");
            executed_.push_back(sets_.number_of(set.data()));
        }
        set_bits({}, set);
        const auto last = static_cast<int32_t>(executed_.size()) - 1;
        whole_ = body({0, last}, sets_.number_of(set.data()));
    }

    [[nodiscard]] const BodyCost& cost() const { return whole_.cost; }
    [[nodiscard]] std::vector<int32_t> parts() const {
        std::vector<int32_t> written;
        write(whole_, written);
        return written;
    }

    [[nodiscard]] std::span<const int64_t> trips() const { return trips_; }
    [[nodiscard]] std::span<const int64_t> entry_lane() const { return entry_lane_; }

  private:
    /// Neighbours in a body that is executed in some iterations, each only in some of these.
    struct Run {
        std::vector<Stretch> alike;  ///< elements that are executed in the same iterations
        std::vector<int32_t> holds;  ///< which these are
        int32_t among;
    };

    /// Conditions that stand next to each other: where the elements of each begin and end.
    struct Way {
        BodyCost cost;
        std::vector<size_t> places;
    };

    void find_lanes(const Iterations& iterations) {
        const std::vector<size_t> bounds = lane_bounds(iterations.lane);
        for (size_t k = 0; k + 1 < bounds.size(); ++k) {
            if (!iterations.begins[bounds[k]])
                throw std::invalid_argument("a lane begins with an entry");
            lanes_.push_back(lane_bits(bounds[k], bounds[k + 1]));
        }
    }

    void find_entries(const Iterations& iterations) {
        first_.assign(words_, 0);
        last_.assign(words_, 0);
        place_.resize(total_);
        for (size_t k = 0; k < total_; ++k) {
            if (iterations.begins[k]) {
                if (k > 0) add_bit(last_, k - 1);
                add_bit(first_, k);
                trips_.push_back(0);
                entry_lane_.push_back(iterations.lane[k]);
            }
            place_[k] = static_cast<int64_t>(trips_.back()++);
        }
        add_bit(last_, total_ - 1);
        seen_.resize(static_cast<size_t>(*std::max_element(trips_.begin(), trips_.end())));
        for (size_t k = 1, last = 0; k < trips_.size(); ++k) {
            if (trips_[k] < 2) continue;
            if (trips_[last] > 1 && entry_lane_[last] == entry_lane_[k]) is_again_ = true;
            last = k;
        }
    }

    static void add_bit(Words& set, size_t bit) { set[bit / 64] |= uint64_t{1} << (bit % 64); }

    /// The bits of a row of flags; those of all iterations if there is none.
    void set_bits(std::span<const bool> flags, Words& set) const {
        std::fill(set.begin(), set.end(), 0);
        for (size_t k = 0; k < total_; ++k)
            if (flags.empty() || flags[k]) add_bit(set, k);
    }

    /// Whether a lane is in some, but not all of the iterations.
    [[nodiscard]] bool is_condition(const uint64_t* holds, const uint64_t* among) const {
        return std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneBits& lane) {
            uint64_t some = 0, others = 0;
            for (size_t word = lane.first; word <= lane.last; ++word) {
                some |= holds[word] & lane.mask(word);
                others |= (holds[word] ^ among[word]) & lane.mask(word);
            }
            return some != 0 && others != 0;
        });
    }

    [[nodiscard]] bool is_condition(int32_t holds, int32_t among) const {
        return holds != among && is_condition(sets_[holds], sets_[among]);
    }

    static bool is_in(const LaneBits& lane, const uint64_t* set) {
        for (size_t word = lane.first; word <= lane.last; ++word)
            if ((set[word] & lane.mask(word)) != 0) return true;
        return false;
    }

    /// Whether two sets are of the same lanes, but of other iterations of them.
    [[nodiscard]] bool are_apart(const uint64_t* one, const uint64_t* other) const {
        for (size_t word = 0; word < words_; ++word)
            if ((one[word] & other[word]) != 0) return false;
        return std::all_of(lanes_.begin(), lanes_.end(), [&](const LaneBits& lane) {
            return is_in(lane, one) == is_in(lane, other);
        });
    }

    /// Elements that are executed only in iterations in which a condition holds.
    const Body& inside(Stretch elements, int32_t holds) {
        const auto [found, is_new] = bodies_.try_emplace(key(elements.first, elements.last));
        if (is_new) {
            ++depth_;
            Body made = body(elements, holds);
            --depth_;
            return bodies_[key(elements.first, elements.last)] = std::move(made);
        }
        return found->second;
    }

    static uint64_t key(int32_t one, int32_t other) {
        return (static_cast<uint64_t>(one) << 32) | static_cast<uint64_t>(other);
    }

    /// The elements of a body that is executed in some iterations.
    Body body(Stretch elements, int32_t among) {
        Body body;
        for (int32_t element = elements.first; element <= elements.last;) {
            if (!is_condition(executed(element), among)) {
                body.cost.length += 1;
                body.parts.push_back({{element, element}, false});
                ++element;
                continue;
            }
            Run run{{}, {}, among};
            for (; element <= elements.last && is_condition(executed(element), among); ++element) {
                if (run.alike.empty() || run.holds.back() != executed(element)) {
                    run.alike.push_back({element, element});
                    run.holds.push_back(executed(element));
                }
                run.alike.back().last = element;
            }
            add_conditions(run, body);
        }
        return body;
    }

    [[nodiscard]] int32_t executed(int32_t element) const {
        return executed_[static_cast<size_t>(element)];
    }

    /// Neighbouring elements, all of which depend on some condition.
    void add_conditions(const Run& run, Body& body) {
        const size_t count = run.alike.size();
        std::vector<Way> best(count + 1);  // from each place on
        for (size_t begin = count; begin-- > 0;) {
            bool is_first = true;
            for_each_beginning(run, begin, [&](BodyCost cost, std::vector<size_t> places) {
                cost = cost + best[places.back()].cost;
                if (is_first || is_better(cost, best[begin].cost))
                    best[begin] = {cost, std::move(places)};
                is_first = false;
            });
        }
        body.cost = body.cost + best[0].cost;
        for (size_t at = 0; at < count; at = best[at].places.back()) {
            const std::vector<size_t>& places = best[at].places;
            for (size_t k = 0; k + 1 < places.size(); ++k)
                body.parts.push_back({elements(run, places[k], places[k + 1]), true});
        }
    }

    static Stretch elements(const Run& run, size_t begin, size_t end) {
        return {run.alike[begin].first, run.alike[end - 1].last};
    }

    /// The conditions that may begin at a place, and where they end.
    template <typename Take>
    void for_each_beginning(const Run& run, size_t begin, Take take) {
        const std::optional<size_t> last = last_alike(run, begin);
        Words uni(words_, 0);
        std::optional<size_t> whole;  // where the neighbours end one of which always holds
        const size_t count = run.alike.size();
        for (size_t k = begin; k < count && (!last || !whole || k <= *last); ++k) {
            const bool grows = unite(sets_[run.holds[k]], uni);
            const bool is_end = k == begin || !last || k == *last;
            if (is_end) {
                const int32_t holds = sets_.number_of(uni.data());
                if (k == begin || may_be_one(run, begin, k + 1, holds))
                    take(condition_cost(elements(run, begin, k + 1), holds, run.among),
                         std::vector{begin, k + 1});
            }
            if (grows && !whole && !is_condition(uni.data(), sets_[run.among])) whole = k + 1;
        }
        // what holds only with the last of the conditions may stand in that
        const size_t most = whole && count <= kMany ? count : whole.value_or(0);
        for (size_t end = whole.value_or(1); end <= most && for_each_chain(run, begin, end, take);)
            ++end;
    }

    /// Where a condition ends at last that begins at a place; none if it may end anywhere.
    ///
    /// Of many neighbours, all ways would take the fourth power of their number. There it ends
    /// with itself, or with the last one of the same condition if all between hold only with it.
    std::optional<size_t> last_alike(const Run& run, size_t begin) const {
        if (run.alike.size() <= kMany && depth_ <= kDeepest) return std::nullopt;
        const uint64_t* own = sets_[run.holds[begin]];
        size_t last = begin;
        for (size_t k = begin + 1; depth_ <= kDeepest && k < run.alike.size(); ++k) {
            if (run.holds[k] == run.holds[begin]) last = k;
            const uint64_t* other = sets_[run.holds[k]];
            for (size_t word = 0; word < words_; ++word)
                if ((other[word] & ~own[word]) != 0) return last;
        }
        return last;
    }

    /// Adds to a set; returns whether that made a difference.
    bool unite(const uint64_t* some, Words& set) const {
        uint64_t added = 0;
        for (size_t word = 0; word < words_; ++word) {
            added |= some[word] & ~set[word];
            set[word] |= some[word];
        }
        return added != 0;
    }

    int32_t united(const Run& run, size_t begin, size_t end) {
        Words set(words_, 0);
        for (size_t k = begin; k < end; ++k) unite(sets_[run.holds[k]], set);
        return sets_.number_of(set.data());
    }

    BodyCost condition_cost(Stretch elements, int32_t holds, int32_t among) {
        return inside(elements, holds).cost + own(holds, among);
    }

    /// Whether it may be shorter to write one condition around several.
    bool may_be_one(const Run& run, size_t begin, size_t end, int32_t holds) {
        if (!is_condition(holds, run.among)) return false;
        for (size_t k = begin; k < end; ++k)
            if (!is_condition(run.holds[k], holds)) return true;
        // else it costs words of its own: those in it must have been longer than by a rule
        if (run.holds.size() > kShort) return false;
        int64_t owns = 0;
        for (size_t k = begin; k < end; ++k) owns += left_open(own(run.holds[k], run.among));
        const auto each = static_cast<int64_t>(end - begin);
        const int64_t least = kByRule * (each - (breaks(run, begin, end).empty() ? 0 : 1));
        if (owns <= least + kByRule) return false;
        const BodyCost& around = own(holds, run.among);
        return around.unexplained == 0 && owns > least + left_open(around);
    }

    /// Conditions one of which always holds, the last of them without words; whether there are.
    template <typename Take>
    bool for_each_chain(const Run& run, size_t begin, size_t end, Take take) {
        const std::vector<size_t> between = breaks(run, begin, end);
        if (between.empty() || between.size() >= kMostBranches || depth_ > kDeepest) return false;
        std::vector<size_t> places{begin};
        places.insert(places.end(), between.begin(), between.end());
        places.push_back(end);
        const BodyCost cost = chain_cost(run, places);
        take(cost, std::move(places));
        if (between.size() < 2) return true;
        int64_t longest = 0;
        for (size_t k = begin; k < end; ++k)
            longest = std::max(longest, left_open(own(run.holds[k], run.among)));
        if (longest <= kByRule) return true;
        for (const size_t one : between) {
            std::vector<size_t> two{begin, one, end};
            const BodyCost of_two = chain_cost(run, two);
            take(of_two, std::move(two));
        }
        return true;
    }

    BodyCost chain_cost(const Run& run, const std::vector<size_t>& places) {
        BodyCost cost;
        for (size_t k = 0; k + 1 < places.size(); ++k) {
            const int32_t holds = united(run, places[k], places[k + 1]);
            cost = cost + inside(elements(run, places[k], places[k + 1]), holds).cost;
            cost = cost + (k + 2 < places.size() ? own(holds, run.among) : kElse);
        }
        return cost;
    }

    /// The places between two neighbours before which all is done in other iterations.
    std::vector<size_t> breaks(const Run& run, size_t begin, size_t end) const {
        const size_t count = end - begin;
        std::vector<Words> behind(count, Words(words_, 0));
        for (size_t k = count; k-- > 1;) {
            if (k + 1 < count) behind[k] = behind[k + 1];
            unite(sets_[run.holds[begin + k]], behind[k]);
        }
        std::vector<size_t> found;
        Words before(words_, 0);
        for (size_t k = 1; k < count; ++k) {
            unite(sets_[run.holds[begin + k - 1]], before);
            if (are_apart(before.data(), behind[k].data())) found.push_back(begin + k);
        }
        return found;
    }

    /// What the words for a condition cost, and the condition itself.
    const BodyCost& own(int32_t holds, int32_t among) {
        const auto [found, is_new] = owns_.try_emplace(key(holds, among));
        if (is_new) found->second = words_cost(sets_[holds], sets_[among]);
        return found->second;
    }

    BodyCost words_cost(const uint64_t* holds, const uint64_t* among) {
        Words some(words_, 0);
        std::vector<LaneBits> lanes;
        for (const LaneBits& lane : lanes_) {
            if (!is_in(lane, holds)) continue;
            lanes.push_back(lane);
            for (size_t word = lane.first; word <= lane.last; ++word)
                some[word] |= among[word] & lane.mask(word);
        }
        const LaneBits all{0, words_ - 1, ~uint64_t{0}, ~uint64_t{0}};
        if (const auto words = rule(all, some.data(), holds))
            return words->names_end ? BodyCost{0, 2, 1, 0, 0}
                                    : BodyCost{0, 2, 2, words->letters, words->list};
        if (const auto list = longest_list(lanes, some.data(), holds)) return {1, 3, 2, 0, *list};
        int64_t most = 0;
        for (const LaneBits& lane : lanes) most = std::max(most, stretches(lane, among, holds));
        return {1, 3 + 2 * most, 2, 0, 0};
    }

    /// The longest list of the rules that a condition follows on each of several lanes.
    std::optional<int64_t> longest_list(const std::vector<LaneBits>& lanes, const uint64_t* among,
                                        const uint64_t* holds) {
        if (lanes.size() < 2) return std::nullopt;
        int64_t longest = 0;
        for (const LaneBits& lane : lanes) {
            const auto words = rule(lane, among, holds);
            if (!words) return std::nullopt;
            longest = std::max(longest, words->list);
        }
        return longest;
    }

    /// The words for when a condition holds in some iterations of a lane, or of all.
    std::optional<RuleWords> rule(const LaneBits& lane, const uint64_t* among,
                                  const uint64_t* holds) {
        if (is_as(lane, first_, among, holds, false)) return end_of("first iteration");
        if (is_as(lane, first_, among, holds, true)) return end_of("not first iteration");
        if (is_as(lane, last_, among, holds, false)) return end_of("last iteration");
        if (is_as(lane, last_, among, holds, true)) return end_of("not last iteration");
        std::fill(seen_.begin(), seen_.end(), uint8_t{0});
        bool is_told = true;
        for_each_bit(lane, among, [&](size_t word, size_t bit) {
            const bool is_chosen = ((holds[word] >> bit) & 1) != 0;
            uint8_t& seen = seen_[static_cast<size_t>(place_[64 * word + bit])];
            seen |= is_chosen ? kChosen : kOther;
            is_told = is_told && seen != (kChosen | kOther);
            return is_told;
        });
        if (!is_told) return std::nullopt;
        chosen_.clear();
        others_.clear();
        for (size_t place = 0; place < seen_.size(); ++place)
            if (seen_[place] != 0)
                (seen_[place] == kChosen ? chosen_ : others_)
                    .push_back(static_cast<int64_t>(place));
        return set_words(chosen_, others_, is_again_);
    }

    static RuleWords end_of(std::string_view words) {
        return {static_cast<int64_t>(words.size()), 0, true};
    }

    /// Whether a condition holds in those iterations that begin, or end, an entry, or in the
    /// others.
    static bool is_as(const LaneBits& lane, const Words& ends, const uint64_t* among,
                      const uint64_t* holds, bool in_others) {
        const uint64_t turned = in_others ? ~uint64_t{0} : 0;
        for (size_t word = lane.first; word <= lane.last; ++word)
            if (((holds[word] ^ ends[word] ^ turned) & among[word] & lane.mask(word)) != 0)
                return false;
        return true;
    }

    /// How many progressions a condition has on a lane, in iterations of the body around it.
    static int64_t stretches(const LaneBits& lane, const uint64_t* among, const uint64_t* holds) {
        Coder coder;
        Progressions found;
        int64_t number = 0;
        for_each_bit(lane, among, [&](size_t word, size_t bit) {
            if (((holds[word] >> bit) & 1) != 0) coder.add(number, found);
            ++number;
            return true;
        });
        coder.end(found);
        return static_cast<int64_t>(found.first.size());
    }

    /// Goes through the iterations of a lane that are in a set, as long as `go_on` says so.
    template <typename GoOn>
    static void for_each_bit(const LaneBits& lane, const uint64_t* set, GoOn go_on) {
        for (size_t word = lane.first; word <= lane.last; ++word)
            for (uint64_t left = set[word] & lane.mask(word); left != 0; left &= left - 1)
                if (!go_on(word, static_cast<size_t>(std::countr_zero(left)))) return;
    }

    void write(const Body& body, std::vector<int32_t>& written) const {
        for (const Part& part : body.parts) {
            if (!part.is_condition) {
                written.push_back(part.elements.first);
                continue;
            }
            written.push_back(begin_condition);
            write(bodies_.at(key(part.elements.first, part.elements.last)), written);
            written.push_back(end_condition);
        }
    }

    static constexpr uint8_t kChosen = 1, kOther = 2;

    size_t total_, words_;
    IterationSets sets_;
    std::vector<int32_t> executed_;  ///< the set of each element
    std::vector<LaneBits> lanes_;
    std::vector<int64_t> trips_, entry_lane_;
    bool is_again_ = false;       ///< whether a lane has more than one entry of several iterations
    std::vector<int64_t> place_;  ///< iterations of the entry before each
    Words first_, last_;          ///< the iterations that begin an entry, and that end one
    Body whole_;
    // what was found before, to be looked up
    std::unordered_map<uint64_t, Body> bodies_;
    std::unordered_map<uint64_t, BodyCost> owns_;
    int depth_ = 0;
    // to be used again
    std::vector<uint8_t> seen_;
    std::vector<int64_t> chosen_, others_;
};

}  // namespace

BodyCost loop_cost(const Iterations& iterations) {
    const Level level(iterations);
    const BodyCost& inside = level.cost();
    const auto trips = level.trips();
    if (std::all_of(trips.begin(), trips.end(), [](int64_t each) { return each == 1; }))
        return inside;  // it is none, but calls in another order than their lines
    return inside + BodyCost{0, 1, 0, 0, 0} + trips_cost(trips, level.entry_lane(), {});
}

std::vector<int32_t> conditional_body(const Iterations& iterations) {
    return Level(iterations).parts();
}

BodyCost trips_cost(std::span<const int64_t> trips, std::span<const int64_t> lane,
                    std::span<const int64_t> place) {
    if (trips.empty() || lane.size() != trips.size() ||
        (!place.empty() && place.size() != trips.size()))
        throw std::invalid_argument("each entry has a lane, and a place");
    if (is_constant(trips)) return {0, 1, 0, 0, 0};
    const std::vector<size_t> bounds = lane_bounds(lane);
    std::vector<std::span<const int64_t>> parts;
    for (size_t k = 0; k + 1 < bounds.size(); ++k)
        parts.push_back(trips.subspan(bounds[k], bounds[k + 1] - bounds[k]));
    if (std::all_of(parts.begin(), parts.end(), is_constant)) return {0, 2, 0, 0, 0};
    std::vector<int64_t> counted;
    if (place.empty()) {
        for (const auto& part : parts)
            for (size_t k = 0; k < part.size(); ++k) counted.push_back(static_cast<int64_t>(k));
        place = counted;
    }
    if (is_linear(trips, place)) return {0, 2, 0, 0, 0};
    bool are_equal = true;
    int64_t most = 0;
    for (const auto& part : parts) {
        are_equal =
            are_equal && std::equal(part.begin(), part.end(), parts[0].begin(), parts[0].end());
        most = std::max(most, period_length(part));
    }
    // one by one, or as one that repeats itself
    const bool is_told = are_equal && (parts[0].size() <= kFew || most == 1);
    return {is_told ? 0 : 1, 2 + 2 * most, 0, 0, 0};
}

}  // namespace burstline
