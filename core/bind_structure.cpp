// bind_structure.cpp -- The kernels of loop detection, for Python.
#include "bind.hpp"
#include "grid.hpp"
#include "module.hpp"
#include "similarity.hpp"

using namespace nb::literals;

namespace burstline {

void bind_structure(nb::module_& m) {
    m.def(
        "connected_within",
        [](const Reals& coordinates, std::size_t dimensions, double reach) {
            return to_numpy(
                unlocked([&] { return connected_within(view(coordinates), dimensions, reach); }));
        },
        "coordinates"_array, "dimensions"_a, "reach"_a,
        "For every point, its component among those joined by steps of at most `reach`.");
    m.def(
        "common_in_order",
        [](const Ids& a, const Ids& b, std::size_t window) {
            nb::gil_scoped_release unlocked;
            return common_in_order(view(a), view(b), window);
        },
        "a"_array, "b"_array, "window"_a,
        "How many symbols two sequences have in common, in order; a lower bound when what "
        "differs is longer than `window`.");
}

}  // namespace burstline
