// bind_otf2_writing.cpp -- The writing of OTF2 archives, for Python.
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "otf2_writing.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
namespace otf2 = burstline::otf2;

namespace {

template <class T>
std::span<const T> span_of(const ArrayIn<T>& array) {
    return {array.data(), array.size()};
}

void write_events(otf2::ArchiveWriter& writer, std::uint64_t location,
                  const ArrayIn<std::int64_t>& kind, const ArrayIn<std::int64_t>& time,
                  const ArrayIn<std::int64_t>& arguments, const ArrayIn<std::int64_t>& values) {
    const nb::gil_scoped_release unlocked;
    writer.write(location, {span_of(kind), span_of(time), span_of(arguments), span_of(values)});
}

void finish(otf2::ArchiveWriter& writer, const ArrayIn<std::int64_t>& rows, const nb::bytes& text,
            const ArrayIn<std::uint64_t>& locations) {
    writer.finish(span_of(rows), {text.c_str(), text.size()}, span_of(locations));
}

}  // namespace

void bind_otf2_writing(nb::module_& m) {
    nb::class_<otf2::ArchiveWriter>(m, "Otf2Writer")
        .def(nb::init<const std::string&, const std::string&, const std::string&, std::uint64_t>(),
             "library"_a, "folder"_a, "name"_a, "chunk"_a)
        .def("write", &write_events, "location"_a, "kind"_a.noconvert(), "time"_a.noconvert(),
             "arguments"_a.noconvert(), "values"_a.noconvert(),
             nb::sig("def write(self, location: int, kind: NDArray[numpy.int64], time: "
                     "NDArray[numpy.int64], arguments: NDArray[numpy.int64], values: "
                     "NDArray[numpy.int64]) -> None"),
             "Writes all events of a location: six arguments each.")
        .def("finish", &finish, "rows"_a.noconvert(), "text"_a, "locations"_a.noconvert(),
             nb::sig("def finish(self, rows: NDArray[numpy.int64], text: bytes, locations: "
                     "NDArray[numpy.uint64]) -> None"),
             "Writes the definitions, rows as `otf2_definitions` gives them, and closes.");
}
