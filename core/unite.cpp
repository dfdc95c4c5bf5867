#include "unite.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "follows.hpp"

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;

/// What follows the last symbol of a lane.
constexpr int32_t kEnd = -1;

/// What each site costs that may follow another, but for the first.
constexpr int64_t kBranch = 3;

/// Stretches before that are looked at, and how much of each, to tell what follows.
constexpr int kMostStretches = 24, kLongestStretch = 64;

class Uniter {
  public:
    Uniter(std::span<const int32_t> sequence, std::span<const int64_t> lane_begin,
           std::span<const int32_t> sites, int32_t count, int64_t work)
        : sites_(sites.begin(), sites.end()), lane_(sequence.size()),
          visits_(static_cast<std::size_t>(count)), symbol_(static_cast<std::size_t>(count), kEnd),
          work_left_(work) {
        for (std::size_t lane = 0; lane < lane_begin.size(); ++lane)
            std::fill(lane_.begin() + lane_begin[lane], lane_.end(), static_cast<int32_t>(lane));
        for (std::size_t k = 0; k < sites.size(); ++k) {
            const auto site = static_cast<std::size_t>(sites[k]);
            if (!visits_[site].empty() && symbol_[site] != sequence[k])
                throw std::invalid_argument("a site has one symbol");
            visits_[site].push_back(static_cast<int32_t>(k));
            symbol_[site] = sequence[k];
        }
        for (int32_t site = 0; site < count; ++site) cost_.push_back(cost(site));
    }

    /// Unites the best two as long as there are any.
    void unite() {
        std::vector<Pair> pairs = all_pairs();
        while (work_left_ > 0) {
            const auto best = std::min_element(pairs.begin(), pairs.end(), is_better);
            if (best == pairs.end() || best->change >= 0) return;
            const Pair before = *best;
            try_out(*best);  // again: sites further away may have changed
            if (best->change > before.change) continue;
            const std::vector<int32_t> changed = keep(*best);
            std::vector<bool> is_changed(visits_.size());
            for (const int32_t site : changed) is_changed[static_cast<std::size_t>(site)] = true;
            std::erase_if(pairs, [&](const Pair& pair) {
                return visits(pair.one).empty() || visits(pair.other).empty();
            });
            for (Pair& pair : pairs)
                if (is_changed[static_cast<std::size_t>(pair.one)] ||
                    is_changed[static_cast<std::size_t>(pair.other)])
                    try_out(pair);
        }
    }

    [[nodiscard]] UnitedSites result() const {
        return {{sites_.begin(), sites_.end()},
                std::accumulate(cost_.begin(), cost_.end(), int64_t{0})};
    }

  private:
    /// Which neighbours of two sites are united with them.
    enum class With { nothing, followers, leaders, both };

    /// Two sites of one symbol, and by what the program gets longer if they are united.
    struct Pair {
        int32_t one, other;
        int64_t change = 0;
        With with = With::nothing;
    };

    /// A site that is a part of another now, and the visits that were its own.
    struct Union {
        int32_t whole, part;
        std::vector<int32_t> visits;
    };

    static bool is_better(const Pair& a, const Pair& b) { return a.change < b.change; }

    [[nodiscard]] std::vector<int32_t>& visits(int32_t site) {
        return visits_[static_cast<std::size_t>(site)];
    }
    [[nodiscard]] int32_t after(int32_t place) const {
        const auto next = static_cast<std::size_t>(place) + 1;
        return next == lane_.size() || lane_[next] != lane_[next - 1] ? kEnd : sites_[next];
    }
    [[nodiscard]] int32_t before(int32_t place) const {
        const auto here = static_cast<std::size_t>(place);
        return here == 0 || lane_[here] != lane_[here - 1] ? kEnd : sites_[here - 1];
    }

