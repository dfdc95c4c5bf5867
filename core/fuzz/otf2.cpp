// Whatever the events of an archive say, the timeline keeps within the room of its tables and
// the rows obey their laws. The library that decodes events is not the target: it runs in a
// child. Memory that both would share is taken from the heap here, where a sanitizer sees
// every row beyond its column.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "otf2_timeline.hpp"

namespace burstline::otf2 {

Shared::Shared(std::size_t bytes) : data_(std::calloc(bytes > 0 ? bytes : 1, 1)), bytes_(bytes) {}
Shared::Shared(Shared&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
Shared::~Shared() { std::free(data_); }

}  // namespace burstline::otf2

using namespace burstline::otf2;

namespace {

void require(bool law) {
    if (!law) __builtin_trap();
}

/// Takes numbers from bytes; zeros behind their end.
class Source {
  public:
    Source(const std::uint8_t* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
    bool has_more() const { return at_ != end_; }
    std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
    /// A number of few bits mostly, of all bits at times.
    std::uint64_t number() {
        const auto small = byte();
        if (small < 0xf0) return small % 12;
        std::uint64_t value = 0;
        for (int k = 0; k < 8; ++k) value = value << 8 | byte();
        return value >> (small % 16 * 4);
    }
    std::uint32_t reference() { return static_cast<std::uint32_t>(number()); }

  private:
    const std::uint8_t *at_, *end_;
};

Meaning meaning_for(std::uint8_t choice) {
    constexpr std::uint64_t resolutions[] = {1'000'000'000, 1, 3, std::uint64_t{1} << 40,
                                             ~std::uint64_t{0}};
    Meaning meaning;
    for (std::int32_t row = 0; row < 6; ++row) {
        meaning.near.push_back({row, row < 3 ? row : -1});
        meaning.is_barrier.push_back(row % 2 == 1);
    }
    meaning.is_barrier.resize(8);
    meaning.far = {{1000, {6, -1}}, {0xffffffff, {5, 2}}};
    meaning.unknown_region = 6, meaning.team_region = 7;
    meaning.contexts = {{0, {0, 0, -1}}, {1, {3, 3, 1}}, {2, {1000, 6, -1}}};
    meaning.like = {{1, 0}, {2, 0}};
    meaning.resolution = resolutions[choice % 5];
    meaning.offset = choice < 128 ? 0 : std::uint64_t{1} << (choice % 64);
    return meaning;
}

void play(Source& source, Timeline& line, const Meaning& meaning, std::uint64_t& ticks) {
    const auto kind = source.byte();
    ticks = kind < 0xf8 ? ticks + source.byte() : source.number();
    line.at(ticks);
    switch (kind % 14) {
        case 0:
        case 1:
            line.enter(source.reference());
            break;
        case 2:
        case 3:
            line.leave(source.reference());
            break;
        case 4:
            line.enter_context(source.byte() % 3);
            break;
        case 5:
            line.fork(static_cast<std::int64_t>(source.number()));
            break;
        case 6:
            line.join();
            break;
        case 7:
            line.begin_team(source.reference());
            break;
        case 8:
            line.end_team();
            break;
        case 9:
            line.switch_task(source.number());
            break;
        case 10:
            line.begin_collective();
            break;
        case 11: {
            const auto root = static_cast<std::int64_t>(source.number());
            line.end_collective(root, 0, source.byte(), 8, 8);
            break;
        }
        case 12: {
            const auto metric = source.reference();
            const auto count = static_cast<std::uint8_t>(source.byte() % 5);
            std::vector<std::uint8_t> types;
            std::vector<std::uint64_t> values;
            for (std::uint8_t k = 0; k < count; ++k) {
                types.push_back(source.byte());
                values.push_back(source.number());
            }
            line.begin_reading(metric);
            line.read_metric(metric, count, types.data(), values.data());
            return;  // what follows in its moment is under the same ordinal
        }
        default: {
            const auto record = static_cast<RecordKind>(source.byte() % 32);
            line.record(record, Message{.request = static_cast<std::int64_t>(source.number())});
        }
    }
    line.done();
}

template <class Rows>
void check_ends(const Rows& rows, std::uint64_t count, std::int32_t locations) {
    for (std::uint64_t row = 0; row < count; ++row) {
        require(rows.location[row] >= 0 && rows.location[row] < locations);
        require(row == 0 || rows.location[row - 1] <= rows.location[row]);
        require(rows.enter_ns[row] <= rows.leave_ns[row]);
        require(rows.enter_seq[row] <= rows.leave_seq[row]);
    }
}

void check(const Tables& tables, std::int32_t locations) {
    const auto& counts = tables.counts();
    for (const auto rows : {counts.calls, counts.regions, counts.records, counts.forks,
                            counts.teams, counts.readings, counts.paths}) {
        require(rows <= tables.room);
    }
    require(counts.values <= tables.room_values);
    require(counts.lives == static_cast<std::uint64_t>(locations));
    check_ends(tables.calls, counts.calls, locations);
    check_ends(tables.regions, counts.regions, locations);
    for (std::uint64_t row = 1; row < counts.calls; ++row) {  // one call at a time
        if (tables.calls.location[row - 1] != tables.calls.location[row]) continue;
        require(tables.calls.leave_ns[row - 1] <= tables.calls.enter_ns[row]);
        require(tables.calls.leave_seq[row - 1] < tables.calls.enter_seq[row]);
    }
    for (std::uint64_t row = 0; row < counts.regions; ++row) {
        require(tables.regions.parent[row] < tables.regions.row[row]);
    }
    for (std::uint64_t row = 0; row < counts.paths; ++row) {
        require(tables.paths.parent[row] < static_cast<std::int32_t>(row));
    }
    std::int64_t held = 0;
    for (std::uint64_t row = 0; row < counts.readings; ++row) held += tables.readings.count[row];
    require(held == static_cast<std::int64_t>(counts.values));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    constexpr std::int32_t locations = 3;
    Source source(bytes, size);
    const auto meaning = meaning_for(source.byte());
    const std::size_t room = source.byte() % 2 ? size + 1 : source.byte() % 8;
    Tables tables(room, room, locations);
    Timeline line(tables, meaning);
    for (std::int32_t location = 0; location < locations; ++location) {
        line.begin_location(location);
        std::uint64_t ticks = 0;
        for (auto events = source.byte(); events > 0 && source.has_more(); --events) {
            play(source, line, meaning, ticks);
        }
        line.end_location(0);
    }
    check(tables, locations);
    return 0;
}
