// wrong_order.hpp -- What happens in order on each thread, and messages that do not.
// Knows messages in the order in which they were received; knows no call path.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace burstline {

/// Rows in order of group and key, equal ones in the order that they have; and where each
/// group begins, (groups + 1,). Linear where the keys of a group rise.
///
/// Throws std::invalid_argument if a group is none of the groups.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> order_within(
    std::span<const std::int32_t> group, std::span<const std::int64_t> key, std::int32_t groups);

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
