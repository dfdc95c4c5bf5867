#include "fold.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "follows.hpp"

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;

/// An iteration may be unlike the others in one of so many calls.
constexpr std::ptrdiff_t kCallsPerEdit = 8, kMostEdits = 16;

/// What a condition adds to the length of a program, and a loop.
constexpr std::ptrdiff_t kCondition = 2, kLoop = 2;

/// A symbol of the sequence, or a loop: what is in it, iteration after iteration.
struct Node {
    int64_t shape;         ///< the symbol, or the number of the loop's body
    int64_t first_child;   ///< where its children begin; the place in the sequence of a symbol
    int64_t children = 0;  ///< none for a symbol
};

class Folder {
  public:
    Folder(std::span<const int32_t> kinds, std::size_t first_times, int64_t work)
        : kinds_(kinds), symbols_(static_cast<int64_t>(kinds.size())), first_times_(first_times),
          work_left_(work) {}

    /// Folds a lane; its nodes are then `top()`.
    void fold(std::span<const int32_t> lane, int64_t begin) {
        nodes_.clear();
        children_.clear();
        top_.clear();
        for (std::size_t k = 0; k < lane.size(); ++k) {
            nodes_.push_back({lane[k], begin + static_cast<int64_t>(k), 0});
            top_.push_back(static_cast<int64_t>(k));
        }
        while (fold_shortest(first_times_) || fold_shortest(2)) {
        }
        for (std::size_t k = 0; k < top_.size() && work_left_ > 0; ++k)
            if (is_loop(nodes_[top_[k]])) begin_behind_another_iteration(k);
    }

    [[nodiscard]] const std::vector<int64_t>& top() const { return top_; }
    [[nodiscard]] const Node& node(int64_t number) const { return nodes_[number]; }
    [[nodiscard]] std::span<const int64_t> children(const Node& node) const {
        return std::span(children_).subspan(static_cast<std::size_t>(node.first_child),
                                            static_cast<std::size_t>(node.children));
    }
    [[nodiscard]] bool is_loop(const Node& node) const { return node.children > 0; }
    [[nodiscard]] std::size_t body_length(const Node& node) const {
        return length_[node.shape - symbols_];
    }

    /// What follows a loop among nodes (or, with a `step` of -1, stands before it) as one more of
    /// its iterations, unlike the others in few calls: for each node from `begin` on its place
    /// in the body, or -1 - the place that it stands behind. Empty if it is no iteration.
    [[nodiscard]] std::vector<int64_t> iteration(std::span<const int64_t> nodes, const Node& loop,
                                                 std::ptrdiff_t begin, std::ptrdiff_t step) const {
        const auto length = static_cast<std::ptrdiff_t>(body_length(loop));
        const auto last = static_cast<std::ptrdiff_t>(nodes.size()) - 1;
        const auto place = [&](std::ptrdiff_t k) { return step > 0 ? k : length - 1 - k; };
        const auto same = [&](std::ptrdiff_t k, std::ptrdiff_t node) {
            return node >= 0 && node <= last && k < length &&
                   nodes_[children_[loop.first_child + place(k)]].shape ==
                       nodes_[nodes[node]].shape;
        };
        std::vector<int64_t> places;
        std::ptrdiff_t edits = std::min(length / kCallsPerEdit, kMostEdits);
        for (std::ptrdiff_t k = 0; k < length;) {
            std::ptrdiff_t node = begin + step * static_cast<std::ptrdiff_t>(places.size());
            std::ptrdiff_t added = 0, left_out = 0, changes = 0;
            const auto goes_on = [&] {  // after the fewest changes, that leave out rather than add
                for (added = 0; added <= changes; ++added) {
                    left_out = changes - added;
                    if (same(k + left_out, node + step * added)) return true;
                }
                added = 0, left_out = changes;
                return k + left_out == length;
            };
            while (!goes_on())
                if (++changes > edits) return {};
            edits -= changes;
            for (; added > 0; --added) places.push_back(-1 - place(k));
            k += left_out;
            if (k < length) places.push_back(place(k++));
        }
        return places;
    }

