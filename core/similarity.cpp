#include "similarity.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace burstline {
namespace {

using Symbols = std::span<const std::int32_t>;
constexpr std::size_t word_bits = 64;

/// Where each symbol of a sequence stands, as a row of bits per symbol.
class Positions {
  public:
    explicit Positions(Symbols text) : words_((text.size() + word_bits - 1) / word_bits) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto [entry, is_new] = row_.try_emplace(text[i], row_.size());
            if (is_new) bits_.resize(bits_.size() + words_, 0);
            bits_[entry->second * words_ + i / word_bits] |= std::uint64_t{1} << (i % word_bits);
        }
    }

    [[nodiscard]] std::size_t words() const { return words_; }

    [[nodiscard]] const std::uint64_t* of(std::int32_t symbol) const {
        const auto found = row_.find(symbol);
        return found == row_.end() ? nullptr : bits_.data() + found->second * words_;
    }

  private:
    std::size_t words_;
    std::unordered_map<std::int32_t, std::size_t> row_;
    std::vector<std::uint64_t> bits_;
};

/// Length of a longest common subsequence, the whole of it.
std::int64_t longest_common(Symbols a, Symbols b) {
    if (a.empty() || b.empty()) return 0;
    const Positions positions(a);
    // A zero at position i: the best match of what was read of b ends its (number of
    // zeros up to i)-th symbol at or before a[i].
    std::vector<std::uint64_t> open(positions.words(), ~std::uint64_t{0});
    for (const std::int32_t symbol : b) {
        const std::uint64_t* match = positions.of(symbol);
        if (match == nullptr) continue;
        std::uint64_t carry = 0;
        for (std::size_t w = 0; w < open.size(); ++w) {
            const std::uint64_t hits = open[w] & match[w];
            const std::uint64_t sum = open[w] + hits;
            const std::uint64_t carried = sum + carry;
            carry =
                static_cast<std::uint64_t>(sum < hits) | static_cast<std::uint64_t>(carried < sum);
            open[w] = carried | (open[w] - hits);
        }
    }
    std::int64_t common = 0;
    for (std::size_t w = 0; w < open.size(); ++w) {
        const std::size_t used = std::min(word_bits, a.size() - w * word_bits);
        const std::uint64_t mask =
            used == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
        common += std::popcount(~open[w] & mask);
    }
    return common;
}

}  // namespace

std::int64_t common_in_order(Symbols a, Symbols b, std::size_t window) {
    if (window == 0) throw std::invalid_argument("a window holds at least one symbol");

    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t prefix = 0;
    while (prefix < shorter && a[prefix] == b[prefix]) ++prefix;
    a = a.subspan(prefix);
    b = b.subspan(prefix);
    std::size_t suffix = 0;
    while (suffix < std::min(a.size(), b.size()) &&
           a[a.size() - 1 - suffix] == b[b.size() - 1 - suffix])
        ++suffix;
    a = a.first(a.size() - suffix);
    b = b.first(b.size() - suffix);

    const std::size_t windows = (std::max(a.size(), b.size()) + window - 1) / window;
    auto common = static_cast<std::int64_t>(prefix + suffix);
    for (std::size_t w = 0; w < windows; ++w) {
        const auto part = [&](Symbols whole) {
            const std::size_t begin = whole.size() * w / windows;
            return whole.subspan(begin, whole.size() * (w + 1) / windows - begin);
        };
        common += longest_common(part(a), part(b));
    }
    return common;
}

}  // namespace burstline
