// delays.hpp -- Who causes waiting: the costs of delays, from the last wait to the first.
// Knows points where threads meet, and the time of call paths between them; knows no MPI.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "segments.hpp"

namespace burstline {

/// What a wait is of; costs are told apart by it.
enum class Wait : std::uint8_t {
    late_sender,
    late_receiver,
    barrier,
    n_to_n,
    one_to_n,
    n_to_one,
    omp_barrier,
    omp_idle,
    none,  // a point where nobody waits
};
inline constexpr std::size_t wait_types = 8;

/// Segments whose columns somebody else owns.
struct Stretches {
    std::span<const std::int64_t> begin;
    std::span<const std::int32_t> node;
    std::span<const std::int64_t> time_ns;
};

/// Points of synchronisation, sorted by location and ordinal. `peer`: the location of a
/// message's other side, or -1 - g of a group g; no_peer of a mark that is no meeting.
struct Points {
    std::span<const std::int64_t> location_begin;
    std::span<const std::uint8_t> type;  // a Wait
    std::span<const std::uint8_t> in_team;
    std::span<const std::int32_t> node;  // call path of the call it lies in
    std::span<const std::int64_t> wait_ns, total_ns, completion_ns;
    std::span<const std::int64_t> cause;  // point that ended the wait; -1 of what is no wait
    std::span<const std::int32_t> peer;
    std::span<const std::int32_t> group_set;  // (groups,) who may be in a group: a communicator
    static constexpr std::int32_t no_peer = INT32_MAX;
};

/// A stretch in which other threads of a process idle: between two points of a location
/// (`from` -1: from its start), and how many of them.
struct Serial {
    std::span<const std::int64_t> location, from, to, threads;
};

/// Costs of the call paths that have any: dense (nodes, locations) of those.
struct Costs {
    std::vector<std::int32_t> node;
    std::vector<double> value;
    std::vector<std::int32_t> row;  // (nodes of the call tree,) or empty: where each is, or -1
};

struct Delays {
    std::array<Costs, wait_types> direct, distant;  // of short and long range, by type
    /// Of each point: excess of the causing side, waits within, and the largest share of it
    /// that any later wait of a message passed on.
    std::vector<double> excess, waits_within, passed_on;
    std::vector<std::int32_t> blamed;  // the node of the largest excess, -1 without any
    std::int64_t unexplained = 0, out_of_order = 0;
};

struct DelayOptions {
    std::int32_t nodes = 0;
    std::int32_t ranks = 0;
    bool like_scalasca = false;  // lose part of the distant costs of collectives, as 2.6 does
};

/// Costs of delays of all waits. Time linear in points, segments and lookups of peers.
///
/// Throws std::invalid_argument if columns do not fit to each other.
Delays delays(const Points& points, const Stretches& segments, const Serial& serial,
              const DelayOptions& options);

/// The path without waits that ends last, walked backwards: from a wait to what ended it.
struct CriticalPath {
    std::vector<double> time_ns;       // dense (nodes x locations)
    std::int64_t begin_location = -1;  // where it begins
    bool broken = false;               // whether stamps lead it round in a circle
};

/// The path from `end_point` (-1: the end) of a location to a point where `stops` is set, or
/// to the start of a location.
CriticalPath critical_path(const Points& points, const Stretches& segments, std::int32_t nodes,
                           std::int64_t end_location, std::int64_t end_point,
                           std::span<const std::uint8_t> stops);

}  // namespace burstline
