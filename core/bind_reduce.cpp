// bind_reduce.cpp -- The kernels of the published method of loop detection, for Python.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "module.hpp"
#include "reduce.hpp"
#include "turns.hpp"

using namespace nb::literals;

namespace burstline {
namespace {

nb::dict give(UniqueCalls&& found) {
    nb::dict columns;
    columns["lane"] = to_numpy(std::move(found.lane));
    columns["signature"] = to_numpy(std::move(found.signature));
    columns["communicator"] = to_numpy(std::move(found.communicator));
    columns["begin"] = to_numpy(std::move(found.begin));
    columns["enter_ns"] = to_numpy(std::move(found.enter_ns));
    columns["time_ns"] = to_numpy(std::move(found.time_ns));
    columns["time_spread_ns"] = to_numpy(std::move(found.time_spread_ns));
    columns["size_bytes"] = to_numpy(std::move(found.size_bytes));
    columns["size_spread_bytes"] = to_numpy(std::move(found.size_spread_bytes));
    columns["burst_ns"] = to_numpy(std::move(found.burst_ns));
    columns["burst_counters"] = to_numpy(std::move(found.burst_counters));
    columns["iteration_counters"] = to_numpy(std::move(found.iteration_counters));
    columns["peer"] = to_numpy(std::move(found.peer));
    columns["offset"] = to_numpy(std::move(found.offset));
    columns["is_root"] = to_numpy(std::move(found.is_root));
    return columns;
}

nb::dict reduce_calls(const Ints& lane_begin, const Ints& rank, std::int64_t ranks,
                      const Ids& signature, std::size_t signatures,
                      const std::vector<Ints>& quantities, const std::vector<Ids>& ids,
                      const std::vector<Ints>& burst_ranges, const Ids& call_after,
                      const std::vector<Ints>& burst_columns) {
    if (quantities.size() != 4 || ids.size() != 4 || burst_ranges.size() != 2 ||
        burst_columns.size() < 2)
        throw nb::value_error(
            "reduce_calls takes 4 quantities and 4 ids of calls, 2 ends of the bursts of lanes, "
            "and 2 or more columns of bursts");
    const SignedCalls calls{view(lane_begin),    view(rank),          ranks,
                            view(signature),     view(quantities[0]), view(quantities[1]),
                            view(quantities[2]), view(quantities[3]), view(ids[0]),
                            view(ids[1]),        view(ids[2]),        view(ids[3])};
    BurstsBefore bursts{view(burst_ranges[0]),  view(burst_ranges[1]),  view(call_after),
                        view(burst_columns[0]), view(burst_columns[1]), {}};
    for (std::size_t c = 2; c < burst_columns.size(); ++c)
        bursts.counters.push_back(view(burst_columns[c]));
    return give(unlocked([&] { return reduce(calls, bursts, signatures); }));
}

}  // namespace
void bind_reduce(nb::module_& m) {
    m.def("reduce_calls", &reduce_calls, "lane_begin"_array, "rank"_array, "ranks"_a,
          "signature"_array, "signatures"_a, "quantities"_a, "ids"_a, "burst_ranges"_a,
          "call_after"_array, "burst_columns"_a,
          "Columns of the unique calls, one per lane and signature; pairs and counters row after "
          "row.");
    m.def(
        "count_runs",
        [](const Ints& of, const Ints& other) {
            const nb::gil_scoped_release unlocked;
            return count_runs(view(of), view(other));
        },
        "of"_array, "other"_array,
        "Stretches of one sorted series of moments that no moment of another interrupts.");
    m.def(
        "steps_within",
        [](const Ints& begins, const Ints& around) {
            const Steps steps = steps_within(view(begins), view(around));
            return nb::make_tuple(steps.entries, steps.count, steps.sum);
        },
        "begins"_array, "around"_array,
        "Iterations around that have any, pairs of neighbours within one, and the sum of the time "
        "between these.");
}

}  // namespace burstline
