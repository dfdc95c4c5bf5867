#include "align.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace burstline {
namespace {

constexpr std::size_t doublings = 3;
constexpr std::size_t least_window = 4;
constexpr std::size_t reconsidered = 8;

/// A stretch of both sequences.
struct Box {
    std::size_t a_begin, a_end, b_begin, b_end;

    [[nodiscard]] bool empty() const { return a_begin == a_end || b_begin == b_end; }
    [[nodiscard]] std::size_t a() const { return a_end - a_begin; }
    [[nodiscard]] std::size_t b() const { return b_end - b_begin; }
};

enum Step : std::uint8_t { stop, both, only_a, only_b };

/// The cheapest ways through a box from its first corner.
struct Ways {
    std::size_t width = 0;  // tokens of b, and one more
    std::vector<std::uint8_t> step;
    std::size_t a = 0, b = 0;  // where the best way ends

    [[nodiscard]] Step at(std::size_t i, std::size_t j) const {
        return static_cast<Step>(step[i * width + j]);
    }
};

class Aligner {
  public:
    Aligner(const Tokens& a, const Tokens& b, const AlignCosts& costs, std::size_t window)
        : a_(a), b_(b), costs_(costs), window_(window), same_(a.length(), -1) {}

    std::vector<std::int64_t> run() {
        waiting_.push_back({0, a_.length(), 0, b_.length()});
        while (!waiting_.empty()) {
            Box box = waiting_.back();
            waiting_.pop_back();
            trim(box);
            sweep(box);
        }
        return std::move(same_);
    }

  private:
    void pair(std::size_t i, std::size_t j) { same_[i] = static_cast<std::int64_t>(j); }

    [[nodiscard]] std::int64_t ahead_at(std::size_t i, std::size_t j) const {
        return std::int64_t{b_.turn[j]} - a_.turn[i];
    }

    [[nodiscard]] bool has_turn(std::size_t i, std::size_t j) const {
        const std::int64_t ahead = ahead_at(i, j);
        return ahead == 0 || ahead == ahead_;
    }

    [[nodiscard]] bool is_alike(std::size_t i, std::size_t j) const {
        return a_.label[i] == b_.label[j] && has_turn(i, j);
    }

    /// Pairs a common beginning, but for its last tokens: of neighbours that are alike,
    /// their places will tell which one is left out.
    void trim_front(Box& box) {
        std::size_t alike = 0;
        while (!box.empty() && is_alike(box.a_begin, box.b_begin)) {
            pair(box.a_begin++, box.b_begin++);
            ++alike;
        }
        if (box.a_begin == box.a_end && box.b_begin == box.b_end) return;
        for (std::size_t k = std::min(alike, reconsidered); k > 0; --k) {
            same_[--box.a_begin] = -1;
            --box.b_begin;
        }
    }

    void trim(Box& box) {
        trim_front(box);
        std::size_t alike = 0;
        while (!box.empty() && is_alike(box.a_end - 1, box.b_end - 1)) {
            pair(--box.a_end, --box.b_end);
            ++alike;
        }
        if (box.a_begin == box.a_end && box.b_begin == box.b_end) return;
        for (std::size_t k = std::min(alike, reconsidered); k > 0; --k) {
            same_[box.a_end++] = -1;
            ++box.b_end;
        }
    }

