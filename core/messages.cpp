// messages.cpp -- see messages.hpp.
#include "messages.hpp"

#include <algorithm>

namespace burstline {

namespace {
constexpr unsigned any_send = blocking_send | immediate_send | start;
constexpr unsigned any_completion = completion | blocking_receive;
constexpr std::int32_t several = -2;  // more than one partner; becomes unknown at the end
}  // namespace

/// First position whose time is not before `time`, searched outwards from the hint.
std::size_t CallFinder::seek(std::span<const std::int64_t> times, std::int64_t time,
                             std::size_t& hint) {
    std::size_t low = std::min(hint, times.size()), high = low, step = 1;
    while (low > 0 && times[low - 1] >= time) {
        high = low;
        low -= std::min(low, step);
        step *= 2;
    }
    step = 1;
    while (high < times.size() && times[high] < time) {
        low = high;
        high = std::min(times.size(), high + step);
        step *= 2;
    }
    const auto at = std::lower_bound(times.begin() + static_cast<std::ptrdiff_t>(low),
                                     times.begin() + static_cast<std::ptrdiff_t>(high), time);
    return hint = static_cast<std::size_t>(at - times.begin());
}

std::int64_t CallFinder::entered(std::int64_t time, unsigned kinds, std::int64_t leave,
                                 Taken taken) {
    std::int64_t best = unknown;
    for (auto call = seek(enter_, time, enter_hint_); call < enter_.size() && enter_[call] == time;
         ++call) {
        if ((kind(call) & kinds) == 0 || (taken_[call] & taken) != 0) continue;
        if (leave == no_value || leave_[call] == leave) return static_cast<std::int64_t>(call);
        if (best == unknown) best = static_cast<std::int64_t>(call);
    }
    return best;
}

std::int64_t CallFinder::left(std::int64_t time, unsigned kinds, unsigned taken) {
    for (auto call = seek(leave_, time, leave_hint_); call < leave_.size() && leave_[call] == time;
         ++call) {
        if ((kind(call) & kinds) != 0 && (taken_[call] & taken) == 0)
            return static_cast<std::int64_t>(call);
    }
    return unknown;
}

std::int64_t CallFinder::open(std::int64_t time, unsigned kinds) {
    const auto behind = seek(enter_, time + 1, enter_hint_);
    if (behind == 0 || leave_[behind - 1] < time || (kind(behind - 1) & kinds) == 0) return unknown;
    return static_cast<std::int64_t>(behind - 1);
}

MessageSides::MessageSides(Builder& builder, std::int32_t location, std::size_t calls,
                           Extras& extras)
    : builder_(builder), location_(location),
      first_(builder.offset_[builder.local(location)].calls),
      finder_(builder.calls.enter_ns.part(first_, calls),
              builder.calls.leave_ns.part(first_, calls),
              builder.calls.operation.part(first_, calls), builder.vocabulary_->call_kind),
      extras_(extras) {}

void MessageSides::add_partner(std::int64_t call, std::int32_t other, std::int64_t tag) {
    const auto row = first_ + static_cast<std::size_t>(call);
    const auto rank = builder_.layout_->rank_of(other);
    const auto narrow = static_cast<std::int32_t>(tag);
    auto& peer = builder_.calls.peer[row];
    if (peer == unknown) {
        peer = rank;
        builder_.calls.tag[row] = narrow;
    } else {
        if (peer != rank) peer = several;
        if (builder_.calls.tag[row] != narrow) builder_.calls.tag[row] = unknown;
    }
}

static void add_bytes(std::int64_t& sum, std::int64_t size) {
    if (sum == no_value) sum = 0;
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                    static_cast<std::uint64_t>(size));
}

void MessageSides::fill_sends(const std::vector<const SendHalf*>& halves) {
    auto row = static_cast<std::size_t>(builder_.offset_[builder_.local(location_)].sends);
    for (const SendHalf* half : halves) fill_send(*half, row++);
}

