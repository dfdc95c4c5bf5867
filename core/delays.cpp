#include "delays.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace burstline {
namespace {

using Index = std::int64_t;
constexpr auto idle = static_cast<std::size_t>(Wait::omp_idle);

void check(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void check_points(const Points& points, const Stretches& segments, std::int32_t nodes) {
    const auto n = static_cast<Index>(points.type.size());
    for (const std::size_t size :
         {points.in_team.size(), points.node.size(), points.wait_ns.size(), points.total_ns.size(),
          points.completion_ns.size(), points.cause.size(), points.peer.size()})
        check(static_cast<Index>(size) == n, "columns of points are equally long");
    const auto& begin = points.location_begin;
    check(
        !begin.empty() && begin.front() == 0 && begin.back() == n && std::ranges::is_sorted(begin),
        "locations lie in the points, one after another");
    const auto locations = static_cast<Index>(begin.size()) - 1;
    check(static_cast<Index>(segments.begin.size()) == n + locations + 1 &&
              std::ranges::is_sorted(segments.begin) && segments.begin.front() == 0 &&
              segments.begin.back() == static_cast<Index>(segments.node.size()) &&
              segments.node.size() == segments.time_ns.size(),
          "each point has a segment before it");
    const auto is_node = [&](std::int32_t node) { return node >= 0 && node < nodes; };
    check(std::ranges::all_of(points.node, is_node) && std::ranges::all_of(segments.node, is_node),
          "a node is none of the call tree");
    const auto groups = static_cast<std::int32_t>(points.group_set.size());
    for (Index p = 0; p < n; ++p) {
        check(points.cause[p] >= -1 && points.cause[p] < n, "a cause is no point");
        check(points.type[p] <= static_cast<std::uint8_t>(Wait::none), "a wait of no type");
        const std::int32_t peer = points.peer[p];
        check(peer == Points::no_peer || (peer < 0 ? -1 - peer < groups : peer < locations),
              "a peer is neither a location nor a group");
    }
}

/// Where each location is in the points, and the segments between them.
class Layout {
  public:
    Layout(const Points& points, const Stretches& segments)
        : points_(points), segments_(segments), location_(points.type.size()) {
        for (std::size_t l = 0; l + 1 < points.location_begin.size(); ++l)
            std::fill(location_.begin() + points.location_begin[l],
                      location_.begin() + points.location_begin[l + 1],
                      static_cast<std::int32_t>(l));
    }
    std::int32_t location(Index point) const { return location_[point]; }
    Index first(std::int32_t location) const { return points_.location_begin[location]; }
    Index end(std::int32_t location) const { return points_.location_begin[location + 1]; }

    /// Rows of segments between two points of a location; `from` -1: from its start.
    std::pair<Index, Index> rows(std::int32_t location, Index from, Index to) const {
        const Index first = from < 0 ? this->first(location) + location : from + location + 1;
        return {segments_.begin[first], segments_.begin[to + location + 1]};
    }

  private:
    const Points& points_;
    const Stretches& segments_;
    std::vector<std::int32_t> location_;
};

/// Points by location and by what they are with, in order: the lists of keys that each has.
class PointLists {
  public:
    explicit PointLists(std::int32_t locations) : begin_(static_cast<std::size_t>(locations) + 1) {}

    /// Adds the points of one location; locations come one after another.
    void add(std::int32_t location, std::vector<std::pair<std::int32_t, Index>>& keyed) {
        std::ranges::stable_sort(keyed, {}, &std::pair<std::int32_t, Index>::first);
        for (const auto& [key, point] : keyed) {
            if (keys_.size() == static_cast<std::size_t>(begin_[location]) || keys_.back() != key)
                keys_.push_back(key), first_.push_back(points_.size());
            points_.push_back(point);
        }
        begin_[static_cast<std::size_t>(location) + 1] = static_cast<Index>(keys_.size());
    }

    std::span<const std::int32_t> keys(std::int32_t location) const {
        return {keys_.data() + begin_[location], keys_.data() + begin_[location + 1]};
    }

    std::span<const Index> list(std::int32_t location, std::int32_t key) const {
        const auto keys = this->keys(location);
        const auto at = std::ranges::lower_bound(keys, key);
        if (at == keys.end() || *at != key) return {};
        return list_at(begin_[location] + (at - keys.begin()));
    }

    /// The points of the k-th of the keys of a location.
    std::span<const Index> nth(std::int32_t location, std::size_t k) const {
        return list_at(begin_[location] + static_cast<Index>(k));
    }

  private:
    std::span<const Index> list_at(Index key) const {
        const auto next = static_cast<std::size_t>(key) + 1;
        const std::size_t end = next < first_.size() ? first_[next] : points_.size();
        return {points_.data() + first_[key], points_.data() + end};
    }

    std::vector<Index> begin_;        // (locations + 1,) where the keys of each begin
    std::vector<std::int32_t> keys_;  // rising, of each location
    std::vector<std::size_t> first_;  // of each key, in the points
    std::vector<Index> points_;
};

/// When two locations met last.
class Meetings {
  public:
    Meetings(const Points& points, const Layout& layout)
        : points_(points), layout_(layout), by_peer_(locations_of(points)),
          by_set_(locations_of(points)), members_begin_(points.group_set.size() + 1) {
        for (Index p = 0; p < static_cast<Index>(points.peer.size()); ++p)
            if (is_of_group(p)) ++members_begin_[-points.peer[p]];
        for (std::size_t g = 1; g < members_begin_.size(); ++g)
            members_begin_[g] += members_begin_[g - 1];
        members_.resize(static_cast<std::size_t>(members_begin_.back()));
        std::vector<Index> filled(members_begin_.begin(), members_begin_.end() - 1);
        std::vector<std::pair<std::int32_t, Index>> with_peers, with_sets;
        for (std::int32_t l = 0; l < locations_of(points); ++l) {
            with_peers.clear(), with_sets.clear();
            for (Index p = layout.first(l); p < layout.end(l); ++p) {
                const std::int32_t peer = points.peer[p];
                if (is_of_group(p)) {
                    members_[filled[-1 - peer]++] = l;
                    with_sets.emplace_back(points.group_set[-1 - peer], p);
                } else if (peer != Points::no_peer && !points.in_team[p]) {
                    with_peers.emplace_back(peer, p);
                }
            }
            by_peer_.add(l, with_peers), by_set_.add(l, with_sets);
        }
    }

    /// Who met in a group, in rising order.
    std::span<const std::int32_t> members(std::int32_t group) const {
        return {members_.data() + members_begin_[group],
                members_.data() + members_begin_[group + 1]};
    }

    /// The last point of a location before one of its points that `other` has a part in, or -1.
    Index last(std::int32_t location, Index before, std::int32_t other) const {
        Index found = below(by_peer_.list(location, other), before);
        const auto sets = by_set_.keys(location);
        for (std::size_t k = 0; k < sets.size(); ++k) {
            const auto list = by_set_.nth(location, k);
            auto at = std::ranges::lower_bound(list, before);
            if (at == list.begin() || *std::prev(at) <= found) continue;
            if (by_set_.list(other, sets[k]).empty()) continue;
            while (at != list.begin() && *--at > found)
                if (meets(*at, other)) {
                    found = *at;
                    break;
                }
        }
        return found;
    }

    /// The last point of a location before one of its points where threads of a team met.
    Index last_of_team(std::int32_t location, Index before) const {
        Index p = before - 1;
        while (p >= layout_.first(location) && !points_.in_team[p]) --p;
        return p >= layout_.first(location) ? p : -1;
    }

  private:
    static std::int32_t locations_of(const Points& points) {
        return static_cast<std::int32_t>(points.location_begin.size()) - 1;
    }
    bool is_of_group(Index p) const { return points_.peer[p] < 0 && !points_.in_team[p]; }
    /// Who receives from the root of a collective meets the root, and not the others.
    bool meets(Index p, std::int32_t other) const {
        if (points_.type[p] == static_cast<std::uint8_t>(Wait::one_to_n) && points_.cause[p] >= 0)
            return layout_.location(points_.cause[p]) == other;
        return std::ranges::binary_search(members(-1 - points_.peer[p]), other);
    }
    static Index below(std::span<const Index> list, Index before) {
        const auto at = std::ranges::lower_bound(list, before);
        return at == list.begin() ? -1 : *std::prev(at);
    }

    const Points& points_;
    const Layout& layout_;
    PointLists by_peer_, by_set_;
    std::vector<Index> members_begin_;
    std::vector<std::int32_t> members_;
};

/// Time of call paths alone, as a sum that is kept dense and emptied by what was touched.
class TimeMap {
  public:
    explicit TimeMap(std::int32_t nodes) : time_(static_cast<std::size_t>(nodes), 0) {}
    void add(std::int32_t node, std::int64_t time) {
        touched_.push_back(node);
        time_[node] += time;
    }
    std::int64_t& operator[](std::int32_t node) { return time_[node]; }
    template <class Visit>
    void drain(Visit&& visit) {
        for (const std::int32_t node : touched_)
            if (const std::int64_t time = std::exchange(time_[node], 0); time > 0)
                visit(node, time);
        touched_.clear();
    }

  private:
    std::vector<std::int64_t> time_;
    std::vector<std::int32_t> touched_;
};

/// What the causing side did between two points, without its own waits.
struct Doings {
    Index from = -1;
    std::vector<std::pair<std::int32_t, std::int64_t>> time;
    double waits = 0;
};

/// Waits between two points of a location carry on these costs of later ones.
struct Burden {
    Index from, to;
    std::array<double, wait_types> cost{};
    double share = 0;
};

class Replay {
  public:
    Replay(const Points& points, const Stretches& segments, const Serial& serial,
           const DelayOptions& options)
        : points_(points), segments_(segments), serial_(serial), options_(options),
          locations_(static_cast<std::int32_t>(points.location_begin.size()) - 1),
          layout_(points, segments), meetings_(points, layout_), map_(options.nodes),
          pending_(points.type.size(), 0), shared_(points.type.size()), burdens_(locations_),
          cursor_(locations_), serial_end_(locations_) {
        const std::size_t n = points.type.size();
        out_.excess.resize(n), out_.waits_within.resize(n), out_.passed_on.resize(n);
        out_.blamed.assign(n, -1);
        for (Index p = 0; p < static_cast<Index>(n); ++p)
            if (is_wait(p)) ++pending_[points.cause[p]];
    }

    Delays run() {
        add_idle();
        std::vector<std::int32_t> ready;
        for (std::int32_t l = locations_; l-- > 0;) {
            cursor_[l] = layout_.end(l) - 1;
            ready.push_back(l);
        }
        for (;;) {
            while (!ready.empty()) {
                const std::int32_t location = ready.back();
                ready.pop_back();
                go_back(location, ready);
            }
            // Stamps that contradict each other make causes that wait for each other.
            Index latest = -1;
            for (std::int32_t l = 0; l < locations_; ++l)
                if (cursor_[l] >= layout_.first(l)) {
                    latest = cursor_[l], ready.push_back(l);
                    break;
                }
            if (latest < 0) return std::move(out_);
            pending_[latest] = 0;
            ++out_.out_of_order;
        }
    }

  private:
    bool is_wait(Index p) const {
        return points_.wait_ns[p] > 0 && points_.cause[p] >= 0 &&
               points_.type[p] < static_cast<std::uint8_t>(Wait::none);
    }

    void go_back(std::int32_t location, std::vector<std::int32_t>& ready) {
        for (Index& p = cursor_[location]; p >= layout_.first(location) && pending_[p] <= 0; --p) {
            if (shared_[p]) causes_.erase(p);
            if (!is_wait(p)) continue;
            explain(location, p);
            const Index cause = points_.cause[p];
            if (--pending_[cause] == 0 && cursor_[layout_.location(cause)] == cause)
                ready.push_back(layout_.location(cause));
        }
    }

    /// Charges what a wait, and what it caused further on, has cost to those who caused it.
    void explain(std::int32_t location, Index p) {
        const auto type = static_cast<std::size_t>(points_.type[p]);
        const auto wait = static_cast<double>(points_.wait_ns[p]);
        std::array<double, wait_types> inherited{};
        const bool inherits = take_burdens(location, p, inherited);

        const Index cause = points_.cause[p];
        const std::int32_t causer = layout_.location(cause);
        const bool in_team = points_.in_team[p] != 0;
        const Index ours =
            in_team ? meetings_.last_of_team(location, p) : meetings_.last(location, p, causer);
        const Index since = in_team ? meetings_.last_of_team(causer, cause)
                                    : meetings_.last(causer, cause, location);
        Doings once;
        const Doings& done = doings(causer, since, cause, once);
        gather_between(location, ours, p);
        excess_.clear();
        double excess = 0;
        std::int64_t most = 0;
        for (const auto& [node, time] : done.time)
            if (const std::int64_t more = time - std::max<std::int64_t>(0, map_[node]); more > 0)
                excess_.emplace_back(node, more), excess += static_cast<double>(more);
        for (const auto& [node, more] : excess_)
            if (more > most || (more == most && node < out_.blamed[p]))
                most = more, out_.blamed[p] = node;
        map_.drain([](std::int32_t, std::int64_t) {});
        out_.excess[p] = excess, out_.waits_within[p] = done.waits;
        const double whole = excess + done.waits;
        if (whole <= 0) {
            ++out_.unexplained;
            return;
        }
        const bool of_message = points_.type[p] <= static_cast<std::uint8_t>(Wait::late_receiver);
        const double share = of_message ? std::min(1.0, wait / whole) : wait / whole;
        for (const auto& [node, more] : excess_) {
            charge(out_.direct[type], node, causer, share * static_cast<double>(more));
            for (std::size_t t = 0; inherits && t < wait_types; ++t)
                if (inherited[t] > 0)
                    charge(out_.distant[t], node, causer,
                           inherited[t] / whole * static_cast<double>(more));
        }
        if (done.waits <= 0) return;
        Burden burden{since, cause, {}, of_message ? share : 0};
        for (std::size_t t = 0; t < wait_types; ++t) burden.cost[t] = inherited[t] / whole;
        burden.cost[type] += share;
        if (options_.like_scalasca && !of_message && !in_team) lose(burden, causer, cause, since);
        add_burden(causer, burden);
    }

    /// Costs of waits behind that pass on to wait `p`, each times its length; whether there are.
    bool take_burdens(std::int32_t location, Index p, std::array<double, wait_types>& sum) {
        const auto wait = static_cast<double>(points_.wait_ns[p]);
        Index& k = serial_end_[location];
        while (k > 0 && serial_.location[k - 1] == location && serial_.to[k - 1] > p) {
            --k;
            Burden burden{serial_.from[k], serial_.to[k], {}, 0};
            burden.cost[idle] = static_cast<double>(serial_.threads[k]);
            burdens_[location].push_back(burden);
        }
        auto& burdens = burdens_[location];
        std::erase_if(burdens, [&](const Burden& burden) { return burden.from >= p; });
        double share = 0;
        bool any = false;
        for (const Burden& burden : burdens) {
            if (burden.to <= p) continue;
            any = true;
            for (std::size_t t = 0; t < wait_types; ++t) sum[t] += burden.cost[t] * wait;
            share = std::max(share, burden.share);
        }
        out_.passed_on[p] = share * wait;
        return any;
    }

    void add_burden(std::int32_t causer, const Burden& burden) {
        for (Burden& other : burdens_[causer])
            if (other.from == burden.from && other.to == burden.to) {
                for (std::size_t t = 0; t < wait_types; ++t) other.cost[t] += burden.cost[t];
                other.share = std::max(other.share, burden.share);
                return;
            }
        burdens_[causer].push_back(burden);
    }

    /// Scalasca 2.6 loses the share of members that last met the causer in between; of two
    /// ranks, that of the one if both met last for a message.
    void lose(Burden& burden, std::int32_t causer, Index cause, Index since) {
        if (points_.peer[cause] >= 0) return;
        if (options_.ranks == 2 && since >= 0 && points_.peer[since] >= 0 &&
            points_.peer[since] != Points::no_peer) {
            burden.from = burden.to;
            return;
        }
        const auto members = meetings_.members(-1 - points_.peer[cause]);
        std::vector<Index> met;
        for (const std::int32_t member : members)
            if (member != causer) met.push_back(meetings_.last(causer, cause, member));
        std::ranges::sort(met);
        if (met.empty() || since == met.front()) return;
        const auto later = std::ranges::upper_bound(met, since);
        burden.from = later == met.end() ? burden.to : *later - 1;
    }

    /// What the causing side did, kept as long as other waits have the same cause.
    const Doings& doings(std::int32_t causer, Index from, Index cause, Doings& once) {
        const bool again = pending_[cause] > 1 || shared_[cause];
        if (again) {
            for (const Doings& done : causes_[cause])
                if (done.from == from) return done;
            shared_[cause] = true;
        }
        once.from = from, once.waits = gather_between(causer, from, cause);
        map_.drain(
            [&](std::int32_t node, std::int64_t time) { once.time.emplace_back(node, time); });
        if (!again) return once;
        auto& kept = causes_[cause];
        kept.push_back(std::move(once));
        return kept.back();
    }

    /// Puts the time between two points, without waits, into the map; the waits' sum.
    double gather(std::int32_t location, Index from, Index to) {
        const auto [first, last] = layout_.rows(location, from, to);
        for (Index row = first; row < last; ++row)
            map_.add(segments_.node[row], segments_.time_ns[row]);
        std::int64_t waits = 0;
        for (Index p = from < 0 ? layout_.first(location) : from + 1; p < to; ++p)
            if (points_.wait_ns[p] > 0) {
                waits += points_.wait_ns[p];
                map_.add(points_.node[p], -points_.wait_ns[p]);
            }
        return static_cast<double>(waits);
    }

    /// The same without the call that the first point lies in, but for its completion.
    double gather_between(std::int32_t location, Index from, Index to) {
        const double waits = gather(location, from, to);
        if (from >= 0) {
            std::int64_t& time = map_[points_.node[from]];
            time = std::max<std::int64_t>(0, time) - points_.total_ns[from] +
                   points_.completion_ns[from];
            map_.add(points_.node[from], 0);
        }
        return waits;
    }

    /// While a process runs on one thread, the others idle: its time costs theirs.
    void add_idle() {
        for (Index k = 0; k < static_cast<Index>(serial_.location.size()); ++k) {
            const auto location = static_cast<std::int32_t>(serial_.location[k]);
            serial_end_[location] = k + 1;
            gather(location, serial_.from[k], serial_.to[k]);
            map_.drain([&](std::int32_t node, std::int64_t time) {
                charge(out_.direct[idle], node, location,
                       static_cast<double>(serial_.threads[k] * time));
            });
        }
    }

    void charge(Costs& costs, std::int32_t node, std::int32_t location, double cost) {
        if (costs.row.empty()) costs.row.assign(static_cast<std::size_t>(options_.nodes), -1);
        if (costs.row[node] < 0) {
            costs.row[node] = static_cast<std::int32_t>(costs.node.size());
            costs.node.push_back(node);
            costs.value.resize(costs.value.size() + static_cast<std::size_t>(locations_), 0.0);
        }
        costs.value[static_cast<std::size_t>(costs.row[node]) * locations_ + location] += cost;
    }

    const Points& points_;
    const Stretches& segments_;
    const Serial& serial_;
    DelayOptions options_;
    std::int32_t locations_;
    Layout layout_;
    Meetings meetings_;
    TimeMap map_;
    std::vector<std::int32_t> pending_;
    std::vector<bool> shared_;  // points that several waits were caused by
    std::vector<std::vector<Burden>> burdens_;
    std::vector<Index> cursor_, serial_end_;
    std::vector<std::pair<std::int32_t, std::int64_t>> excess_;
    std::unordered_map<Index, std::vector<Doings>> causes_;
    Delays out_;
};

void check_serial(const Serial& serial, const Points& points) {
    const std::size_t n = serial.location.size();
    check(serial.from.size() == n && serial.to.size() == n && serial.threads.size() == n,
          "columns of serial stretches are equally long");
    const auto& begin = points.location_begin;
    for (std::size_t k = 0; k < n; ++k) {
        const Index l = serial.location[k];
        check(l >= 0 && l + 1 < static_cast<Index>(begin.size()) &&
                  (k == 0 || serial.location[k - 1] < l ||
                   (serial.location[k - 1] == l && serial.to[k - 1] <= serial.to[k])),
              "serial stretches are sorted");
        check((serial.from[k] == -1 || serial.from[k] >= begin[l]) &&
                  serial.from[k] < serial.to[k] && serial.to[k] >= begin[l] &&
                  serial.to[k] < begin[l + 1],
              "serial stretches lie between points of their location");
    }
}

}  // namespace

Delays delays(const Points& points, const Stretches& segments, const Serial& serial,
              const DelayOptions& options) {
    check_points(points, segments, options.nodes);
    check_serial(serial, points);
    return Replay(points, segments, serial, options).run();
}

CriticalPath critical_path(const Points& points, const Stretches& segments, std::int32_t nodes,
                           std::int64_t end_location, std::int64_t end_point,
                           std::span<const std::uint8_t> stops) {
    check_points(points, segments, nodes);
    const auto locations = static_cast<Index>(points.location_begin.size()) - 1;
    check(stops.size() == points.type.size(), "each point stops the path or not");
    check(end_location >= 0 && end_location < locations, "the path ends on a location");
    const Layout layout(points, segments);
    CriticalPath path;
    path.time_ns.assign(static_cast<std::size_t>(nodes) * locations, 0.0);
    auto location = static_cast<std::int32_t>(end_location);
    Index to = end_point < 0 ? layout.end(location) : end_point;
    check(to >= layout.first(location) && to <= layout.end(location), "the path ends elsewhere");
    std::vector<bool> passed(points.type.size());
    for (;;) {
        Index from = to - 1;
        while (from >= layout.first(location) && points.cause[from] < 0 && !stops[from]) --from;
        if (from < layout.first(location)) from = -1;
        if (from >= 0 && passed[from]) break;
        if (from >= 0) passed[from] = true;
        const auto [first, last] = layout.rows(location, from, to);
        for (Index row = first; row < last; ++row)
            path.time_ns[static_cast<std::size_t>(segments.node[row]) * locations + location] +=
                static_cast<double>(segments.time_ns[row]);
        path.begin_location = location;
        if (from < 0 || stops[from]) return path;
        path.time_ns[static_cast<std::size_t>(points.node[from]) * locations + location] -=
            static_cast<double>(points.wait_ns[from]);
        to = points.cause[from];
        location = layout.location(to);
    }
    path.broken = true;
    return path;
}

}  // namespace burstline
