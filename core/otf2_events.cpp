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
constexpr int metric_kind = 18, first_counted_only = 52;
constexpr std::uint8_t type_uint64 = 4, type_int64 = 8, type_text = 11;  // of values, in the format

struct Reading {
    const Library& library;
    Timeline line;
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
Timeline& begin(void* data, int kind, Ticks time, const void* attributes) {
    auto& reading = *static_cast<Reading*>(data);
    reading.line.at(time);
    ++reading.counts.of_kind[kind];
    record_attributes(reading, attributes);
    return reading.line;
}

/// What the library calls for each event of a kind: `Write` says what becomes of its values.
template <int kind, class Write, class... Values>
Status on_event(Place, Ticks time, std::uint64_t, void* data, const void* attributes,
                Values... values) {
    auto& line = begin(data, kind, time, attributes);
    Write{}(line, values...);
    line.done();
    return 0;
}

Status on_metric(Place, Ticks time, std::uint64_t, void* data, const void* attributes, Ref metric,
                 std::uint8_t count, const std::uint8_t* types, const std::uint64_t* values) {
    auto& reading = *static_cast<Reading*>(data);
    auto& line = reading.line;
    line.at(time);
    ++reading.counts.of_kind[metric_kind];
    line.begin_reading(metric);
    const auto has_attributes = record_attributes(reading, attributes);
    line.read_metric(metric, count, types, values);
    if (has_attributes) line.end_reading();
    return 0;
}

template <RecordKind written>
constexpr auto request_as = [](Timeline& line, std::uint64_t request) {
    line.record(written, Message{.request = wide(request)});
};
template <RecordKind written>
constexpr auto message_as =
    [](Timeline& line, Ref partner, Ref communicator, Ref tag, std::uint64_t bytes) {
        line.record(written, message_with(partner, communicator, tag, bytes));
    };
template <RecordKind written>
constexpr auto requested_as = [](Timeline& line, Ref partner, Ref communicator, Ref tag,
                                 std::uint64_t bytes, std::uint64_t request) {
    line.record(written, message_with(partner, communicator, tag, bytes, request));
};
template <RecordKind written>
constexpr auto omp_lock_as = [](Timeline& line, std::uint32_t lock, std::uint32_t order) {
    line.record(written, Lock{.lock = lock, .order = order});
};
template <RecordKind written>
constexpr auto lock_as = [](Timeline& line, std::uint8_t, std::uint32_t lock, std::uint32_t order) {
    line.record(written, Lock{.lock = lock, .order = order});
};
template <std::uint8_t type>
constexpr auto parameter_of = [](Timeline& line, Ref parameter, std::uint64_t value) {
    line.record(RecordKind::parameter,
                Other{.name = parameter, .type = type, .value = wide(value)});
};
template <Way way, TransferEvent event>
constexpr auto transfer_by =
    [](Timeline& line, Ref window, Ref remote, std::uint64_t bytes, std::uint64_t) {
        line.record(RecordKind::rma, transfer(remote, window, way, bytes, event));
    };
template <RecordKind written>
constexpr auto communicator_as =
    [](Timeline& line, Ref communicator) { line.record(written, Other{.value = communicator}); };
template <RecordKind written>
constexpr auto thread_as = [](Timeline& line, Ref, std::uint64_t number) {
    line.record(written, Other{.value = wide(number)});
};
template <RecordKind written>
constexpr auto task_as = [](Timeline& line, Ref, std::uint32_t thread, std::uint32_t generation) {
    line.record(written, Other{.value = task_of(thread, generation)});
};
constexpr auto nothing = [](Timeline&) {};

class Registering {
  public:
    Registering(const Library& library, void* callbacks)
        : library_(library), callbacks_(callbacks) {}

    template <int kind, class Write>
    void on(Write) const {
        on_call<kind>(&Write::operator());
    }

    template <int... kinds>
    void counted_only(std::integer_sequence<int, kinds...>) const {
        (on<first_counted_only + 1 + kinds>(nothing), ...);
    }

    template <class Function>
    void set(int kind, Function* function) const {
        const auto name = std::string("OTF2_EvtReaderCallbacks_Set") + names[kind] + "Callback";
        Status (*to_set)(void*, Function*) = nullptr;
        try {
            to_set = library_.find(name);
        } catch (const std::exception&) {
            return;  // a library of an earlier version does not know this event
        }
        to_set(callbacks_, function);
    }

  private:
    template <int kind, class Write, class... Values>
    void on_call(void (Write::*)(Timeline&, Values...) const) const {
        set(kind, &on_event<kind, Write, Values...>);
    }

