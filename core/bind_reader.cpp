// bind_reader.cpp -- What Python asks of the kernels that read .prv files, and of bursts.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <stdexcept>
#include <string>

#include "bind.hpp"
#include "builder.hpp"
#include "bursts.hpp"
#include "module.hpp"

using namespace nb::literals;

namespace burstline {

namespace {

constexpr const char* flaw_names[flaw_kinds] = {
    "malformed_line",    "wrong_field_count",   "odd_pairs",      "undeclared_object",
    "time_out_of_range", "number_out_of_range", "unknown_record", "obsolete_record",
    "inverted_state",    "unterminated_line"};

template <class T>
std::vector<T> copy(const ArrayIn<T>& array) {
    return {array.data(), array.data() + array.size()};
}

/// The table's columns as NumPy arrays of `rows` rows; the table gives up its memory.
template <class Table>
nb::dict give(Table& table, std::uint64_t rows) {
    nb::dict columns;
    table.each([&](const std::string& name, auto& column) {
        using T = std::remove_reference_t<decltype(*column.data())>;
        if (column.rows() == 0 && rows > 0) return;
        T* const data = column.data();
        columns[name.c_str()] = kept(column.take(), data, static_cast<std::size_t>(rows));
    });
    return columns;
}

void new_type_table(TypeTable* at, const Ints& types, const ArrayIn<std::uint8_t>& kinds,
                    const std::vector<std::tuple<std::int64_t, std::int64_t, int>>& ranges) {
    std::unordered_map<std::int64_t, EventClass> known;
    for (std::size_t k = 0; k < types.size(); ++k)
        known[types.data()[k]] = static_cast<EventClass>(kinds.data()[k]);
    std::vector<TypeTable::Range> classes;
    for (const auto& [first, last, kind] : ranges)
        classes.push_back({first, last, static_cast<EventClass>(kind)});
    new (at) TypeTable(std::move(known), std::move(classes));
}

nb::list flaws(const Block& block) {
    nb::list result;
    for (std::size_t kind = 0; kind < flaw_kinds; ++kind) {
        const FlawSeen& seen = block.flaws()[kind];
        if (seen.count == 0) continue;
        result.append(nb::make_tuple(flaw_names[kind], seen.count, seen.first_line,
                                     nb::bytes(seen.excerpt.data(), seen.excerpt.size())));
    }
    return result;
}

nb::dict counts(const Journal& journal, const Layout& layout) {
    nb::dict result;
    const auto column = [&](const char* name, auto&& field) {
        std::vector<std::int64_t> values;
        for (std::size_t k = 0; k < layout.locations(); ++k) {
            values.push_back(
                static_cast<std::int64_t>(field(journal.counts(static_cast<std::int32_t>(k)))));
        }
        result[name] = to_numpy(std::move(values));
    };
    column("event_lines", [](const auto& c) { return c.event_lines; });
    column("pairs", [](const auto& c) { return c.pairs; });
    column("calls", [](const auto& c) { return c.calls; });
    column("readings", [](const auto& c) { return c.readings; });
    column("regions", [](const auto& c) { return c.regions; });
    column("states", [](const auto& c) { return c.states; });
    column("sends", [](const auto& c) { return c.sends; });
    column("receives", [](const auto& c) { return c.receives; });
    column("first_event", [](const auto& c) { return c.first_event; });
    column("last_event", [](const auto& c) { return c.last_event; });
    column("first_state", [](const auto& c) { return c.first_state; });
    column("latest_end", [](const auto& c) { return c.latest_end; });
    column("processor", [](const auto& c) { return c.processor; });
    column("several_processors", [](const auto& c) { return c.several_processors; });
    return result;
}

void new_vocabulary(
    Vocabulary* at, const TypeTable& types, const Ids& counter, std::size_t counters,
    const ArrayIn<std::int16_t>& operation, const ArrayIn<std::uint16_t>& call_kind,
    const std::vector<std::tuple<std::int32_t, std::int64_t, std::int32_t>>& communicators,
    const Ids& application, const std::vector<std::tuple<std::int64_t, int>>& lock_steps,
    const std::tuple<std::int64_t, std::int64_t>& callers,
    const std::tuple<std::int64_t, std::int64_t>& sampled, std::int64_t end_of_time) {
    auto* const words = new (at) Vocabulary();
    words->type = types.types();
    for (std::size_t code = 0; code < words->type.size(); ++code) {
        words->kind.push_back(types.kind(static_cast<std::uint32_t>(code)));
    }
    words->counter = copy(counter);
    words->counters = counters;
    words->operation = copy(operation);
    words->call_kind = copy(call_kind);
    for (const auto& [app, id, row] : communicators) words->communicator[{app, id}] = row;
    words->application = copy(application);
    for (const auto& [value, step] : lock_steps)
        words->lock_step[value] = static_cast<LockStep>(step);
    std::tie(words->first_function, words->first_line) = callers;
    std::tie(words->sampled_function, words->sampled_line) = sampled;
    words->end_of_time = end_of_time;
}

nb::dict tables(Builder& builder) {
    const auto& rows = builder.rows();
    nb::dict result;
    result["calls"] = give(builder.calls, rows.calls);
    result["readings"] = give(builder.readings, rows.readings);
    result["regions"] = give(builder.regions, rows.regions);
    result["bursts"] = give(builder.bursts, rows.bursts);
    result["events"] = give(builder.events, rows.events);
    result["states"] = give(builder.states, rows.states);
    result["sends"] = give(builder.sends, rows.sends);
    result["receives"] = give(builder.receives, rows.receives);
    return result;
}

nb::dict extras(const Builder& builder) {
    nb::list gaps, locks, members, defects;
    for (const auto& gap : builder.extras().gaps) {
        gaps.append(nb::make_tuple(gap.location, gap.start, gap.end, static_cast<int>(gap.kind)));
    }
    for (const auto& lock : builder.extras().locks) {
        locks.append(nb::make_tuple(lock.location, lock.lock, lock.acquire, lock.acquire_seq,
                                    lock.release, lock.release_seq));
    }
    for (const auto& [set, counter] : builder.extras().set_members)
        members.append(nb::make_tuple(set, counter));
    for (const auto& [kind, defect] : builder.extras().defects) {
        defects.append(nb::make_tuple(kind.c_str(), defect.count, defect.location, defect.time));
    }
    nb::dict result;
    result["gaps"] = gaps;
    result["locks"] = locks;
    const auto& samples = builder.extras().samples;
    result["samples"] =
        nb::make_tuple(to_numpy(std::vector(samples.location)), to_numpy(std::vector(samples.time)),
                       to_numpy(std::vector(samples.periods)), to_numpy(std::vector(samples.path)));
    result["set_members"] = members;
    result["defects"] = defects;
    return result;
}

nb::tuple block_counts(const Block& block) {
    const auto values = block.pair_values();
    const auto sum = std::accumulate(
        values.begin(), values.end(), std::uint64_t{0},
        [](std::uint64_t a, std::int64_t b) { return a + static_cast<std::uint64_t>(b); });
    return nb::make_tuple(block.lines(), block.states().size(), block.events().size(),
                          values.size(), block.communications().size(), sum);
}

void bind_enumerations(nb::module_& m) {
    bind_enumeration<EventClass>(m, "EventClass", "What a reader does with an event of a type.");
    bind_enumeration<CallKind>(m, "CallKind", "What kind of call an operation is: bits.");
    bind_enumeration<LockStep>(m, "LockStep", "What a thread does with a lock.");
    bind_enumeration<GapKind>(m, "GapKind",
                              "Why nobody watched; places in the schema's kinds of gaps.", "_gap");
}

nb::dict burst_columns(const Ids& location, const std::vector<Ints>& calls,
                       const Ints& call_offsets, const std::vector<Ints>& readings,
                       const Ints& reading_offsets, const std::vector<Ints>& gaps,
                       const Ints& gap_offsets) {
    if (calls.size() != 4 || readings.size() < 2 || gaps.size() != 2) {
        throw std::invalid_argument(
            "burst_columns takes 4 columns of calls, 2 or more of readings, 2 of gaps");
    }
    const auto part = [](const Ints& column, const Ints& offsets, std::size_t k) {
        const auto first = offsets.data()[k], last = offsets.data()[k + 1];
        return std::span<const std::int64_t>(column.data() + first,
                                             static_cast<std::size_t>(last - first));
    };
    std::size_t rows = 0;
    for (std::size_t k = 0; k < location.size(); ++k) {
        const auto count = call_offsets.data()[k + 1] - call_offsets.data()[k];
        rows += count > 0 ? static_cast<std::size_t>(count - 1) : 0;
    }
    BurstTable table(rows, readings.size() - 2);
    {
        const nb::gil_scoped_release unlocked;
        std::size_t first = 0;
        for (std::size_t k = 0; k < location.size(); ++k) {
            LocationView view;
            view.location = location.data()[k];
            view.enter_ns = part(calls[0], call_offsets, k);
            view.leave_ns = part(calls[1], call_offsets, k);
            view.enter_seq = part(calls[2], call_offsets, k);
            view.leave_seq = part(calls[3], call_offsets, k);
            view.reading_seq = part(readings[0], reading_offsets, k);
            view.reading_ns = part(readings[1], reading_offsets, k);
            for (std::size_t c = 2; c < readings.size(); ++c) {
                view.values.push_back(part(readings[c], reading_offsets, k));
            }
            view.gap_start = part(gaps[0], gap_offsets, k);
            view.gap_end = part(gaps[1], gap_offsets, k);
            fill_bursts(view, table, first);
            first += view.enter_ns.empty() ? 0 : view.enter_ns.size() - 1;
        }
    }
    return give(table, rows);
}

}  // namespace

void bind_reader(nb::module_& m) {
    bind_enumerations(m);
    nb::class_<Layout>(m, "Layout", "Declared objects of a trace and the bucket of each.")
        .def(nb::init<const std::vector<std::int32_t>&, const std::vector<std::int32_t>&,
                      const std::vector<std::int32_t>&>(),
             "tasks_per_application"_a, "threads_per_task"_a, "bucket_of_task"_a)
        .def_prop_ro("locations", &Layout::locations)
        .def_prop_ro("buckets", &Layout::buckets);
    nb::class_<TypeTable>(m, "TypeTable", "Event types met so far, with their class.")
        .def("__init__", &new_type_table, "types"_array, "kinds"_array, "ranges"_a)
        .def("types", [](const TypeTable& table) { return to_numpy(table.types()); })
        .def(
            "meet",
            [](TypeTable& table, const Ints& types) {
                for (std::size_t k = 0; k < types.size(); ++k) table.code(types.data()[k]);
            },
            "types"_array, "Number types as if they were met in this order.");
    nb::class_<Block>(m, "Block", "A stretch of lines: scanned, then packed per location.")
        .def(nb::init<const Layout&, TypeTable&, std::int64_t>(), "layout"_a, "types"_a,
             "unit_ns"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "scan",
            [](Block& block, const ArrayIn<std::uint8_t>& text) {
                const nb::gil_scoped_release unlocked;
                block.scan(characters(text));
            },
            "text"_array)
        .def("encode", &Block::encode, nb::call_guard<nb::gil_scoped_release>())
        .def("counts", &block_counts,
             "(lines, states, event lines, pairs, communications, sum of values)")
        .def("flaws", &flaws, "[(kind, count, first line in the block, excerpt)]")
        .def("texts", [](const Block& block) {
            nb::list result;
            for (const auto& [line, text] : block.texts()) {
                result.append(nb::make_tuple(line, nb::bytes(text.data(), text.size())));
            }
            return result;
        });
    nb::class_<Journal>(m, "Journal", "What a file says about each location, packed.")
        .def(nb::init<const Layout&>(), "layout"_a, nb::keep_alive<1, 2>())
        .def("append", &Journal::append, "block"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("resident", &Journal::resident)
        .def_prop_ro("communications", &Journal::communications)
        .def("counts", &counts, "layout"_a)
        .def(
            "parts",
            [](const Journal& journal, std::size_t bucket) {
                nb::list result;
                for (const auto part : journal.parts(bucket)) {
                    result.append(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(
                        part.data(), {part.size()}, nb::find(journal)));
                }
                return result;
            },
            "bucket"_a, "Views of the packed parts; invalid once the bucket is released.")
        .def("release", &Journal::release, "bucket"_a)
        .def(
            "restore",
            [](Journal& journal, std::size_t bucket, const ArrayIn<std::uint8_t>& written,
               const Ints& sent_before) {
                journal.restore(bucket, {written.data(), written.size()},
                                {sent_before.data(), sent_before.size()});
            },
            "bucket"_a, "written"_array, "sent_before"_array,
            "Take back parts, whose ordinals begin after what each location had sent before; if "
            "they do already, `sent_before` is empty.")
        .def(
            "counted",
            [](const Journal& journal) {
                const auto all = journal.counted();
                return to_numpy(std::vector<std::uint8_t>(all.begin(), all.end()));
            },
            "The counts of all locations, as `count` takes them.")
        .def(
            "count",
            [](Journal& journal, const ArrayIn<std::uint8_t>& counted) {
                journal.count({counted.data(), counted.size()});
            },
            "counted"_array, "Count what a journal of the text that comes next has.");
    nb::class_<Vocabulary>(m, "Vocabulary", "What codes, operations and communicators mean.")
        .def("__init__", &new_vocabulary, "types"_a, "counter"_array, "counters"_a,
             "operation"_array, "call_kind"_array, "communicators"_a, "application"_array,
             "lock_steps"_a, "callers"_a, "sampled"_a, "end_of_time"_a);
    nb::class_<PathTable>(m, "PathTable", "Distinct call paths.")
        .def(nb::init<>())
        .def("__len__", &PathTable::size)
        .def(
            "path",
            [](const PathTable& table, std::size_t number) {
                if (number >= table.size()) throw nb::index_error();
                return nb::make_tuple(table.first(number), table.path(number));
            },
            "number"_a,
            "(location << 32 | call) where it occurs first, and its (level, function, line) ids.");
    nb::class_<Builder>(m, "Builder", "Builds the tables of some buckets.")
        .def(nb::init<Journal&, const Layout&, const Vocabulary&, PathTable&, std::size_t,
                      std::size_t, bool, bool>(),
             "journal"_a, "layout"_a, "vocabulary"_a, "paths"_a, "first_bucket"_a, "last_bucket"_a,
             "raw"_a, "states"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
        .def("build", &Builder::build, "bucket"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("finish", &Builder::finish, nb::call_guard<nb::gil_scoped_release>())
        .def("tables", &tables, "The tables' columns; the builder gives them up.")
        .def("extras", &extras);
    m.def("burst_columns", &burst_columns, "locations"_array, "calls"_a, "call_offsets"_array,
          "readings"_a, "reading_offsets"_array, "gaps"_a, "gap_offsets"_array,
          "Columns of the bursts between consecutive calls of each location.");
}

}  // namespace burstline
