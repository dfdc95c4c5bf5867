// bind_merge.cpp -- The kernels that match the bursts of several runs, for Python.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "align.hpp"
#include "bind.hpp"
#include "pairing.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;

namespace {

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

using TokenColumns = std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int32_t>, ArrayIn<double>,
                                ArrayIn<double>, ArrayIn<double>>;

burstline::Tokens tokens(const TokenColumns& columns) {
    const auto& [label, kind, place, size, gap] = columns;
    return {view(label), view(kind), view(place), view(size), view(gap)};
}

using LeftoverColumns = std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int64_t>,
                                   ArrayIn<std::int64_t>, ArrayIn<double>>;

burstline::Leftovers leftovers(const LeftoverColumns& columns) {
    const auto& [key, ordinal, reach, size] = columns;
    return {view(key), view(ordinal), view(reach), view(size)};
}

using CandidateColumns = std::tuple<ArrayIn<std::int64_t>, ArrayIn<double>, ArrayIn<double>,
                                    ArrayIn<double>, ArrayIn<std::int32_t>, ArrayIn<std::int32_t>>;

burstline::Candidates candidates(const CandidateColumns& columns) {
    const auto& [begin, place, before, after, from, to] = columns;
    return {view(begin), view(place), view(before), view(after), view(from), view(to)};
}

}  // namespace

void bind_merge(nb::module_& m) {
    m.def(
        "align",
        [](const TokenColumns& a, const TokenColumns& b, double place, double size, double most,
           double limit, std::size_t window) {
            std::vector<std::int64_t> same;
            {
                nb::gil_scoped_release unlocked;
                same = burstline::align(tokens(a), tokens(b), {place, size, most, limit}, window);
            }
            return to_numpy(std::move(same));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "most"_a, "limit"_a, "window"_a,
        nb::sig("def align(a: tuple[NDArray[typing.Any], ...], b: tuple[NDArray[typing.Any], "
                "...], place: float, size: float, most: float, limit: float, window: int) -> "
                "NDArray[numpy.int64]"),
        "For each token of a sequence the one of another that it is, in order, or -1.");
    m.def(
        "pair_near",
        [](const LeftoverColumns& a, const LeftoverColumns& b, double tolerance) {
            std::vector<std::int64_t> same;
            {
                nb::gil_scoped_release unlocked;
                same = burstline::pair_near(leftovers(a), leftovers(b), tolerance);
            }
            return to_numpy(std::move(same));
        },
        "a"_a, "b"_a, "tolerance"_a,
        nb::sig("def pair_near(a: tuple[NDArray[typing.Any], ...], b: tuple[NDArray[typing.Any], "
                "...], tolerance: float) -> NDArray[numpy.int64]"),
        "For each thing left over the one of the other side with its key near it, or -1.");
    m.def(
        "pair_alike",
        [](const CandidateColumns& a, const CandidateColumns& b, double place, double size,
           double partner, double limit, bool both_sizes, std::size_t block) {
            std::vector<std::int64_t> same;
            {
                nb::gil_scoped_release unlocked;
                same = burstline::pair_alike(candidates(a), candidates(b),
                                             {place, size, partner, limit, both_sizes}, block);
            }
            return to_numpy(std::move(same));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "partner"_a, "limit"_a, "both_sizes"_a, "block"_a,
        nb::sig("def pair_alike(a: tuple[NDArray[typing.Any], ...], b: tuple[NDArray[typing.Any], "
                "...], place: float, size: float, partner: float, limit: float, both_sizes: bool, "
                "block: int) -> NDArray[numpy.int64]"),
        "For each burst the most similar one in the same group of the other side, or -1.");
}
