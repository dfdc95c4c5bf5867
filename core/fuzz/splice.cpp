// Whatever bytes a piece of a .prv holds, the records found in it end where a pair may stand,
// and putting pairs there changes no other byte.
#include "splice.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace burstline;

namespace {

void require(bool law) {
    if (!law) __builtin_trap();
}

bool is_digit(char character) { return character >= '0' && character <= '9'; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::vector<char> text(bytes, bytes + size);
    const Layout layout({2, 1}, {1, 2, 1}, {0, 0, 0});
    const std::vector<std::int64_t> begin = {0, 4, 4, 6, 7}, times = {0, 5, 5, 100, 7, 9, 1};
    const std::vector<std::int64_t> calls = {50000001, 50000003}, counters = {42000000, 42000059};
    const auto found = find_records(text, layout, {begin, times}, {calls, counters});
    require(found.end.size() == found.moment.size() && found.holds.size() == found.end.size());
    std::int64_t previous = 0;
    for (std::size_t row = 0; row < found.end.size(); ++row) {
        const auto end = found.end[row];
        require(found.moment[row] >= 0 && found.moment[row] < 7 && found.holds[row] < 8);
        require(end > previous && end < static_cast<std::int64_t>(size));
        require(is_digit(text[static_cast<std::size_t>(end) - 1]));
        const auto behind = text[static_cast<std::size_t>(end)];
        require(behind == '\n' || behind == ' ' || behind == '\r');
        previous = end;
    }

    const std::vector<std::int64_t> types = {42000059, 42000060};
    std::vector<std::int64_t> values;
    for (std::size_t row = 0; row < found.end.size(); ++row) {
        values.insert(values.end(), {row % 2 ? no_value : INT64_MAX, -1});
    }
    std::string expected;
    std::size_t done = 0;
    for (std::size_t row = 0; row < found.end.size(); ++row) {
        const auto end = static_cast<std::size_t>(found.end[row]);
        expected.append(text.data() + done, end - done);
        if (row % 2 == 0) expected += ":42000059:9223372036854775807";
        expected += ":42000060:-1";
        done = end;
    }
    expected.append(text.data() + done, size - done);
    const auto spliced = with_pairs(text, found.end, types, values);
    require(std::string(spliced.begin(), spliced.end()) == expected);
    return 0;
}
