#include "follows.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace burstline {
namespace {

constexpr std::int32_t few = 1024;  // symbols, of which every pair has a counter of its own

/// How often a pair was seen, and on which lane last.
struct Seen {
    std::int64_t count = 0;
    std::int64_t lane = -1;
};

/// Goes through the pairs of neighbours; `seen` gives the Seen of each, as one number.
template <typename Find>
void each_pair(std::span<const std::int32_t> sequence, std::span<const std::int64_t> lane_begin,
               std::int32_t symbols, Follows& edges, Find seen) {
    edges.lane_edge_begin.push_back(0);
    for (std::size_t lane = 0; lane + 1 < lane_begin.size(); ++lane) {
        for (std::int64_t k = lane_begin[lane] + 1; k < lane_begin[lane + 1]; ++k) {
            const std::int64_t pair = std::int64_t{sequence[k - 1]} * symbols + sequence[k];
            Seen& entry = seen(pair);
            ++entry.count;
            if (entry.lane == static_cast<std::int64_t>(lane)) continue;
            entry.lane = static_cast<std::int64_t>(lane);
            edges.lane_edge.push_back(pair);
        }
        edges.lane_edge_begin.push_back(static_cast<std::int64_t>(edges.lane_edge.size()));
    }
}

}  // namespace

void check_lanes(std::span<const std::int32_t> sequence, std::span<const std::int64_t> lane_begin,
                 std::int32_t symbols) {
    if (lane_begin.empty() || lane_begin.front() < 0 ||
        lane_begin.back() > static_cast<std::int64_t>(sequence.size()) ||
        !std::ranges::is_sorted(lane_begin))
        throw std::invalid_argument("lanes lie in the sequence, one after another");
    for (const std::int32_t symbol : sequence)
        if (symbol < 0 || symbol >= symbols)
            throw std::invalid_argument("a symbol is none of those there are");
}

Follows count_follows(std::span<const std::int32_t> sequence,
                      std::span<const std::int64_t> lane_begin, std::int32_t symbols) {
    check_lanes(sequence, lane_begin, symbols);
    Follows edges;
    std::vector<Seen> dense(symbols <= few ? static_cast<std::size_t>(symbols) * symbols : 0);
    std::unordered_map<std::int64_t, Seen> sparse;
    if (symbols <= few)
        each_pair(sequence, lane_begin, symbols, edges,
                  [&](std::int64_t pair) -> Seen& { return dense[pair]; });
    else
        each_pair(sequence, lane_begin, symbols, edges,
                  [&](std::int64_t pair) -> Seen& { return sparse[pair]; });

    std::vector<std::int64_t> pairs(edges.lane_edge);
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const std::int64_t pair : pairs) {
        edges.from.push_back(pair / symbols);
        edges.to.push_back(pair % symbols);
        edges.count.push_back(symbols <= few ? dense[pair].count : sparse[pair].count);
    }
    for (std::int64_t& edge : edges.lane_edge)
        edge = std::ranges::lower_bound(pairs, edge) - pairs.begin();
    return edges;
}

}  // namespace burstline
