// otf2_events.cpp -- see otf2_events.hpp.
#include "otf2_events.hpp"

#include <utility>

namespace burstline::otf2 {

namespace {

constexpr const char* names[known_kinds] = {
    "BufferFlush", "MeasurementOnOff", "Enter", "Leave", "MpiSend", "MpiIsend", "MpiIsendComplete",
    "MpiIrecvRequest", "MpiRecv", "MpiIrecv", "MpiRequestTest", "MpiRequestCancelled",
    "MpiCollectiveBegin", "MpiCollectiveEnd", "OmpFork", "OmpJoin", "OmpAcquireLock",
    "OmpReleaseLock", "Metric", "ParameterString", "ParameterInt", "ParameterUnsignedInt", "RmaPut",
    "RmaGet", "RmaAtomic", "ThreadFork", "ThreadJoin", "ThreadTeamBegin", "ThreadTeamEnd",
    "ThreadAcquireLock", "ThreadReleaseLock", "ThreadTaskSwitch", "CallingContextEnter",
    "CallingContextLeave", "ProgramBegin", "NonBlockingCollectiveRequest",
    "NonBlockingCollectiveComplete", "IoOperationComplete", "ProgramEnd", "CommCreate",
    "CommDestroy", "ThreadCreate", "ThreadBegin", "ThreadWait", "ThreadEnd", "ThreadTaskCreate",
    "ThreadTaskComplete", "MpiProbe", "MpiMrecv", "MpiImrecvRequest", "MpiImrecv",
    "CallingContextSample",
    // From here on events are counted only.
    "Unknown", "OmpTaskCreate", "OmpTaskSwitch", "OmpTaskComplete", "RmaWinCreate", "RmaWinDestroy",
    "RmaCollectiveBegin", "RmaCollectiveEnd", "RmaGroupSync", "RmaRequestLock", "RmaAcquireLock",
    "RmaTryLock", "RmaReleaseLock", "RmaSync", "RmaWaitChange", "RmaOpCompleteBlocking",
    "RmaOpCompleteNonBlocking", "RmaOpTest", "RmaOpCompleteRemote", "IoCreateHandle",
    "IoDestroyHandle", "IoDuplicateHandle", "IoSeek", "IoChangeStatusFlags", "IoDeleteFile",
    "IoOperationBegin", "IoOperationTest", "IoOperationIssued", "IoOperationCancelled",
    "IoAcquireLock", "IoReleaseLock", "IoTryLock"};
constexpr int first_counted_only = 52;
constexpr std::uint8_t type_uint64 = 4, type_int64 = 8, type_text = 11;  // of values, in the format

struct Reading {
    const Library& library;
    Timeline line;
    const Meaning& meaning;
    Counts& counts;
};

using Place = std::uint64_t;
using Ticks = std::uint64_t;
using Ref = std::uint32_t;

std::int64_t wide(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Message message_with(Ref partner, Ref communicator, Ref tag, std::uint64_t bytes) {
    return {.partner = partner, .communicator = communicator, .tag = tag, .bytes = wide(bytes)};
}

Message message_with(Ref partner, Ref communicator, Ref tag, std::uint64_t bytes,
                     std::uint64_t request) {
    auto message = message_with(partner, communicator, tag, bytes);
    message.request = wide(request), message.has_request = 1;
    return message;
}

Transfer transfer(Ref partner, Ref window, Way way, std::uint64_t bytes, TransferEvent event) {
    return {.partner = partner,
            .window = window,
            .way = static_cast<std::int64_t>(way),
            .bytes = wide(bytes),
            .event = static_cast<std::int64_t>(event)};
}

std::int64_t task_of(std::uint32_t thread, std::uint32_t generation) {
    return wide(std::uint64_t{thread} << 32 | generation);
}

/// Records the attributes of an event, under its ordinal; whether it has any.
bool record_attributes(Reading& reading, const void* attributes) {
    const auto count = reading.library.attributes(attributes);
    for (std::uint32_t k = 0; k < count; ++k) {
        std::uint32_t name = 0;
        std::uint8_t type = 0;
        std::uint64_t value = 0;
        if (reading.library.attribute(attributes, k, &name, &type, &value) != 0) break;
        reading.line.record(RecordKind::attribute,
                            Other{.name = name, .type = type, .value = value_of(type, value)});
    }
    return count > 0;
}

/// Begins every event but a metric: its time, its count, its attributes.
Reading& begin(void* data, int kind, Ticks time, const void* attributes) {
    auto& reading = *static_cast<Reading*>(data);
    reading.line.at(time);
    ++reading.counts.of_kind[kind];
    record_attributes(reading, attributes);
    return reading;
}

#define EVENT Place, Ticks time, std::uint64_t, void *data, const void *attributes

Status on_flush(EVENT, Ticks stop) {
    auto& line = begin(data, 0, time, attributes).line;
    line.record(RecordKind::flush, Flush{.end_ns = line.nanoseconds(stop)});
    return line.done(), 0;
}
Status on_measurement(EVENT, std::uint8_t mode) {
    auto& line = begin(data, 1, time, attributes).line;
    line.record(RecordKind::measurement, Measurement{.mode = mode});
    return line.done(), 0;
}
Status on_enter(EVENT, Ref region) {
    auto& line = begin(data, 2, time, attributes).line;
    line.enter(region);
    return line.done(), 0;
}
Status on_leave(EVENT, Ref region) {
    auto& line = begin(data, 3, time, attributes).line;
    line.leave(region);
    return line.done(), 0;
}
Status on_send(EVENT, Ref receiver, Ref communicator, Ref tag, std::uint64_t length) {
    auto& line = begin(data, 4, time, attributes).line;
    line.record(RecordKind::send, message_with(receiver, communicator, tag, length));
    return line.done(), 0;
}
Status on_isend(EVENT, Ref receiver, Ref communicator, Ref tag, std::uint64_t length,
                std::uint64_t request) {
    auto& line = begin(data, 5, time, attributes).line;
    line.record(RecordKind::send, message_with(receiver, communicator, tag, length, request));
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_request(EVENT, std::uint64_t request) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Message{.request = wide(request)});
    return line.done(), 0;
}
Status on_receive(EVENT, Ref sender, Ref communicator, Ref tag, std::uint64_t length) {
    auto& line = begin(data, 8, time, attributes).line;
    line.record(RecordKind::receive, message_with(sender, communicator, tag, length));
    return line.done(), 0;
}
Status on_ireceive(EVENT, Ref sender, Ref communicator, Ref tag, std::uint64_t length,
                   std::uint64_t request) {
    auto& line = begin(data, 9, time, attributes).line;
    line.record(RecordKind::receive, message_with(sender, communicator, tag, length, request));
    return line.done(), 0;
}
Status on_probe(EVENT, Ref sender, Ref communicator, Ref tag, std::uint64_t message) {
    auto& line = begin(data, 47, time, attributes).line;
    line.record(
        RecordKind::probe,
        Message{
            .partner = sender, .communicator = communicator, .tag = tag, .message = wide(message)});
    return line.done(), 0;
}
Status on_matched_receive(EVENT, std::uint64_t message, std::uint64_t length) {
    auto& line = begin(data, 48, time, attributes).line;
    line.record(RecordKind::matched_receive,
                Message{.bytes = wide(length), .message = wide(message)});
    return line.done(), 0;
}
Status on_matched_complete(EVENT, std::uint64_t request, std::uint64_t length) {
    auto& line = begin(data, 50, time, attributes).line;
    line.record(RecordKind::matched_complete,
                Message{.bytes = wide(length), .request = wide(request)});
    return line.done(), 0;
}
Status on_matched_post(EVENT, std::uint64_t message, std::uint64_t request) {
    auto& line = begin(data, 49, time, attributes).line;
    line.record(RecordKind::matched_post,
                Message{.request = wide(request), .message = wide(message)});
    return line.done(), 0;
}
Status on_collective_begin(EVENT) {
    auto& line = begin(data, 12, time, attributes).line;
    line.begin_collective();
    return line.done(), 0;
}
Status on_collective_end(EVENT, std::uint8_t operation, Ref communicator, Ref root,
                         std::uint64_t sent, std::uint64_t received) {
    auto& line = begin(data, 13, time, attributes).line;
    line.end_collective(root, communicator, operation, wide(sent), wide(received));
    return line.done(), 0;
}
Status on_omp_fork(EVENT, std::uint32_t requested) {
    auto& line = begin(data, 14, time, attributes).line;
    line.fork(requested);
    return line.done(), 0;
}
Status on_omp_join(EVENT) {
    auto& line = begin(data, 15, time, attributes).line;
    line.join();
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_omp_lock(EVENT, std::uint32_t lock, std::uint32_t order) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Lock{.lock = lock, .order = order});
    return line.done(), 0;
}
Status on_metric(EVENT, Ref metric, std::uint8_t count, const std::uint8_t* types,
                 const std::uint64_t* values) {
    auto& reading = *static_cast<Reading*>(data);
    auto& line = reading.line;
    line.at(time);
    ++reading.counts.of_kind[18];
    line.begin_reading(metric);
    const auto has_attributes = record_attributes(reading, attributes);
    line.read_metric(metric, count, types, values);
    if (has_attributes) line.end_reading();
    return 0;
}
Status on_text_parameter(EVENT, Ref parameter, Ref text) {
    auto& line = begin(data, 19, time, attributes).line;
    line.record(RecordKind::parameter, Other{.name = parameter, .type = type_text, .value = text});
    return line.done(), 0;
}
template <int kind, std::uint8_t type>
Status on_parameter(EVENT, Ref parameter, std::uint64_t value) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(RecordKind::parameter,
                Other{.name = parameter, .type = type, .value = wide(value)});
    return line.done(), 0;
}
template <int kind, Way way, TransferEvent event>
Status on_transfer(EVENT, Ref window, Ref remote, std::uint64_t bytes, std::uint64_t) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(RecordKind::rma, transfer(remote, window, way, bytes, event));
    return line.done(), 0;
}
Status on_atomic(EVENT, Ref window, Ref remote, std::uint32_t, std::uint64_t sent,
                 std::uint64_t received, std::uint64_t) {
    auto& line = begin(data, 24, time, attributes).line;
    constexpr auto event = TransferEvent::atomic;
    if (sent > 0) line.record(RecordKind::rma, transfer(remote, window, Way::put, sent, event));
    if (received > 0) {
        line.record(RecordKind::rma, transfer(remote, window, Way::get, received,
                                              sent > 0 ? TransferEvent::again : event));
    }
    return line.done(), 0;
}
Status on_fork(EVENT, std::uint8_t, std::uint32_t requested) {
    auto& line = begin(data, 25, time, attributes).line;
    line.fork(requested);
    return line.done(), 0;
}
Status on_join(EVENT, std::uint8_t) {
    auto& line = begin(data, 26, time, attributes).line;
    line.join();
    return line.done(), 0;
}
Status on_team_begin(EVENT, Ref team) {
    auto& line = begin(data, 27, time, attributes).line;
    line.begin_team(team);
    return line.done(), 0;
}
Status on_team_end(EVENT, Ref) {
    auto& line = begin(data, 28, time, attributes).line;
    line.end_team();
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_lock(EVENT, std::uint8_t, std::uint32_t lock, std::uint32_t order) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Lock{.lock = lock, .order = order});
    return line.done(), 0;
}
Status on_task_switch(EVENT, Ref, std::uint32_t thread, std::uint32_t generation) {
    auto& line = begin(data, 31, time, attributes).line;
    line.record(RecordKind::task_switched, Other{.value = task_of(thread, generation)});
    line.switch_task(generation == 0 ? 0 : static_cast<std::uint64_t>(task_of(thread, generation)));
    return line.done(), 0;
}
Meaning::Context context_of(const Meaning& meaning, Ref context) {
    const auto found = meaning.contexts.find(context);
    if (found != meaning.contexts.end()) return found->second;
    return {~std::uint32_t{1}, meaning.unknown_region, -1};
}
Status on_context_enter(EVENT, Ref context, std::uint32_t) {
    auto& reading = begin(data, 32, time, attributes);
    reading.line.enter(context_of(reading.meaning, context));
    return reading.line.done(), 0;
}
Status on_context_leave(EVENT, Ref context) {
    auto& reading = begin(data, 33, time, attributes);
    reading.line.leave(context_of(reading.meaning, context).region);
    return reading.line.done(), 0;
}
Status on_sample(EVENT, Ref context, std::uint32_t, Ref) {
    auto& reading = begin(data, 51, time, attributes);
    const auto own = context_of(reading.meaning, context).own;
    reading.line.record(RecordKind::sample, Other{.value = own});
    return reading.line.done(), 0;
}
Status on_program_begin(EVENT, Ref name, std::uint32_t count, const Ref* given) {
    auto& line = begin(data, 34, time, attributes).line;
    line.record(RecordKind::program_begin, Other{.name = name});
    for (std::uint32_t k = 0; k < count; ++k) {
        line.record(RecordKind::program_argument, Other{.value = given[k]});
    }
    return line.done(), 0;
}
Status on_program_end(EVENT, std::int64_t status) {
    auto& line = begin(data, 38, time, attributes).line;
    line.record(RecordKind::program_end, Other{.value = status});
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_communicator(EVENT, Ref communicator) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Other{.value = communicator});
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_thread(EVENT, Ref, std::uint64_t number) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Other{.value = wide(number)});
    return line.done(), 0;
}
template <int kind, RecordKind written>
Status on_task(EVENT, Ref, std::uint32_t thread, std::uint32_t generation) {
    auto& line = begin(data, kind, time, attributes).line;
    line.record(written, Other{.value = task_of(thread, generation)});
    return line.done(), 0;
}
Status on_collective_complete(EVENT, std::uint8_t operation, Ref communicator, Ref root,
                              std::uint64_t sent, std::uint64_t received, std::uint64_t request) {
    auto& line = begin(data, 36, time, attributes).line;
    line.record(RecordKind::collective_done, Completion{.root = root,
                                                        .communicator = communicator,
                                                        .operation = operation,
                                                        .sent = wide(sent),
                                                        .request = wide(request),
                                                        .received = wide(received)});
    return line.done(), 0;
}
Status on_io_complete(EVENT, Ref handle, std::uint64_t bytes, std::uint64_t) {
    auto& line = begin(data, 37, time, attributes).line;
    line.record(RecordKind::io, Access{.handle = handle, .bytes = wide(bytes)});
    return line.done(), 0;
}
template <int kind>
Status on_other(EVENT) {
    auto& line = begin(data, kind, time, attributes).line;
    if (kind == first_counted_only) line.strange();
    return line.done(), 0;
}

