// bind_structure.cpp -- The kernels of loop detection, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "grid.hpp"
#include "similarity.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntegersOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

template <typename T>
std::span<const T> view(const In<T>& array) {
    return {array.data(), array.size()};
}

/// Hands the vector's memory to NumPy without a copy.
IntegersOut to_numpy(std::vector<std::int64_t>&& values) {
    auto* owned = new std::vector<std::int64_t>(std::move(values));
    nb::capsule owner(owned,
                      [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return IntegersOut(owned->data(), {owned->size()}, owner);
}

}  // namespace

void bind_structure(nb::module_& m) {
    m.def(
        "connected_within",
        [](const In<double>& coordinates, std::size_t dimensions, double reach) {
            std::vector<std::int64_t> labels;
            {
                nb::gil_scoped_release unlocked;
                labels = burstline::connected_within(view(coordinates), dimensions, reach);
            }
            return to_numpy(std::move(labels));
        },
        "coordinates"_a.noconvert(), "dimensions"_a, "reach"_a,
        "For every point, its component among those joined by steps of at most `reach`.");
    m.def(
        "common_in_order",
        [](const In<std::int32_t>& a, const In<std::int32_t>& b, std::size_t window) {
            nb::gil_scoped_release unlocked;
            return burstline::common_in_order(view(a), view(b), window);
        },
        "a"_a.noconvert(), "b"_a.noconvert(), "window"_a,
        "How many symbols two sequences have in common, in order; a lower bound when what "
        "differs is longer than `window`.");
}