    /// What follows a loop among nodes, or stands before it, as one more of its iterations that
    /// leaves some of its calls out: the places in the body of as many nodes as saves most, where
    /// a node more saves one and each gap costs a condition, of two. Empty if nothing is saved.
    [[nodiscard]] std::vector<int64_t> shorter_iteration(std::span<const int64_t> nodes,
                                                         const Node& loop, std::ptrdiff_t begin,
                                                         std::ptrdiff_t step) const {
        const auto length = static_cast<std::ptrdiff_t>(body_length(loop));
        const auto size = static_cast<std::ptrdiff_t>(nodes.size());
        std::vector<int64_t> places;
        std::size_t best = 0;
        std::ptrdiff_t saved = 0, most = 0;
        for (std::ptrdiff_t node = begin, k = 0; node >= 0 && node < size && k < length;
             node += step) {
            const std::ptrdiff_t from = k;
            const auto place = [&] { return step > 0 ? k : length - 1 - k; };
            while (k < length && shape_in(loop, place()) != nodes_[nodes[node]].shape) ++k;
            if (k == length) break;
            saved += 1 - (k > from ? kCondition : 0);
            places.push_back(place());
            ++k;
            const std::ptrdiff_t whole = saved - (k < length ? kCondition : 0);
            if (whole > most) {
                most = whole;
                best = places.size();
            }
        }
        places.resize(best);
        return places;
    }

    /// The places of the body of one loop in that of another, of which it leaves some calls out.
    /// Empty if it is another loop, or is shorter written as one.
    [[nodiscard]] std::vector<int64_t> shorter_body(const Node& other, const Node& loop) const {
        const auto length = static_cast<std::ptrdiff_t>(body_length(loop));
        const auto others = static_cast<std::ptrdiff_t>(body_length(other));
        std::vector<int64_t> places;
        std::ptrdiff_t k = 0, gaps = 0;
        for (std::ptrdiff_t node = 0; node < others; ++node, ++k) {
            const std::ptrdiff_t from = k;
            while (k < length && shape_in(loop, k) != shape_in(other, node)) ++k;
            if (k == length) return {};
            gaps += k > from;
            places.push_back(k);
        }
        gaps += k < length;
        if (others + kLoop <= gaps * kCondition) return {};
        return places;
    }

    /// Numbers the shape of the lane as it is now, by the kinds of its symbols; equal shapes
    /// have equal numbers.
    int64_t lane_shape() { return kind_of_body_[body_shape(0, top_.size())]; }

  private:
    /// Folds the shortest bodies that are repeated so often; tells whether there were any.
    bool fold_shortest(std::size_t least_times) {
        for (std::size_t period = 1; 2 * period <= top_.size() && work_left_ > 0; ++period)
            if (fold_period(period, least_times)) return true;
        return false;
    }

    bool fold_period(std::size_t period, std::size_t least_times) {
        work_left_ -= static_cast<int64_t>(top_.size());
        std::vector<int64_t> folded;
        std::size_t begin = 0, alike = 0;
        for (std::size_t k = 0; k + period <= top_.size(); ++k) {
            const bool same = k + period < top_.size() && shape(k) == shape(k + period);
            if (same) {
                ++alike;
                continue;
            }
            const std::size_t first = k - alike;
            const std::size_t times = (alike + period) / period;
            if (times >= least_times) {
                folded.insert(folded.end(), top_.begin() + begin, top_.begin() + first);
                folded.push_back(loop(first, period, times));
                begin = first + times * period;
                k = begin - 1;
            }
            alike = 0;
        }
        if (begin == 0 && folded.empty()) return false;
        folded.insert(folded.end(), top_.begin() + begin, top_.end());
        top_.swap(folded);
        return true;
    }

