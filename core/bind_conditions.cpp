// bind_conditions.cpp -- The kernels that tell what it costs to write loops down, for Python.
#include <nanobind/stl/optional.h>

#include <optional>
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
using burstline::unlocked;
using burstline::view;
using burstline::views;

namespace {

using Masks = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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

using Elements = std::tuple<ArrayIn<std::int32_t>, ArrayIn<bool>, ArrayIn<std::int64_t>>;

}  // namespace

void bind_conditions(nb::module_& m) {
    m.def(
        "loop_cost",
        [](const Masks& executed, const ArrayIn<bool>& begins, const ArrayIn<std::int64_t>& lane) {
            return numbers(
                unlocked([&] { return burstline::loop_cost(iterations(executed, begins, lane)); }));
        },
        "executed"_a.noconvert(), "begins"_a.noconvert(), "lane"_a.noconvert(),
        "What a loop costs: unexplained, length, conditions, letters, lists.");
    m.def(
        "conditional_body",
        [](const Masks& executed, const ArrayIn<bool>& begins, const ArrayIn<std::int64_t>& lane) {
            return to_numpy(unlocked(
                [&] { return burstline::conditional_body(iterations(executed, begins, lane)); }));
        },
        "executed"_a.noconvert(), "begins"_a.noconvert(), "lane"_a.noconvert(),
        "The elements of a loop in order, those on one condition between -1 and -2.");
    m.def(
        "trips_cost",
        [](const ArrayIn<std::int64_t>& trips, const ArrayIn<std::int64_t>& lane,
           const ArrayIn<std::int64_t>& place) {
            return numbers(unlocked(
                [&] { return burstline::trips_cost(view(trips), view(lane), view(place)); }));
        },
        "trips"_a.noconvert(), "lane"_a.noconvert(), "place"_a.noconvert(),
        "What trip counts cost, by the iteration around each; none stands for one each.");
    m.def(
        "loop_run",
        [](const Entered& calls, const Elements& elements) {
            auto run = unlocked([&] {
                return burstline::loop_run(views<burstline::EnteredCalls>(calls),
                                           views<burstline::LoopElements>(elements));
            });
            return to_numpy(std::move(run.element), std::move(run.begins), std::move(run.lane),
                            std::move(run.place));
        },
        "calls"_a, "elements"_a,
        "The elements that a loop executes, where entries begin, lanes, and places.");
    m.def(
        "iteration_begins",
        [](const ArrayIn<std::int32_t>& element, const ArrayIn<bool>& begins,
           const ArrayIn<std::int64_t>& place, std::int64_t elements,
           const ArrayIn<std::int64_t>& apart, const ArrayIn<std::int64_t>& cuts) {
            return to_numpy(unlocked([&] {
                return burstline::iteration_begins(view(element), view(begins), view(place),
                                                   elements, {view(apart), view(cuts)});
            }));
        },
        "element"_a.noconvert(), "begins"_a.noconvert(), "place"_a.noconvert(), "elements"_a,
        "apart"_a.noconvert(), "cuts"_a.noconvert(),
        "Whether an iteration of a loop begins with each element that it executes.");
    m.def(
        "loop_iterations",
        [](const Entered& calls, const Elements& elements, const ArrayIn<std::int64_t>& apart,
           const ArrayIn<std::int64_t>& cuts, std::int64_t sparsest) {
            auto found = unlocked([&] {
                return burstline::loop_iterations(views<burstline::EnteredCalls>(calls),
                                                  views<burstline::LoopElements>(elements),
                                                  {view(apart), view(cuts)}, sparsest);
            });
            auto columns = [&] {
                return to_numpy(std::move(found->executed), std::move(found->begins),
                                std::move(found->lane), std::move(found->first));
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
