// bind_otf2_writing.cpp -- The writing of OTF2 archives, for Python.
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "module.hpp"
#include "otf2_writing.hpp"

using namespace nb::literals;

namespace burstline {

namespace {

void write_events(otf2::ArchiveWriter& writer, std::uint64_t location, const Ints& kind,
                  const Ints& time, const Ints& arguments, const Ints& values) {
    const nb::gil_scoped_release unlocked;
    writer.write(location, {view(kind), view(time), view(arguments), view(values)});
}

void finish(otf2::ArchiveWriter& writer, const Ints& rows, const nb::bytes& text,
            const ArrayIn<std::uint64_t>& locations) {
    writer.finish(view(rows), {text.c_str(), text.size()}, view(locations));
}

}  // namespace

void bind_otf2_writing(nb::module_& m) {
    bind_enumeration<otf2::Written>(m, "Written", "Kinds of events that an archive is written of.");
    nb::class_<otf2::ArchiveWriter>(m, "Otf2Writer")
        .def(nb::init<const std::string&, const std::string&, const std::string&, std::uint64_t>(),
             "library"_a, "folder"_a, "name"_a, "chunk"_a)
        .def_prop_ro_static(
            "width", [](nb::handle) { return otf2::EventWriter::width; },
            "Arguments of each event.")
        .def("write", &write_events, "location"_a, "kind"_array, "time"_array, "arguments"_array,
             "values"_array, "Writes all events of a location: six arguments each.")
        .def("finish", &finish, "rows"_array, "text"_a, "locations"_array,
             "Writes the definitions, rows as `otf2_definitions` gives them, and closes.");
}

}  // namespace burstline
