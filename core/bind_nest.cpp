// bind_nest.cpp -- The kernels that read calls as a nest of loops, for Python.
#include "bind.hpp"
#include "fold.hpp"
#include "follows.hpp"
#include "nest.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::to_numpy;

namespace {

template <typename T>
std::span<const T> view(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

nb::tuple columns(burstline::Progressions&& runs) {
    return nb::make_tuple(to_numpy(std::move(runs.begin)), to_numpy(std::move(runs.first)),
                          to_numpy(std::move(runs.step)), to_numpy(std::move(runs.count)));
}

}  // namespace

void bind_nest(nb::module_& m) {
    m.def(
        "count_follows",
        [](const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           std::int32_t symbols) {
            burstline::Follows edges;
            {
                nb::gil_scoped_release unlocked;
                edges = burstline::count_follows(view(sequence), view(lane_begin), symbols);
            }
            return nb::make_tuple(to_numpy(std::move(edges.from)), to_numpy(std::move(edges.to)),
                                  to_numpy(std::move(edges.count)),
                                  to_numpy(std::move(edges.lane_edge_begin)),
                                  to_numpy(std::move(edges.lane_edge)));
        },
        "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "symbols"_a,
        "Pairs of neighbours within lanes (from, to, how often), and which each lane has.");
    m.def(
        "read_nest",
        [](const ArrayIn<std::int32_t>& symbol_loop, const ArrayIn<std::int32_t>& symbol_position,
           const ArrayIn<std::int32_t>& loop_parent, const ArrayIn<std::int32_t>& loop_position,
           const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           const ArrayIn<std::int64_t>& enter_ns, const ArrayIn<std::int64_t>& leave_ns) {
            const burstline::Nest nest{view(symbol_loop), view(symbol_position), view(loop_parent),
                                       view(loop_position)};
            burstline::NestReading reading;
            {
                nb::gil_scoped_release unlocked;
                reading = burstline::read_nest(nest, view(sequence), view(lane_begin),
                                               view(enter_ns), view(leave_ns));
            }
            return nb::make_tuple(
                columns(std::move(reading.when)), columns(std::move(reading.trips)),
                to_numpy(std::move(reading.iterations)), to_numpy(std::move(reading.inside_ns)));
        },
        "symbol_loop"_a.noconvert(), "symbol_position"_a.noconvert(), "loop_parent"_a.noconvert(),
        "loop_position"_a.noconvert(), "sequence"_a.noconvert(), "lane_begin"_a.noconvert(),
        "enter_ns"_a.noconvert(), "leave_ns"_a.noconvert(),
        "What each loop of a nest did in a sequence: when, trips, iterations, time inside.");
    m.def(
        "nest_spans",
        [](const ArrayIn<std::int32_t>& symbol_loop, const ArrayIn<std::int32_t>& symbol_position,
           const ArrayIn<std::int32_t>& loop_parent, const ArrayIn<std::int32_t>& loop_position,
           const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           std::int32_t loop) {
            const burstline::Nest nest{view(symbol_loop), view(symbol_position), view(loop_parent),
                                       view(loop_position)};
            burstline::NestSpans spans;
            {
                nb::gil_scoped_release unlocked;
                spans = burstline::nest_spans(nest, view(sequence), view(lane_begin), loop);
            }
            return nb::make_tuple(to_numpy(std::move(spans.lane)), to_numpy(std::move(spans.entry)),
                                  to_numpy(std::move(spans.first)),
                                  to_numpy(std::move(spans.last)));
        },
        "symbol_loop"_a.noconvert(), "symbol_position"_a.noconvert(), "loop_parent"_a.noconvert(),
        "loop_position"_a.noconvert(), "sequence"_a.noconvert(), "lane_begin"_a.noconvert(),
        "loop"_a, "The iterations of one loop of a nest: lane, entry, first and last call.");
    m.def(
        "fold_sites",
        [](const ArrayIn<std::int32_t>& sequence, const ArrayIn<std::int64_t>& lane_begin,
           std::int32_t symbols, std::int64_t first_times, std::int64_t work) {
            burstline::Sites sites;
            {
                nb::gil_scoped_release unlocked;
                sites = burstline::fold_sites(view(sequence), view(lane_begin), symbols,
                                              first_times, work);
            }
            return nb::make_tuple(to_numpy(std::move(sites.site)),
                                  to_numpy(std::move(sites.symbol)));
        },
        "sequence"_a.noconvert(), "lane_begin"_a.noconvert(), "symbols"_a, "first_times"_a,
        "work"_a,
        "Where each symbol stands in its lane with repeats folded, and the symbol of each site.");
}
