// Binds the writer of .prv bodies to Python.
#include <nanobind/stl/array.h>

#include <array>

#include "bind.hpp"
#include "module.hpp"
#include "prv_writer.hpp"

using namespace nb::literals;

namespace burstline {

namespace {

using BytesOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A writer together with the arrays it looks at, so that they live as long as it does.
class PrvBody {
  public:
    PrvBody(const Ints& cpu, const Ints& application, const Ints& task, const Ints& thread)
        : writer_({view(cpu), view(application), view(task), view(thread)}) {}

    void load(std::array<Ints, 4> events, std::array<Ints, 4> states, std::array<Ints, 8> links) {
        const auto& [event_offsets, event_time, event_type, event_value] = events;
        const auto& [state_offsets, state_begin, state_end, state_value] = states;
        const auto& [link_offsets, send, leave, receiver, post, receive, size, tag] = links;
        writer_.load({view(event_offsets), view(event_time), view(event_type), view(event_value),
                      view(state_offsets), view(state_begin), view(state_end), view(state_value),
                      view(link_offsets), view(send), view(leave), view(receiver), view(post),
                      view(receive), view(size), view(tag)});
        events_ = std::move(events);
        states_ = std::move(states);
        links_ = std::move(links);
    }

    std::size_t fill(const BytesOut& out) {
        const nb::gil_scoped_release unlocked;
        return writer_.fill({reinterpret_cast<char*>(out.data()), out.size()});
    }

    [[nodiscard]] std::int64_t dropped() const { return writer_.dropped(); }
    [[nodiscard]] std::int64_t disordered() const { return writer_.disordered(); }

  private:
    BodyWriter writer_;
    std::array<Ints, 4> events_, states_;
    std::array<Ints, 8> links_;
};

}  // namespace

void bind_writer(nb::module_& m) {
    nb::class_<PrvBody>(m, "PrvBody", "Prints the records of all locations in order of time.")
        .def(nb::init<const Ints&, const Ints&, const Ints&, const Ints&>(), "cpu"_array,
             "application"_array, "task"_array, "thread"_array,
             "The four ids of each location, as printed.")
        .def("load", &PrvBody::load, "events"_array, "states"_array, "links"_array,
             "Start on records: (offsets, time, type, value), (offsets, begin, end, state) and "
             "(offsets, send, leave, receiver, post, receive, size, tag), by time within a "
             "location; communications by their sender's leave.")
        .def("fill", &PrvBody::fill, "out"_array,
             "Print whole lines into a buffer of at least 64 KiB; give the number of "
             "characters, 0 at the end.")
        .def_prop_ro("dropped", &PrvBody::dropped,
                     "Records left out: states that end before they begin, impossible types.")
        .def_prop_ro("disordered", &PrvBody::disordered,
                     "First location whose records run backwards in time, or -1.");
}

}  // namespace burstline
