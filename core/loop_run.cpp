#include "loop_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;
using std::size_t;
using std::uint8_t;

bool is_among(std::span<const int64_t> sorted, int64_t number) {
    return !sorted.empty() && std::binary_search(sorted.begin(), sorted.end(), number);
}

/// Whether an iteration begins with an element, by the one before it in the same entry.
bool begins_iteration(int32_t before, int32_t element, int64_t place, int64_t elements,
                      const Parted& parted) {
    return element <= before || is_among(parted.apart, before * elements + element) ||
           is_among(parted.cuts, place);
}

/// The calls that enter a loop once more.
std::vector<uint8_t> entered_again(const EnteredCalls& calls, std::span<const int64_t> again) {
    std::vector<uint8_t> is_again(again.empty() ? 0 : calls.place.size(), 0);
    for (const int64_t place : again) {
        const auto found = std::lower_bound(calls.place.begin(), calls.place.end(), place);
        if (found != calls.place.end())
            is_again[static_cast<size_t>(found - calls.place.begin())] = 1;
    }
    return is_again;
}

/// Goes through the calls that begin an element of a loop: take(call, element).
template <typename Take>
void for_each_element(const EnteredCalls& calls, const LoopElements& elements, Take take) {
    const size_t count = calls.symbol.size();
    if (calls.place.size() != count || calls.begins.size() != count || calls.lane.size() != count)
        throw std::invalid_argument("each call has a place, and a lane");
    const std::vector<uint8_t> is_again = entered_again(calls, elements.again);
    int32_t before = -1;
    for (size_t k = 0; k < count; ++k) {
        const auto symbol = static_cast<size_t>(calls.symbol[k]);
        if (calls.symbol[k] < 0 || symbol >= elements.of_symbol.size())
            throw std::invalid_argument("a symbol is in no element");
        const int32_t element = elements.of_symbol[symbol];
        if (element < 0 || static_cast<size_t>(element) >= elements.is_loop.size())
            throw std::invalid_argument("a symbol is in no element");
        const bool goes_on = element == before && elements.is_loop[static_cast<size_t>(element)] &&
                             !calls.begins[k] && (is_again.empty() || is_again[k] == 0);
        before = element;
        if (!goes_on) take(k, element);
    }
}

}  // namespace

LoopRun loop_run(const EnteredCalls& calls, const LoopElements& elements) {
    LoopRun run;
    for_each_element(calls, elements, [&](size_t call, int32_t element) {
        run.element.push_back(element);
        run.begins.push_back(calls.begins[call] ? 1 : 0);
        run.lane.push_back(calls.lane[call]);
        run.place.push_back(calls.place[call]);
    });
    return run;
}

std::vector<uint8_t> iteration_begins(std::span<const int32_t> element,
                                      std::span<const bool> begins, std::span<const int64_t> place,
                                      int64_t elements, const Parted& parted) {
    if (begins.size() != element.size() || place.size() != element.size())
        throw std::invalid_argument("each element has a place, and begins an entry or not");
    std::vector<uint8_t> is_new(element.size(), 0);
    for (size_t k = 0; k < element.size(); ++k)
        is_new[k] = begins[k] || (k == 0 ? is_among(parted.cuts, place[0])
                                         : begins_iteration(element[k - 1], element[k], place[k],
                                                            elements, parted));
    return is_new;
}

std::optional<LoopIterations> loop_iterations(const EnteredCalls& calls,
                                              const LoopElements& elements, const Parted& parted,
                                              int64_t sparsest) {
    const size_t count = elements.is_loop.size();
    LoopIterations found;
    std::vector<int32_t> executed;  // the elements of all iterations
    std::vector<size_t> iteration;  // which one each is in
    for_each_element(calls, elements, [&](size_t call, int32_t element) {
        if (executed.empty() || calls.begins[call] ||
            begins_iteration(executed.back(), element, calls.place[call],
                             static_cast<int64_t>(count), parted)) {
            found.begins.push_back(calls.begins[call] ? 1 : 0);
            found.lane.push_back(calls.lane[call]);
            found.first.push_back(calls.place[call]);
        }
        executed.push_back(element);
        iteration.push_back(found.lane.size() - 1);
    });
    const size_t total = found.lane.size();
    if (count * total > static_cast<size_t>(sparsest) * calls.symbol.size()) return std::nullopt;
    found.executed.assign(count * total, 0);
    for (size_t k = 0; k < executed.size(); ++k)
        found.executed[static_cast<size_t>(executed[k]) * total + iteration[k]] = 1;
    return found;
}

int64_t irregular_elements(std::span<const int32_t> element, std::span<const bool> begins,
                           std::span<const bool> is_new, size_t elements) {
    if (begins.size() != element.size() || is_new.size() != element.size())
        throw std::invalid_argument("each element begins an entry, and an iteration, or not");
    std::vector<size_t> place, trips;  // of each iteration, and of each entry
    std::vector<size_t> iteration(element.size());
    for (size_t k = 0; k < element.size(); ++k) {
        if (element[k] < 0 || static_cast<size_t>(element[k]) >= elements)
            throw std::invalid_argument("an element is none");
        if (begins[k] ? !is_new[k] : trips.empty())
            throw std::invalid_argument("entries begin with an iteration");
        if (begins[k]) trips.push_back(0);
        if (is_new[k]) place.push_back(trips.back()++);
        iteration[k] = place.size() - 1;
    }
    const size_t places = trips.empty() ? 0 : *std::max_element(trips.begin(), trips.end());
    std::vector<uint8_t> is_irregular(elements, 1);
    std::vector<int64_t> there, made;
    for (const bool is_from_end : {false, true}) {
        if (is_from_end)
            for (size_t entry = 0, at = 0; entry < trips.size(); at += trips[entry++])
                std::reverse(place.begin() + static_cast<std::ptrdiff_t>(at),
                             place.begin() + static_cast<std::ptrdiff_t>(at + trips[entry]));
        there.assign(places, 0);
        for (const size_t each : place) ++there[each];
        made.assign(elements * places, 0);
        for (size_t k = 0; k < element.size(); ++k)
            ++made[static_cast<size_t>(element[k]) * places + place[iteration[k]]];
        for (size_t row = 0; row < elements; ++row) {
            bool is_sometimes = false;
            for (size_t at = 0; at < places; ++at) {
                const int64_t count = made[row * places + at];
                is_sometimes = is_sometimes || (count > 0 && count < there[at]);
            }
            if (!is_sometimes) is_irregular[row] = 0;
        }
    }
    return std::count(is_irregular.begin(), is_irregular.end(), uint8_t{1});
}

}  // namespace burstline
