// bind_timeline.cpp -- The kernels of timelines, for Python.
#include "bind.hpp"
#include "module.hpp"
#include "pyramid.hpp"

using namespace nb::literals;

namespace burstline {

void bind_timeline(nb::module_& m) {
    m.def(
        "pyramid",
        [](const Ints& begin, const Ints& start, const Ints& end, const ArrayIn<std::uint8_t>& kind,
           std::int64_t first_ns, std::int64_t width_ns, std::int64_t columns, std::size_t kinds) {
            return to_numpy(unlocked([&] {
                return pyramid({view(begin), view(start), view(end), view(kind)},
                               {first_ns, width_ns, columns}, kinds);
            }));
        },
        "begin"_array, "start_ns"_array, "end_ns"_array, "kind"_array, "first_ns"_a, "width_ns"_a,
        "columns"_a, "kinds"_a,
        "Time of each kind in columns: by level from the finest, location, column and kind.");
}

}  // namespace burstline
