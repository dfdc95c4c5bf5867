// columns.hpp -- The tables a builder fills: columns of integers, allocated once
// for an upper bound of rows. Memory that is never written is never resident, so
// a generous bound costs address space only.
// Knows memory and integers; knows nothing of what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace burstline {

/// Uninitialised memory, straight from the system where it is large.
class Memory {
  public:
    explicit Memory(std::size_t bytes);
    Memory(Memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
    Memory& operator=(Memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Memory();
    void* data() const { return data_; }

  private:
    void* data_;
    std::size_t bytes_;
};

template <class T>
class Column {
  public:
    explicit Column(std::size_t rows) : memory_(rows * sizeof(T)), rows_(rows) {}
    T& operator[](std::size_t row) { return data()[row]; }
    T* data() { return static_cast<T*>(memory_.data()); }
    const T* data() const { return static_cast<const T*>(memory_.data()); }
    std::size_t rows() const { return rows_; }
    std::span<const T> part(std::size_t first, std::size_t count) const {
        return {data() + first, count};
    }
    Memory take() { return std::move(memory_); }

  private:
    Memory memory_;
    std::size_t rows_;
};

using Int16s = Column<std::int16_t>;
using Int32s = Column<std::int32_t>;
using Int64s = Column<std::int64_t>;

struct CallTable {
    explicit CallTable(std::size_t n)
        : location(n), call(n), operation(n), enter_ns(n), leave_ns(n), enter_seq(n), leave_seq(n),
          communicator(n), peer(n), tag(n), root(n), sent_bytes(n), received_bytes(n),
          call_path(n) {}
    Int32s location, call;
    Int16s operation;
    Int64s enter_ns, leave_ns, enter_seq, leave_seq;
    Int32s communicator, peer, tag, root;
    Int64s sent_bytes, received_bytes;
    Int32s call_path;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("call", call), visit("operation", operation);
        visit("enter_ns", enter_ns), visit("leave_ns", leave_ns);
        visit("enter_seq", enter_seq), visit("leave_seq", leave_seq);
        visit("communicator", communicator), visit("peer", peer), visit("tag", tag),
            visit("root", root);
        visit("sent_bytes", sent_bytes), visit("received_bytes", received_bytes),
            visit("call_path", call_path);
    }
};

struct ReadingTable {
    ReadingTable(std::size_t n, std::size_t counters) : location(n), seq(n), time_ns(n) {
        for (std::size_t k = 0; k < counters; ++k) values.emplace_back(n);
    }
    Int32s location;
    Int64s seq, time_ns;
    std::vector<Int64s> values;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("seq", seq), visit("time_ns", time_ns);
        for (std::size_t k = 0; k < values.size(); ++k) visit(std::to_string(k), values[k]);
    }
};

struct BurstTable {
    BurstTable(std::size_t n, std::size_t counters)
        : location(n), burst(n), start_ns(n), end_ns(n), call_before(n), call_after(n),
          polling_ns(n), polls(n), waiting_ns(n), gap_ns(n) {
        for (std::size_t k = 0; k < counters; ++k) values.emplace_back(n);
    }
    Int32s location, burst;
    Int64s start_ns, end_ns;
    Int32s call_before, call_after;
    Int64s polling_ns, polls, waiting_ns, gap_ns;
    std::vector<Int64s> values;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("burst", burst), visit("start_ns", start_ns),
            visit("end_ns", end_ns);
        visit("call_before", call_before), visit("call_after", call_after);
        visit("polling_ns", polling_ns), visit("polls", polls);
        visit("waiting_ns", waiting_ns), visit("gap_ns", gap_ns);
        for (std::size_t k = 0; k < values.size(); ++k) visit(std::to_string(k), values[k]);
    }
};

struct RegionTable {
    explicit RegionTable(std::size_t n)
        : location(n), row(n), type(n), value(n), line(n), enter_ns(n), leave_ns(n), enter_seq(n),
          leave_seq(n), parent(n) {}
    Int32s location, row;
    Int64s type, value, line, enter_ns, leave_ns, enter_seq, leave_seq;
    Int32s parent;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("row", row), visit("type", type), visit("value", value);
        visit("line", line), visit("enter_ns", enter_ns), visit("leave_ns", leave_ns);
        visit("enter_seq", enter_seq), visit("leave_seq", leave_seq), visit("parent", parent);
    }
};

struct StateTable {
    explicit StateTable(std::size_t n) : location(n), begin_ns(n), end_ns(n), state(n) {}
    Int32s location;
    Int64s begin_ns, end_ns, state;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("begin_ns", begin_ns), visit("end_ns", end_ns),
            visit("state", state);
    }
};

struct EventTable {
    explicit EventTable(std::size_t n) : location(n), seq(n), time_ns(n), type(n), value(n) {}
    Int32s location;
    Int64s seq, time_ns, type, value;

    template <class Visit>
    void each(Visit&& visit) {
        visit("location", location), visit("seq", seq), visit("time_ns", time_ns);
        visit("type", type), visit("value", value);
    }
};

/// The sender's columns of a message; `is_link` marks what is no MPI message.
struct SendTable {
    explicit SendTable(std::size_t n)
        : sender_location(n), send_call(n), send_ns(n), send_seq(n), send_leave_ns(n),
          send_done_call(n), send_done_ns(n), send_done_seq(n), send_done_from(n),
          receiver_location(n), size(n), tag(n), is_link(n) {}
    Int32s sender_location, send_call;
    Int64s send_ns, send_seq, send_leave_ns;
    Int32s send_done_call;
    Int64s send_done_ns, send_done_seq;
    Column<std::int8_t> send_done_from;
    Int32s receiver_location;
    Int64s size, tag;
    Column<std::int8_t> is_link;

    template <class Visit>
    void each(Visit&& visit) {
        visit("sender_location", sender_location), visit("send_call", send_call),
            visit("send_ns", send_ns);
        visit("send_seq", send_seq), visit("send_leave_ns", send_leave_ns),
            visit("send_done_call", send_done_call);
        visit("send_done_ns", send_done_ns), visit("send_done_seq", send_done_seq);
        visit("send_done_from", send_done_from), visit("receiver_location", receiver_location);
        visit("size", size), visit("tag", tag), visit("is_link", is_link);
    }
};

/// The receiver's columns of a message, joined to the sender's by (sender, ordinal).
struct ReceiveTable {
    explicit ReceiveTable(std::size_t n, bool with_key)
        : sender_location(with_key ? n : 0), ordinal(with_key ? n : 0), post_call(n), post_ns(n),
          post_seq(n), receive_call(n), receive_ns(n), receive_seq(n) {}
    Int32s sender_location;
    Int64s ordinal;
    Int32s post_call;
    Int64s post_ns, post_seq;
    Int32s receive_call;
    Int64s receive_ns, receive_seq;

    template <class Visit>
    void each(Visit&& visit) {
        visit("sender_location", sender_location), visit("ordinal", ordinal),
            visit("post_call", post_call);
        visit("post_ns", post_ns), visit("post_seq", post_seq), visit("receive_call", receive_call);
        visit("receive_ns", receive_ns), visit("receive_seq", receive_seq);
    }
};

}  // namespace burstline
