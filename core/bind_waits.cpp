// bind_waits.cpp -- The kernels of wait states and their causes, for Python.
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bind.hpp"
#include "call_tree.hpp"
#include "delays.hpp"
#include "module.hpp"
#include "replay.hpp"
#include "segments.hpp"
#include "wrong_order.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;
using burstline::unlocked;
using burstline::view;
using burstline::views;

namespace {

using Ints = ArrayIn<std::int64_t>;
using Nodes = ArrayIn<std::int32_t>;
using Flags = ArrayIn<std::uint8_t>;
using IntervalColumns = std::tuple<Ints, Ints, Ints, Ints, Ints, Nodes>;
using PointColumns = std::tuple<Ints, Flags, Flags, Nodes, Ints, Ints, Ints, Ints, Nodes, Nodes>;
using SegmentColumns = std::tuple<Ints, Nodes, Ints>;

using ExchangeColumns = std::tuple<Ints, Nodes, Nodes, Nodes>;

template <std::size_t n>
nb::list lists(std::array<burstline::Costs, n>&& columns) {
    nb::list made;
    for (auto& column : columns)
        made.append(to_numpy(std::move(column.node), std::move(column.value)));
    return made;
}

}  // namespace

void bind_waits(nb::module_& m) {
    m.def(
        "segments",
        [](const std::tuple<Ints, Ints, Nodes>& program, const IntervalColumns& calls,
           const Nodes& between, const IntervalColumns& regions,
           const std::tuple<Ints, Ints, Ints, Flags>& parallel, const Ints& location_begin,
           const Ints& place, std::int32_t nodes) {
            auto made = unlocked([&] {
                return burstline::segments(views<burstline::Programs>(program),
                                           views<burstline::Intervals>(calls), view(between),
                                           views<burstline::Intervals>(regions),
                                           views<burstline::Parallels>(parallel),
                                           {view(location_begin), view(place)}, nodes);
            });
            return std::make_tuple(to_numpy(std::move(made.begin)), to_numpy(std::move(made.node)),
                                   to_numpy(std::move(made.time_ns)), made.clipped);
        },
        "program"_a, "calls"_a, "between"_a.noconvert(), "regions"_a, "parallel"_a,
        "location_begin"_a.noconvert(), "place"_a.noconvert(), "nodes"_a,
        "Time of call paths alone between points: begins of segments, node, time.");
    m.def(
        "innermost",
        [](const std::tuple<Ints, Ints, Ints, Ints>& rows, const Nodes& location, const Ints& seq) {
            return to_numpy(unlocked([&] {
                return burstline::innermost(views<burstline::Nested>(rows), view(location),
                                            view(seq));
            }));
        },
        "rows"_a, "location"_a.noconvert(), "seq"_a.noconvert(),
        "The innermost row that is open at each moment of a location, or -1.");
    m.def(
        "paths_of",
        [](const Ints& parent, const Ints& symbol) {
            auto made = unlocked([&] { return burstline::paths_of(view(parent), view(symbol)); });
            return to_numpy(std::move(made.path), std::move(made.above), std::move(made.symbol));
        },
        "parent"_a.noconvert(), "symbol"_a.noconvert(),
        "The path of each item, and of each path the one above it and its symbol.");
    m.def(
        "order_within",
        [](const Nodes& group, const Ints& key, std::int32_t groups) {
            std::vector<std::int64_t> order, begin;
            {
                nb::gil_scoped_release unlocked;
                std::tie(order, begin) = burstline::order_within(view(group), view(key), groups);
            }
            return to_numpy(std::move(order), std::move(begin));
        },
        "group"_a.noconvert(), "key"_a.noconvert(), "groups"_a,
        "Rows in order of group and key, equal ones as they are, and where each group begins.");
    m.def(
        "wrong_order",
        [](const Ints& location_begin, const Ints& call, const Ints& send_ns, const Nodes& sender,
           const Flags& counts) {
            auto made = unlocked([&] {
                return burstline::wrong_order(
                    {view(location_begin), view(call), view(send_ns), view(sender), view(counts)});
            });
            return to_numpy(std::move(made.by), std::move(made.first));
        },
        "location_begin"_a.noconvert(), "call"_a.noconvert(), "send_ns"_a.noconvert(),
        "sender"_a.noconvert(), "counts"_a.noconvert(),
        "Of each message: the later one that was sent before it, and the first it overtook.");
    m.def(
        "delays",
        [](const PointColumns& point_columns, const SegmentColumns& segment_columns,
           const std::tuple<Ints, Ints, Ints, Ints>& serial, std::int32_t nodes, std::int32_t ranks,
           bool like_scalasca) {
            auto made = unlocked([&] {
                return burstline::delays(views<burstline::Points>(point_columns),
                                         views<burstline::Stretches>(segment_columns),
                                         views<burstline::Serial>(serial),
                                         {nodes, ranks, like_scalasca});
            });
            return std::make_tuple(
                lists(std::move(made.direct)), lists(std::move(made.distant)),
                to_numpy(std::move(made.excess)), to_numpy(std::move(made.waits_within)),
                to_numpy(std::move(made.passed_on)), to_numpy(std::move(made.blamed)),
                made.unexplained, made.out_of_order);
        },
        "points"_a, "segments"_a, "serial"_a, "nodes"_a, "ranks"_a, "like_scalasca"_a,
        "Costs of delays by type, short and long, and of each wait its excess and waits within.");
    m.def(
        "critical_path",
        [](const PointColumns& point_columns, const SegmentColumns& segment_columns,
           std::int32_t nodes, std::int64_t end_location, std::int64_t end_point,
           const Flags& stops) {
            auto made = unlocked([&] {
                return burstline::critical_path(views<burstline::Points>(point_columns),
                                                views<burstline::Stretches>(segment_columns), nodes,
                                                end_location, end_point, view(stops));
            });
            return std::make_tuple(to_numpy(std::move(made.time_ns)), made.begin_location,
                                   made.broken);
        },
        "points"_a, "segments"_a, "nodes"_a, "end_location"_a, "end_point"_a, "stops"_a.noconvert(),
        "The path without waits that ends last: time by node and location.");
    m.def(
        "replay",
        [](const ExchangeColumns& rows,
           const std::vector<std::tuple<Ints, Ints, std::int64_t>>& weights) {
            std::vector<burstline::Weights> models;
            for (const auto& [step, floor, latency] : weights)
                models.push_back({view(step), view(floor), latency});
            auto made = unlocked(
                [&] { return burstline::replay(views<burstline::Exchanges>(rows), models); });
            nb::list stamps;
            for (auto& column : made.stamp) stamps.append(to_numpy(std::move(column)));
            return std::make_tuple(stamps, to_numpy(std::move(made.order)),
                                   to_numpy(std::move(made.cycle_begin)),
                                   to_numpy(std::move(made.cycle_row)));
        },
        "rows"_a, "weights"_a,
        "Stamps by each of the weights, the order of the rows, begins and rows of circles.");
    m.def(
        "source_times",
        [](const ExchangeColumns& rows, const Ints& time) {
            return to_numpy(burstline::source_times(views<burstline::Exchanges>(rows), view(time)));
        },
        "rows"_a, "time"_a.noconvert(), "The latest time of what each row waits for.");
    m.def(
        "amortised",
        [](const ExchangeColumns& rows, const Ints& order, const Ints& time, const Ints& stamp,
           std::int64_t latency, std::int32_t bits) {
            return to_numpy(burstline::amortised(views<burstline::Exchanges>(rows), view(order),
                                                 view(time), view(stamp), latency, bits));
        },
        "rows"_a, "order"_a.noconvert(), "time"_a.noconvert(), "stamp"_a.noconvert(), "latency"_a,
        "bits"_a, "Stamps with their jumps spread over what came before them.");
    using burstline::Wait;
    burstline::bind_enumeration<Wait>(m, "Wait", "What a wait is of.",
                                      {{"LATE_SENDER", Wait::late_sender},
                                       {"LATE_RECEIVER", Wait::late_receiver},
                                       {"BARRIER", Wait::barrier},
                                       {"N_TO_N", Wait::n_to_n},
                                       {"ONE_TO_N", Wait::one_to_n},
                                       {"N_TO_ONE", Wait::n_to_one},
                                       {"OMP_BARRIER", Wait::omp_barrier},
                                       {"OMP_IDLE", Wait::omp_idle},
                                       {"NONE", Wait::none}});
}
