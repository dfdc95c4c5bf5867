#include "turns.hpp"

#include <cstddef>

namespace burstline {

std::int64_t count_runs(std::span<const std::int64_t> of, std::span<const std::int64_t> other) {
    std::int64_t runs = 0;
    std::size_t passed = 0;
    for (std::size_t k = 0; k < of.size(); ++k) {
        const std::size_t before = passed;
        while (passed < other.size() && other[passed] < of[k]) ++passed;
        runs += k == 0 || passed != before;
    }
    return runs;
}

Steps steps_within(std::span<const std::int64_t> begins, std::span<const std::int64_t> around) {
    Steps steps;
    std::size_t passed = 0;
    for (std::size_t k = 0; k < begins.size(); ++k) {
        const std::size_t before = passed;
        while (passed < around.size() && around[passed] <= begins[k]) ++passed;
        if (k == 0 || passed != before) {
            ++steps.entries;
        } else {
            ++steps.count;
            steps.sum += begins[k] - begins[k - 1];
        }
    }
    return steps;
}

}  // namespace burstline
