// otf2_event_writing.cpp -- see otf2_event_writing.hpp.
#include "otf2_event_writing.hpp"

#include <stdexcept>
#include <string>

namespace burstline::otf2 {

namespace {

using Byte = std::uint8_t;
using Ref = std::uint32_t;
using Wide = std::uint64_t;

constexpr Byte openmp = 3;
constexpr std::int64_t most_values = 255;
constexpr Ref unknown = ~Ref{0};  // frames since the last sample, and what interrupted

constexpr const char* names[written_kinds] = {
    "", "Enter", "Leave", "MpiSend", "MpiIsend", "MpiIsendComplete", "MpiIrecvRequest", "MpiRecv",
    "MpiIrecv", "MpiCollectiveBegin", "MpiCollectiveEnd", "NonBlockingCollectiveRequest",
    "NonBlockingCollectiveComplete",
    // From here on what is no call, and no part of one.
    "ThreadFork", "ThreadJoin", "ThreadTeamBegin", "ThreadTeamEnd", "ThreadAcquireLock",
    "ThreadReleaseLock", "Metric", "MeasurementOnOff", "BufferFlush", "ParameterInt",
    "ParameterUnsignedInt", "ParameterString", "ProgramBegin", "ProgramEnd", "CommCreate",
    "CommDestroy", "ThreadCreate", "ThreadBegin", "ThreadWait", "ThreadEnd", "ThreadTaskCreate",
    "ThreadTaskSwitch", "ThreadTaskComplete", "CallingContextSample", ""};

}  // namespace

EventWriter::~EventWriter() {
    if (attributes_ == nullptr) return;
    Status (*const remove)(void*) = library_.find("OTF2_AttributeList_Delete");
    remove(attributes_);
}

template <class... Arguments>
Status EventWriter::put(Arguments... arguments) {
    auto& function = functions_[static_cast<std::size_t>(kind_)];
    if (function == nullptr) {
        function =
            library_.find(std::string("OTF2_EvtWriter_") + names[static_cast<std::size_t>(kind_)]);
    }
    // The library empties the list that it was given.
    return reinterpret_cast<Status (*)(void*, void*, Wide, Arguments...)>(function)(
        writer_, attributes_, time_, arguments...);
}

Status EventWriter::write(Written kind, Wide time, const std::int64_t* a) {
    kind_ = kind;
    time_ = time;
    const auto ref = [a](int k) { return static_cast<Ref>(a[k]); };
    const auto wide = [a](int k) { return static_cast<Wide>(a[k]); };
    switch (kind) {
        case Written::enter:
        case Written::leave:
        case Written::team_begin:
        case Written::team_end:
        case Written::communicator_created:
        case Written::communicator_destroyed:
            return put(ref(0));
        case Written::send:
        case Written::receive:
            return put(ref(0), ref(1), ref(2), wide(3));
        case Written::isend:
        case Written::ireceive:
            return put(ref(0), ref(1), ref(2), wide(3), wide(4));
        case Written::send_done:
        case Written::post:
        case Written::collective_start:
        case Written::flush:
            return put(wide(0));
        case Written::collective_begin:
            return put();
        case Written::collective_end:
            return put(static_cast<Byte>(a[0]), ref(1), ref(2), wide(3), wide(4));
        case Written::collective_complete:
            return put(static_cast<Byte>(a[0]), ref(1), ref(2), wide(3), wide(4), wide(5));
        case Written::metric:
            return write_metric(a);
        default:
            return write_rarer(kind, a);
    }
}

Status EventWriter::write_rarer(Written kind, const std::int64_t* a) {
    const auto ref = [a](int k) { return static_cast<Ref>(a[k]); };
    switch (kind) {
        case Written::fork:
            return put(openmp, ref(0));
        case Written::join:
            return put(openmp);
        case Written::acquire:
        case Written::release:
            return put(openmp, ref(0), ref(1));
        case Written::measurement:
            return put(static_cast<Byte>(a[0]));
        case Written::parameter:
            return put(ref(0), a[1]);
        case Written::text_parameter:
            return put(ref(0), ref(1));
        case Written::program_begin:
            return write_program(a);
        case Written::program_end:
            return put(a[0]);
        case Written::unsigned_parameter:
        case Written::thread_created:
        case Written::thread_begun:
        case Written::thread_awaited:
        case Written::thread_ended:
            return put(ref(0), static_cast<Wide>(a[1]));
        case Written::task_created:
        case Written::task_switched:
        case Written::task_completed:
            return put(ref(0), ref(1), ref(2));
        case Written::sample:
            return put(ref(0), unknown, unknown);
        case Written::attribute:
            return keep_attribute(a);
        default:
            throw std::invalid_argument("no such kind of event");
    }
}

std::span<const std::int64_t> EventWriter::some_values(std::int64_t first,
                                                       std::int64_t count) const {
    const auto begin = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
    if (begin > values_.size() || size > values_.size() - begin) {
        throw std::invalid_argument("values that are not there");
    }
    return values_.subspan(begin, size);
}

Status EventWriter::write_metric(const std::int64_t* a) {
    if (a[2] < 0 || a[2] > most_values) throw std::invalid_argument("too many values of a metric");
    const auto count = static_cast<std::size_t>(a[2]);
    const auto values = some_values(a[1], 2 * a[2]);
    types_.resize(count);
    for (std::size_t k = 0; k < count; ++k) types_[k] = static_cast<Byte>(values[count + k]);
    return put(static_cast<Ref>(a[0]), static_cast<Byte>(count),
               static_cast<const Byte*>(types_.data()), static_cast<const void*>(values.data()));
}

Status EventWriter::write_program(const std::int64_t* a) {
    const auto values = some_values(a[1], a[2]);
    texts_.assign(values.begin(), values.end());
    return put(static_cast<Ref>(a[0]), static_cast<Ref>(texts_.size()),
               static_cast<const Ref*>(texts_.data()));
}

Status EventWriter::keep_attribute(const std::int64_t* a) {
    if (attributes_ == nullptr) {
        void* (*const make)() = library_.find("OTF2_AttributeList_New");
        attributes_ = make();
    }
    // The value is a union of eight bytes, which is passed as an integer of eight bytes is.
    Status (*const add)(void*, Ref, Byte, Wide) = library_.find("OTF2_AttributeList_AddAttribute");
    return add(attributes_, static_cast<Ref>(a[0]), static_cast<Byte>(a[1]),
               static_cast<Wide>(a[2]));
}

}  // namespace burstline::otf2
