#include "rule_words.hpp"

#include <string_view>

namespace burstline {
namespace {

using std::int64_t;

/// Commas from which on a set is long, unless what is not in it has fewer.
constexpr int64_t kManyCommas = 4;

/// Stretches and numbers up to which a set is no list, which costs more.
constexpr int64_t kLong = 3, kManyNumbers = 4;

/// Those up to which it is none if it is the same whenever the loop is entered.
constexpr int64_t kLongAgain = 4, kManyAgain = 6;

/// Numbers at equal distances from which on they are a stretch.
constexpr std::size_t kWorthAStride = 3;

int64_t length(std::string_view text) { return static_cast<int64_t>(text.size()); }

int64_t digits(int64_t number) {
    int64_t count = 1;
    for (; number >= 10; number /= 10) ++count;
    return count;
}

/// A set in few characters: `1, 4..7, 9..15 by 2`.
struct Compact {
    int64_t letters = 0, commas = 0;
    int64_t numbers = 0;  ///< that it tells; three at equal distances may be so by chance
};

/// The set of some numbers, each one more: greedily from the left.
Compact compact(std::span<const int64_t> numbers) {
    Compact text;
    const auto is_next = [&](std::size_t at, int64_t stride) {
        return at < numbers.size() && numbers[at] - numbers[at - 1] == stride;
    };
    for (std::size_t begin = 0; begin < numbers.size();) {
        std::size_t end = begin + 1;
        const int64_t stride = end < numbers.size() ? numbers[end] - numbers[begin] : 1;
        while (is_next(end, stride)) ++end;
        if (end - begin < (stride == 1 ? 2 : kWorthAStride)) end = begin + 1;
        const int64_t first = digits(numbers[begin] + 1), last = digits(numbers[end - 1] + 1);
        if (begin > 0) text.letters += length(", "), ++text.commas;
        if (end - begin == 1) {
            text.letters += first, text.numbers += 1;
        } else if (stride == 1 && end - begin == 2) {
            text.letters += first + length(", ") + last, text.numbers += 2, ++text.commas;
        } else if (stride == 1) {
            text.letters += first + length("..") + last, text.numbers += 2;
        } else {
            text.letters += first + length("..") + last + length(" by ") + digits(stride);
            text.numbers += 3;
        }
        begin = end;
    }
    return text;
}

/// What `every 3rd iteration, from iteration 5` takes.
RuleWords every(int64_t step, int64_t first) {
    int64_t letters = length("every ") + digits(step) + length("rd iteration");
    if (first != step - 1) letters += length(", from iteration ") + digits(first + 1);
    return {letters, 0, false};
}

RuleWords list_of(std::string_view around, const Compact& text, bool is_again) {
    const int64_t most = is_again ? kManyAgain : kManyNumbers;
    const int64_t told = text.commas + 1 > (is_again ? kLongAgain : kLong) ? 0 : most;
    const int64_t list = text.numbers > told ? 1 + 2 * (text.numbers - told) : 0;
    return {length(around) + text.letters, list, false};
}

}  // namespace

std::optional<RuleWords> set_words(std::span<const int64_t> chosen, std::span<const int64_t> others,
                                   bool is_again) {
    if (chosen.size() == 1)
        return RuleWords{length("iteration == ") + digits(chosen[0] + 1), 0, false};
    const int64_t step = chosen[1] - chosen[0];
    bool is_even = step > 1 && chosen.back() + step > (others.empty() ? 0 : others.back());
    for (std::size_t k = 2; is_even && k < chosen.size(); ++k)
        is_even = chosen[k] - chosen[k - 1] == step;
    if (is_even) return every(step, chosen[0]);
    const Compact inside = compact(chosen), outside = compact(others);
    if (inside.commas >= kManyCommas && outside.commas >= kManyCommas) return std::nullopt;
    if (outside.commas < inside.commas) return list_of("iteration not in {}", outside, is_again);
    return list_of("iteration in {}", inside, is_again);
}

}  // namespace burstline
