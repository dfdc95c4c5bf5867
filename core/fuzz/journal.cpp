// Numbers packed are the numbers unpacked; and journals that were spilled come back as they
// were, or are refused if their file is cut.
#include "journal.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "varint.hpp"

using namespace burstline;

namespace {

void require(bool law) {
    if (!law) __builtin_trap();
}

std::vector<std::uint8_t> written_of(const Journal& journal, std::vector<std::size_t>& ends) {
    std::vector<std::uint8_t> written;
    for (const auto part : journal.parts(0)) {
        written.insert(written.end(), part.begin(), part.end());
        ends.push_back(written.size());
    }
    return written;
}

void check_numbers(const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t first = 0; first + sizeof(std::uint64_t) <= size; first += 3) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes + first, sizeof value);
        value >>= bytes[first] % 64;
        std::uint8_t packed[longest_varint];
        const auto* const end = put_varint(packed, value);
        const std::uint8_t* at = packed;
        require(get_varint(at) == value && at == end && end - packed <= longest_varint);
        const auto number = static_cast<std::int64_t>(value);
        require(unfold_sign(fold_sign(number)) == number &&
                unfold_sign(fold_sign(~number)) == ~number);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size < 2) return 0;
    check_numbers(bytes, size);
    const std::size_t share = bytes[0];
    const std::vector<char> text(bytes + 1, bytes + size);
    const Layout layout({2}, {1, 2}, {0, 0});
    TypeTable types({}, {{42000000, 42000010, EventClass::counter}});
    Journal journal(layout);
    Block block(layout, types, 1);
    const std::size_t half = text.size() / 2;
    std::size_t first = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const bool is_last = k + 1 == text.size();
        if (!is_last && (text[k] != '\n' || k < half || first > 0)) continue;
        block.scan({text.data() + first, k + 1 - first});
        block.encode();
        journal.append(block);
        first = k + 1;
    }

    std::vector<std::size_t> ends{0};
    const auto written = written_of(journal, ends);
    const std::size_t cut = share * written.size() / 255;
    journal.release(0);
    require(journal.resident() == 0);
    bool is_whole = false;
    for (const auto end : ends) is_whole = is_whole || end == cut;
    // In memory of its own, so that reading on behind the cut is seen.
    const std::vector<std::uint8_t> beginning(written.begin(),
                                              written.begin() + static_cast<std::ptrdiff_t>(cut));
    try {
        Journal other(layout);
        other.restore(0, beginning);
        require(is_whole && other.resident() == cut);
    } catch (const std::invalid_argument&) {
        require(!is_whole);
    }
    journal.restore(0, written);
    std::vector<std::size_t> again{0};
    require(written_of(journal, again) == written && again == ends);
    for (const auto& location : journal.open(0).events) {
        for (const auto part : location) {
            const auto* at = part.begin;
            require(part.begin <= part.end);
            while (at < part.end) get_varint(at);
            require(at == part.end);
        }
    }
    return 0;
}
