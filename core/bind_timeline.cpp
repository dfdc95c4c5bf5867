// bind_timeline.cpp -- The kernels of timelines, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "bind.hpp"
#include "module.hpp"
#include "pyramid.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using burstline::ArrayIn;
using Times = ArrayIn<std::int64_t>;

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

}  // namespace

void bind_timeline(nb::module_& m) {
    m.def(
        "pyramid",
        [](const Times& begin, const Times& start, const Times& end,
           const ArrayIn<std::uint8_t>& kind, std::int64_t first_ns, std::int64_t width_ns,
           std::int64_t columns, std::size_t kinds) {
            std::vector<std::int64_t> time;
            {
                const nb::gil_scoped_release unlocked;
                time = burstline::pyramid({view(begin), view(start), view(end), view(kind)},
                                          {first_ns, width_ns, columns}, kinds);
            }
            return burstline::to_numpy(std::move(time));
        },
        "begin"_a.noconvert(), "start_ns"_a.noconvert(), "end_ns"_a.noconvert(),
        "kind"_a.noconvert(), "first_ns"_a, "width_ns"_a, "columns"_a, "kinds"_a,
        nb::sig("def pyramid(begin: NDArray[numpy.int64], start_ns: NDArray[numpy.int64], "
                "end_ns: NDArray[numpy.int64], kind: NDArray[numpy.uint8], first_ns: int, "
                "width_ns: int, columns: int, kinds: int) -> NDArray[numpy.int64]"),
        "Time of each kind in columns: by level from the finest, location, column and kind.");
}