    /// Lets the loop at `k` begin and end later, by what goes on behind it as its body begins:
    /// if then an iteration stands before it that is unlike the others in few calls. Where that
    /// differs in its middle, what is repeated begins right behind the difference.
    void begin_behind_another_iteration(std::size_t k) {
        const Node loop = nodes_[top_[k]];
        const std::size_t length = body_length(loop);
        const auto calls = static_cast<std::size_t>(loop.children);
        const auto first = children_.begin() + loop.first_child;
        const auto place = static_cast<std::ptrdiff_t>(k);
        std::size_t shift = 0;
        while (shift + 1 < length && k + shift + 1 < top_.size() &&
               shape(k + shift + 1) == nodes_[*(first + static_cast<std::ptrdiff_t>(shift))].shape)
            ++shift;
        if (shift == 0) return;
        const std::size_t beside = std::max(iteration(top_, loop, place - 1, -1).size(),
                                            iteration(top_, loop, place + 1, 1).size());
        work_left_ -= static_cast<int64_t>(top_.size() + calls);
        const std::vector<int64_t> before = top_;
        top_.erase(top_.begin() + place);
        top_.insert(top_.begin() + place, first, first + loop.children);
        const auto begin = place + static_cast<std::ptrdiff_t>(shift);
        const int64_t later = this->loop(k + shift, length, calls / length);
        top_.erase(top_.begin() + begin, top_.begin() + begin + loop.children - 1);
        top_[k + shift] = later;
        if (iteration(top_, nodes_[later], begin - 1, -1).size() <= beside) top_ = before;
    }

    [[nodiscard]] int64_t shape_in(const Node& loop, std::ptrdiff_t place) const {
        return nodes_[children_[loop.first_child + place]].shape;
    }

    [[nodiscard]] int64_t shape(std::size_t place) const { return nodes_[top_[place]].shape; }

    int64_t loop(std::size_t first, std::size_t period, std::size_t times) {
        const int64_t shape = symbols_ + body_shape(first, period);
        nodes_.push_back(
            {shape, static_cast<int64_t>(children_.size()), static_cast<int64_t>(period * times)});
        children_.insert(children_.end(), top_.begin() + first,
                         top_.begin() + first + period * times);
        return static_cast<int64_t>(nodes_.size()) - 1;
    }

    int64_t body_shape(std::size_t first, std::size_t length) {
        std::vector<int64_t> body;
        for (std::size_t k = first; k < first + length; ++k) body.push_back(shape(k));
        const auto [entry, is_new] =
            bodies_.try_emplace(std::move(body), static_cast<int64_t>(bodies_.size()));
        if (is_new) {
            length_.push_back(length);
            std::vector<int64_t> kinds;
            for (const int64_t shape : entry->first)
                kinds.push_back(shape < symbols_ ? kinds_[shape]
                                                 : symbols_ + kind_of_body_[shape - symbols_]);
            kind_of_body_.push_back(
                kinds_of_bodies_
                    .try_emplace(std::move(kinds), static_cast<int64_t>(kinds_of_bodies_.size()))
                    .first->second);
        }
        return entry->second;
    }

    std::span<const int32_t> kinds_;
    int64_t symbols_;
    std::size_t first_times_;
    int64_t work_left_;
    std::vector<Node> nodes_;
    std::vector<int64_t> children_, top_;
    std::map<std::vector<int64_t>, int64_t> bodies_, kinds_of_bodies_;
    std::vector<std::size_t> length_;
    std::vector<int64_t> kind_of_body_;
};

/// Gives every symbol the path to it, from the shape of its lane through loops, as a number.
class Labeller {
  public:
    explicit Labeller(std::size_t places) { sites.site.resize(places); }

    void label(const Folder& folder, int64_t lane_shape) {
        std::vector<Step> open;
        put(folder, folder.top(), folder.top().size(), -1 - lane_shape, open);
        while (!open.empty()) {
            const Step step = std::move(open.back());
            open.pop_back();
            const Node& node = folder.node(step.node);
            if (!folder.is_loop(node)) {
                sites.site[node.first_child] = site(step.above, step.position, node.shape);
                continue;
            }
            const std::span<const int64_t> children = folder.children(node);
            if (step.inside.empty()) {
                put(folder, children, folder.body_length(node), context(step.above, step.position),
                    open);
                continue;
            }
            for (std::size_t k = 0; k < children.size(); ++k)
                open.push_back({children[k], step.above, step.inside[k % step.inside.size()], {}});
        }
    }

    Sites sites;

  private:
    struct Step {
        int64_t node, above, position;
        std::vector<int64_t> inside;  ///< for a loop that is a part of another: places in that
    };

