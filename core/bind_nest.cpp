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

namespace burstline {

namespace {

using NestColumns = std::tuple<Ids, Ids, Ids, Ids, Ints, Ints, Ints>;

using Sequences = std::tuple<Ints, Ints, Ints, Ints>;

auto columns(Progressions&& runs) {
    return to_numpy(std::move(runs.begin), std::move(runs.first), std::move(runs.step),
                    std::move(runs.count));
}

}  // namespace

void bind_nest(nb::module_& m) {
    m.def(
        "count_follows",
        [](const Ids& sequence, const Ints& lane_begin, std::int32_t symbols) {
            auto edges =
                unlocked([&] { return count_follows(view(sequence), view(lane_begin), symbols); });
            return to_numpy(std::move(edges.from), std::move(edges.to), std::move(edges.count),
                            std::move(edges.lane_edge_begin), std::move(edges.lane_edge));
        },
        "sequence"_array, "lane_begin"_array, "symbols"_a,
        "Pairs of neighbours within lanes (from, to, how often), and which each lane has.");
    m.def(
        "read_nest",
        [](const NestColumns& nest, const Ids& sequence, const Ints& lane_begin,
           const Ints& enter_ns, const Ints& leave_ns) {
            auto reading = unlocked([&] {
                return read_nest(views<Nest>(nest), view(sequence), view(lane_begin),
                                 view(enter_ns), view(leave_ns));
            });
            return std::make_tuple(
                columns(std::move(reading.when)), columns(std::move(reading.trips)),
                to_numpy(std::move(reading.iterations)), to_numpy(std::move(reading.inside_ns)));
        },
        "nest"_a, "sequence"_array, "lane_begin"_array, "enter_ns"_array, "leave_ns"_array,
        "What each loop of a nest did in a sequence: when, trips, iterations, time inside.");
    m.def(
        "nest_spans",
        [](const NestColumns& nest, const Ids& sequence, const Ints& lane_begin,
           std::int32_t loop) {
            auto spans = unlocked([&] {
                return nest_spans(views<Nest>(nest), view(sequence), view(lane_begin), loop);
            });
            return to_numpy(std::move(spans.lane), std::move(spans.entry), std::move(spans.first),
                            std::move(spans.last));
        },
        "nest"_a, "sequence"_array, "lane_begin"_array, "loop"_a,
        "The iterations of one loop of a nest: lane, entry, first and last call.");
    m.def(
        "fold_sites",
        [](const Ids& sequence, const Ints& lane_begin, const Ids& kinds, std::int64_t first_times,
           std::int64_t work) {
            auto sites = unlocked([&] {
                return fold_sites(view(sequence), view(lane_begin), view(kinds), first_times, work);
            });
            return to_numpy(std::move(sites.site), std::move(sites.symbol));
        },
        "sequence"_array, "lane_begin"_array, "kinds"_array, "first_times"_a, "work"_a,
        "Where each symbol stands in its lane with repeats folded, and the symbol of each site.");
    m.def(
        "unite_sites",
        [](const Ids& sequence, const Ints& lane_begin, const Ids& sites, std::int64_t work) {
            auto united = unlocked(
                [&] { return unite_sites(view(sequence), view(lane_begin), view(sites), work); });
            return std::make_tuple(to_numpy(std::move(united.site)), united.length);
        },
        "sequence"_array, "lane_begin"_array, "sites"_array, "work"_a,
        "The sites of symbols, united as long as the program gets shorter; its length.");
    m.def(
        "expand",
        [](const Ids& symbol, const Ids& end, const Ints& executions,
           const ArrayIn<std::uint8_t>& knows_when, const ArrayIn<std::uint8_t>& knows_trips,
           const Sequences& when, const Sequences& trips, std::size_t lanes, std::size_t lane) {
            const Program program{
                view(symbol),      view(end),         view(executions),   view(knows_when),
                view(knows_trips), views<Runs>(when), views<Runs>(trips), lanes};
            return to_numpy(unlocked([&] { return expand(program, lane); }));
        },
        "symbol"_array, "end"_array, "executions"_array, "knows_when"_array, "knows_trips"_array,
        "when"_a, "trips"_a, "lanes"_a, "lane"_a,
        "The calls that a program makes on one lane, in order.");
}

}  // namespace burstline
