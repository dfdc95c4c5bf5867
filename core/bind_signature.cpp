// bind_signature.cpp -- The kernels of signatures, for Python.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind.hpp"
#include "module.hpp"
#include "phases.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;

namespace {

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

}  // namespace

void bind_signature(nb::module_& m) {
    m.def(
        "phases",
        [](const ArrayIn<std::uint64_t>& type, const ArrayIn<std::int32_t>& process,
           const ArrayIn<std::int64_t>& work, const ArrayIn<std::int64_t>& tick_begin,
           double similarity) {
            burstline::PhaseOccurrences made;
            {
                nb::gil_scoped_release unlocked;
                made = burstline::phases_of(
                    {view(type), view(process), view(work), view(tick_begin)}, similarity);
            }
            return std::make_tuple(to_numpy(std::move(made.phase)),
                                   to_numpy(std::move(made.begin)));
        },
        "type"_a.noconvert(), "process"_a.noconvert(), "work"_a.noconvert(),
        "tick_begin"_a.noconvert(), "similarity"_a,
        "The phase of each occurrence, and its first tick and the number of ticks.");
}
