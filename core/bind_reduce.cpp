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

using Integers = ArrayIn<std::int64_t>;
using Ids = ArrayIn<std::int32_t>;

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

nb::dict reduce_calls(const Integers& lane_begin, const Integers& rank, std::int64_t ranks,
                      const Ids& signature, std::size_t signatures,
                      const std::vector<Integers>& quantities, const std::vector<Ids>& ids,
                      const std::vector<Integers>& burst_ranges, const Ids& call_after,
                      const std::vector<Integers>& burst_columns) {
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
}  // namespace burstline

void bind_reduce(nb::module_& m) {
    m.def("reduce_calls", &burstline::reduce_calls, "lane_begin"_a.noconvert(),
          "rank"_a.noconvert(), "ranks"_a, "signature"_a.noconvert(), "signatures"_a,
          "quantities"_a, "ids"_a, "burst_ranges"_a, "call_after"_a.noconvert(), "burst_columns"_a,
          "Columns of the unique calls, one per lane and signature; pairs and counters row after "
          "row.");
    m.def(
        "count_runs",
        [](const burstline::Integers& of, const burstline::Integers& other) {
            const nb::gil_scoped_release unlocked;
            return burstline::count_runs(burstline::view(of), burstline::view(other));
        },
        "of"_a.noconvert(), "other"_a.noconvert(),
        "Stretches of one sorted series of moments that no moment of another interrupts.");
    m.def(
        "steps_within",
        [](const burstline::Integers& begins, const burstline::Integers& around) {
            const burstline::Steps steps =
                burstline::steps_within(burstline::view(begins), burstline::view(around));
            return nb::make_tuple(steps.entries, steps.count, steps.sum);
        },
        "begins"_a.noconvert(), "around"_a.noconvert(),
        "Iterations around that have any, pairs of neighbours within one, and the sum of the time "
        "between these.");
}
