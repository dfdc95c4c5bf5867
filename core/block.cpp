// block.cpp -- see block.hpp.
#include "block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace burstline {

namespace {

constexpr std::size_t longest_excerpt = 80;
constexpr std::size_t shortest_pair = 4;                      // bytes of ":1:1"
constexpr std::int64_t largest_size = std::int64_t{1} << 56;  // a hundred can be added up
constexpr std::int64_t far_future = std::int64_t{1} << 61;

bool is_end(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

/// Twenty digits or more: leading zeros are fine, more than 64 bits are not.
bool parse_long(const char* digits, const char* end, std::uint64_t& value) {
    while (digits < end && *digits == '0') ++digits;
    if (end - digits > 20) return false;
    value = 0;
    for (; digits < end; ++digits) {
        const auto digit = static_cast<std::uint64_t>(*digits - '0');
        if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return false;
        value = value * 10 + digit;
    }
    return true;
}

enum class Parsed : std::uint8_t { good, bad_character, too_big };

/// One field: an optional sign and digits. Stops at whatever follows them.
inline Parsed parse(const char*& at, std::int64_t& result) {
    const bool negative = *at == '-';
    at += negative;
    const char* const digits = at;
    std::uint64_t value = 0;
    for (unsigned digit; (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) < 10; ++at) {
        value = value * 10 + digit;
    }
    const auto length = at - digits;
    if (length == 0) return Parsed::bad_character;
    if (length > 19 && !parse_long(digits, at, value)) return Parsed::too_big;
    result = static_cast<std::int64_t>(negative ? 0 - value : value);
    return Parsed::good;
}

/// Scanning never passes the end of a line, and the text ends with one.
const char* end_of_line(const char* at, const char* end) {
    if (*at == '\n') return at;
    return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
}

const char* skip_blanks(const char* at) {
    while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
    return at;
}

}  // namespace

Block::Block(const Layout& layout, TypeTable& types, std::int64_t unit)
    : layout_(&layout), cache_(types), unit_(unit), latest_(far_future / unit),
      cpu_seen_(layout.locations(), unknown) {
    events_.push_back({unknown, 0, 0});
}

void Block::scan(std::span<const char> text) {
    lines_ = 0;
    events_.clear();
    pairs_ = 0;
    types_.require(text.size() / shortest_pair + 1);
    values_.require(text.size() / shortest_pair + 1);
    states_.clear();
    communications_.clear();
    texts_.clear();
    processors_.clear();
    segments_.clear();
    used_ = 0;
    flaws_ = {};
    const char* at = text.data();
    const char* end = at + text.size();
    const char* last = end;
    while (last > at && last[-1] != '\n') --last;
    while (at < last) at = scan_line(at, last);
    if (last < end) {
        ++lines_;
        note(Flaw::unterminated_line, last, end);
    }
    events_.push_back({unknown, static_cast<std::uint32_t>(pairs_), 0});
}

const char* Block::scan_line(const char* at, const char* end) {
    ++lines_;
    const char* const line = at;
    bool good = true;
    const char kind = *at;
    if (kind >= '1' && kind <= '3' && at[1] == ':') {
        at += 2;
        if (kind == '2')
            good = scan_event(at);
        else if (kind == '1')
            good = scan_state(at);
        else
            good = scan_communication(at);
    } else if (kind == '#' || kind == 'c' || kind == 'C' || kind == 'i' || kind == 'I') {
        at = end_of_line(at, end);
        texts_.emplace_back(lines_, std::string(line, at));
    } else if (*skip_blanks(at) != '\n') {
        good = fail(kind == '4' && at[1] == ':' ? Flaw::obsolete_record : Flaw::unknown_record);
    }
    at = end_of_line(at, end);
    if (!good) note(flaw_, line, at);
    return at + 1;
}

void Block::note(Flaw flaw, const char* at, const char* end) {
    FlawSeen& seen = flaws_[static_cast<std::size_t>(flaw)];
    if (seen.count++ == 0) {
        seen.first_line = lines_;
        seen.excerpt.assign(at, std::min(end, at + longest_excerpt));
    }
}

void Block::note_processor(std::int32_t location, std::int64_t cpu) {
    auto& seen = cpu_seen_[static_cast<std::size_t>(location)];
    if (seen != cpu) {
        seen = static_cast<std::int32_t>(cpu);
        processors_.emplace_back(location, seen);
    }
}

/// cpu:application:task:thread: of every record.
bool Block::head(const char*& at, std::int64_t& cpu, std::int32_t& location) {
    std::int64_t field[4];
    for (auto& value : field) {
        const auto parsed = parse(at, value);
        if (parsed != Parsed::good) {
            return fail(parsed == Parsed::too_big ? Flaw::number_out_of_range
                                                  : Flaw::malformed_line);
        }
        if (!colon(at)) return false;
    }
    cpu = field[0];
    if (cpu < 0 || cpu > INT32_MAX) return fail(Flaw::number_out_of_range);
    location = layout_->locate(field[1], field[2], field[3]);
    return location != unknown || fail(Flaw::undeclared_object);
}

/// Steps over the colon between two fields, and over nothing else.
bool Block::colon(const char*& at) {
    if (*at != ':') return fail(is_end(*at) ? Flaw::wrong_field_count : Flaw::malformed_line);
    ++at;
    return true;
}

/// Whether the last field ends here, and with it the line, but for blanks.
bool Block::line_ends(const char* at) {
    if (*skip_blanks(at) == '\n') return true;
    return fail(*at == ':' ? Flaw::wrong_field_count : Flaw::malformed_line);
}

bool Block::time(const char*& at, std::int64_t& value) {
    const auto parsed = parse(at, value);
    if (parsed != Parsed::good) {
        return fail(parsed == Parsed::too_big ? Flaw::time_out_of_range : Flaw::malformed_line);
    }
    if (value < 0 || value > latest_) return fail(Flaw::time_out_of_range);
    value *= unit_;
    return true;
}

bool Block::scan_state(const char*& at) {
    StateLine row;
    std::int64_t cpu;
    if (!head(at, cpu, row.location) || !time(at, row.begin) || !colon(at)) return false;
    if (*at == '-' && at[1] == '1' && at[2] == ':') {
        row.end = -1;
        at += 2;
    } else if (!time(at, row.end)) {
        return false;
    }
    if (!colon(at)) return false;
    if (parse(at, row.state) != Parsed::good) return fail(Flaw::malformed_line);
    if (!line_ends(at)) return false;
    if (row.end >= 0 && row.end < row.begin) return fail(Flaw::inverted_state);
    note_processor(row.location, cpu);
    states_.push_back(row);
    return true;
}

bool Block::scan_event(const char*& at) {
    EventLine row;
    std::int64_t cpu;
    if (!head(at, cpu, row.location) || !time(at, row.time)) return false;
    const char* const fields = at;
    row.first_pair = static_cast<std::uint32_t>(pairs_);
    std::size_t pair = pairs_;
    while (*at == ':') {
        ++at;
        if (is_end(*at)) break;
        std::int64_t& type = types_[pair];
        auto parsed = parse(at, type);
        if (parsed == Parsed::good && type < 0) parsed = Parsed::too_big;
        if (parsed == Parsed::good && *at == ':') {
            ++at;
            parsed = parse(at, values_[pair]);
        } else if (parsed == Parsed::good && is_end(*at)) {
            note(Flaw::odd_pairs, fields, at);
            break;
        } else if (parsed == Parsed::good) {
            parsed = Parsed::bad_character;
        }
        if (parsed == Parsed::too_big) return fail(Flaw::number_out_of_range);
        if (parsed == Parsed::bad_character) return fail(Flaw::malformed_line);
        ++pair;
    }
    if (*skip_blanks(at) != '\n') return fail(Flaw::malformed_line);
    pairs_ = pair;
    note_processor(row.location, cpu);
    events_.push_back(row);
    return true;
}

bool Block::scan_communication(const char*& at) {
    CommunicationLine row;
    std::int64_t cpu, other_cpu;
    if (!head(at, cpu, row.sender) || !time(at, row.logical_send) || !colon(at) ||
        !time(at, row.physical_send) || !colon(at) || !head(at, other_cpu, row.receiver) ||
        !time(at, row.logical_receive) || !colon(at) || !time(at, row.physical_receive) ||
        !colon(at))
        return false;
    if (parse(at, row.size) != Parsed::good) return fail(Flaw::malformed_line);
    if (row.size > largest_size) return fail(Flaw::number_out_of_range);
    if (!colon(at)) return false;
    if (parse(at, row.tag) != Parsed::good) return fail(Flaw::malformed_line);
    if (!line_ends(at)) return false;
    note_processor(row.sender, cpu);
    note_processor(row.receiver, other_cpu);
    communications_.push_back(row);
    return true;
}

std::uint8_t* Block::reserve(std::size_t size) {
    if (bytes_.size() < used_ + size) bytes_.resize(std::max(used_ + size, bytes_.size() * 2));
    return bytes_.data() + used_;
}

/// Stable counting sort of rows by location: rows of location k are
/// order[begin[k] .. begin[k + 1]).
template <class Row>
static void group(std::span<const Row> rows, std::size_t locations,
                  std::vector<std::uint32_t>& begin, std::vector<std::uint32_t>& order) {
    begin.assign(locations + 2, 0);
    order.resize(rows.size());
    for (const auto& row : rows) ++begin[static_cast<std::size_t>(row.location) + 2];
    for (std::size_t k = 2; k < begin.size(); ++k) begin[k] += begin[k - 1];
    for (std::size_t row = 0; row < rows.size(); ++row) {
        order[begin[static_cast<std::size_t>(rows[row].location) + 1]++] =
            static_cast<std::uint32_t>(row);
    }
}

void Block::encode() {
    const std::size_t locations = layout_->locations();
    group(events(), locations, event_begin_, event_rows_);
    group(states(), locations, state_begin_, state_rows_);
    for (std::size_t location = 0; location < locations; ++location) {
        const std::span<const std::uint32_t> events(
            event_rows_.data() + event_begin_[location],
            event_begin_[location + 1] - event_begin_[location]);
        const std::span<const std::uint32_t> states(
            state_rows_.data() + state_begin_[location],
            state_begin_[location + 1] - state_begin_[location]);
        if (events.empty() && states.empty()) continue;
        Segment segment{};
        segment.location = static_cast<std::int32_t>(location);
        segment.offset = used_;
        segment.events_sorted = segment.states_sorted = true;
        encode_events(segment, events);
        encode_states(segment, states);
        segments_.push_back(segment);
    }
}

void Block::encode_events(Segment& segment, std::span<const std::uint32_t> rows) {
    const std::size_t start = used_;
    std::int64_t previous = 0;
    for (const auto row : rows) {
        const EventLine& line = events_[row];
        const std::uint32_t first = line.first_pair, last = events_[row + 1].first_pair;
        std::uint8_t* const begin = reserve((2 + 2 * std::size_t{last - first}) * longest_varint);
        std::uint8_t* at = put_varint(begin, fold_sign(line.time - previous));
        at = put_varint(at, last - first);
        bool reading = false;
        for (auto pair = first; pair < last; ++pair) {
            const auto& type = cache_.find(types_[pair]);
            at = put_varint(at, type.code);
            at = put_varint(at, fold_sign(values_[pair]));
            if (type.kind == EventClass::counter) {
                if (last_row_.size() <= type.code) last_row_.resize(type.code + 1, 0);
                if (!reading || last_row_[type.code] == row_) {
                    ++row_;
                    ++segment.readings;
                    reading = true;
                }
                last_row_[type.code] = row_;
            } else if (type.kind == EventClass::mpi_call) {
                segment.calls += values_[pair] != 0;
                reading = false;
            } else if (type.kind == EventClass::region || type.kind == EventClass::lock) {
                segment.regions += values_[pair] != 0;
            }
        }
        used_ += static_cast<std::size_t>(at - begin);
        if (segment.event_lines++ == 0)
            segment.first_event = segment.last_event = line.time;
        else
            segment.events_sorted &= line.time >= previous;
        segment.first_event = std::min(segment.first_event, line.time);
        segment.last_event = std::max(segment.last_event, line.time);
        segment.pairs += last - first;
        previous = line.time;
    }
    segment.events_size = static_cast<std::uint32_t>(used_ - start);
}

void Block::encode_states(Segment& segment, std::span<const std::uint32_t> rows) {
    const std::size_t start = used_;
    std::int64_t previous = 0;
    for (const auto row : rows) {
        const StateLine& line = states_[row];
        std::uint8_t* const begin = reserve(3 * longest_varint);
        std::uint8_t* at = put_varint(begin, fold_sign(line.begin - previous));
        at = put_varint(at,
                        line.end < 0 ? 0 : static_cast<std::uint64_t>(line.end - line.begin) + 1);
        at = put_varint(at, fold_sign(line.state));
        used_ += static_cast<std::size_t>(at - begin);
        if (segment.states++ == 0)
            segment.first_state = line.begin;
        else
            segment.states_sorted &= line.begin >= previous;
        previous = line.begin;
        segment.latest_end = std::max({segment.latest_end, line.begin, line.end});
    }
    segment.last_state = previous;
    segment.states_size = static_cast<std::uint32_t>(used_ - start);
}

}  // namespace burstline
