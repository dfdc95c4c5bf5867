// messages.hpp -- Which calls started, posted and completed each communication.
// Extrae stamps its four times with the borders of those calls, so they are found
// by time; operations decide between calls that share a stamp.
// Knows the builder and its columns; knows nothing of text and of files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "builder.hpp"

namespace burstline {

/// What a call has done already: a call that is no MPI_Start starts one message and
/// posts one receive, so calls that share all stamps are taken one after the other.
enum Taken : std::uint8_t { sent_one = 1, posted_one = 2 };

/// The calls of one location, searched by time with a memory of the last hit.
class CallFinder {
  public:
    CallFinder(std::span<const std::int64_t> enter, std::span<const std::int64_t> leave,
               std::span<const std::int16_t> operation, const std::vector<std::uint16_t>& kinds)
        : enter_(enter), leave_(leave), operation_(operation), kinds_(&kinds),
          taken_(enter.size(), 0) {}

    /// The call of one of `kinds` that is entered at `time` and not yet `taken`, or -1.
    /// Where several are, one that is left at `leave` is preferred (no_value for any).
    std::int64_t entered(std::int64_t time, unsigned kinds, std::int64_t leave, Taken taken);
    /// The call of one of `kinds` that is left at `time` and not yet `taken` (0 for any), or -1.
    std::int64_t left(std::int64_t time, unsigned kinds, unsigned taken);
    /// Marks a call, unless it may start or post several.
    void take(std::int64_t call, Taken taken) {
        const auto at = static_cast<std::size_t>(call);
        if ((kind(at) & start) == 0) taken_[at] |= taken;
    }
    /// The call of one of `kinds` that is open at `time`, or -1.
    std::int64_t open(std::int64_t time, unsigned kinds);

  private:
    unsigned kind(std::size_t call) const {
        const auto code = operation_[call];
        return code < 0 ? 0u : (*kinds_)[static_cast<std::size_t>(code)];
    }
    static std::size_t seek(std::span<const std::int64_t> times, std::int64_t time,
                            std::size_t& hint);

    std::span<const std::int64_t> enter_, leave_;
    std::span<const std::int16_t> operation_;
    const std::vector<std::uint16_t>* kinds_;
    std::vector<std::uint8_t> taken_;
    std::size_t enter_hint_ = 0, leave_hint_ = 0;
};

/// Fills the message rows, and the partners and sizes of the calls, of one location.
class MessageSides {
  public:
    MessageSides(Builder& builder, std::int32_t location, std::size_t calls, Extras& extras);

    void fill_sends(const std::vector<const SendHalf*>& halves);
    void fill_receives(const std::vector<const ReceiveHalf*>& halves);

  private:
    void fill_send(const SendHalf& half, std::size_t row);
    void fill_receive(const ReceiveHalf& half, std::size_t row);
    void add_partner(std::int64_t call, std::int32_t other, std::int64_t tag);

    Builder& builder_;
    std::int32_t location_;
    std::size_t first_;
    CallFinder finder_;
    Extras& extras_;
};

}  // namespace burstline
