// bind_signature.cpp -- The kernels of signatures, for Python.
#include <utility>

#include "bind.hpp"
#include "module.hpp"
#include "phases.hpp"

using namespace nb::literals;

namespace burstline {

void bind_signature(nb::module_& m) {
    m.def(
        "phases",
        [](const ArrayIn<std::uint64_t>& type, const Ids& process, const Ints& work,
           const Ints& tick_begin, double similarity) {
            auto made = unlocked([&] {
                return phases_of({view(type), view(process), view(work), view(tick_begin)},
                                 similarity);
            });
            return to_numpy(std::move(made.phase), std::move(made.begin));
        },
        "type"_array, "process"_array, "work"_array, "tick_begin"_array, "similarity"_a,
        "The phase of each occurrence, and its first tick and the number of ticks.");
}

}  // namespace burstline
