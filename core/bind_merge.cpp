// bind_merge.cpp -- The kernels that match the bursts of several runs, for Python.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "align.hpp"
#include "bind.hpp"
#include "module.hpp"
#include "pairing.hpp"
#include "splice.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;

namespace {

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

using TokenColumns = std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int32_t>, ArrayIn<double>,
                                ArrayIn<double>, ArrayIn<double>, ArrayIn<std::int32_t>>;

burstline::Tokens tokens(const TokenColumns& columns) {
    const auto& [label, kind, place, size, gap, turn] = columns;
    return {view(label), view(kind), view(place), view(size), view(gap), view(turn)};
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

void bind_splice(nb::module_& m) {
    m.def(
        "find_records",
        [](const ArrayIn<std::uint8_t>& text, const burstline::Layout& layout,
           const ArrayIn<std::int64_t>& begin, const ArrayIn<std::int64_t>& times,
           const ArrayIn<std::int64_t>& calls, const ArrayIn<std::int64_t>& counters) {
            burstline::RecordsFound found;
            {
                nb::gil_scoped_release unlocked;
                found = burstline::find_records(
                    {reinterpret_cast<const char*>(text.data()), text.size()}, layout,
                    {view(begin), view(times)}, {view(calls), view(counters)});
            }
            return nb::make_tuple(to_numpy(std::move(found.moment)), to_numpy(std::move(found.end)),
                                  to_numpy(std::move(found.holds)));
        },
        "text"_a.noconvert(), "layout"_a, "begin"_a, "times"_a, "calls"_a, "counters"_a,
        nb::sig("def find_records(text: NDArray[numpy.uint8], layout: Layout, begin: "
                "NDArray[numpy.int64], times: NDArray[numpy.int64], calls: "
                "NDArray[numpy.int64], counters: NDArray[numpy.int64]) -> "
                "tuple[NDArray[numpy.int64], NDArray[numpy.int64], "
                "NDArray[numpy.uint8]]"),
        "The event records at moments of locations: which moment, where they end, what they hold.");
    m.def(
        "with_pairs",
        [](const ArrayIn<std::uint8_t>& text, const ArrayIn<std::int64_t>& places,
           const ArrayIn<std::int64_t>& types, const ArrayIn<std::int64_t>& values) {
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release unlocked;
                out =
                    burstline::with_pairs({reinterpret_cast<const char*>(text.data()), text.size()},
                                          view(places), view(types), view(values));
            }
            return to_numpy(std::move(out));
        },
        "text"_a.noconvert(), "places"_a, "types"_a, "values"_a,
        nb::sig("def with_pairs(text: NDArray[numpy.uint8], places: NDArray[numpy.int64], types: "
                "NDArray[numpy.int64], values: NDArray[numpy.int64]) -> NDArray[numpy.uint8]"),
        "Text with pairs put in at some places.");
}

}  // namespace

void bind_merge(nb::module_& m) {
    burstline::bind_enumeration<burstline::Holds>(m, "Holds", "What an event record holds: bits.",
                                                  {{"ENTERS_CALL", burstline::enters_call},
                                                   {"LEAVES_CALL", burstline::leaves_call},
                                                   {"HAS_COUNTER", burstline::has_counter}});
    m.def(
        "align",
        [](const TokenColumns& a, const TokenColumns& b, double place, double size, double most,
           double limit, double turn, std::size_t window) {
            std::vector<std::int64_t> same;
            {
                nb::gil_scoped_release unlocked;
                same = burstline::align(tokens(a), tokens(b), {place, size, most, limit, turn},
                                        window);
            }
            return to_numpy(std::move(same));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "most"_a, "limit"_a, "turn"_a, "window"_a,
        nb::sig("def align(a: tuple[NDArray[typing.Any], ...], b: tuple[NDArray[typing.Any], "
                "...], place: float, size: float, most: float, limit: float, turn: float, window: "
                "int) -> NDArray[numpy.int64]"),
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
    bind_splice(m);
}
