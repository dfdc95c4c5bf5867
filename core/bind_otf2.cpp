// bind_otf2.cpp -- The reading of OTF2 archives, for Python.
#include <nanobind/stl/string.h>

#include <memory>
#include <tuple>

#include "bind.hpp"
#include "module.hpp"
#include "otf2_events.hpp"

using namespace nb::literals;

namespace burstline {

namespace {

constexpr std::uint32_t most_near = 1 << 22;

template <class T>
auto give(otf2::SharedColumn<T>& column, std::size_t rows) {
    T* const data = column.data();
    return kept(column.take(), data, rows);
}

template <class Table>
nb::dict give_table(Table& table, std::uint64_t rows) {
    nb::dict columns;
    table.each([&](const std::string& name, auto& column) {
        columns[name.c_str()] = give(column, static_cast<std::size_t>(rows));
    });
    return columns;
}

nb::tuple told(const otf2::Library& library, int signal, const otf2::Report& report) {
    const auto* const name =
        report.status == 0 ? "" : library.error_name(static_cast<int>(report.status));
    const std::string text = report.message;
    return nb::make_tuple(signal, report.status, name == nullptr ? "" : name,
                          nb::bytes(text.data(), text.size()));
}

/// Whether a handler of Python, which a signal asks for, raises: it runs in the main thread.
bool is_interrupted() {
    const nb::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
}

void raise_interruption() {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

nb::tuple read_definitions(const std::string& path, const std::string& anchor, std::size_t integers,
                           std::size_t characters, std::uint64_t seconds, std::uint64_t bytes) {
    const otf2::Library library(path);
    otf2::Definitions found(integers, characters);
    int signal = 0;
    {
        const nb::gil_scoped_release unlocked;
        signal = found.read(library, anchor, {seconds, bytes}, is_interrupted);
    }
    raise_interruption();
    const auto report = found.report();
    return nb::make_tuple(give(found.rows, report.rows), give(found.text, report.bytes),
                          told(library, signal, report));
}

using RegionColumns = std::tuple<ArrayIn<std::uint32_t>, Ids, ArrayIn<std::uint8_t>>;
using PairColumns = std::tuple<ArrayIn<std::uint32_t>, ArrayIn<std::uint32_t>>;
using ContextColumns = std::tuple<ArrayIn<std::uint32_t>, ArrayIn<std::uint32_t>, Ids, Ids>;
using LocationColumns = std::tuple<ArrayIn<std::uint64_t>, Ids>;

otf2::Meaning meaning(const RegionColumns& regions, const ContextColumns& contexts,
                      const PairColumns& metrics,
                      const std::tuple<std::uint64_t, std::uint64_t>& clock) {
    otf2::Meaning result;
    const auto& [reference, operation, barrier] = regions;
    const auto count = static_cast<std::int32_t>(reference.size());
    result.team_region = count;
    result.unknown_region = count + 1;
    result.is_barrier.assign(static_cast<std::size_t>(count) + 2, false);
    for (std::int32_t row = 0; row < count; ++row) {
        const auto at = reference.data()[row];
        const otf2::Meaning::Region region{row, operation.data()[row]};
        result.is_barrier[static_cast<std::size_t>(row)] = barrier.data()[row] != 0;
        if (at >= most_near) {
            result.far[at] = region;
            continue;
        }
        if (at >= result.near.size()) result.near.resize(at + 1, {result.unknown_region, -1});
        result.near[at] = region;
    }
    const auto& [context, region, own, caller] = contexts;
    for (std::size_t k = 0; k < context.size(); ++k) {
        result.contexts[context.data()[k]] = {region.data()[k], own.data()[k], caller.data()[k]};
    }
    const auto& [metric, like] = metrics;
    for (std::size_t k = 0; k < metric.size(); ++k) {
        result.like[metric.data()[k]] = like.data()[k];
    }
    result.resolution = std::max<std::uint64_t>(std::get<0>(clock), 1);
    result.offset = std::get<1>(clock);
    return result;
}

nb::dict tables_of(otf2::Tables& tables) {
    const auto counts = tables.counts();
    nb::dict result;
    result["calls"] = give_table(tables.calls, counts.calls);
    result["regions"] = give_table(tables.regions, counts.regions);
    result["records"] = give_table(tables.records, counts.records);
    result["forks"] = give_table(tables.forks, counts.forks);
    result["teams"] = give_table(tables.teams, counts.teams);
    result["readings"] = give_table(tables.readings, counts.readings);
    result["values"] = give_table(tables.values, counts.values);
    result["paths"] = give_table(tables.paths, counts.paths);
    result["lives"] = give_table(tables.lives, counts.lives);
    return result;
}

nb::tuple read_events(const std::string& path, const std::string& anchor,
                      const LocationColumns& locations, const RegionColumns& regions,
                      const ContextColumns& contexts, const PairColumns& metrics,
                      const std::tuple<std::uint64_t, std::uint64_t>& clock, std::size_t events,
                      std::size_t values, std::uint64_t seconds, std::uint64_t bytes) {
    const otf2::Library library(path);
    const auto& [reference, number] = locations;
    const auto known = meaning(regions, contexts, metrics, clock);
    otf2::Tables tables(events, values, reference.size());
    otf2::Shared said(sizeof(otf2::Report));
    auto& report = *new (said.data()) otf2::Report();
    int signal = 0;
    {
        const nb::gil_scoped_release unlocked;
        signal = otf2::read_events(
            library, anchor, {{reference.data(), reference.size()}, {number.data(), number.size()}},
            known, tables, report, {seconds, bytes}, is_interrupted);
    }
    raise_interruption();
    nb::dict of_kind;
    const auto counts = tables.counts();
    for (int kind = 0; kind < otf2::known_kinds; ++kind) {
        if (counts.of_kind[kind] > 0) of_kind[otf2::kind_names()[kind]] = counts.of_kind[kind];
    }
    report.full = static_cast<std::int64_t>(counts.full);
    return nb::make_tuple(tables_of(tables), of_kind, counts.full, told(library, signal, report));
}

nb::dict record_fields() {
    nb::dict result;
    for (const auto& [name, place] : otf2::fields) {
        const char column[] = {static_cast<char>('a' + place), '\0'};
        result[name] = static_cast<const char*>(column);
    }
    return result;
}

}  // namespace

void bind_otf2(nb::module_& m) {
    bind_enumeration<otf2::RecordKind>(m, "RecordKind", "What a record of an event says.");
    bind_enumeration<otf2::Way>(m, "Way", "How a transfer moves data: to its partner, or from it.");
    bind_enumeration<otf2::TransferEvent>(
        m, "TransferEvent", "What tells of a transfer; a second record of one event says AGAIN.");
    m.def("otf2_record_fields", &record_fields,
          "The column of records that each of their values stands in, by its name.");
    bind_enumeration<otf2::Defined>(m, "Defined", "What a row of definitions defines.");
    m.def("otf2_definitions", &read_definitions, "library"_a, "anchor"_a, "integers"_a,
          "characters"_a, "seconds"_a, "bytes"_a,
          "Rows of definitions, their text, and (signal, status, its name, complaint).");
    m.def("otf2_stop", &otf2::stop_children, "stopped"_a,
          "End all children that read, and begin none until this is called with False.");
    m.def("otf2_events", &read_events, "library"_a, "anchor"_a, "locations"_a, "regions"_a,
          "contexts"_a, "metrics"_a, "clock"_a, "events"_a, "values"_a, "seconds"_a, "bytes"_a,
          "Tables of the events of some locations, events of each kind, rows that did not fit, "
          "and (signal, status, its name, complaint).");
}

}  // namespace burstline
