// iteration_sets.hpp -- Sets of the iterations of a loop, a bit for each; equal sets are one.
// Knows bits, 64 to a word, and lanes of iterations next to each other; knows nothing of what is
// executed in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace burstline {

using Words = std::vector<std::uint64_t>;

/// The iterations of one lane, as the words that have some of its bits.
struct LaneBits {
    std::size_t first, last;  ///< words
    std::uint64_t in_first, in_last;

    [[nodiscard]] std::uint64_t mask(std::size_t word) const {
        return (word == first ? in_first : ~std::uint64_t{0}) &
               (word == last ? in_last : ~std::uint64_t{0});
    }
};

/// The bits from one iteration up to another; there are some.
inline LaneBits lane_bits(std::size_t begin, std::size_t end) {
    const std::uint64_t all = ~std::uint64_t{0};
    return {begin / 64, (end - 1) / 64, all << (begin % 64), all >> (63 - (end - 1) % 64)};
}

/// Sets that were met, by the number that equal ones share.
class IterationSets {
  public:
    explicit IterationSets(std::size_t words) : words_(words), table_(64, kNone) {}

    std::int32_t number_of(const std::uint64_t* set) {
        if (2 * (count_ + 1) > table_.size()) grow();
        std::int32_t& place = find(set);
        if (place == kNone) {
            place = static_cast<std::int32_t>(count_++);
            sets_.insert(sets_.end(), set, set + words_);
        }
        return place;
    }

    /// Until the next set is met.
    [[nodiscard]] const std::uint64_t* operator[](std::int32_t number) const {
        return sets_.data() + static_cast<std::size_t>(number) * words_;
    }

  private:
    static constexpr std::int32_t kNone = -1;

    std::int32_t& find(const std::uint64_t* set) {
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < words_; ++k)
            hash = ((hash ^ set[k]) * 0x9E3779B97F4A7C15u) ^ (hash >> 29);
        for (std::size_t at = hash >> 20;; ++at) {
            std::int32_t& place = table_[at & (table_.size() - 1)];
            if (place == kNone || std::equal(set, set + words_, (*this)[place])) return place;
        }
    }

    void grow() {
        table_.assign(2 * table_.size(), kNone);
        for (std::size_t k = 0; k < count_; ++k) {
            const auto number = static_cast<std::int32_t>(k);
            find((*this)[number]) = number;
        }
    }

    std::size_t words_, count_ = 0;
    Words sets_;
    std::vector<std::int32_t> table_;
};

}  // namespace burstline
