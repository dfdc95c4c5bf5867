#include "nest.hpp"

#include <algorithm>
#include <stdexcept>

#include "follows.hpp"

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;

/// The progressions of one item, lane after lane, while they are found.
class Found {
  public:
    void add(int64_t number) { coder_.add(number, runs_); }
    void end_lane() {
        coder_.end(runs_);
        runs_.begin.push_back(static_cast<int64_t>(runs_.first.size()));
    }
    [[nodiscard]] const Progressions& runs() const { return runs_; }

  private:
    Coder coder_;
    Progressions runs_;
};

Progressions joined(const std::vector<Found>& items) {
    Progressions all;
    all.begin.push_back(0);
    for (const Found& item : items) {
        const auto before = static_cast<int64_t>(all.first.size());
        const Progressions& own = item.runs();
        for (const int64_t until : own.begin) all.begin.push_back(before + until);
        all.first.insert(all.first.end(), own.first.begin(), own.first.end());
        all.step.insert(all.step.end(), own.step.begin(), own.step.end());
        all.count.insert(all.count.end(), own.count.begin(), own.count.end());
    }
    return all;
}

/// The loops around every loop, outermost first; checks that the nest is one.
class Chains {
  public:
    explicit Chains(const Nest& nest) : depth_(nest.loop_parent.size(), 0) {
        if (nest.loop_parent.empty() || nest.loop_parent.size() != nest.loop_position.size() ||
            nest.symbol_loop.size() != nest.symbol_position.size())
            throw std::invalid_argument("a nest has a program and a place for each symbol");
        for (std::size_t loop = 1; loop < depth_.size(); ++loop) {
            const int32_t parent = nest.loop_parent[loop];
            if (parent < 0 || parent >= static_cast<int32_t>(loop))
                throw std::invalid_argument("a loop stands in one with a smaller number");
            depth_[loop] = depth_[parent] + 1;
        }
        for (const int32_t loop : nest.symbol_loop)
            if (loop < 0 || loop >= static_cast<int32_t>(depth_.size()))
                throw std::invalid_argument("a symbol stands in a loop that is none");
    }

    [[nodiscard]] int32_t depth(int32_t loop) const { return depth_[loop]; }

  private:
    std::vector<int32_t> depth_;
};

/// Walks through the symbols of a lane and tells a sink what the loops do:
/// enter(loop), iterate(loop), leave(loop), execute_loop(loop), execute_symbol(symbol).
template <typename Sink>
class Walk {
  public:
    Walk(const Nest& nest, std::size_t lanes, Sink& sink)
        : nest_(nest), chains_(nest), sink_(sink), position_(nest.loop_parent.size(), -1),
          iterations_(nest.loop_parent.size(), 0), last_(nest.loop_parent.size(), 0),
          symbols_(nest.symbol_loop.size()), lanes_(lanes) {
        if (!std::is_sorted(nest.apart.begin(), nest.apart.end()))
            throw std::invalid_argument("elements that are apart come in order");
        if (!std::is_sorted(nest.cuts.begin(), nest.cuts.end()))
            throw std::invalid_argument("cuts come in order");
        if (nest.most.empty()) return;
        const std::size_t told = lanes * nest.loop_parent.size();
        if (nest.most.size() != told && nest.most.size() != 2 * told)
            throw std::invalid_argument("the most iterations are told of each loop and lane");
        for (std::size_t loop = 0; loop < nest.loop_parent.size(); ++loop)
            for (std::size_t lane = 0; lane < lanes && nest.loop_parent[loop] <= 0; ++lane)
                if (nest.most[loop * lanes + lane] != 0)
                    throw std::invalid_argument("a loop that is entered again is in another");
    }

    void lane(std::span<const int32_t> symbols, int64_t begin) {
        inner_ = 0;
        position_[0] = -1;
        sink_.begin_lane();
        for (std::size_t k = 0; k < symbols.size(); ++k)
            step(symbols[k], begin + static_cast<int64_t>(k));
        const int64_t end = begin + static_cast<int64_t>(symbols.size());
        while (inner_ != 0) close(end - 1);
        sink_.end_lane();
        ++lane_;
    }

  private:
    void step(int32_t symbol, int64_t place) {
        const int32_t home = nest_.symbol_loop[symbol];
        if (home != inner_) go_to(home, place);
        advance(home, static_cast<std::size_t>(symbol), nest_.symbol_position[symbol], place);
        sink_.symbol(symbol, home);
    }

