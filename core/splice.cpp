// splice.cpp -- see splice.hpp.
#include "splice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace burstline {

namespace {

constexpr std::size_t longest_number = 20;

/// Reads numbers with colons between them; a number is digits with an optional sign.
class Fields {
  public:
    Fields(const char* at, const char* end) : at_(at), end_(end) {}

    bool number(std::int64_t& value) {
        const auto [after, error] = std::from_chars(at_, end_, value);
        if (after == at_) return false;
        // Beyond 64 bits it is still a number: of the same bits, or one nobody asks for.
        if (error != std::errc{}) value = no_value;
        at_ = after;
        return true;
    }
    bool colon() { return at_ != end_ && *at_ == ':' && ++at_ != end_; }
    bool has_more() const { return at_ != end_ && *at_ == ':'; }
    const char* at() const { return at_; }

  private:
    const char *at_, *end_;
};

/// Looks moments up; a thread's records mostly come in order of time.
class Lookup {
  public:
    Lookup(const Moments& moments, std::size_t locations) : moments_(moments), next_(locations) {
        for (std::size_t k = 0; k < locations; ++k) next_[k] = moments.begin[k];
    }

    std::int64_t find(std::int32_t location, std::int64_t time) {
        const auto k = static_cast<std::size_t>(location);
        const auto first = moments_.begin[k], last = moments_.begin[k + 1];
        auto& next = next_[k];
        if (!fits(next, first, last, time)) {
            const auto* const times = moments_.times.data();
            next = std::lower_bound(times + first, times + last, time) - times;
        }
        while (next < last && at(next) < time) ++next;
        return next < last && at(next) == time ? next : -1;
    }

  private:
    std::int64_t at(std::int64_t k) const { return moments_.times[static_cast<std::size_t>(k)]; }
    /// Tells whether the time is at the next moment, or between it and its neighbours.
    bool fits(std::int64_t next, std::int64_t first, std::int64_t last, std::int64_t time) const {
        if (next > first && at(next - 1) >= time) return false;
        return next >= last || at(next) >= time || next + 1 >= last || at(next + 1) >= time;
    }

    const Moments& moments_;
    std::vector<std::int64_t> next_;
};

std::uint8_t holds(std::int64_t type, std::int64_t value, const SoughtTypes& types) {
    if (std::ranges::binary_search(types.calls, type)) {
        return value != 0 ? enters_call : leaves_call;
    }
    return std::ranges::binary_search(types.counters, type) ? has_counter : 0;
}

/// Reads the pairs of a record; false if something in it is no pair.
bool read_pairs(Fields& fields, const char* end, const SoughtTypes& types, std::uint8_t& found) {
    std::int64_t type = 0, value = 0;
    found = 0;
    while (fields.has_more()) {
        if (!fields.colon() || !fields.number(type)) return false;
        if (!fields.colon() || !fields.number(value)) return false;
        found |= holds(type, value, types);
    }
    const auto* rest = fields.at();
    while (rest != end && (*rest == ' ' || *rest == '\r')) ++rest;
    return rest == end;
}

void append_number(std::vector<std::uint8_t>& out, std::int64_t number) {
    std::array<char, longest_number> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.push_back(':');
    out.insert(out.end(), digits.data(), end);
}

}  // namespace

RecordsFound find_records(std::span<const char> text, const Layout& layout, const Moments& moments,
                          const SoughtTypes& types) {
    RecordsFound found;
    Lookup lookup(moments, layout.locations());
    const auto* const begin = text.data();
    const auto* const end = begin + text.size();
    for (const auto* line = begin; line < end;) {
        const auto left = static_cast<std::size_t>(end - line);
        const auto* const stop = static_cast<const char*>(std::memchr(line, '\n', left));
        const auto* const line_end = stop == nullptr ? end : stop;
        const auto* const at = line;
        line = line_end + 1;
        if (stop == nullptr || line_end - at < 2 || at[0] != '2' || at[1] != ':') continue;
        Fields fields(at + 2, line_end);
        std::array<std::int64_t, 5> head{};  // processor, application, task, thread, time
        bool is_whole = true;
        for (std::size_t k = 0; k < head.size() && is_whole; ++k) {
            is_whole = (k == 0 || fields.colon()) && fields.number(head[k]);
        }
        if (!is_whole) continue;
        const auto location = layout.locate(head[1], head[2], head[3]);
        if (location == unknown) continue;
        const auto moment = lookup.find(location, head[4]);
        std::uint8_t bits = 0;
        if (moment < 0 || !read_pairs(fields, line_end, types, bits)) continue;
        found.moment.push_back(moment);
        found.end.push_back(fields.at() - begin);
        found.holds.push_back(bits);
    }
    return found;
}

std::vector<std::uint8_t> with_pairs(std::span<const char> text,
                                     std::span<const std::int64_t> places,
                                     std::span<const std::int64_t> types,
                                     std::span<const std::int64_t> values) {
    std::vector<std::uint8_t> out;
    out.reserve(text.size() + values.size() * longest_number);
    std::size_t done = 0;
    for (std::size_t row = 0; row < places.size(); ++row) {
        const auto place = static_cast<std::size_t>(places[row]);
        out.insert(out.end(), text.data() + done, text.data() + place);
        done = place;
        for (std::size_t c = 0; c < types.size(); ++c) {
            const auto value = values[row * types.size() + c];
            if (value == no_value) continue;
            append_number(out, types[c]);
            append_number(out, value);
        }
    }
    out.insert(out.end(), text.data() + done, text.data() + text.size());
    return out;
}

}  // namespace burstline
