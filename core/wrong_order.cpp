#include "wrong_order.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace burstline {
namespace {

constexpr std::size_t remembered = 100;

}  // namespace

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