    /// Opens nodes that stand in a body, iteration after iteration of it.
    void put(const Folder& folder, std::span<const int64_t> nodes, std::size_t length, int64_t root,
             std::vector<Step>& open) {
        const std::vector<Step> body = in_body(folder, nodes.first(length), root);
        for (std::size_t k = nodes.size(); k-- > 0;) {
            open.push_back(body[k % length]);
            open.back().node = nodes[k];
        }
    }

    /// Where the nodes of a body stand: those that are one more iteration of the loop beside
    /// them in that.
    std::vector<Step> in_body(const Folder& folder, std::span<const int64_t> nodes, int64_t root) {
        const auto size = static_cast<std::ptrdiff_t>(nodes.size());
        std::vector<Step> steps;
        std::vector<bool> is_placed(nodes.size(), false);
        for (std::ptrdiff_t k = 0; k < size; ++k) steps.push_back({nodes[k], root, k, {}});
        for (std::ptrdiff_t k = 0; k < size; ++k) {
            const Node& loop = folder.node(nodes[k]);
            if (is_placed[k] || !folder.is_loop(loop)) continue;
            const int64_t inside = context(root, k);
            for (const std::ptrdiff_t step : {-1, 1})
                for (std::ptrdiff_t begin = k + step; begin >= 0 && begin < size;) {
                    if (is_placed[begin]) break;
                    const Node& other = folder.node(nodes[begin]);
                    if (folder.is_loop(other)) {
                        auto places = folder.shorter_body(other, loop);
                        if (!places.empty()) {
                            steps[begin] = {nodes[begin], inside, 0, std::move(places)};
                            is_placed[begin] = true;
                            begin += step;
                            continue;
                        }
                    }
                    auto places = folder.iteration(nodes, loop, begin, step);
                    if (places.empty()) places = folder.shorter_iteration(nodes, loop, begin, step);
                    const auto count = step * static_cast<std::ptrdiff_t>(places.size());
                    const auto near = std::min(begin, begin + count - step);
                    const auto first = is_placed.begin() + near;
                    const auto end = first + std::abs(count);
                    if (places.empty() || std::find(first, end, true) != end) break;
                    for (const int64_t place : places) {
                        const int64_t shape = folder.node(nodes[begin]).shape;
                        steps[begin] =
                            place >= 0
                                ? Step{nodes[begin], inside, place, {}}
                                : Step{nodes[begin], context(inside, -1 - shape), -place, {}};
                        is_placed[begin] = true;
                        begin += step;
                    }
                }
        }
        return steps;
    }

    int64_t context(int64_t above, int64_t position) {
        return contexts_.try_emplace({above, position}, static_cast<int64_t>(contexts_.size()))
            .first->second;
    }

    int64_t site(int64_t above, int64_t position, int64_t symbol) {
        const auto [entry, is_new] =
            numbers_.try_emplace({above, position}, static_cast<int64_t>(sites.symbol.size()));
        if (is_new) sites.symbol.push_back(symbol);
        return entry->second;
    }

    std::map<std::pair<int64_t, int64_t>, int64_t> contexts_, numbers_;
};

}  // namespace

Sites fold_sites(std::span<const int32_t> sequence, std::span<const int64_t> lane_begin,
                 std::span<const int32_t> kinds, std::int64_t first_times, int64_t work) {
    const auto symbols = static_cast<int32_t>(kinds.size());
    check_lanes(sequence, lane_begin, symbols);
    for (const int32_t kind : kinds)
        if (kind < 0 || kind >= symbols) throw std::invalid_argument("a kind is no symbol");
    if (first_times < 2) throw std::invalid_argument("what happens once is not repeated");
    Folder folder(kinds, static_cast<std::size_t>(first_times), work);
    Labeller labeller(sequence.size());
    for (std::size_t lane = 0; lane + 1 < lane_begin.size(); ++lane) {
        const auto begin = static_cast<std::size_t>(lane_begin[lane]);
        const auto length = static_cast<std::size_t>(lane_begin[lane + 1]) - begin;
        folder.fold(sequence.subspan(begin, length), lane_begin[lane]);
        labeller.label(folder, folder.lane_shape());
    }
    return std::move(labeller.sites);
}

}  // namespace burstline