    /// Finds tokens whose label is in both stretches once; in the order of a.
    [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> singles(const Box& box) const {
        struct Found {
            std::size_t a = 0, b = 0;
            std::uint32_t in_a = 0, in_b = 0;
        };
        std::unordered_map<std::int32_t, Found> found;
        for (std::size_t i = box.a_begin; i < box.a_end; ++i) {
            Found& one = found[a_.label[i]];
            one.a = i;
            ++one.in_a;
        }
        for (std::size_t j = box.b_begin; j < box.b_end; ++j) {
            const auto one = found.find(b_.label[j]);
            if (one == found.end()) continue;
            one->second.b = j;
            ++one->second.in_b;
        }
        std::vector<std::pair<std::size_t, std::size_t>> once;
        for (const auto& [label, one] : found)
            if (one.in_a == 1 && one.in_b == 1) once.emplace_back(one.a, one.b);
        std::sort(once.begin(), once.end());
        return once;
    }

    /// Splits a box at the longest rising row of such tokens; says whether there is one.
    bool split_at_singles(const Box& box) {
        const auto once = singles(box);
        if (once.empty()) return false;
        std::vector<std::size_t> last;  // of the best row of each length
        std::vector<std::size_t> before(once.size());
        for (std::size_t k = 0; k < once.size(); ++k) {
            const auto place = std::lower_bound(
                last.begin(), last.end(), once[k].second,
                [&](std::size_t row, std::size_t b) { return once[row].second < b; });
            before[k] = place == last.begin() ? once.size() : *(place - 1);
            if (place == last.end())
                last.push_back(k);
            else
                *place = k;
        }
        Box rest = box;
        for (std::size_t k = last.back(); k != once.size(); k = before[k]) {
            const auto [i, j] = once[k];
            pair(i, j);
            waiting_.push_back({i + 1, rest.a_end, j + 1, rest.b_end});
            rest.a_end = i;
            rest.b_end = j;
        }
        waiting_.push_back(rest);
        return true;
    }

    [[nodiscard]] float cost(std::size_t i, std::size_t j) const {
        if (a_.kind[i] != b_.kind[j]) return std::numeric_limits<float>::infinity();
        const double place =
            std::min(costs_.place * std::abs(a_.place[i] - b_.place[j]), costs_.most) +
            (has_turn(i, j) ? 0.0 : costs_.turn);
        if (a_.label[i] == b_.label[j]) return static_cast<float>(place);
        const double larger = std::max({a_.size[i], b_.size[j], 1.0});
        const double whole = place + costs_.size * std::abs(a_.size[i] - b_.size[j]) / larger;
        return whole < costs_.limit ? static_cast<float>(whole)
                                    : std::numeric_limits<float>::infinity();
    }

    /// Follows the least costs through a box; only its first corner is given.
    [[nodiscard]] Ways explore(const Box& box, bool to_the_end) const {
        Ways ways;
        ways.width = box.b() + 1;
        ways.step.assign((box.a() + 1) * ways.width, stop);
        std::vector<float> row(ways.width, 0);
        for (std::size_t j = 1; j < ways.width; ++j) {
            row[j] = row[j - 1] + static_cast<float>(b_.gap[box.b_begin + j - 1]);
            ways.step[j] = only_b;
        }
        float best = std::numeric_limits<float>::infinity();
        const auto consider = [&](std::size_t i, std::size_t j) {
            if (row[j] > best || to_the_end) return;
            best = row[j];
            ways.a = i;
            ways.b = j;
        };
        for (std::size_t i = 1; i <= box.a(); ++i) {
            step_down(box, i, row, ways);
            consider(i, box.b());
        }
        for (std::size_t j = 1; j < ways.width; ++j) consider(box.a(), j);
        if (to_the_end) {
            ways.a = box.a();
            ways.b = box.b();
        }
        return ways;
    }

    void step_down(const Box& box, std::size_t i, std::vector<float>& row, Ways& ways) const {
        const std::size_t token = box.a_begin + i - 1;
        const float out = static_cast<float>(a_.gap[token]);
        std::uint8_t* const step = ways.step.data() + i * ways.width;
        float diagonal = row[0];
        row[0] += out;
        step[0] = only_a;
        for (std::size_t j = 1; j < ways.width; ++j) {
            const std::size_t other = box.b_begin + j - 1;
            const float matched = diagonal + cost(token, other);
            const float without_a = row[j] + out;
            const float without_b = row[j - 1] + static_cast<float>(b_.gap[other]);
            diagonal = row[j];
            const bool is_match = matched <= without_a && matched <= without_b;
            const bool is_a = !is_match && without_a <= without_b;
            row[j] = is_match ? matched : is_a ? without_a : without_b;
            step[j] = is_match ? both : is_a ? only_a : only_b;
        }
    }

    /// The way's pairs, last first.
    static std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const Ways& ways) {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t i = ways.a, j = ways.b; i != 0 || j != 0;) {
            const Step step = ways.at(i, j);
            if (step == both) pairs.emplace_back(i - 1, j - 1);
            i -= step != only_b;
            j -= step != only_a;
        }
        return pairs;
    }

    /// Aligns a box a window at a time, and of each window the first half.
    void sweep(Box box) {
        std::size_t window = window_;
        while (!box.empty()) {
            const Box near{box.a_begin, std::min(box.a_end, box.a_begin + window), box.b_begin,
                           std::min(box.b_end, box.b_begin + window)};
            const bool is_all = near.a_end == box.a_end && near.b_end == box.b_end;
            const Ways ways = explore(near, is_all);
            const auto pairs = pairs_of(ways);
            const std::size_t enough = std::min(near.a(), near.b()) / 2;
            if (!is_all && pairs.size() < enough) {
                if (window < (window_ << doublings)) {
                    window *= 2;
                    continue;
                }
                if (split_at_singles(box)) return;
            }
            window = window_;
            commit(box, near, pairs, is_all);
            trim_front(box);
        }
    }

    void commit(Box& box, const Box& near,
                const std::vector<std::pair<std::size_t, std::size_t>>& pairs, bool is_all) {
        std::size_t a = 0, b = 0;
        const std::size_t a_half = (near.a() + 1) / 2, b_half = (near.b() + 1) / 2;
        for (auto one = pairs.rbegin(); one != pairs.rend(); ++one) {
            const auto [i, j] = *one;
            if (!is_all && (i >= a_half || j >= b_half)) break;
            pair(near.a_begin + i, near.b_begin + j);
            ahead_ = ahead_at(near.a_begin + i, near.b_begin + j);
            a = i + 1;
            b = j + 1;
        }
        if (is_all) {
            box.a_begin = box.a_end;
        } else if (a != 0) {
            box.a_begin += a;
            box.b_begin += b;
        } else if (!pairs.empty()) {
            box.a_begin += pairs.back().first;
            box.b_begin += pairs.back().second;
        } else {
            box.a_begin += a_half;
            box.b_begin += b_half;
        }
    }

    const Tokens a_, b_;
    const AlignCosts costs_;
    const std::size_t window_;
    std::int64_t ahead_ = 0;  // turns of b before those of a, where last aligned
    std::vector<std::int64_t> same_;
    std::vector<Box> waiting_;
};

bool is_even(const Tokens& tokens) {
    const std::size_t n = tokens.length();
    return tokens.kind.size() == n && tokens.place.size() == n && tokens.size.size() == n &&
           tokens.gap.size() == n && tokens.turn.size() == n;
}

}  // namespace

std::vector<std::int64_t> align(const Tokens& a, const Tokens& b, const AlignCosts& costs,
                                std::size_t window) {
    if (!is_even(a) || !is_even(b))
        throw std::invalid_argument("the columns of a sequence are equally long");
    if (window < least_window) throw std::invalid_argument("a window holds at least 4 tokens");
    return Aligner(a, b, costs, window).run();
}

}  // namespace burstline
