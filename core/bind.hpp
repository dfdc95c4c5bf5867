// bind.hpp -- What the bindings share: arrays in, arrays out, no copies.
// Knows Python and arrays; knows nothing of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace burstline {

template <class T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

/// A structure of views of columns, in its order.
template <class Views, class... T>
Views views(const std::tuple<ArrayIn<T>...>& columns) {
    return std::apply([](const auto&... each) { return Views{view(each)...}; }, columns);
}

inline std::string_view characters(const ArrayIn<std::uint8_t>& text) {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// What a kernel returns, that computes while other threads of Python go on.
template <class Kernel>
auto unlocked(Kernel&& compute) {
    const nb::gil_scoped_release released;
    return compute();
}

/// Numbers in memory that is kept as long as the array of them.
template <class T, class Memory>
nb::ndarray<nb::numpy, T, nb::ndim<1>> kept(Memory&& memory, T* numbers, std::size_t count) {
    auto* const owned = new Memory(std::move(memory));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Memory*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(numbers, {count}, owner);
}

/// Hands the vector's memory to NumPy without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    T* const numbers = values.data();
    const std::size_t count = values.size();
    return kept(std::move(values), numbers, count);
}

template <class First, class... Rest>
    requires(sizeof...(Rest) > 0)
auto to_numpy(std::vector<First>&& first, std::vector<Rest>&&... rest) {
    return std::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(rest))...);
}

/// Makes an enumeration of integers that Python has the numbers of.
template <class Enum>
void bind_enumeration(nb::module_& m, const char* name, const char* doc,
                      std::initializer_list<std::pair<const char*, Enum>> members) {
    nb::enum_<Enum> made(m, name, nb::is_arithmetic(), doc);
    for (const auto& [label, value] : members) made.value(label, value);
}

}  // namespace burstline
