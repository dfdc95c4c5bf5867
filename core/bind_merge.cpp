// bind_merge.cpp -- The kernels that match the bursts of several runs, for Python.
#include <tuple>

#include "align.hpp"
#include "bind.hpp"
#include "module.hpp"
#include "pairing.hpp"
#include "splice.hpp"

using namespace nb::literals;

namespace burstline {

namespace {

using TokenColumns = std::tuple<Ids, Ids, Reals, Reals, Reals, Ids>;

using LeftoverColumns = std::tuple<Ids, Ints, Ints, Reals>;

using CandidateColumns = std::tuple<Ints, Reals, Reals, Reals, Ids, Ids>;

void bind_splice(nb::module_& m) {
    m.def(
        "find_records",
        [](const ArrayIn<std::uint8_t>& text, const Layout& layout, const Ints& begin,
           const Ints& times, const Ints& calls, const Ints& counters) {
            auto found = unlocked([&] {
                return find_records(characters(text), layout, {view(begin), view(times)},
                                    {view(calls), view(counters)});
            });
            return to_numpy(std::move(found.moment), std::move(found.end), std::move(found.holds));
        },
        "text"_array, "layout"_a, "begin"_a, "times"_a, "calls"_a, "counters"_a,
        "The event records at moments of locations: which moment, where they end, what they hold.");
    m.def(
        "with_pairs",
        [](const ArrayIn<std::uint8_t>& text, const Ints& places, const Ints& types,
           const Ints& values) {
            return to_numpy(unlocked([&] {
                return with_pairs(characters(text), view(places), view(types), view(values));
            }));
        },
        "text"_array, "places"_a, "types"_a, "values"_a, "Text with pairs put in at some places.");
}

}  // namespace

void bind_merge(nb::module_& m) {
    bind_enumeration<Holds>(m, "Holds", "What an event record holds: bits.");
    m.def(
        "align",
        [](const TokenColumns& a, const TokenColumns& b, double place, double size, double most,
           double limit, double turn, std::size_t window) {
            return to_numpy(unlocked([&] {
                return align(views<Tokens>(a), views<Tokens>(b), {place, size, most, limit, turn},
                             window);
            }));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "most"_a, "limit"_a, "turn"_a, "window"_a,
        "For each token of a sequence the one of another that it is, in order, or -1.");
    m.def(
        "pair_near",
        [](const LeftoverColumns& a, const LeftoverColumns& b, double tolerance) {
            return to_numpy(unlocked(
                [&] { return pair_near(views<Leftovers>(a), views<Leftovers>(b), tolerance); }));
        },
        "a"_a, "b"_a, "tolerance"_a,
        "For each thing left over the one of the other side with its key near it, or -1.");
    m.def(
        "pair_alike",
        [](const CandidateColumns& a, const CandidateColumns& b, double place, double size,
           double partner, double limit, bool both_sizes, std::size_t block) {
            return to_numpy(unlocked([&] {
                return pair_alike(views<Candidates>(a), views<Candidates>(b),
                                  {place, size, partner, limit, both_sizes}, block);
            }));
        },
        "a"_a, "b"_a, "place"_a, "size"_a, "partner"_a, "limit"_a, "both_sizes"_a, "block"_a,
        "For each burst the most similar one in the same group of the other side, or -1.");
    bind_splice(m);
}

}  // namespace burstline
