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

#include "table.hpp"

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
    Column(TableOf<burstline::Column>& table, std::string name)
        : Column(table, std::move(name), table.rows()) {}
    Column(TableOf<burstline::Column>& table, std::string name, std::size_t rows)
        : memory_(rows * sizeof(T)), rows_(rows) {
        table.add(std::move(name), *this);
    }
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

using Table = TableOf<Column>;
using Int16s = Column<std::int16_t>;
using Int32s = Column<std::int32_t>;
using Int64s = Column<std::int64_t>;

struct CallTable : Table {
    using Table::Table;
    Int32s location{*this, "location"}, call{*this, "call"};
    Int16s operation{*this, "operation"};
    Int64s enter_ns{*this, "enter_ns"}, leave_ns{*this, "leave_ns"}, enter_seq{*this, "enter_seq"},
        leave_seq{*this, "leave_seq"};
    Int32s communicator{*this, "communicator"}, peer{*this, "peer"}, tag{*this, "tag"},
        root{*this, "root"};
    Int64s sent_bytes{*this, "sent_bytes"}, received_bytes{*this, "received_bytes"};
    Int32s call_path{*this, "call_path"};
};

struct ReadingTable : Table {
    ReadingTable(std::size_t n, std::size_t counters) : Table(n), values(numbered(counters)) {}
    Int32s location{*this, "location"};
    Int64s seq{*this, "seq"}, time_ns{*this, "time_ns"};
    std::vector<Int64s> values;
};

struct BurstTable : Table {
    BurstTable(std::size_t n, std::size_t counters) : Table(n), values(numbered(counters)) {}
    Int32s location{*this, "location"}, burst{*this, "burst"};
    Int64s start_ns{*this, "start_ns"}, end_ns{*this, "end_ns"};
    Int32s call_before{*this, "call_before"}, call_after{*this, "call_after"};
    Int64s polling_ns{*this, "polling_ns"}, polls{*this, "polls"}, waiting_ns{*this, "waiting_ns"},
        gap_ns{*this, "gap_ns"};
    std::vector<Int64s> values;
};

struct RegionTable : Table {
    using Table::Table;
    Int32s location{*this, "location"}, row{*this, "row"};
    Int64s type{*this, "type"}, value{*this, "value"}, line{*this, "line"},
        enter_ns{*this, "enter_ns"}, leave_ns{*this, "leave_ns"}, enter_seq{*this, "enter_seq"},
        leave_seq{*this, "leave_seq"};
    Int32s parent{*this, "parent"};
};

struct StateTable : Table {
    using Table::Table;
    Int32s location{*this, "location"};
    Int64s begin_ns{*this, "begin_ns"}, end_ns{*this, "end_ns"}, state{*this, "state"};
};

struct EventTable : Table {
    using Table::Table;
    Int32s location{*this, "location"};
    Int64s seq{*this, "seq"}, time_ns{*this, "time_ns"}, type{*this, "type"}, value{*this, "value"};
};

/// The sender's columns of a message; `is_link` marks what is no MPI message.
struct SendTable : Table {
    using Table::Table;
    Int32s sender_location{*this, "sender_location"}, send_call{*this, "send_call"};
    Int64s send_ns{*this, "send_ns"}, send_seq{*this, "send_seq"},
        send_leave_ns{*this, "send_leave_ns"};
    Int32s send_done_call{*this, "send_done_call"};
    Int64s send_done_ns{*this, "send_done_ns"}, send_done_seq{*this, "send_done_seq"};
    Column<std::int8_t> send_done_from{*this, "send_done_from"};
    Int32s receiver_location{*this, "receiver_location"};
    Int64s size{*this, "size"}, tag{*this, "tag"};
    Column<std::int8_t> is_link{*this, "is_link"};
};

/// The receiver's columns of a message, joined to the sender's by (sender, ordinal).
struct ReceiveTable : Table {
    ReceiveTable(std::size_t n, bool with_key)
        : Table(n), sender_location(*this, "sender_location", with_key ? n : 0),
          ordinal(*this, "ordinal", with_key ? n : 0) {}
    Int32s sender_location;
    Int64s ordinal;
    Int32s post_call{*this, "post_call"};
    Int64s post_ns{*this, "post_ns"}, post_seq{*this, "post_seq"};
    Int32s receive_call{*this, "receive_call"};
    Int64s receive_ns{*this, "receive_ns"}, receive_seq{*this, "receive_seq"};
};

}  // namespace burstline
