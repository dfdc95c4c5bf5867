#include "prv_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace burstline {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t largest_type = std::numeric_limits<std::int32_t>::max();
constexpr std::ptrdiff_t longest_number = 20;

char* print(char* out, std::int64_t number) {
    return std::to_chars(out, out + longest_number, number).ptr;
}

char* print_field(char* out, std::int64_t number) {
    *out++ = ':';
    return print(out, number);
}

char* print_text(char* out, const std::string& text) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void require_offsets(Integers offsets, std::size_t locations, std::size_t rows) {
    require(offsets.size() == locations + 1, "one offset per location, and the end");
    require(offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(rows),
            "offsets go from 0 to the number of rows");
    require(std::is_sorted(offsets.begin(), offsets.end()), "offsets never decrease");
}

void require_length(std::initializer_list<Integers> columns) {
    for (const Integers& column : columns) {
        require(column.size() == columns.begin()->size(), "columns of one table are equally long");
    }
}

}  // namespace

BodyWriter::BodyWriter(const RecordObjects& objects) {
    require_length({objects.cpu, objects.application, objects.task, objects.thread});
    names_.reserve(objects.cpu.size());
    for (std::size_t k = 0; k < objects.cpu.size(); ++k) {
        names_.push_back(std::to_string(objects.cpu[k]) + ':' +
                         std::to_string(objects.application[k]) + ':' +
                         std::to_string(objects.task[k]) + ':' + std::to_string(objects.thread[k]));
    }
}

void BodyWriter::load(const RecordColumns& columns) {
    const std::size_t locations = names_.size();
    require_length({columns.event_time, columns.event_type, columns.event_value});
    require_length({columns.state_begin, columns.state_end, columns.state_value});
    require_length({columns.link_leave, columns.link_send, columns.link_receiver, columns.link_post,
                    columns.link_receive, columns.link_size, columns.link_tag});
    require_offsets(columns.event_offsets, locations, columns.event_time.size());
    require_offsets(columns.state_offsets, locations, columns.state_begin.size());
    require_offsets(columns.link_offsets, locations, columns.link_leave.size());
    for (const std::int64_t receiver : columns.link_receiver) {
        require(receiver >= 0 && receiver < static_cast<std::int64_t>(locations),
                "a receiver is a location");
    }
    columns_ = columns;
    cursors_.resize(locations);
    for (std::size_t k = 0; k < locations; ++k) {
        cursors_[k] = {columns.event_offsets[k], columns.event_offsets[k + 1],
                       columns.state_offsets[k], columns.state_offsets[k + 1],
                       columns.link_offsets[k],  columns.link_offsets[k + 1]};
    }
    build_tree();
}

std::int64_t BodyWriter::next_time(const Cursor& cursor) const {
    std::int64_t time = never;
    if (cursor.event < cursor.event_end) time = columns_.event_time[cursor.event];
    if (cursor.state < cursor.state_end) {
        time = std::min(time, columns_.state_begin[cursor.state]);
    }
    if (cursor.link < cursor.link_end) time = std::min(time, columns_.link_leave[cursor.link]);
    return time;
}

void BodyWriter::build_tree() {
    leaves_ = 1;
    while (leaves_ < names_.size()) leaves_ *= 2;
    times_.assign(leaves_, never);
    for (std::size_t k = 0; k < names_.size(); ++k) times_[k] = next_time(cursors_[k]);
    winners_.assign(2 * leaves_, 0);
    for (std::size_t k = 0; k < leaves_; ++k) winners_[leaves_ + k] = static_cast<std::uint32_t>(k);
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
        const auto left = winners_[2 * node], right = winners_[2 * node + 1];
        winners_[node] = times_[right] < times_[left] ? right : left;
    }
}

/// Replays the games of one location after its next time changed.
void BodyWriter::advance(std::size_t location) {
    const std::int64_t before = times_[location];
    times_[location] = next_time(cursors_[location]);
    if (times_[location] < before && disordered_ < 0) {
        disordered_ = static_cast<std::int64_t>(location);
    }
    for (std::size_t node = (leaves_ + location) / 2; node > 0; node /= 2) {
        const auto left = winners_[2 * node], right = winners_[2 * node + 1];
        winners_[node] = times_[right] < times_[left] ? right : left;
    }
}

std::size_t BodyWriter::fill(std::span<char> out) {
    if (names_.empty() || winners_.empty()) return 0;
    char* at = out.data();
    char* const end = out.data() + out.size();
    while (end - at >= static_cast<std::ptrdiff_t>(longest_line)) {
        const std::size_t location = winners_[1];
        if (times_[location] == never) break;
        at = print_moment(at, location, times_[location]);
        advance(location);
    }
    return static_cast<std::size_t>(at - out.data());
}

/// Prints the next line of a location, whose next record is at `time`.
char* BodyWriter::print_moment(char* out, std::size_t location, std::int64_t time) {
    Cursor& cursor = cursors_[location];
    if (cursor.state < cursor.state_end && columns_.state_begin[cursor.state] == time) {
        return print_state(out, location, cursor.state++);
    }
    if (cursor.event < cursor.event_end && columns_.event_time[cursor.event] == time) {
        return print_events(out, location, cursor, time);
    }
    return print_link(out, location, cursor.link++);
}

char* BodyWriter::print_state(char* out, std::size_t location, std::int64_t row) {
    const std::int64_t begin = columns_.state_begin[row], end = columns_.state_end[row];
    if (end <= begin && end != -1) {
        ++dropped_;
        return out;
    }
    *out++ = '1';
    *out++ = ':';
    out = print_text(out, names_[location]);
    out = print_field(out, begin);
    out = print_field(out, end);
    out = print_field(out, columns_.state_value[row]);
    *out++ = '\n';
    return out;
}

char* BodyWriter::print_events(char* out, std::size_t location, Cursor& cursor, std::int64_t time) {
    char* const line = out;
    *out++ = '2';
    *out++ = ':';
    out = print_text(out, names_[location]);
    out = print_field(out, time);
    char* const pairs = out;
    const std::int64_t last = std::min(cursor.event_end, cursor.event + most_pairs);
    while (cursor.event < last && columns_.event_time[cursor.event] == time) {
        const std::int64_t type = columns_.event_type[cursor.event];
        if (type > 0 && type <= largest_type) {
            out = print_field(out, type);
            out = print_field(out, columns_.event_value[cursor.event]);
        } else {
            ++dropped_;
        }
        ++cursor.event;
    }
    if (out == pairs) return line;
    *out++ = '\n';
    return out;
}

char* BodyWriter::print_link(char* out, std::size_t location, std::int64_t row) {
    *out++ = '3';
    *out++ = ':';
    out = print_text(out, names_[location]);
    out = print_field(out, columns_.link_send[row]);
    out = print_field(out, columns_.link_leave[row]);
    *out++ = ':';
    out = print_text(out, names_[columns_.link_receiver[row]]);
    out = print_field(out, columns_.link_post[row]);
    out = print_field(out, columns_.link_receive[row]);
    out = print_field(out, columns_.link_size[row]);
    out = print_field(out, columns_.link_tag[row]);
    *out++ = '\n';
    return out;
}

}  // namespace burstline
