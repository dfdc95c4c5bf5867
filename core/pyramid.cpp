#include "pyramid.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace burstline {
namespace {

using Ns = std::int64_t;

void require_sound(const Pieces& pieces, const TimeColumns& columns, std::size_t kinds) {
    const std::size_t rows = pieces.start_ns.size();
    const auto begin = pieces.location_begin;
    if (pieces.end_ns.size() != rows || pieces.kind.size() != rows || begin.empty() ||
        begin.front() != 0 || begin.back() != static_cast<Ns>(rows) ||
        !std::is_sorted(begin.begin(), begin.end()))
        throw std::invalid_argument("the columns of pieces do not fit together");
    if (columns.count < 1 || columns.width_ns < 1)
        throw std::invalid_argument("there is no column of time");
    const Ns latest = std::numeric_limits<Ns>::max();
    if (columns.first_ns > 0 && columns.width_ns > (latest - columns.first_ns) / columns.count)
        throw std::invalid_argument("columns of time reach past the last time");
    if (columns.width_ns > latest / columns.count)
        throw std::invalid_argument("columns of time are wider than all time");
    for (const std::uint8_t kind : pieces.kind)
        if (kind >= kinds) throw std::invalid_argument("a piece is of no kind");
    for (std::size_t l = 0; l + 1 < begin.size(); ++l)
        for (Ns row = begin[l]; row < begin[l + 1]; ++row)
            if (pieces.end_ns[row] < pieces.start_ns[row] ||
                (row > begin[l] && pieces.start_ns[row] < pieces.end_ns[row - 1]))
                throw std::invalid_argument("pieces are out of order");
}

/// Adds the pieces of one location to its columns, kind after kind.
void add(const Pieces& pieces, std::size_t location, const TimeColumns& columns, std::size_t kinds,
         Ns* into) {
    const Ns last = columns.first_ns + columns.width_ns * columns.count;
    for (Ns row = pieces.location_begin[location]; row < pieces.location_begin[location + 1];
         ++row) {
        Ns start = std::max(pieces.start_ns[row], columns.first_ns);
        const Ns end = std::min(pieces.end_ns[row], last);
        while (start < end) {
            const Ns column = (start - columns.first_ns) / columns.width_ns;
            const Ns until = std::min(end, columns.first_ns + (column + 1) * columns.width_ns);
            into[static_cast<std::size_t>(column) * kinds + pieces.kind[row]] += until - start;
            start = until;
        }
    }
}

}  // namespace

std::vector<std::int64_t> pyramid(const Pieces& pieces, const TimeColumns& columns,
                                  std::size_t kinds) {
    require_sound(pieces, columns, kinds);
    const std::size_t locations = pieces.location_begin.size() - 1;
    std::size_t count = static_cast<std::size_t>(columns.count), all = count;
    for (std::size_t n = count; n > 1; all += n) n = (n + 1) / 2;
    std::vector<Ns> time(locations * all * kinds);
    for (std::size_t l = 0; l < locations; ++l)
        add(pieces, l, columns, kinds, time.data() + l * count * kinds);
    const Ns* fine = time.data();
    while (count > 1) {
        const std::size_t half = (count + 1) / 2;
        Ns* const coarse = time.data() + (fine - time.data()) + locations * count * kinds;
        for (std::size_t l = 0; l < locations; ++l)
            for (std::size_t c = 0; c < count; ++c)
                for (std::size_t k = 0; k < kinds; ++k)
                    coarse[(l * half + c / 2) * kinds + k] += fine[(l * count + c) * kinds + k];
        fine = coarse;
        count = half;
    }
    return time;
}

}  // namespace burstline