    /// Leaves the loops that `home` is not in and enters those that it is in.
    void go_to(int32_t home, int64_t place) {
        entered_.clear();
        int32_t shared = home;
        while (chains_.depth(shared) > chains_.depth(inner_)) up(shared);
        while (chains_.depth(inner_) > chains_.depth(shared)) close(place - 1);
        while (shared != inner_) {
            up(shared);
            close(place - 1);
        }
        for (auto loop = entered_.rbegin(); loop != entered_.rend(); ++loop) {
            execute(*loop, place);
        }
    }

    void execute(int32_t loop, int64_t place) {
        const std::size_t element = symbols_ + static_cast<std::size_t>(loop);
        advance(inner_, element, nest_.loop_position[loop], place);
        sink_.loop(loop, inner_);
        inner_ = loop;
        position_[loop] = -1;
        iterations_[loop] = 1;
        sink_.enter(loop, place);
    }

    void up(int32_t& loop) {
        entered_.push_back(loop);
        loop = nest_.loop_parent[loop];
    }

    void close(int64_t last) {
        sink_.leave(inner_, last);
        inner_ = nest_.loop_parent[inner_];
    }

    /// Goes on to a position of a body, in the next iteration if it is not behind this one.
    void advance(int32_t loop, std::size_t element, int32_t to, int64_t place) {
        if (to <= position_[loop] || is_apart(loop, element) || is_cut(loop, place)) {
            if (loop == 0) throw std::invalid_argument("a program goes through its body once");
            if (iterations_[loop] == most(loop) || is_cut(nest_.loop_parent[loop], place)) {
                close(place - 1);
                execute(loop, place);
            } else {
                ++iterations_[loop];
                sink_.iterate(loop, place);
            }
        }
        position_[loop] = to;
        last_[loop] = element;
    }

    /// Whether an element is never in the iteration that a loop has come to.
    [[nodiscard]] bool is_apart(int32_t loop, std::size_t element) const {
        if (nest_.apart.empty() || position_[loop] < 0) return false;
        const std::size_t pair = last_[loop] * (symbols_ + position_.size()) + element;
        return std::binary_search(nest_.apart.begin(), nest_.apart.end(),
                                  static_cast<int64_t>(pair));
    }

    /// Whether an iteration of a loop begins at a place that none of its elements tells.
    [[nodiscard]] bool is_cut(int32_t loop, int64_t place) const {
        if (nest_.cuts.empty() || position_[loop] < 0) return false;
        const auto loops = static_cast<int64_t>(position_.size());
        return std::binary_search(nest_.cuts.begin(), nest_.cuts.end(), place * loops + loop);
    }

    /// The iterations of a loop after which it is entered again; 0, which none has, without.
    [[nodiscard]] int64_t most(int32_t loop) const {
        if (nest_.most.empty()) return 0;
        const std::size_t at = static_cast<std::size_t>(loop) * lanes_ + lane_;
        const std::size_t rise = at + lanes_ * nest_.loop_parent.size();
        const int64_t first = nest_.most[at];
        if (first == 0 || rise >= nest_.most.size()) return first;
        return first + nest_.most[rise] * (iterations_[nest_.loop_parent[loop]] - 1);
    }

    const Nest& nest_;
    Chains chains_;
    Sink& sink_;
    std::vector<int32_t> position_;
    std::vector<int64_t> iterations_;  ///< of the present entry of each loop
    std::vector<std::size_t> last_;    ///< the element that each loop has come to
    std::size_t symbols_, lanes_, lane_ = 0;
    std::vector<int32_t> entered_;
    int32_t inner_ = 0;
};

class ReadingSink {
  public:
    ReadingSink(const Nest& nest, std::size_t lanes, std::span<const int64_t> enter_ns,
                std::span<const int64_t> leave_ns)
        : enter_ns_(enter_ns), leave_ns_(leave_ns), lanes_(lanes),
          when_(nest.symbol_loop.size() + nest.loop_parent.size()), trips_(nest.loop_parent.size()),
          symbols_(nest.symbol_loop.size()), state_(nest.loop_parent.size()),
          iterations_(state_.size() * lanes, 0), inside_ns_(state_.size() * lanes, 0) {}

