// bind_signature.cpp -- The kernels of signatures, for Python.
#include <utility>

#include "bind.hpp"
#include "module.hpp"
#include "phases.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;
using burstline::unlocked;
using burstline::view;

void bind_signature(nb::module_& m) {
    m.def(
        "phases",
        [](const ArrayIn<std::uint64_t>& type, const ArrayIn<std::int32_t>& process,
           const ArrayIn<std::int64_t>& work, const ArrayIn<std::int64_t>& tick_begin,
           double similarity) {
            auto made = unlocked([&] {
                return burstline::phases_of(
                    {view(type), view(process), view(work), view(tick_begin)}, similarity);
            });
            return to_numpy(std::move(made.phase), std::move(made.begin));
        },
        "type"_a.noconvert(), "process"_a.noconvert(), "work"_a.noconvert(),
        "tick_begin"_a.noconvert(), "similarity"_a,
        "The phase of each occurrence, and its first tick and the number of ticks.");
}
