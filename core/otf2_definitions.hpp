// otf2_definitions.hpp -- The definitions of an archive as rows of integers and one text.
// Knows the library's definitions; knows nothing of what they mean.
#pragma once

#include <cstdint>
#include <string>

#include "otf2_library.hpp"
#include "otf2_shared.hpp"

namespace burstline::otf2 {

/// What a row defines.
enum class Defined : std::int64_t {
    archive = 1,  // substrate, compression, library version
    clock,
    text,  // ref, then where it begins in the text, and its length
    node,
    location_group,
    location,
    region,
    group,
    metric_member,
    metric_class,
    metric_instance,
    communicator,
    inter_communicator,
    parameter,
    window,
    attribute,
    calling_context,
    source_code_location,
    node_domain,
    io_handle,
    paradigm,  // written only: ref, name, class
};

/// What reading said: kept in shared memory, because the reader may fall.
struct Report {
    std::uint64_t rows = 0;   // integers written
    std::uint64_t bytes = 0;  // characters written
    std::int64_t status = 0;  // of the library, 0 is success
    std::int64_t full = 0;    // what did not fit
    char message[512] = {};
};

class Definitions {
  public:
    Definitions(std::size_t integers, std::size_t characters);

    /// Reads in a child process; gives the signal that ended it, or 0.
    int read(const Library& library, const std::string& anchor, const Limits& limits,
             const std::function<bool()>& is_over = {});

    const Report& report() const { return *static_cast<const Report*>(report_.data()); }
    SharedColumn<std::int64_t> rows;
    SharedColumn<char> text;

  private:
    Shared report_;
    std::size_t integers_, characters_;
};

/// Keeps what the library complains of first in a report.
Status keep_complaint(void* report, const char* file, std::uint64_t line, const char* function,
                      Status status, const char* format, std::va_list arguments);

}  // namespace burstline::otf2
