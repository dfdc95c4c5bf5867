// bind_merge.cpp -- The kernels that match the bursts of several runs, for Python.
#include <tuple>

#include "align.hpp"
#include "bind.hpp"
#include "module.hpp"
#include "pairing.hpp"
#include "splice.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::characters;
using burstline::to_numpy;
using burstline::unlocked;
using burstline::view;
using burstline::views;

namespace {

using TokenColumns = std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int32_t>, ArrayIn<double>,
                                ArrayIn<double>, ArrayIn<double>, ArrayIn<std::int32_t>>;

using LeftoverColumns = std::tuple<ArrayIn<std::int32_t>, ArrayIn<std::int64_t>,
                                   ArrayIn<std::int64_t>, ArrayIn<double>>;

using CandidateColumns = std::tuple<ArrayIn<std::int64_t>, ArrayIn<double>, ArrayIn<double>,
                                    ArrayIn<double>, ArrayIn<std::int32_t>, ArrayIn<std::int32_t>>;

void bind_splice(nb::module_& m) {
    m.def(
        "find_records",
        [](const ArrayIn<std::uint8_t>& text, const burstline::Layout& layout,
           const ArrayIn<std::int64_t>& begin, const ArrayIn<std::int64_t>& times,
           const ArrayIn<std::int64_t>& calls, const ArrayIn<std::int64_t>& counters) {
            auto found = unlocked([&] {
                return burstline::find_records(characters(text), layout, {view(begin), view(times)},
                                               {view(calls), view(counters)});
            });
            return to_numpy(std::move(found.moment), std::move(found.end), std::move(found.holds));
        },
        "text"_a.noconvert(), "layout"_a, "begin"_a, "times"_a, "calls"_a, "counters"_a,
        "The event records at moments of locations: which moment, where they end, what they hold.");
    m.def(
        "with_pairs",
        [](const ArrayIn<std::uint8_t>& text, const ArrayIn<std::int64_t>& places,
           const ArrayIn<std::int64_t>& types, const ArrayIn<std::int64_t>& values) {
            return to_numpy(unlocked([&] {
                return burstline::with_pairs(characters(text), view(places), view(types),
                                             view(values));
            }));
        },
        "text"_a.noconvert(), "places"_a, "types"_a, "values"_a,
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
            return to_numpy(unlocked([&] {
                return burstline::align(views<burstline::Tokens>(a), views<burstline::Tokens>(b),
                                        {place, size, most, limit, turn}, window);
            }));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "most"_a, "limit"_a, "turn"_a, "window"_a,
        "For each token of a sequence the one of another that it is, in order, or -1.");
    m.def(
        "pair_near",
        [](const LeftoverColumns& a, const LeftoverColumns& b, double tolerance) {
            return to_numpy(unlocked([&] {
                return burstline::pair_near(views<burstline::Leftovers>(a),
                                            views<burstline::Leftovers>(b), tolerance);
            }));
        },
        "a"_a, "b"_a, "tolerance"_a,
        "For each thing left over the one of the other side with its key near it, or -1.");
    m.def(
        "pair_alike",
        [](const CandidateColumns& a, const CandidateColumns& b, double place, double size,
           double partner, double limit, bool both_sizes, std::size_t block) {
            return to_numpy(unlocked([&] {
                return burstline::pair_alike(views<burstline::Candidates>(a),
                                             views<burstline::Candidates>(b),
                                             {place, size, partner, limit, both_sizes}, block);
            }));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "partner"_a, "limit"_a, "both_sizes"_a, "block"_a,
        "For each burst the most similar one in the same group of the other side, or -1.");
    bind_splice(m);
}
