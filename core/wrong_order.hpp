// wrong_order.hpp -- Late senders that waited in vain: an earlier message came later.
// Knows messages in the order in which they were received; knows no call path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// Received messages, sorted by location and order of completion. `call`: the call that
/// completed each; those of one call are neighbours. `counts`: whether one is a wait.
struct Received {
    std::span<const std::int64_t> location_begin;
    std::span<const std::int64_t> call, send_ns;
    std::span<const std::int32_t> sender;
    std::span<const std::uint8_t> counts;
};

/// Of each message: the later one that was sent before it (-1: none), and the first message
/// that the same later one showed to be in the wrong order.
struct WrongOrder {
    std::vector<std::int64_t> by, first;
};

/// Which of the last 100 waits of a location were overtaken: by Scalasca's definition.
WrongOrder wrong_order(const Received& received);

}  // namespace burstline
