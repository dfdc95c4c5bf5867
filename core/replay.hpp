// replay.hpp -- One forward replay over everything that synchronises, with any weights.
// Knows rows in order on each location and what they wait for; knows no clock and no MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

/// What synchronises, in order on each location. A row that takes from a source happens after
/// all rows that give to it, and all that give to the source before it: a scan is a chain.
struct Exchanges {
    std::span<const std::int64_t> location_begin;  // (locations + 1,)
    std::span<const std::int32_t> gives, takes;    // (rows,) a source, or -1
    std::span<const std::int32_t> before;          // (sources,) a lower one, or -1
};

/// One way to weigh the rows: a row's stamp is the latest of the stamp before it on its location
/// (0 at its start) and `step`, `floor` if there is one, and its source's stamp and `latency`.
struct Weights {
    std::span<const std::int64_t> step, floor;  // (rows,); `floor` may be empty
    std::int64_t latency = 0;
};

struct Replayed {
    std::vector<std::vector<std::int64_t>> stamp;  // by weights, (rows,)
    std::vector<std::int64_t> order;               // the rows as they were replayed
    // Rows that wait for each other in a circle; each was stamped without its source.
    std::vector<std::int64_t> cycle_begin;  // (cycles + 1,)
    std::vector<std::int64_t> cycle_row;
};

/// Stamps by each of the weights, in one replay. Linear in its input.
///
/// All of these throw std::invalid_argument if columns have different lengths, locations do
/// not lie in them one after another, a source is not one of those that there are, or one
/// stands before two others or before a lower one.
Replayed replay(const Exchanges& rows, std::span<const Weights> weights);

inline constexpr std::int64_t never = INT64_MIN;

/// The latest time of the rows that each row waits for; `never` where it waits for none.
std::vector<std::int64_t> source_times(const Exchanges& rows, std::span<const std::int64_t> time);

/// Stamps with the jumps of a replay spread over what came before them on their location: each
/// time unit by at most 2^-`bits` more, and no row so late that what waits for it would be early:
/// that has moved before, as rows are gone through against their `order` in the replay.
std::vector<std::int64_t> amortised(const Exchanges& rows, std::span<const std::int64_t> order,
                                    std::span<const std::int64_t> time,
                                    std::span<const std::int64_t> stamp, std::int64_t latency,
                                    std::int32_t bits);

}  // namespace burstline
