// bind.hpp -- What the bindings share: arrays in, arrays out, no copies.
// Knows Python and arrays; knows nothing of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace burstline {

template <class T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Hands the vector's memory to NumPy without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* const owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned,
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

/// Makes an enumeration of integers that Python has the numbers of.
template <class Enum>
void bind_enumeration(nb::module_& m, const char* name, const char* doc,
                      std::initializer_list<std::pair<const char*, Enum>> members) {
    nb::enum_<Enum> made(m, name, nb::is_arithmetic(), doc);
    for (const auto& [label, value] : members) made.value(label, value);
}

}  // namespace burstline