    const Library& library_;
    void* callbacks_;
};

/// What becomes of the events of each kind, by its place in `names`.
void* callbacks_of(const Library& library) {
    void* const made = library.new_event_callbacks();
    const Registering to(library, made);
    to.on<0>([](Timeline& line, Ticks stop) {
        line.record(RecordKind::flush, Flush{.end_ns = line.nanoseconds(stop)});
    });
    to.on<1>([](Timeline& line, std::uint8_t mode) {
        line.record(RecordKind::measurement, Measurement{.mode = mode});
    });
    to.on<2>([](Timeline& line, Ref region) { line.enter(region); });
    to.on<3>([](Timeline& line, Ref region) { line.leave(region); });
    to.on<4>(message_as<RecordKind::send>);
    to.on<5>(requested_as<RecordKind::send>);
    to.on<6>(request_as<RecordKind::send_done>);
    to.on<7>(request_as<RecordKind::post>);
    to.on<8>(message_as<RecordKind::receive>);
    to.on<9>(requested_as<RecordKind::receive>);
    to.on<10>(nothing);
    to.on<11>(request_as<RecordKind::cancelled>);
    to.on<12>([](Timeline& line) { line.begin_collective(); });
    to.on<13>([](Timeline& line, std::uint8_t operation, Ref communicator, Ref root,
                 std::uint64_t sent, std::uint64_t received) {
        line.end_collective(root, communicator, operation, wide(sent), wide(received));
    });
    to.on<14>([](Timeline& line, std::uint32_t requested) { line.fork(requested); });
    to.on<15>([](Timeline& line) { line.join(); });
    to.on<16>(omp_lock_as<RecordKind::lock_acquired>);
    to.on<17>(omp_lock_as<RecordKind::lock_released>);
    to.set(metric_kind, on_metric);
    to.on<19>([](Timeline& line, Ref parameter, Ref text) {
        line.record(RecordKind::parameter,
                    Other{.name = parameter, .type = type_text, .value = text});
    });
    to.on<20>(parameter_of<type_int64>);
    to.on<21>(parameter_of<type_uint64>);
    to.on<22>(transfer_by<Way::put, TransferEvent::put>);
    to.on<23>(transfer_by<Way::get, TransferEvent::get>);
    to.on<24>([](Timeline& line, Ref window, Ref remote, std::uint32_t, std::uint64_t sent,
                 std::uint64_t received, std::uint64_t) {
        constexpr auto event = TransferEvent::atomic;
        if (sent > 0) line.record(RecordKind::rma, transfer(remote, window, Way::put, sent, event));
        if (received > 0) {
            line.record(RecordKind::rma, transfer(remote, window, Way::get, received,
                                                  sent > 0 ? TransferEvent::again : event));
        }
    });
    to.on<25>([](Timeline& line, std::uint8_t, std::uint32_t requested) { line.fork(requested); });
    to.on<26>([](Timeline& line, std::uint8_t) { line.join(); });
    to.on<27>([](Timeline& line, Ref team) { line.begin_team(team); });
    to.on<28>([](Timeline& line, Ref) { line.end_team(); });
    to.on<29>(lock_as<RecordKind::lock_acquired>);
    to.on<30>(lock_as<RecordKind::lock_released>);
    to.on<31>([](Timeline& line, Ref, std::uint32_t thread, std::uint32_t generation) {
        const auto task = task_of(thread, generation);
        line.record(RecordKind::task_switched, Other{.value = task});
        line.switch_task(generation == 0 ? 0 : static_cast<std::uint64_t>(task));
    });
    to.on<32>([](Timeline& line, Ref context, std::uint32_t) { line.enter_context(context); });
    to.on<33>([](Timeline& line, Ref context) { line.leave_context(context); });
    to.on<34>([](Timeline& line, Ref name, std::uint32_t count, const Ref* given) {
        line.record(RecordKind::program_begin, Other{.name = name});
        for (std::uint32_t k = 0; k < count; ++k) {
            line.record(RecordKind::program_argument, Other{.value = given[k]});
        }
    });
    to.on<35>(request_as<RecordKind::collective_start>);
    to.on<36>([](Timeline& line, std::uint8_t operation, Ref communicator, Ref root,
                 std::uint64_t sent, std::uint64_t received, std::uint64_t request) {
        line.record(RecordKind::collective_done, Completion{.root = root,
                                                            .communicator = communicator,
                                                            .operation = operation,
                                                            .sent = wide(sent),
                                                            .request = wide(request),
                                                            .received = wide(received)});
    });
    to.on<37>([](Timeline& line, Ref handle, std::uint64_t bytes, std::uint64_t) {
        line.record(RecordKind::io, Access{.handle = handle, .bytes = wide(bytes)});
    });
    to.on<38>([](Timeline& line, std::int64_t status) {
        line.record(RecordKind::program_end, Other{.value = status});
    });
    to.on<39>(communicator_as<RecordKind::communicator_created>);
    to.on<40>(communicator_as<RecordKind::communicator_destroyed>);
    to.on<41>(thread_as<RecordKind::thread_created>);
    to.on<42>(thread_as<RecordKind::thread_begun>);
    to.on<43>(thread_as<RecordKind::thread_awaited>);
    to.on<44>(thread_as<RecordKind::thread_ended>);
    to.on<45>(task_as<RecordKind::task_created>);
    to.on<46>(task_as<RecordKind::task_completed>);
    to.on<47>([](Timeline& line, Ref sender, Ref communicator, Ref tag, std::uint64_t message) {
        line.record(RecordKind::probe, Message{.partner = sender,
                                               .communicator = communicator,
                                               .tag = tag,
                                               .message = wide(message)});
    });
    to.on<48>([](Timeline& line, std::uint64_t message, std::uint64_t length) {
        line.record(RecordKind::matched_receive,
                    Message{.bytes = wide(length), .message = wide(message)});
    });
    to.on<49>([](Timeline& line, std::uint64_t message, std::uint64_t request) {
        line.record(RecordKind::matched_post,
                    Message{.request = wide(request), .message = wide(message)});
    });
    to.on<50>([](Timeline& line, std::uint64_t request, std::uint64_t length) {
        line.record(RecordKind::matched_complete,
                    Message{.bytes = wide(length), .request = wide(request)});
    });
    to.on<51>([](Timeline& line, Ref context, std::uint32_t, Ref) { line.sample(context); });
    to.on<first_counted_only>([](Timeline& line) { line.strange(); });
    to.counted_only(std::make_integer_sequence<int, known_kinds - first_counted_only - 1>());
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
    Reading reading{library, Timeline(tables, meaning), tables.counts()};
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
