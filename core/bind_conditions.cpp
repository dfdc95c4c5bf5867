// bind_conditions.cpp -- The kernels that tell what it costs to write loops down, for Python.
#include <nanobind/stl/tuple.h>

#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "conditions.hpp"
#include "module.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;

namespace {

using Masks = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

burstline::Iterations iterations(const Masks& executed, const ArrayIn<bool>& begins,
                                 const ArrayIn<std::int64_t>& lane) {
    return {executed.shape(0), {executed.data(), executed.size()}, view(begins), view(lane)};
}

auto numbers(const burstline::BodyCost& cost) {
    return std::make_tuple(cost.unexplained, cost.length, cost.conditions, cost.letters,
                           cost.lists);
}

}  // namespace

void bind_conditions(nb::module_& m) {
    m.def(
        "loop_cost",
        [](const Masks& executed, const ArrayIn<bool>& begins, const ArrayIn<std::int64_t>& lane) {
            burstline::BodyCost cost;
            {
                nb::gil_scoped_release unlocked;
                cost = burstline::loop_cost(iterations(executed, begins, lane));
            }
            return numbers(cost);
        },
        "executed"_a.noconvert(), "begins"_a.noconvert(), "lane"_a.noconvert(),
        "What a loop costs: unexplained, length, conditions, letters, lists.");
    m.def(
        "conditional_body",
        [](const Masks& executed, const ArrayIn<bool>& begins, const ArrayIn<std::int64_t>& lane) {
            std::vector<std::int32_t> parts;
            {
                nb::gil_scoped_release unlocked;
                parts = burstline::conditional_body(iterations(executed, begins, lane));
            }
            return to_numpy(std::move(parts));
        },
        "executed"_a.noconvert(), "begins"_a.noconvert(), "lane"_a.noconvert(),
        "The elements of a loop in order, those on one condition between -1 and -2.");
    m.def(
        "trips_cost",
        [](const ArrayIn<std::int64_t>& trips, const ArrayIn<std::int64_t>& lane,
           const ArrayIn<std::int64_t>& place) {
            burstline::BodyCost cost;
            {
                nb::gil_scoped_release unlocked;
                cost = burstline::trips_cost(view(trips), view(lane), view(place));
            }
            return numbers(cost);
        },
        "trips"_a.noconvert(), "lane"_a.noconvert(), "place"_a.noconvert(),
        "What trip counts cost, by the iteration around each; none stands for one each.");
}
