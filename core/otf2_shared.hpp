// otf2_shared.hpp -- Memory that a child process fills and its parent reads, and the child.
// Knows memory and processes; knows nothing of archives.
//
// The library that reads archives is not trusted with hostile bytes: it runs in a process of
// its own. Columns lie in memory that both share, so nothing is copied, and what was read
// before the library fell is still there. Pages that are never written cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "table.hpp"

namespace burstline::otf2 {

/// Zeroed memory that stays shared over fork.
class Shared {
  public:
    explicit Shared(std::size_t bytes);
    Shared(Shared&& other) noexcept;
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Shared& operator=(Shared&&) = delete;
    ~Shared();
    void* data() const { return data_; }

  private:
    void* data_;
    std::size_t bytes_;
};

/// A column of a table in shared memory; who appends a row checks the room of its table.
template <class T>
class SharedColumn {
  public:
    explicit SharedColumn(std::size_t rows) : memory_(rows * sizeof(T)) {}
    SharedColumn(TableOf<otf2::SharedColumn>& table, std::string name)
        : SharedColumn(table.rows()) {
        table.add(std::move(name), *this);
    }
    T& operator[](std::size_t row) const { return static_cast<T*>(memory_.data())[row]; }
    T* data() const { return static_cast<T*>(memory_.data()); }
    Shared take() { return std::move(memory_); }

  private:
    Shared memory_;
};

struct Limits {
    std::uint64_t seconds;  // of processor time, 0 for no limit
    std::uint64_t bytes;    // of memory beyond what the parent has, 0 for no limit
};

/// How a child ended: 0 if it did what it should, a signal, or -1 if it never began. A signal
/// that interrupts the wait asks `is_over`; the child is ended where that is so.
int run_in_child(const std::function<void()>& work, const Limits& limits,
                 const std::function<bool()>& is_over = {});

/// End all children that run, and begin none until this is called with false.
void stop_children(bool stopped);

}  // namespace burstline::otf2
