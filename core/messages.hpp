// messages.hpp -- Which calls started, posted and completed each communication.
// Extrae stamps its four times with the borders of those calls, so they are found
// by time; operations decide between calls that share a stamp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "builder.hpp"

namespace burstline {

/// The calls of one location, searched by time with a memory of the last hit.
class CallFinder {
  public:
    CallFinder(std::span<const std::int64_t> enter, std::span<const std::int64_t> leave,
               std::span<const std::int16_t> operation, const std::vector<std::uint16_t>& kinds)
        : enter_(enter), leave_(leave), operation_(operation), kinds_(&kinds) {}

    /// The call of one of `kinds` that is entered at `time`, or -1. Where several
    /// are, one that is left at `leave` is preferred (pass no_value for any).
    std::int64_t entered(std::int64_t time, unsigned kinds, std::int64_t leave);
    /// The call of one of `kinds` that is left at `time`, or -1.
    std::int64_t left(std::int64_t time, unsigned kinds);
    /// The call of one of `kinds` that is open at `time`, or -1.
    std::int64_t open(std::int64_t time, unsigned kinds);

  private:
    unsigned kind(std::size_t call) const {
        const auto code = operation_[call];
        return code < 0 ? 0u : (*kinds_)[static_cast<std::size_t>(code)];
    }
    static std::size_t seek(std::span<const std::int64_t> times, std::int64_t time, std::size_t& hint);

    std::span<const std::int64_t> enter_, leave_;
    std::span<const std::int16_t> operation_;
    const std::vector<std::uint16_t>* kinds_;
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
