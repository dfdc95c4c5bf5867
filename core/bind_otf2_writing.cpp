// bind_otf2_writing.cpp -- The writing of OTF2 archives, for Python.
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "module.hpp"
#include "otf2_writing.hpp"

using namespace nb::literals;
using burstline::ArrayIn;
using burstline::view;
namespace otf2 = burstline::otf2;

namespace {

void write_events(otf2::ArchiveWriter& writer, std::uint64_t location,
                  const ArrayIn<std::int64_t>& kind, const ArrayIn<std::int64_t>& time,
                  const ArrayIn<std::int64_t>& arguments, const ArrayIn<std::int64_t>& values) {
    const nb::gil_scoped_release unlocked;
    writer.write(location, {view(kind), view(time), view(arguments), view(values)});
}

void finish(otf2::ArchiveWriter& writer, const ArrayIn<std::int64_t>& rows, const nb::bytes& text,
            const ArrayIn<std::uint64_t>& locations) {
    writer.finish(view(rows), {text.c_str(), text.size()}, view(locations));
}

}  // namespace

void bind_otf2_writing(nb::module_& m) {
    burstline::bind_enumeration<otf2::Written>(
        m, "Written", "Kinds of events that an archive is written of.",
        {{"ENTER", otf2::Written::enter},
         {"LEAVE", otf2::Written::leave},
         {"SEND", otf2::Written::send},
         {"ISEND", otf2::Written::isend},
         {"SEND_DONE", otf2::Written::send_done},
         {"POST", otf2::Written::post},
         {"RECEIVE", otf2::Written::receive},
         {"IRECEIVE", otf2::Written::ireceive},
         {"COLLECTIVE_BEGIN", otf2::Written::collective_begin},
         {"COLLECTIVE_END", otf2::Written::collective_end},
         {"COLLECTIVE_START", otf2::Written::collective_start},
         {"COLLECTIVE_COMPLETE", otf2::Written::collective_complete},
         {"FORK", otf2::Written::fork},
         {"JOIN", otf2::Written::join},
         {"TEAM_BEGIN", otf2::Written::team_begin},
         {"TEAM_END", otf2::Written::team_end},
         {"ACQUIRE", otf2::Written::acquire},
         {"RELEASE", otf2::Written::release},
         {"METRIC", otf2::Written::metric},
         {"MEASUREMENT", otf2::Written::measurement},
         {"FLUSH", otf2::Written::flush},
         {"PARAMETER", otf2::Written::parameter},
         {"UNSIGNED_PARAMETER", otf2::Written::unsigned_parameter},
         {"TEXT_PARAMETER", otf2::Written::text_parameter},
         {"PROGRAM_BEGIN", otf2::Written::program_begin},
         {"PROGRAM_END", otf2::Written::program_end},
         {"COMMUNICATOR_CREATED", otf2::Written::communicator_created},
         {"COMMUNICATOR_DESTROYED", otf2::Written::communicator_destroyed},
         {"THREAD_CREATED", otf2::Written::thread_created},
         {"THREAD_BEGUN", otf2::Written::thread_begun},
         {"THREAD_AWAITED", otf2::Written::thread_awaited},
         {"THREAD_ENDED", otf2::Written::thread_ended},
         {"TASK_CREATED", otf2::Written::task_created},
         {"TASK_SWITCHED", otf2::Written::task_switched},
         {"TASK_COMPLETED", otf2::Written::task_completed},
         {"SAMPLE", otf2::Written::sample},
         {"ATTRIBUTE", otf2::Written::attribute}});
    nb::class_<otf2::ArchiveWriter>(m, "Otf2Writer")
        .def(nb::init<const std::string&, const std::string&, const std::string&, std::uint64_t>(),
             "library"_a, "folder"_a, "name"_a, "chunk"_a)
        .def_prop_ro_static(
            "width", [](nb::handle) { return otf2::EventWriter::width; },
            "Arguments of each event.")
        .def("write", &write_events, "location"_a, "kind"_a.noconvert(), "time"_a.noconvert(),
             "arguments"_a.noconvert(), "values"_a.noconvert(),
             "Writes all events of a location: six arguments each.")
        .def("finish", &finish, "rows"_a.noconvert(), "text"_a, "locations"_a.noconvert(),
             "Writes the definitions, rows as `otf2_definitions` gives them, and closes.");
}
