// nest.hpp -- Reads sequences of calls as a nest of loops, and says what each loop did.
// Knows arrays of integers; knows nothing of Python or traces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "progressions.hpp"

namespace burstline {

/// A nest of loops over symbols that each stand in one body, at one position.
///
/// Loop 0 is the program itself, executed once. A loop's parent has a smaller number. Elements
/// of one body, symbols and loops, have different positions. `most`: for each (loop, lane), the
/// iterations after which the next one is of another entry, 0 if that is never so; empty if it
/// is so for no loop. A loop that has any is in another. Behind these may stand as many numbers
/// that say by how much they rise from one iteration of the loop around to the next. `apart`:
/// pairs of elements of one loop, first * (symbols + loops) + second in ascending order, loops
/// numbered behind the symbols; the second is never in the iteration that came to the first.
/// `cuts`: where else an iteration begins, place in the sequence * loops + loop, in ascending
/// order; where one of a loop begins at a cut of the loop around, the loop is entered anew.
struct Nest {
    std::span<const std::int32_t> symbol_loop, symbol_position;
    std::span<const std::int32_t> loop_parent, loop_position;
    std::span<const std::int64_t> most, apart, cuts;
};

/// What the loops of a nest did in sequences of symbols.
///
/// `when`: for each symbol, then each loop: the executions of the body around, counted from 0
/// on each lane, in which it was executed. `trips`: for each loop, its iterations at each
/// entry. `iterations`, `inside_ns`: for each (loop, lane), all its iterations, and the time
/// from the first call to the last of each entry, in all.
struct NestReading {
    Progressions when, trips;
    std::vector<std::int64_t> iterations, inside_ns;
};

/// Reads every lane of a sequence: an iteration ends where the next symbol stands in the body
/// of the same loop, but not behind the one before, or apart from it, or at a cut. After the most
/// iterations of a loop, it is entered again in the next iteration of the loop around.
///
/// Throws std::invalid_argument if the nest is none, a symbol is not in it, or the elements
/// of the program itself do not come in the order of their positions. Time linear in the
/// sequence times the depth of the nest.
NestReading read_nest(const Nest& nest, std::span<const std::int32_t> sequence,
                      std::span<const std::int64_t> lane_begin,
                      std::span<const std::int64_t> enter_ns,
                      std::span<const std::int64_t> leave_ns);

/// The calls of each iteration of one loop: its lane, its entry counted on the lane, and the
/// places of its first and last call in the sequence.
struct NestSpans {
    std::vector<std::int64_t> lane, entry, first, last;
};

/// Reads every lane like read_nest and gives the iterations of one loop.
NestSpans nest_spans(const Nest& nest, std::span<const std::int32_t> sequence,
                     std::span<const std::int64_t> lane_begin, std::int32_t loop);

}  // namespace burstline
