// otf2_records.hpp -- What an event says that describes a call or stands alone: its kind and
// seven values, which have names by kind.
// Knows numbers; knows nothing of the library and of columns.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace burstline::otf2 {

/// Kinds of records, and the values that each has.
enum class RecordKind : std::int32_t {
    send,              // Message, without `message`
    send_done,         // Message: request
    post,              // Message: request
    receive,           // Message, without `message`
    cancelled,         // Message: request
    probe,             // Message: partner, communicator, tag, message
    matched_receive,   // Message: bytes, message
    matched_post,      // Message: request, message
    matched_complete,  // Message: bytes, request
    collective,        // Collective: a blocking one
    collective_start,  // Message: request
    collective_done,   // Completion
    rma,               // Transfer
    io,                // Access
    lock_acquired,     // Lock
    lock_released,     // Lock
    flush,             // Flush
    measurement,       // Measurement
    program_begin,     // Other: name
    program_argument,  // Other: value, a text; under the ordinal of its program
    program_end,       // Other: value, its status
    communicator_created,
    communicator_destroyed,  // Other: value, the communicator
    thread_created,
    thread_begun,
    thread_awaited,
    thread_ended,  // Other: value, the thread's number
    task_created,
    task_switched,
    task_completed,  // Other: value, the thread << 32 | the task's number
    parameter,
    sample,     // Other: value, the number of its calling context in paths
    attribute,  // Other; an attribute has the ordinal of its event
};

/// The values of a record, in the order of the members of what they are.
using RecordValues = std::array<std::int64_t, 7>;

/// A message, or a request. The partner is a rank of the communicator.
struct Message {
    std::int64_t partner = 0, communicator = 0, tag = 0, bytes = 0;
    std::int64_t request = -1, has_request = 0, message = 0;
};

/// A blocking collective, and where it began. The root is a rank of the communicator.
struct Collective {
    std::int64_t root = 0, communicator = 0, operation = 0, sent = 0;
    std::int64_t begin_ns = 0, received = 0, begin_seq = 0;
};

/// The end of a non-blocking collective.
struct Completion {
    std::int64_t root = 0, communicator = 0, operation = 0, sent = 0;
    std::int64_t request = -1, received = 0, unused = 0;
};

/// How a transfer moves data: to its partner, or from it.
enum class Way : std::int64_t { put = 1, get };

/// What tells of a transfer; a second record of one event says `again`.
enum class TransferEvent : std::int64_t { again, put, get, atomic };

/// A transfer from or to memory of a partner, a rank of the communicator of the window.
struct Transfer {
    std::int64_t partner = 0, window = 0, way = 0, bytes = 0, unused = 0;
    std::int64_t event = 0, rest = 0;
};

/// A read or write of a file.
struct Access {
    std::int64_t handle = 0, unused[2] = {}, bytes = 0, rest[3] = {};
};

struct Lock {
    std::int64_t lock = 0, order = 0, rest[5] = {};
};

struct Flush {
    std::int64_t end_ns = 0, rest[6] = {};
};

struct Measurement {
    std::int64_t mode = 0, rest[6] = {};
};

/// Anything else: its name and value, whose type is -1 unless the kind leaves it open.
struct Other {
    std::int64_t name = 0, type = -1, value = 0, rest[4] = {};
};

/// Where a value stands among the seven.
template <class Fields>
constexpr std::size_t place(std::int64_t Fields::* value) {
    return static_cast<std::size_t>(std::bit_cast<Fields>(RecordValues{0, 1, 2, 3, 4, 5, 6}).*
                                    value);
}

struct Field {
    const char* name;
    std::size_t place;
};

/// The names of values; one name has one place in all kinds that have it.
inline constexpr Field fields[] = {
    {"partner", place(&Message::partner)},
    {"communicator", place(&Message::communicator)},
    {"tag", place(&Message::tag)},
    {"bytes", place(&Message::bytes)},
    {"request", place(&Message::request)},
    {"has_request", place(&Message::has_request)},
    {"message", place(&Message::message)},
    {"root", place(&Collective::root)},
    {"operation", place(&Collective::operation)},
    {"sent", place(&Collective::sent)},
    {"received", place(&Collective::received)},
    {"begin_ns", place(&Collective::begin_ns)},
    {"begin_seq", place(&Collective::begin_seq)},
    {"window", place(&Transfer::window)},
    {"way", place(&Transfer::way)},
    {"event", place(&Transfer::event)},
    {"handle", place(&Access::handle)},
    {"lock", place(&Lock::lock)},
    {"order", place(&Lock::order)},
    {"end_ns", place(&Flush::end_ns)},
    {"mode", place(&Measurement::mode)},
    {"name", place(&Other::name)},
    {"type", place(&Other::type)},
    {"value", place(&Other::value)},
};
static_assert(place(&Message::partner) == place(&Transfer::partner));
static_assert(place(&Message::communicator) == place(&Collective::communicator));
static_assert(place(&Message::communicator) == place(&Completion::communicator));
static_assert(place(&Message::bytes) == place(&Transfer::bytes));
static_assert(place(&Message::bytes) == place(&Access::bytes));
static_assert(place(&Message::bytes) == place(&Collective::sent));  // sizes are checked as one
static_assert(place(&Message::request) == place(&Completion::request));
static_assert(place(&Collective::root) == place(&Completion::root));
static_assert(place(&Collective::operation) == place(&Completion::operation));
static_assert(place(&Collective::sent) == place(&Completion::sent));
static_assert(place(&Collective::received) == place(&Completion::received));

}  // namespace burstline::otf2