#undef EVENT

class Registering {
  public:
    Registering(const Library& library, void* callbacks)
        : library_(library), callbacks_(callbacks) {}

    template <class Function>
    void on(int kind, Function* function) const {
        const auto name = std::string("OTF2_EvtReaderCallbacks_Set") + names[kind] + "Callback";
        Callback setter = nullptr;
        try {
            setter = library_.find(name);
        } catch (const std::exception&) {
            return;  // a library of an earlier version does not know this event
        }
        reinterpret_cast<Status (*)(void*, Function*)>(setter)(callbacks_, function);
    }

    template <int... kinds>
    void others(std::integer_sequence<int, kinds...>) const {
        (on(first_counted_only + kinds, &on_other<first_counted_only + kinds>), ...);
    }

  private:
    const Library& library_;
    void* callbacks_;
};

void* callbacks_of(const Library& library) {
    void* const made = library.new_event_callbacks();
    const Registering to(library, made);
    to.on(0, on_flush), to.on(1, on_measurement), to.on(2, on_enter), to.on(3, on_leave);
    to.on(4, on_send), to.on(5, on_isend), to.on(6, on_request<6, RecordKind::send_done>);
    to.on(7, on_request<7, RecordKind::post>), to.on(8, on_receive), to.on(9, on_ireceive);
    to.on(10, on_other<10>), to.on(11, on_request<11, RecordKind::cancelled>);
    to.on(12, on_collective_begin), to.on(13, on_collective_end);
    to.on(14, on_omp_fork), to.on(15, on_omp_join);
    to.on(16, on_omp_lock<16, RecordKind::lock_acquired>);
    to.on(17, on_omp_lock<17, RecordKind::lock_released>);
    to.on(18, on_metric), to.on(19, on_text_parameter);
    to.on(20, on_parameter<20, type_int64>), to.on(21, on_parameter<21, type_uint64>);
    to.on(22, on_transfer<22, Way::put, TransferEvent::put>),
        to.on(23, on_transfer<23, Way::get, TransferEvent::get>), to.on(24, on_atomic);
    to.on(25, on_fork), to.on(26, on_join), to.on(27, on_team_begin), to.on(28, on_team_end);
    to.on(29, on_lock<29, RecordKind::lock_acquired>),
        to.on(30, on_lock<30, RecordKind::lock_released>);
    to.on(31, on_task_switch), to.on(32, on_context_enter), to.on(33, on_context_leave);
    to.on(34, on_program_begin), to.on(35, on_request<35, RecordKind::collective_start>);
    to.on(36, on_collective_complete), to.on(37, on_io_complete), to.on(38, on_program_end);
    to.on(39, on_communicator<39, RecordKind::communicator_created>);
    to.on(40, on_communicator<40, RecordKind::communicator_destroyed>);
    to.on(41, on_thread<41, RecordKind::thread_created>),
        to.on(42, on_thread<42, RecordKind::thread_begun>);
    to.on(43, on_thread<43, RecordKind::thread_awaited>),
        to.on(44, on_thread<44, RecordKind::thread_ended>);
    to.on(45, on_task<45, RecordKind::task_created>),
        to.on(46, on_task<46, RecordKind::task_completed>);
    to.on(47, on_probe), to.on(48, on_matched_receive);
    to.on(49, on_matched_post), to.on(50, on_matched_complete), to.on(51, on_sample);
    to.others(std::make_integer_sequence<int, known_kinds - first_counted_only>());
    return made;
}

