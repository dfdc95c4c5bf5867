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

namespace burstline {

namespace {

using Flags = ArrayIn<std::uint8_t>;
using IntervalColumns = std::tuple<Ints, Ints, Ints, Ints, Ints, Ids>;
using PointColumns = std::tuple<Ints, Flags, Flags, Ids, Ints, Ints, Ints, Ints, Ids, Ids>;
using SegmentColumns = std::tuple<Ints, Ids, Ints>;

using ExchangeColumns = std::tuple<Ints, Ids, Ids, Ids>;

template <std::size_t n>
nb::list lists(std::array<Costs, n>&& columns) {
    nb::list made;
    for (auto& column : columns)
        made.append(to_numpy(std::move(column.node), std::move(column.value)));
    return made;
}

}  // namespace

void bind_waits(nb::module_& m) {
    m.def(
        "segments",
        [](const std::tuple<Ints, Ints, Ids>& program, const IntervalColumns& calls,
           const Ids& between, const IntervalColumns& regions,
           const std::tuple<Ints, Ints, Ints, Flags>& parallel, const Ints& location_begin,
           const Ints& place, std::int32_t nodes) {
            auto made = unlocked([&] {
                return segments(views<Programs>(program), views<Intervals>(calls), view(between),
                                views<Intervals>(regions), views<Parallels>(parallel),
                                {view(location_begin), view(place)}, nodes);
            });
            return std::make_tuple(to_numpy(std::move(made.begin)), to_numpy(std::move(made.node)),
                                   to_numpy(std::move(made.time_ns)), made.clipped);
        },
        "program"_a, "calls"_a, "between"_array, "regions"_a, "parallel"_a, "location_begin"_array,
        "place"_array, "nodes"_a,
        "Time of call paths alone between points: begins of segments, node, time.");
    m.def(
        "innermost",
        [](const std::tuple<Ints, Ints, Ints, Ints>& rows, const Ids& location, const Ints& seq) {
            return to_numpy(unlocked(
                [&] { return innermost(views<Nested>(rows), view(location), view(seq)); }));
        },
        "rows"_a, "location"_array, "seq"_array,
        "The innermost row that is open at each moment of a location, or -1.");
    m.def(
        "paths_of",
        [](const Ints& parent, const Ints& symbol) {
            auto made = unlocked([&] { return paths_of(view(parent), view(symbol)); });
            return to_numpy(std::move(made.path), std::move(made.above), std::move(made.symbol));
        },
        "parent"_array, "symbol"_array,
        "The path of each item, and of each path the one above it and its symbol.");
    m.def(
        "order_within",
        [](const Ids& group, const Ints& key, std::int32_t groups) {
            std::vector<std::int64_t> order, begin;
            {
                nb::gil_scoped_release unlocked;
                std::tie(order, begin) = order_within(view(group), view(key), groups);
            }
            return to_numpy(std::move(order), std::move(begin));
        },
        "group"_array, "key"_array, "groups"_a,
        "Rows in order of group and key, equal ones as they are, and where each group begins.");
    m.def(
        "wrong_order",
        [](const Ints& location_begin, const Ints& call, const Ints& send_ns, const Ids& sender,
           const Flags& counts) {
            auto made = unlocked([&] {
                return wrong_order(
                    {view(location_begin), view(call), view(send_ns), view(sender), view(counts)});
            });
            return to_numpy(std::move(made.by), std::move(made.first));
        },
        "location_begin"_array, "call"_array, "send_ns"_array, "sender"_array, "counts"_array,
        "Of each message: the later one that was sent before it, and the first it overtook.");
    m.def(
        "delays",
        [](const PointColumns& point_columns, const SegmentColumns& segment_columns,
           const std::tuple<Ints, Ints, Ints, Ints>& serial, std::int32_t nodes, std::int32_t ranks,
           bool like_scalasca) {
            auto made = unlocked([&] {
                return delays(views<Points>(point_columns), views<Stretches>(segment_columns),
                              views<Serial>(serial), {nodes, ranks, like_scalasca});
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
                return critical_path(views<Points>(point_columns),
                                     views<Stretches>(segment_columns), nodes, end_location,
                                     end_point, view(stops));
            });
            return std::make_tuple(to_numpy(std::move(made.time_ns)), made.begin_location,
                                   made.broken);
        },
        "points"_a, "segments"_a, "nodes"_a, "end_location"_a, "end_point"_a, "stops"_array,
        "The path without waits that ends last: time by node and location.");
    m.def(
        "replay",
        [](const ExchangeColumns& rows,
           const std::vector<std::tuple<Ints, Ints, std::int64_t>>& weights) {
            std::vector<Weights> models;
            for (const auto& [step, floor, latency] : weights)
                models.push_back({view(step), view(floor), latency});
            auto made = unlocked([&] { return replay(views<Exchanges>(rows), models); });
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
            return to_numpy(source_times(views<Exchanges>(rows), view(time)));
        },
        "rows"_a, "time"_array, "The latest time of what each row waits for.");
    m.def(
        "amortised",
        [](const ExchangeColumns& rows, const Ints& order, const Ints& time, const Ints& stamp,
           std::int64_t latency, std::int32_t bits) {
            return to_numpy(amortised(views<Exchanges>(rows), view(order), view(time), view(stamp),
                                      latency, bits));
        },
        "rows"_a, "order"_array, "time"_array, "stamp"_array, "latency"_a, "bits"_a,
        "Stamps with their jumps spread over what came before them.");
    bind_enumeration<Wait>(m, "Wait", "What a wait is of.");
}

}  // namespace burstline