void MessageSides::fill_send(const SendHalf& half, std::size_t row) {
    SendTable& out = builder_.sends;
    CallTable& calls = builder_.calls;
    auto call = finder_.entered(half.logical, any_send, half.physical, sent_one);
    if (call == unknown) call = finder_.open(half.logical, any_send);
    const bool same_process =
        builder_.layout_->process_of(location_) == builder_.layout_->process_of(half.receiver);
    out.is_link[row] = call == unknown && same_process;
    out.sender_location[row] = location_;
    out.receiver_location[row] = half.receiver;
    out.send_call[row] = static_cast<std::int32_t>(call);
    out.send_ns[row] = half.logical;
    out.send_leave_ns[row] = half.physical;
    out.size[row] = half.size;
    out.tag[row] = half.tag;
    out.send_seq[row] = no_value;
    out.send_done_call[row] = unknown;
    out.send_done_ns[row] = out.send_done_seq[row] = no_value;
    out.send_done_from[row] = 2;  // unknown: the format does not record it
    if (call == unknown) {
        if (!same_process) extras_.report("message_without_send_call", location_, half.logical);
        return;
    }
    finder_.take(call, sent_one);
    const auto at = first_ + static_cast<std::size_t>(call);
    out.send_seq[row] = calls.enter_seq[at];
    const auto operation = static_cast<std::size_t>(calls.operation[at]);
    if (builder_.vocabulary_->call_kind[operation] & blocking_send) {
        out.send_done_call[row] = static_cast<std::int32_t>(call);
        out.send_done_ns[row] = calls.leave_ns[at];
        out.send_done_seq[row] = calls.leave_seq[at];
        out.send_done_from[row] = 0;  // recorded: a blocking send is complete when it is left
    }
    add_partner(call, half.receiver, half.tag);
    add_bytes(calls.sent_bytes[at], half.size);
}

void MessageSides::fill_receives(const std::vector<const ReceiveHalf*>& halves) {
    auto row = static_cast<std::size_t>(builder_.offset_[builder_.local(location_)].receives);
    for (const ReceiveHalf* half : halves) {
        if (builder_.joined_) {
            row = static_cast<std::size_t>(
                builder_.send_offset_[static_cast<std::size_t>(half->sender)] +
                static_cast<std::uint64_t>(half->ordinal));
        } else {
            builder_.receives.sender_location[row] = half->sender;
            builder_.receives.ordinal[row] = half->ordinal;
        }
        fill_receive(*half, row++);
    }
}

void MessageSides::fill_receive(const ReceiveHalf& half, std::size_t row) {
    CallTable& calls = builder_.calls;
    std::int64_t post = finder_.entered(half.logical, blocking_receive, half.physical, posted_one);
    std::int64_t done = unknown;
    if (post != unknown &&
        calls.leave_ns[first_ + static_cast<std::size_t>(post)] == half.physical) {
        done = post;
    } else {
        const auto immediate = finder_.left(half.logical, immediate_receive, posted_one);
        const auto started = immediate != unknown
                                 ? immediate
                                 : finder_.entered(half.logical, start, no_value, posted_one);
        if (started != unknown) post = started;
        if (post == unknown)
            post = finder_.open(half.logical, blocking_receive | immediate_receive | start);
        done = finder_.left(half.physical, any_completion, 0);
        if (done == unknown) done = finder_.open(half.physical, any_completion);
    }
    if (post != unknown) finder_.take(post, posted_one);
    ReceiveTable& out = builder_.receives;
    out.post_call[row] = static_cast<std::int32_t>(post);
    out.receive_call[row] = static_cast<std::int32_t>(done);
    out.post_ns[row] = half.logical;
    out.receive_ns[row] = half.physical;
    out.post_seq[row] = out.receive_seq[row] = no_value;
    const bool same_process =
        builder_.layout_->process_of(location_) == builder_.layout_->process_of(half.sender);
    if (post != unknown) {
        const auto at = first_ + static_cast<std::size_t>(post);
        out.post_seq[row] = calls.leave_ns[at] == half.logical && post != done
                                ? calls.leave_seq[at]
                                : calls.enter_seq[at];
        const auto kinds =
            builder_.vocabulary_->call_kind[static_cast<std::size_t>(calls.operation[at])];
        if ((kinds & blocking_send) == 0) add_partner(post, half.sender, half.tag);
    } else if (!same_process) {
        extras_.report("message_without_receive_post", location_, half.logical);
    }
    if (done != unknown) {
        const auto at = first_ + static_cast<std::size_t>(done);
        out.receive_seq[row] = calls.leave_seq[at];
        add_bytes(calls.received_bytes[at], half.size);
    } else if (!same_process) {
        extras_.report("message_without_receive_call", location_, half.physical);
    }
}

}  // namespace burstline