/// Reads one location: definitions of its own first, they map its references.
Status read_location(const Library& library, void* reader, const void* callbacks,
                     std::uint64_t location, Reading& reading) {
    std::uint64_t read = 0;
    Status mapped = 0;
    void* const definitions = library.local_definitions(reader, location);
    if (definitions != nullptr) {
        mapped = library.read_local_definitions(reader, definitions, &read);
        library.close_local_definitions(reader, definitions);
    }
    void* const events = library.local_events(reader, location);
    if (events == nullptr) return -1;
    library.register_events(reader, events, callbacks, &reading);
    const auto status = library.read_events(reader, events, ~std::uint64_t{0}, &read);
    library.close_events(reader, events);
    return status != 0 ? status : mapped;
}

Status read_all(const Library& library, const std::string& anchor, const Wanted& wanted,
                const Meaning& meaning, Tables& tables) {
    void* const reader = library.open(anchor.c_str());
    if (reader == nullptr) return -1;
    library.set_serial(reader);
    for (const auto location : wanted.reference) library.select(reader, location);
    library.open_definition_files(reader);
    const auto opened = library.open_event_files(reader);
    const void* const callbacks = callbacks_of(library);
    Reading reading{library, Timeline(tables, meaning), meaning, tables.counts()};
    for (std::size_t k = 0; k < wanted.reference.size(); ++k) {
        reading.line.begin_location(wanted.number[k]);
        reading.line.end_location(
            read_location(library, reader, callbacks, wanted.reference[k], reading));
    }
    return opened;
}

}  // namespace

const char* const* kind_names() { return names; }

int read_events(const Library& library, const std::string& anchor, const Wanted& wanted,
                const Meaning& meaning, Tables& tables, Report& report, const Limits& limits,
                const std::function<bool()>& is_over) {
    return run_in_child(
        [&] {
            library.on_error(keep_complaint, &report);
            report.status = read_all(library, anchor, wanted, meaning, tables);
        },
        limits, is_over);
}

}  // namespace burstline::otf2
