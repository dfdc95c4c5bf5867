// bind.hpp -- What the bindings share: arrays in, arrays out, no copies.
// Knows Python and arrays; knows nothing of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cctype>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace burstline {

template <class T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Ints = ArrayIn<std::int64_t>;
using Ids = ArrayIn<std::int32_t>;
using Reals = ArrayIn<double>;
using Bools = ArrayIn<bool>;

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

/// An argument that takes arrays of just these numbers: others would be copied.
inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

/// The name of an enumerator, as the compiler writes it; empty if nothing has this value.
template <auto value>
constexpr std::string_view enumerator() {
    std::string_view name = __PRETTY_FUNCTION__;
    name.remove_prefix(name.find("value = ") + 8);
    name = name.substr(0, name.find_first_of(";]"));
    return name.front() == '(' ? "" : name.substr(name.rfind(':') + 1);
}

/// Makes an enumeration of integers that Python has the numbers of: the enumerators in capitals
/// and without their ending, which are numbers below 64, or bits.
template <class Enum>
void bind_enumeration(nb::module_& m, const char* name, const char* doc,
                      std::string_view ending = "") {
    nb::enum_<Enum> made(m, name, nb::is_arithmetic(), doc);
    const auto add = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) {
        constexpr std::int64_t number = k < 64 ? k : std::int64_t{1} << (k - 58);
        if constexpr (std::in_range<std::underlying_type_t<Enum>>(number)) {
            constexpr auto value = static_cast<Enum>(number);
            std::string label(enumerator<value>());
            if (label.empty()) return;
            label.resize(label.size() - (label.ends_with(ending) ? ending.size() : 0));
            for (char& letter : label) letter = static_cast<char>(std::toupper(letter));
            made.value(label.c_str(), value);
        }
    };
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        (add(std::integral_constant<std::size_t, k>()), ...);
    }(std::make_index_sequence<74>());
}

}  // namespace burstline
