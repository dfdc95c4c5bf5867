#include "wrong_order.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace burstline {
namespace {

constexpr std::size_t remembered = 100;

}  // namespace

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> order_within(
    std::span<const std::int32_t> group, std::span<const std::int64_t> key, std::int32_t groups) {
    const auto is_group = [&](std::int32_t each) { return each >= 0 && each < groups; };
    if (groups < 0 || key.size() != group.size() || !std::ranges::all_of(group, is_group))
        throw std::invalid_argument("each row is in a group, and has a key");
    std::vector<std::int64_t> begin(static_cast<std::size_t>(groups) + 1);
    for (const std::int32_t each : group) ++begin[static_cast<std::size_t>(each) + 1];
    for (std::size_t g = 1; g < begin.size(); ++g) begin[g] += begin[g - 1];
    std::vector<std::int64_t> order(group.size()), filled(begin.begin(), begin.end() - 1);
    for (std::size_t row = 0; row < group.size(); ++row)
        order[filled[group[row]]++] = static_cast<std::int64_t>(row);
    std::vector<std::pair<std::int64_t, std::int64_t>> keyed;
    for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
        const std::span rows(order.begin() + begin[g], order.begin() + begin[g + 1]);
        const auto of = [&](std::int64_t row) { return key[row]; };
        if (std::ranges::is_sorted(rows, {}, of)) continue;
        keyed.clear();
        for (const std::int64_t row : rows) keyed.emplace_back(key[row], row);
        std::ranges::sort(keyed);  // rows rise within a group: no two are equal
        for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = keyed[k].second;
    }
    return {std::move(order), std::move(begin)};
}

WrongOrder wrong_order(const Received& received) {
    const std::size_t n = received.send_ns.size();
    if (received.call.size() != n || received.sender.size() != n || received.counts.size() != n ||
        received.location_begin.empty() || received.location_begin.front() != 0 ||
        received.location_begin.back() != static_cast<std::int64_t>(n) ||
        !std::ranges::is_sorted(received.location_begin))
        throw std::invalid_argument("locations lie in the messages, one after another");
    WrongOrder out{std::vector<std::int64_t>(n, -1), std::vector<std::int64_t>(n, -1)};
    std::deque<std::int64_t> waits;
    std::int64_t waiting = -1;  // of the call that is being left: remembered at its end
    const auto remember = [&] {
        if (waiting < 0) return;
        waits.push_back(waiting);
        if (waits.size() > remembered) waits.pop_front();
        waiting = -1;
    };
    for (std::size_t l = 0; l + 1 < received.location_begin.size(); ++l) {
        waits.clear(), waiting = -1;
        for (std::int64_t k = received.location_begin[l]; k < received.location_begin[l + 1]; ++k) {
            if (k > received.location_begin[l] && received.call[k] != received.call[k - 1])
                remember();
            std::int64_t first = -1;
            std::erase_if(waits, [&](std::int64_t wait) {
                if (received.send_ns[wait] <= received.send_ns[k]) return false;
                if (first < 0) first = wait;
                out.by[wait] = k, out.first[wait] = first;
                return true;
            });
            if (received.counts[k]) waiting = k;
        }
    }
    return out;
}

}  // namespace burstline
