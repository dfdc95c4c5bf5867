// bind_timeline.cpp -- The kernels of timelines, for Python.
#include "bind.hpp"
#include "module.hpp"
#include "pyramid.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::unlocked;
using burstline::view;
using Times = ArrayIn<std::int64_t>;

void bind_timeline(nb::module_& m) {
    m.def(
        "pyramid",
        [](const Times& begin, const Times& start, const Times& end,
           const ArrayIn<std::uint8_t>& kind, std::int64_t first_ns, std::int64_t width_ns,
           std::int64_t columns, std::size_t kinds) {
            return burstline::to_numpy(unlocked([&] {
                return burstline::pyramid({view(begin), view(start), view(end), view(kind)},
                                          {first_ns, width_ns, columns}, kinds);
            }));
        },
        "begin"_a.noconvert(), "start_ns"_a.noconvert(), "end_ns"_a.noconvert(),
        "kind"_a.noconvert(), "first_ns"_a, "width_ns"_a, "columns"_a, "kinds"_a,
        "Time of each kind in columns: by level from the finest, location, column and kind.");
}
