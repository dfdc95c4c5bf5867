// bind_conditions.cpp -- The kernels that tell what it costs to write loops down, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "conditions.hpp"
#include "loop_run.hpp"
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

using Entered =
    std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int64_t>, ArrayIn<bool>, ArrayIn<std::int64_t>>;

burstline::EnteredCalls entered(const Entered& calls) {
    const auto& [symbol, place, begins, lane] = calls;
    return {view(symbol), view(place), view(begins), view(lane)};
}

using Elements = std::tuple<ArrayIn<std::int32_t>, ArrayIn<bool>, ArrayIn<std::int64_t>>;

burstline::LoopElements elements_of(const Elements& elements) {
    const auto& [of_symbol, is_loop, again] = elements;
    return {view(of_symbol), view(is_loop), view(again)};
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
    m.def(
        "loop_run",
        [](const Entered& calls, const Elements& elements) {
            burstline::LoopRun run;
            {
                nb::gil_scoped_release unlocked;
                run = burstline::loop_run(entered(calls), elements_of(elements));
            }
            return std::make_tuple(to_numpy(std::move(run.element)),
                                   to_numpy(std::move(run.begins)), to_numpy(std::move(run.lane)),
                                   to_numpy(std::move(run.place)));
        },
        "calls"_a, "elements"_a,
        "The elements that a loop executes, where entries begin, lanes, and places.");
    m.def(
        "iteration_begins",
        [](const ArrayIn<std::int32_t>& element, const ArrayIn<bool>& begins,
           const ArrayIn<std::int64_t>& place, std::int64_t elements,
           const ArrayIn<std::int64_t>& apart, const ArrayIn<std::int64_t>& cuts) {
            std::vector<std::uint8_t> is_new;
            {
                nb::gil_scoped_release unlocked;
                is_new = burstline::iteration_begins(view(element), view(begins), view(place),
                                                     elements, {view(apart), view(cuts)});
            }
            return to_numpy(std::move(is_new));
        },
        "element"_a.noconvert(), "begins"_a.noconvert(), "place"_a.noconvert(), "elements"_a,
        "apart"_a.noconvert(), "cuts"_a.noconvert(),
        "Whether an iteration of a loop begins with each element that it executes.");
    m.def(
        "loop_iterations",
        [](const Entered& calls, const Elements& elements, const ArrayIn<std::int64_t>& apart,
           const ArrayIn<std::int64_t>& cuts, std::int64_t sparsest) {
            std::optional<burstline::LoopIterations> found;
            {
                nb::gil_scoped_release unlocked;
                found = burstline::loop_iterations(entered(calls), elements_of(elements),
                                                   {view(apart), view(cuts)}, sparsest);
            }
            auto columns = [&] {
                return std::make_tuple(
                    to_numpy(std::move(found->executed)), to_numpy(std::move(found->begins)),
                    to_numpy(std::move(found->lane)), to_numpy(std::move(found->first)));
            };
            return found ? std::optional(columns()) : std::nullopt;
        },
        "calls"_a, "elements"_a, "apart"_a.noconvert(), "cuts"_a.noconvert(), "sparsest"_a,
        "What each iteration executes, which begin entries, lanes, and first calls.");
    m.def(
        "irregular_elements",
        [](const ArrayIn<std::int32_t>& element, const ArrayIn<bool>& begins,
           const ArrayIn<bool>& is_new, std::size_t elements) {
            nb::gil_scoped_release unlocked;
            return burstline::irregular_elements(view(element), view(begins), view(is_new),
                                                 elements);
        },
        "element"_a.noconvert(), "begins"_a.noconvert(), "is_new"_a.noconvert(), "elements"_a,
        "How many elements are executed in some of the iterations of one place.");
}
