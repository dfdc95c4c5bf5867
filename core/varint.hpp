// varint.hpp -- Integers as few bytes: seven bits a byte, low bits first.
// Signed values are folded so that small magnitudes of both signs are short.
// Knows bytes; knows nothing of what the numbers mean.
#pragma once

#include <cstdint>

namespace burstline {

constexpr int longest_varint = 10;

inline std::uint64_t fold_sign(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

inline std::int64_t unfold_sign(std::uint64_t folded) {
    return static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
}

/// Writes at most longest_varint bytes; returns the end of what it wrote.
inline std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) {
    while (value >= 0x80) {
        *at++ = static_cast<std::uint8_t>(value | 0x80);
        value >>= 7;
    }
    *at++ = static_cast<std::uint8_t>(value);
    return at;
}

/// Reads what put_varint wrote; the caller knows that the bytes are whole.
inline std::uint64_t get_varint(const std::uint8_t*& at) {
    std::uint64_t value = *at++;
    if (value < 0x80) return value;
    value &= 0x7F;
    for (int shift = 7;; shift += 7) {
        const std::uint64_t byte = *at++;
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
}

}  // namespace burstline