    std::vector<Pair> all_pairs() {
        std::vector<Pair> pairs;
        const auto count = static_cast<int32_t>(visits_.size());
        for (int32_t one = 0; one < count; ++one)
            for (int32_t other = one + 1; other < count && work_left_ > 0; ++other)
                if (!visits(one).empty() && !visits(other).empty() &&
                    symbol_[static_cast<std::size_t>(one)] ==
                        symbol_[static_cast<std::size_t>(other)]) {
                    pairs.push_back({one, other});
                    try_out(pairs.back());
                }
        return pairs;
    }

    /// What a site costs, with the surprises behind it.
    int64_t cost(int32_t site) {
        const std::vector<int32_t>& places = visits(site);
        if (places.empty()) return 0;
        work_left_ -= static_cast<int64_t>(places.size());
        followed_.clear();
        for (const int32_t place : places) followed_.push_back(after(place));
        different_ = followed_;
        std::sort(different_.begin(), different_.end());
        const auto end = std::unique(different_.begin(), different_.end());
        const int64_t others = std::distance(different_.begin(), end) - 1;
        return others == 0 ? 1 : 1 + others * kBranch + surprises(places);
    }

    /// How often what follows is not what followed in the longest stretch before that is alike,
    /// or on the lane before.
    int64_t surprises(const std::vector<int32_t>& places) {
        int64_t count = 0;
        std::ptrdiff_t alike = -1, lane_before = -1;  // places in the stretch that is alike
        const auto size = static_cast<std::ptrdiff_t>(places.size());
        for (std::ptrdiff_t k = 0; k < size; ++k) {
            if (k == 0 || lane_[places[k]] != lane_[places[k - 1]]) {
                alike = lane_before;
                lane_before = k;
            }
            if (alike >= 0 && followed_[alike] == followed_[k]) {
                ++alike;
            } else {
                ++count;
                alike = behind_stretch(k);
            }
        }
        return count;
    }

    /// Where the longest stretch ends that is like the one that ends at `k`; -1 if there is none.
    std::ptrdiff_t behind_stretch(std::ptrdiff_t k) {
        std::ptrdiff_t longest = 0, behind = -1;
        int tried = 0;
        for (std::ptrdiff_t j = k - 1; j >= 0 && tried < kMostStretches; --j) {
            if (followed_[j] != followed_[k]) continue;
            ++tried;
            std::ptrdiff_t length = 1;
            while (length < kLongestStretch && length <= j &&
                   followed_[j - length] == followed_[k - length])
                ++length;
            work_left_ -= length;
            if (length > longest) {
                longest = length;
                behind = j + 1;
            }
        }
        return behind;
    }

    /// Tells what two sites save that are united alone, or with neighbours.
    void try_out(Pair& pair) {
        pair.change = std::numeric_limits<int64_t>::max();
        for (const With with : {With::nothing, With::followers, With::leaders, With::both}) {
            unite(pair.one, pair.other, with);
            if (with != With::nothing && unions_.size() == 1) {  // there are none
                part_again();
                continue;
            }
            int64_t change = 0;
            for (const int32_t site : changed_sites()) change += cost(site) - known_cost(site);
            while (!unions_.empty()) part_again();
            if (change < pair.change) {
                pair.change = change;
                pair.with = with;
            }
        }
    }

    /// Unites two sites for good; tells which sites cost something else now.
    std::vector<int32_t> keep(const Pair& pair) {
        unite(pair.one, pair.other, pair.with);
        std::vector<int32_t> changed = changed_sites();
        for (const int32_t site : changed) cost_[static_cast<std::size_t>(site)] = cost(site);
        unions_.clear();
        return changed;
    }

    [[nodiscard]] int64_t known_cost(int32_t site) const {
        return cost_[static_cast<std::size_t>(site)];
    }

    /// The sites that were united, and those that they follow.
    std::vector<int32_t> changed_sites() {
        std::vector<int32_t> changed;
        for (const Union& both : unions_) {
            changed.push_back(both.whole);
            changed.push_back(both.part);
            for (const int32_t place : visits(both.whole))
                if (const int32_t site = before(place); site != kEnd) changed.push_back(site);
        }
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        return changed;
    }

