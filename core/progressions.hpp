// progressions.hpp -- Sequences of integers as the few arithmetic progressions they are made of.
// Knows integers that come one by one; knows nothing of what they count.
#pragma once

#include <cstdint>
#include <vector>

namespace burstline {

/// Sequences of integers as arithmetic progressions, one sequence per (item, lane).
///
/// Sequence (i, k) has the progressions begin[i * lanes + k] up to begin[i * lanes + k + 1].
struct Progressions {
    std::vector<std::int64_t> begin, first, step, count;
};

/// Finds arithmetic progressions in numbers that come one by one, from the left.
class Coder {
  public:
    void add(std::int64_t number, Progressions& out) {
        if (count_ == 0) {
            first_ = number;
        } else if (count_ == 1) {
            step_ = number - first_;
        } else if (number - last_ != step_) {
            if (count_ == 2 && step_ != 0) {  // two numbers are a progression by chance only
                put(out, first_, 0, 1);
                first_ = last_;
                step_ = number - last_;
                last_ = number;
                return;
            }
            put(out, first_, step_, count_);
            first_ = number;
            count_ = 0;
        }
        ++count_;
        last_ = number;
    }

    void end(Progressions& out) {
        if (count_ == 2 && step_ != 0) {
            put(out, first_, 0, 1);
            put(out, last_, 0, 1);
        } else if (count_ > 0) {
            put(out, first_, count_ > 1 ? step_ : 0, count_);
        }
        count_ = 0;
    }

  private:
    static void put(Progressions& out, std::int64_t first, std::int64_t step, std::int64_t count) {
        out.first.push_back(first);
        out.step.push_back(step);
        out.count.push_back(count);
    }

    std::int64_t first_ = 0, step_ = 0, last_ = 0, count_ = 0;
};

}  // namespace burstline
