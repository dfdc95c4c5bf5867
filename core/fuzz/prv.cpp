// Whatever bytes the body of a .prv holds, it is scanned, packed, spilled, restored and
// built without a crash, and what comes out obeys the laws of the tables.
#include <cstdint>
#include <cstring>
#include <vector>

#include "builder.hpp"

using namespace burstline;

namespace {

void require(bool law) {
    if (!law) __builtin_trap();
}

const std::vector<TypeTable::Range> ranges = {
    {42000000, 42000010, EventClass::counter},
    {41999999, 41999999, EventClass::counter_set},
    {50000001, 50000005, EventClass::mpi_call},
    {50100001, 50100001, EventClass::collective_sent},
    {50100002, 50100002, EventClass::collective_received},
    {50100003, 50100003, EventClass::collective_root},
    {50100004, 50100004, EventClass::collective_communicator},
    {70000000, 70000100, EventClass::caller_function},
    {80000000, 80000100, EventClass::caller_line},
    {50000304, 50000304, EventClass::poll_count},
    {50000305, 50000305, EventClass::poll_time},
    {40000003, 40000003, EventClass::flush},
    {40000012, 40000012, EventClass::tracing},
    {50001000, 50001000, EventClass::rma_size},
    {50001001, 50001001, EventClass::rma_target},
    {50000110, 50000110, EventClass::io_size},
    {60000018, 60000019, EventClass::region},
    {60000007, 60000007, EventClass::lock},
    {60000119, 60000119, EventClass::region_line},
    {60000032, 60000032, EventClass::lock_address}};

Vocabulary words_for(const TypeTable& types) {
    Vocabulary words;
    words.type = types.types();
    for (std::size_t code = 0; code < words.type.size(); ++code) {
        words.kind.push_back(types.kind(static_cast<std::uint32_t>(code)));
        const bool is_counter = words.kind.back() == EventClass::counter;
        words.counter.push_back(is_counter ? static_cast<std::int32_t>(words.counters++) : unknown);
    }
    words.operation.assign(256, unknown);
    // Send, Recv, Isend, Irecv, Wait, Allreduce, Start, Put: enough kinds to meet every branch.
    const std::pair<int, std::uint16_t> known[] = {
        {1, blocking_send}, {2, blocking_receive}, {3, immediate_send}, {4, immediate_receive},
        {5, completion},    {10, collective},      {123, start},        {65, puts_memory}};
    for (const auto& [value, kind] : known) {
        words.operation[static_cast<std::size_t>(value)] =
            static_cast<std::int16_t>(words.call_kind.size());
        words.call_kind.push_back(kind);
    }
    words.communicator[{0, 1}] = 0;
    words.application = {0, 0, 0, 1};
    words.lock_step = {{0, LockStep::released}, {3, LockStep::requested}, {6, LockStep::acquired}};
    words.first_function = 70000000, words.first_line = 80000000;
    words.end_of_time = std::int64_t{1} << 61;
    return words;
}

void check(Builder& builder) {
    const auto& rows = builder.rows();
    std::int64_t previous = unknown;
    for (std::uint64_t row = 0; row < rows.calls; ++row) {
        require(builder.calls.location[row] >= previous);
        previous = builder.calls.location[row];
        require(builder.calls.enter_ns[row] <= builder.calls.leave_ns[row]);
        require(builder.calls.enter_seq[row] < builder.calls.leave_seq[row] ||
                builder.calls.enter_ns[row] == builder.calls.leave_ns[row]);
    }
    for (std::uint64_t row = 0; row < rows.bursts; ++row) {
        require(builder.bursts.call_after[row] == builder.bursts.call_before[row] + 1);
        require(builder.bursts.start_ns[row] <= builder.bursts.end_ns[row]);
        require(builder.bursts.gap_ns[row] >= 0);
    }
    for (std::uint64_t row = 0; row < rows.regions; ++row) {
        require(builder.regions.enter_ns[row] <= builder.regions.leave_ns[row]);
        require(builder.regions.parent[row] < builder.regions.row[row]);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 1) return 0;
    const std::size_t cut = bytes[0] * size / 256;
    const std::vector<char> text(bytes + 1, bytes + size);

    const std::vector<std::int32_t> buckets =
        bytes[0] % 2 ? std::vector<std::int32_t>{0, 0, 1} : std::vector<std::int32_t>{0, 0, 0};
    const Layout layout({2, 1}, {1, 2, 1}, buckets);
    TypeTable types({}, ranges);
    Journal journal(layout);
    Block block(layout, types, bytes[0] % 3 ? 1 : 1000);

    std::size_t first = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\n' || (at + 1 < cut && at + 1 < text.size())) continue;
        block.scan({text.data() + first, at + 1 - first});
        block.encode();
        journal.append(block);
        first = at + 1;
    }
    block.scan({text.data() + first, text.size() - first});
    block.encode();
    journal.append(block);

    for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket) {
        std::vector<std::uint8_t> written;
        for (const auto part : journal.parts(bucket))
            written.insert(written.end(), part.begin(), part.end());
        journal.release(bucket);
        journal.restore(bucket, written);
    }
    const Vocabulary words = words_for(types);
    PathTable paths;
    Builder builder(journal, layout, words, paths, 0, layout.buckets(), true, true);
    for (std::size_t bucket = 0; bucket < layout.buckets(); ++bucket) builder.build(bucket);
    builder.finish();
    check(builder);
    require(journal.resident() == 0);
    return 0;
}
