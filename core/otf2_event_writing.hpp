// otf2_event_writing.hpp -- Writes the events of one location, each kind as the library takes it.
// Knows the library's events and integers; knows nothing of Python or traces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "otf2_library.hpp"

namespace burstline::otf2 {

/// Kinds of events to write, and their arguments.
enum class Written : std::int64_t {
    enter = 1,  // region
    leave,      // region
    send,       // receiver, communicator, tag, bytes
    isend,      // and the request
    send_done,  // request
    post,       // request
    receive,    // sender, communicator, tag, bytes
    ireceive,   // and the request
    collective_begin,
    collective_end,       // operation, communicator, root, bytes sent, bytes received
    collective_start,     // request
    collective_complete,  // as at the end, and the request
    fork,                 // threads asked for
    join,
    team_begin,              // communicator
    team_end,                // communicator
    acquire,                 // lock, order
    release,                 // lock, order
    metric,                  // metric, first value, number of values; their types follow them
    measurement,             // 1 on, 2 off
    flush,                   // end
    parameter,               // parameter, value
    unsigned_parameter,      // parameter, value
    text_parameter,          // parameter, text
    program_begin,           // text, first value, number of values: texts of its arguments
    program_end,             // status
    communicator_created,    // communicator
    communicator_destroyed,  // communicator
    thread_created,          // communicator, number
    thread_begun,            // communicator, number
    thread_awaited,          // communicator, number
    thread_ended,            // communicator, number
    task_created,            // communicator, thread, number
    task_switched,           // communicator, thread, number
    task_completed,          // communicator, thread, number
    sample,                  // calling context
    attribute,               // attribute, type, value: of the event that follows
};
inline constexpr auto written_kinds = static_cast<std::size_t>(Written::attribute) + 1;

class EventWriter {
  public:
    static constexpr std::size_t width = 6;  // arguments of an event

    /// `values` are those that metrics and programs refer to.
    EventWriter(const Library& library, void* writer, std::span<const std::int64_t> values)
        : library_(library), writer_(writer), values_(values) {}
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;
    ~EventWriter();

    Status write(Written kind, std::uint64_t time, const std::int64_t* arguments);

  private:
    template <class... Arguments>
    Status put(Arguments... arguments);
    Status write_rarer(Written kind, const std::int64_t* arguments);
    Status write_metric(const std::int64_t* arguments);
    Status write_program(const std::int64_t* arguments);
    Status keep_attribute(const std::int64_t* arguments);
    std::span<const std::int64_t> some_values(std::int64_t first, std::int64_t count) const;

    const Library& library_;
    void* writer_;
    std::span<const std::int64_t> values_;
    Callback functions_[written_kinds] = {};  // by kind, found when first used
    void* attributes_ = nullptr;              // of the next event
    Written kind_{};
    std::uint64_t time_ = 0;
    std::vector<std::uint8_t> types_;
    std::vector<std::uint32_t> texts_;
};

}  // namespace burstline::otf2
