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

namespace burstline {

namespace {

using Masks = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Iterations iterations(const Masks& executed, const Bools& begins, const Ints& lane) {
    return {executed.shape(0), {executed.data(), executed.size()}, view(begins), view(lane)};
}

auto numbers(const BodyCost& cost) {
    return std::make_tuple(cost.unexplained, cost.length, cost.conditions, cost.letters,
                           cost.lists);
}

using Entered = std::tuple<Ids, Ints, Bools, Ints>;

using Elements = std::tuple<Ids, Bools, Ints>;

}  // namespace

void bind_conditions(nb::module_& m) {
    m.def(
        "loop_cost",
        [](const Masks& executed, const Bools& begins, const Ints& lane) {
            return numbers(unlocked([&] { return loop_cost(iterations(executed, begins, lane)); }));
        },
        "executed"_array, "begins"_array, "lane"_array,
        "What a loop costs: unexplained, length, conditions, letters, lists.");
    m.def(
        "conditional_body",
        [](const Masks& executed, const Bools& begins, const Ints& lane) {
            return to_numpy(
                unlocked([&] { return conditional_body(iterations(executed, begins, lane)); }));
        },
        "executed"_array, "begins"_array, "lane"_array,
        "The elements of a loop in order, those on one condition between -1 and -2.");
    m.def(
        "trips_cost",
        [](const Ints& trips, const Ints& lane, const Ints& place) {
            return numbers(
                unlocked([&] { return trips_cost(view(trips), view(lane), view(place)); }));
        },
        "trips"_array, "lane"_array, "place"_array,
        "What trip counts cost, by the iteration around each; none stands for one each.");
    m.def(
        "loop_run",
        [](const Entered& calls, const Elements& elements) {
            auto run = unlocked([&] {
                return loop_run(views<EnteredCalls>(calls), views<LoopElements>(elements));
            });
            return to_numpy(std::move(run.element), std::move(run.begins), std::move(run.lane),
                            std::move(run.place));
        },
        "calls"_a, "elements"_a,
        "The elements that a loop executes, where entries begin, lanes, and places.");
    m.def(
        "iteration_begins",
        [](const Ids& element, const Bools& begins, const Ints& place, std::int64_t elements,
           const Ints& apart, const Ints& cuts) {
            return to_numpy(unlocked([&] {
                return iteration_begins(view(element), view(begins), view(place), elements,
                                        {view(apart), view(cuts)});
            }));
        },
        "element"_array, "begins"_array, "place"_array, "elements"_a, "apart"_array, "cuts"_array,
        "Whether an iteration of a loop begins with each element that it executes.");
    m.def(
        "loop_iterations",
        [](const Entered& calls, const Elements& elements, const Ints& apart, const Ints& cuts,
           std::int64_t sparsest) {
            auto found = unlocked([&] {
                return loop_iterations(views<EnteredCalls>(calls), views<LoopElements>(elements),
                                       {view(apart), view(cuts)}, sparsest);
            });
            auto columns = [&] {
                return to_numpy(std::move(found->executed), std::move(found->begins),
                                std::move(found->lane), std::move(found->first));
            };
            return found ? std::optional(columns()) : std::nullopt;
        },
        "calls"_a, "elements"_a, "apart"_array, "cuts"_array, "sparsest"_a,
        "What each iteration executes, which begin entries, lanes, and first calls.");
    m.def(
        "irregular_elements",
        [](const Ids& element, const Bools& begins, const Bools& is_new, std::size_t elements) {
            nb::gil_scoped_release unlocked;
            return irregular_elements(view(element), view(begins), view(is_new), elements);
        },
        "element"_array, "begins"_array, "is_new"_array, "elements"_a,
        "How many elements are executed in some of the iterations of one place.");
}

}  // namespace burstline
