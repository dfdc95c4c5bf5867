// otf2_writing.hpp -- Writes an archive: events of one location after the other, then definitions.
// Knows the library; knows nothing of Python or traces.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "otf2_definitions.hpp"
#include "otf2_event_writing.hpp"
#include "otf2_library.hpp"

namespace burstline::otf2 {

/// The events of a location, in order: six numbers each, whose meaning depends on the kind.
struct Happened {
    std::span<const std::int64_t> kind, time, arguments;
    std::span<const std::int64_t> values;  // of metrics and programs
};

class ArchiveWriter {
  public:
    /// Opens a new archive in a folder; throws std::runtime_error with the library's words.
    /// No definition may be longer than a chunk, and every location takes one for a while.
    ArchiveWriter(const std::string& library, const std::string& folder, const std::string& name,
                  std::uint64_t chunk);
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;
    ~ArchiveWriter();

    void write(std::uint64_t location, const Happened& happened);

    /// Writes the definitions, in rows as they are read, and ends the archive.
    void finish(std::span<const std::int64_t> rows, std::span<const char> text,
                std::span<const std::uint64_t> locations);

  private:
    void check(Status status, const char* what);
    template <class Function>
    Function* function(const char* name) const;
    template <class... Arguments>
    void put(const char* what, Arguments... arguments);
    void define(Defined what, std::span<const std::int64_t> numbers, std::span<const char> text);
    void define_more(Defined what, std::span<const std::int64_t> numbers);

    Library library_;
    Report said_;
    void* archive_ = nullptr;
    void* definitions_ = nullptr;
};

}  // namespace burstline::otf2
