#include "call_tree.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace burstline {
namespace {

/// Paths as they are met: a table of (path above, symbol) with open addressing, which takes a
/// third of the time of std::unordered_map.
class PathSet {
  public:
    PathSet() : slots_(64, -1) {
        made_.above.push_back(-1);
        made_.symbol.push_back(-1);
    }

    std::int32_t below(std::int32_t above, std::int64_t symbol) {
        std::size_t slot = slot_of(above, symbol);
        if (slots_[slot] >= 0) return slots_[slot];
        if (made_.above.size() >= std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("there are too many paths");
        if (2 * made_.above.size() >= slots_.size()) {
            slots_.assign(2 * slots_.size(), -1);
            for (std::size_t path = 1; path < made_.above.size(); ++path)
                slots_[slot_of(made_.above[path], made_.symbol[path])] =
                    static_cast<std::int32_t>(path);
            slot = slot_of(above, symbol);
        }
        slots_[slot] = static_cast<std::int32_t>(made_.above.size());
        made_.above.push_back(above);
        made_.symbol.push_back(symbol);
        return slots_[slot];
    }

    Paths take() { return std::move(made_); }

  private:
    /// Where a path is, or would be.
    std::size_t slot_of(std::int32_t above, std::int64_t symbol) const {
        auto hash = static_cast<std::uint64_t>(symbol) * 0x9E3779B97F4A7C15ull;
        hash = (hash ^ static_cast<std::uint64_t>(above)) * 0xC2B2AE3D27D4EB4Full;
        std::size_t slot = (hash ^ (hash >> 32)) & (slots_.size() - 1);
        while (slots_[slot] >= 0 &&
               (made_.above[slots_[slot]] != above || made_.symbol[slots_[slot]] != symbol))
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    Paths made_;
    std::vector<std::int32_t> slots_;
};

}  // namespace

std::vector<std::int64_t> innermost(const Nested& rows, std::span<const std::int32_t> location,
                                    std::span<const std::int64_t> seq) {
    const auto& begin = rows.location_begin;
    const std::size_t count = rows.enter_seq.size();
    if (begin.empty() || begin.front() != 0 || begin.back() != static_cast<std::int64_t>(count) ||
        !std::ranges::is_sorted(begin) || rows.leave_seq.size() != count ||
        (!rows.parent.empty() && rows.parent.size() != count) || seq.size() != location.size())
        throw std::invalid_argument("locations lie in columns of one length, one after another");
    for (std::size_t row = 0; row < rows.parent.size(); ++row)
        if (rows.parent[row] < -1 || rows.parent[row] >= static_cast<std::int64_t>(row))
            throw std::invalid_argument("a parent is before what is in it");
    std::vector<std::int64_t> open(seq.size(), -1);
    std::int64_t next = 0, last = 0, row = -1;  // the next row to be entered, of those up to last
    for (std::size_t k = 0; k < seq.size(); ++k) {
        const std::int32_t place = location[k];
        if (place < 0 || static_cast<std::size_t>(place) + 1 >= begin.size()) continue;
        if (k == 0 || location[k - 1] != place || seq[k - 1] > seq[k]) {
            last = begin[place + 1];
            const auto first = rows.enter_seq.begin();
            next = std::lower_bound(first + begin[place], first + last, seq[k]) - first;
            row = next > begin[place] ? next - 1 : -1;
        } else {
            // What was left before the moment before this one need not be passed again.
            for (; next < last && rows.enter_seq[next] < seq[k]; ++next) row = next;
        }
        while (row >= 0 && rows.leave_seq[row] < seq[k])
            row = rows.parent.empty() ? -1 : rows.parent[row];
        open[k] = row;
    }
    return open;
}

Paths paths_of(std::span<const std::int64_t> parent, std::span<const std::int64_t> symbol) {
    const auto count = static_cast<std::int64_t>(parent.size());
    if (symbol.size() != parent.size() ||
        !std::ranges::all_of(parent, [&](auto each) { return each >= -1 && each < count; }))
        throw std::invalid_argument("each item has a symbol, and a parent that is an item");
    constexpr std::int32_t unknown = -1, entered = -2;
    PathSet paths;
    std::vector<std::int32_t> path(parent.size(), unknown);
    std::vector<std::int64_t> waiting;  // items whose parents come first
    std::vector<bool> circular;         // of all items, if any is
    const auto set = [&](std::int64_t item, std::int32_t above) {
        path[item] = symbol[item] < 0 ? above : paths.below(above, symbol[item]);
    };
    for (std::int64_t item = 0; item < count; ++item) {
        std::int64_t outer = item;
        for (; outer >= 0 && path[outer] == unknown; outer = parent[outer]) {
            path[outer] = entered;
            waiting.push_back(outer);
        }
        const bool is_circle = outer >= 0 && path[outer] == entered;
        if (is_circle) circular.resize(path.size());
        if (is_circle || (outer >= 0 && !circular.empty() && circular[outer])) {
            for (const std::int64_t each : waiting) circular[each] = true, set(each, 0);
            waiting.clear();
        }
        for (; !waiting.empty(); waiting.pop_back()) {
            const std::int64_t above = parent[waiting.back()];
            set(waiting.back(), above < 0 ? 0 : path[above]);
        }
    }
    Paths made = paths.take();
    made.path = std::move(path);
    return made;
}

}  // namespace burstline
