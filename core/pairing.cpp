#include "pairing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace burstline {
namespace {

std::vector<std::size_t> by_key(const Leftovers& things) {
    std::vector<std::size_t> order(things.key.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        if (things.key[one] != things.key[other]) return things.key[one] < things.key[other];
        return things.ordinal[one] < things.ordinal[other];
    });
    return order;
}

double difference(double one, double other) {
    return std::abs(one - other) / std::max({one, other, 1.0});
}

double partners_differ(std::int32_t one, std::int32_t other) { return one == other ? 0.0 : 1.0; }

struct Pair {
    double cost;
    std::size_t a, b;
};

/// Matches a block of a group, the most alike first.
class Block {
  public:
    Block(const Candidates& a, const Candidates& b, const Similarity& weights)
        : a_(a), b_(b), weights_(weights) {}

    void match(std::size_t a_begin, std::size_t a_end, std::size_t b_begin, std::size_t b_end,
               std::vector<std::int64_t>& same) {
        pairs_.clear();
        for (std::size_t i = a_begin; i < a_end; ++i)
            for (std::size_t j = b_begin; j < b_end; ++j) {
                const double cost = unlikeness(a_, i, b_, j, weights_);
                if (cost < weights_.limit) pairs_.push_back({cost, i, j});
            }
        std::stable_sort(pairs_.begin(), pairs_.end(),
                         [](const Pair& one, const Pair& other) { return one.cost < other.cost; });
        taken_.assign(b_end - b_begin, false);
        for (const Pair& pair : pairs_) {
            if (same[pair.a] >= 0 || taken_[pair.b - b_begin]) continue;
            same[pair.a] = static_cast<std::int64_t>(pair.b);
            taken_[pair.b - b_begin] = true;
        }
    }

  private:
    const Candidates& a_;
    const Candidates& b_;
    const Similarity& weights_;
    std::vector<Pair> pairs_;
    std::vector<bool> taken_;
};

}  // namespace

std::vector<std::int64_t> pair_near(const Leftovers& a, const Leftovers& b, double tolerance) {
    const auto first = by_key(a), second = by_key(b);
    std::vector<std::int64_t> same(a.key.size(), -1);
    std::size_t i = 0, j = 0;
    while (i < first.size() && j < second.size()) {
        const std::size_t one = first[i], other = second[j];
        if (a.key[one] != b.key[other]) {
            ++(a.key[one] < b.key[other] ? i : j);
            continue;
        }
        const std::int64_t apart = a.ordinal[one] - b.ordinal[other];
        const std::int64_t reach = std::max(a.reach[one], b.reach[other]);
        if (std::abs(apart) > reach) {
            ++(apart < 0 ? i : j);
            continue;
        }
        if (difference(a.size[one], b.size[other]) > tolerance) {
            ++(apart <= 0 ? i : j);
            continue;
        }
        same[one] = static_cast<std::int64_t>(other);
        ++i;
        ++j;
    }
    return same;
}

double unlikeness(const Candidates& a, std::size_t i, const Candidates& b, std::size_t j,
                  const Similarity& weights) {
    double size = difference(a.size_before[i], b.size_before[j]);
    if (weights.both_sizes) size = (size + difference(a.size_after[i], b.size_after[j])) / 2;
    const double partner = (partners_differ(a.partner_before[i], b.partner_before[j]) +
                            partners_differ(a.partner_after[i], b.partner_after[j])) /
                           2;
    return weights.place * std::abs(a.place[i] - b.place[j]) + weights.size * size +
           weights.partner * partner;
}

std::vector<std::int64_t> pair_alike(const Candidates& a, const Candidates& b,
                                     const Similarity& weights, std::size_t block) {
    if (a.group_begin.size() != b.group_begin.size() || a.group_begin.empty())
        throw std::invalid_argument("both sides have the same groups");
    if (block == 0) throw std::invalid_argument("a block holds at least one burst");
    std::vector<std::int64_t> same(a.place.size(), -1);
    Block matcher(a, b, weights);
    for (std::size_t g = 0; g + 1 < a.group_begin.size(); ++g) {
        const auto a_begin = static_cast<std::size_t>(a.group_begin[g]);
        const auto b_begin = static_cast<std::size_t>(b.group_begin[g]);
        const std::size_t a_count = static_cast<std::size_t>(a.group_begin[g + 1]) - a_begin;
        const std::size_t b_count = static_cast<std::size_t>(b.group_begin[g + 1]) - b_begin;
        const std::size_t blocks = (std::max(a_count, b_count) + block - 1) / block;
        for (std::size_t k = 0; k < blocks; ++k)
            matcher.match(a_begin + a_count * k / blocks, a_begin + a_count * (k + 1) / blocks,
                          b_begin + b_count * k / blocks, b_begin + b_count * (k + 1) / blocks,
                          same);
    }
    return same;
}

}  // namespace burstline
