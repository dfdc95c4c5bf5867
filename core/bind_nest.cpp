// bind_nest.cpp -- The kernels that read calls as a nest of loops, for Python.
#include <tuple>

#include "bind.hpp"
#include "expand.hpp"
#include "fold.hpp"
#include "follows.hpp"
#include "module.hpp"
#include "nest.hpp"
#include "unite.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;
using burstline::unlocked;
using burstline::view;
using burstline::views;

namespace {

using Sequences = std::tuple<ArrayIn<std::int64_t>, ArrayIn<std::int64_t>, ArrayIn<std::int64_t>,
                             ArrayIn<std::int64_t>>;

auto columns(burstline::Progressions&& runs) {
    return to_numpy(std::move(runs.begin), std::move(runs.first), std::move(runs.step),
                    std::move(runs.count));
}

}  // namespace

void bind_nest(nb::module_& m) {
    m.def(
        "count_follows",
        [](const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           std::int32_t symbols) {
            auto edges = unlocked([&] {
                return burstline::count_follows(view(sequence), view(lane_begin), symbols);
            });
            return to_numpy(std::move(edges.from), std::move(edges.to), std::move(edges.count),
                            std::move(edges.lane_edge_begin), std::move(edges.lane_edge));
        },
        "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "symbols"_a,
        "Pairs of neighbours within lanes (from, to, how often), and which each lane has.");
    m.def(
        "read_nest",
        [](const ArrayIn<std::int32_t>& symbol_loop, const ArrayIn<std::int32_t>& symbol_position,
           const ArrayIn<std::int32_t>& loop_parent, const ArrayIn<std::int32_t>& loop_position,
           const ArrayIn<std::int64_t>& most, const ArrayIn<std::int64_t>& apart,
           const ArrayIn<std::int64_t>& cuts, const ArrayIn<std::int32_t>& sequence,
           const ArrayIn<std::int64_t>& lane_begin, const ArrayIn<std::int64_t>& enter_ns,
           const ArrayIn<std::int64_t>& leave_ns) {
            const burstline::Nest nest{
                view(symbol_loop), view(symbol_position), view(loop_parent), view(loop_position),
                view(most),        view(apart),           view(cuts)};
            auto reading = unlocked([&] {
                return burstline::read_nest(nest, view(sequence), view(lane_begin), view(enter_ns),
                                            view(leave_ns));
            });
            return std::make_tuple(
                columns(std::move(reading.when)), columns(std::move(reading.trips)),
                to_numpy(std::move(reading.iterations)), to_numpy(std::move(reading.inside_ns)));
        },
        "symbol_loop"_a.noconvert(), "symbol_position"_a.noconvert(), "loop_parent"_a.noconvert(),
        "loop_position"_a.noconvert(), "most"_a.noconvert(), "apart"_a.noconvert(),
        "cuts"_a.noconvert(), "sequence"_a.noconvert(), "lane_begin"_a.noconvert(),
        "enter_ns"_a.noconvert(), "leave_ns"_a.noconvert(),
        "What each loop of a nest did in a sequence: when, trips, iterations, time inside.");
    m.def(
        "nest_spans",
        [](const ArrayIn<std::int32_t>& symbol_loop, const ArrayIn<std::int32_t>& symbol_position,
           const ArrayIn<std::int32_t>& loop_parent, const ArrayIn<std::int32_t>& loop_position,
           const ArrayIn<std::int64_t>& most, const ArrayIn<std::int64_t>& apart,
           const ArrayIn<std::int64_t>& cuts, const ArrayIn<std::int32_t>& sequence,
           const ArrayIn<std::int64_t>& lane_begin, std::int32_t loop) {
            const burstline::Nest nest{
                view(symbol_loop), view(symbol_position), view(loop_parent), view(loop_position),
                view(most),        view(apart),           view(cuts)};
            auto spans = unlocked([&] {
                return burstline::nest_spans(nest, view(sequence), view(lane_begin), loop);
            });
            return to_numpy(std::move(spans.lane), std::move(spans.entry), std::move(spans.first),
                            std::move(spans.last));
        },
        "symbol_loop"_a.noconvert(), "symbol_position"_a.noconvert(), "loop_parent"_a.noconvert(),
        "loop_position"_a.noconvert(), "most"_a.noconvert(), "apart"_a.noconvert(),
        "cuts"_a.noconvert(), "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "loop"_a,
        "The iterations of one loop of a nest: lane, entry, first and last call.");
    m.def(
        "fold_sites",
        [](const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           const ArrayIn<std::int32_t>& kinds, std::int64_t first_times, std::int64_t work) {
            auto sites = unlocked([&] {
                return burstline::fold_sites(view(sequence), view(lane_begin), view(kinds),
                                             first_times, work);
            });
            return to_numpy(std::move(sites.site), std::move(sites.symbol));
        },
        "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "kinds"_a.noconvert(),
        "first_times"_a, "work"_a,
        "Where each symbol stands in its lane with repeats folded, and the symbol of each site.");
    m.def(
        "unite_sites",
        [](const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           const ArrayIn<std::int32_t>& sites, std::int64_t work) {
            auto united = unlocked([&] {
                return burstline::unite_sites(view(sequence), view(lane_begin), view(sites), work);
            });
            return std::make_tuple(to_numpy(std::move(united.site)), united.length);
        },
        "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "sites"_a.noconvert(), "work"_a,
        "The sites of symbols, united as long as the program gets shorter; its length.");
    m.def(
        "expand",
        [](const ArrayIn<std::int32_t>& symbol, const ArrayIn<std::int32_t>& end,
           const ArrayIn<std::int64_t>& executions, const ArrayIn<std::uint8_t>& knows_when,
           const ArrayIn<std::uint8_t>& knows_trips, const Sequences& when, const Sequences& trips,
           std::size_t lanes, std::size_t lane) {
            const burstline::Program program{view(symbol),
                                             view(end),
                                             view(executions),
                                             view(knows_when),
                                             view(knows_trips),
                                             views<burstline::Runs>(when),
                                             views<burstline::Runs>(trips),
                                             lanes};
            return to_numpy(unlocked([&] { return burstline::expand(program, lane); }));
        },
        "symbol"_a.noconvert(), "end"_a.noconvert(), "executions"_a.noconvert(),
        "knows_when"_a.noconvert(), "knows_trips"_a.noconvert(), "when"_a, "trips"_a, "lanes"_a,
        "lane"_a, "The calls that a program makes on one lane, in order.");
}