    void unite(int32_t one, int32_t other, With with) {
        std::vector<std::pair<int32_t, int32_t>> left{{one, other}};
        while (!left.empty()) {
            auto [whole, part] = left.back();
            left.pop_back();
            whole = now(whole);
            part = now(part);
            if (whole == part) continue;
            if (visits(whole).size() < visits(part).size()) std::swap(whole, part);
            join(whole, part);
            if (with == With::followers || with == With::both)
                add_neighbours(whole, left, [this](int32_t place) { return after(place); });
            if (with == With::leaders || with == With::both)
                add_neighbours(whole, left, [this](int32_t place) { return before(place); });
        }
    }

    /// Adds the pairs of sites of one symbol that stand beside a site.
    template <typename Beside>
    void add_neighbours(int32_t site, std::vector<std::pair<int32_t, int32_t>>& left,
                        Beside beside) {
        std::vector<std::pair<int32_t, int32_t>> found;  // symbols, and their sites
        for (const int32_t place : visits(site)) {
            const int32_t neighbour = beside(place);
            if (neighbour == kEnd) continue;
            const int32_t symbol = symbol_[static_cast<std::size_t>(neighbour)];
            const auto same = std::find_if(found.begin(), found.end(),
                                           [&](const auto& each) { return each.first == symbol; });
            if (same == found.end())
                found.emplace_back(symbol, neighbour);
            else if (same->second != neighbour)
                left.emplace_back(same->second, neighbour);
        }
        work_left_ -= static_cast<int64_t>(visits(site).size());
    }

    /// The site of which one is a part now.
    [[nodiscard]] int32_t now(int32_t site) const {
        for (const Union& both : unions_)
            if (both.part == site) site = both.whole;
        return site;
    }

    void join(int32_t whole, int32_t part) {
        std::vector<int32_t> both;
        both.reserve(visits(whole).size() + visits(part).size());
        std::merge(visits(whole).begin(), visits(whole).end(), visits(part).begin(),
                   visits(part).end(), std::back_inserter(both));
        work_left_ -= static_cast<int64_t>(both.size());
        for (const int32_t place : visits(part)) sites_[static_cast<std::size_t>(place)] = whole;
        visits(whole).swap(both);
        unions_.push_back({whole, part, std::exchange(visits(part), {})});
    }

    void part_again() {
        Union& last = unions_.back();
        for (const int32_t place : last.visits) sites_[static_cast<std::size_t>(place)] = last.part;
        std::erase_if(visits(last.whole), [&](int32_t place) {
            return sites_[static_cast<std::size_t>(place)] != last.whole;
        });
        visits(last.part) = std::move(last.visits);
        unions_.pop_back();
    }

    std::vector<int32_t> sites_;  ///< of each symbol
    std::vector<int32_t> lane_;   ///< of each symbol
    std::vector<std::vector<int32_t>> visits_;
    std::vector<int32_t> symbol_;
    std::vector<int64_t> cost_;
    int64_t work_left_;
    std::vector<Union> unions_;  ///< the last first to part again
    std::vector<int32_t> followed_, different_;
};

}  // namespace

UnitedSites unite_sites(std::span<const int32_t> sequence, std::span<const int64_t> lane_begin,
                        std::span<const int32_t> sites, int64_t work) {
    check_lanes(sequence, lane_begin, std::numeric_limits<int32_t>::max());
    check_lanes(sites, lane_begin, static_cast<int32_t>(sequence.size()));
    if (sites.size() != sequence.size()) throw std::invalid_argument("each symbol is at one site");
    const int32_t count = sites.empty() ? 0 : 1 + *std::max_element(sites.begin(), sites.end());
    Uniter uniter(sequence, lane_begin, sites, count, work);
    uniter.unite();
    return uniter.result();
}

}  // namespace burstline