    void begin_lane() { state_.assign(state_.size(), State{}); }
    void symbol(int32_t symbol, int32_t home) { when_[symbol].add(state_[home].iteration); }
    void loop(int32_t loop, int32_t home) {
        when_[symbols_ + static_cast<std::size_t>(loop)].add(state_[home].iteration);
    }
    void enter(int32_t loop, int64_t place) {
        State& state = state_[loop];
        state.iteration = state.done;
        state.begin_ns = enter_ns_[place];
    }
    void iterate(int32_t loop, int64_t) { ++state_[loop].iteration; }
    void leave(int32_t loop, int64_t last) {
        State& state = state_[loop];
        trips_[loop].add(state.iteration + 1 - state.done);
        state.done = state.iteration + 1;
        inside_ns_[loop * lanes_ + lane_] += leave_ns_[last] - state.begin_ns;
    }
    void end_lane() {
        for (Found& found : when_) found.end_lane();
        for (Found& found : trips_) found.end_lane();
        for (std::size_t loop = 0; loop < state_.size(); ++loop)
            iterations_[loop * lanes_ + lane_] = state_[loop].done;
        ++lane_;
    }

    NestReading reading() && {
        return {joined(when_), joined(trips_), std::move(iterations_), std::move(inside_ns_)};
    }

  private:
    struct State {
        int64_t iteration = 0;  ///< the present one, counted over all entries
        int64_t done = 0;       ///< iterations of the entries before
        int64_t begin_ns = 0;
    };

    std::span<const int64_t> enter_ns_, leave_ns_;
    std::size_t lanes_, lane_ = 0;
    std::vector<Found> when_, trips_;
    std::size_t symbols_;
    std::vector<State> state_;
    std::vector<int64_t> iterations_, inside_ns_;
};

class SpansSink {
  public:
    explicit SpansSink(int32_t loop) : loop_(loop) {}

    void begin_lane() { entry_ = -1; }
    void symbol(int32_t, int32_t) {}
    void loop(int32_t, int32_t) {}
    void enter(int32_t loop, int64_t place) {
        if (loop != loop_) return;
        ++entry_;
        begin(place);
    }
    void iterate(int32_t loop, int64_t place) {
        if (loop != loop_) return;
        spans.last.push_back(place - 1);
        begin(place);
    }
    void leave(int32_t loop, int64_t last) {
        if (loop == loop_) spans.last.push_back(last);
    }
    void end_lane() { ++lane_; }

    NestSpans spans;

  private:
    void begin(int64_t place) {
        spans.lane.push_back(lane_);
        spans.entry.push_back(entry_);
        spans.first.push_back(place);
    }

    int32_t loop_;
    int64_t lane_ = 0, entry_ = -1;
};

template <typename Sink>
void walk_lanes(const Nest& nest, Sink& sink, std::span<const int32_t> sequence,
                std::span<const int64_t> lane_begin) {
    check_lanes(sequence, lane_begin, static_cast<int32_t>(nest.symbol_loop.size()));
    Walk<Sink> walk(nest, lane_begin.empty() ? 0 : lane_begin.size() - 1, sink);
    for (std::size_t lane = 0; lane + 1 < lane_begin.size(); ++lane) {
        const auto begin = static_cast<std::size_t>(lane_begin[lane]);
        const auto length = static_cast<std::size_t>(lane_begin[lane + 1]) - begin;
        walk.lane(sequence.subspan(begin, length), lane_begin[lane]);
    }
}

}  // namespace

NestReading read_nest(const Nest& nest, std::span<const int32_t> sequence,
                      std::span<const int64_t> lane_begin, std::span<const int64_t> enter_ns,
                      std::span<const int64_t> leave_ns) {
    if (enter_ns.size() != sequence.size() || leave_ns.size() != sequence.size())
        throw std::invalid_argument("every call is entered and left once");
    const std::size_t lanes = lane_begin.empty() ? 0 : lane_begin.size() - 1;
    ReadingSink sink(nest, lanes, enter_ns, leave_ns);
    walk_lanes(nest, sink, sequence, lane_begin);
    return std::move(sink).reading();
}

NestSpans nest_spans(const Nest& nest, std::span<const int32_t> sequence,
                     std::span<const int64_t> lane_begin, int32_t loop) {
    SpansSink sink(loop);
    walk_lanes(nest, sink, sequence, lane_begin);
    return std::move(sink.spans);
}

}  // namespace burstline
