// otf2_library.hpp -- The functions of the OTF2 library that are used, looked up when it is opened.
// Knows the library's names and types; knows nothing of archives.
//
// The library is whatever shared object exports them. Handles are opaque; numbers have the
// widths that the format gives them.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace burstline::otf2 {

using Status = int;  // 0 is success
using Callback = void (*)();

struct Library {
    /// Opens the shared object; throws std::runtime_error with what is wrong with it.
    explicit Library(const std::string& path);

    Callback find(const std::string& name) const;

    void* (*open)(const char*);
    Status (*set_serial)(void*);
    Status (*substrate)(void*, std::uint8_t*);
    Status (*compression)(void*, std::uint8_t*);
    Status (*version)(void*, std::uint8_t*, std::uint8_t*, std::uint8_t*);

    void* (*global_definitions)(void*);
    void* (*new_definition_callbacks)();
    Status (*register_definitions)(void*, void*, const void*, void*);
    Status (*read_definitions)(void*, void*, std::uint64_t*);

    Status (*select)(void*, std::uint64_t);
    Status (*open_definition_files)(void*);
    Status (*open_event_files)(void*);
    void* (*local_definitions)(void*, std::uint64_t);
    Status (*read_local_definitions)(void*, void*, std::uint64_t*);
    Status (*close_local_definitions)(void*, void*);

    void* (*local_events)(void*, std::uint64_t);
    void* (*new_event_callbacks)();
    Status (*register_events)(void*, void*, const void*, void*);
    Status (*read_events)(void*, void*, std::uint64_t, std::uint64_t*);
    Status (*close_events)(void*, void*);

    std::uint32_t (*attributes)(const void*);
    Status (*attribute)(const void*, std::uint32_t, std::uint32_t*, std::uint8_t*, std::uint64_t*);

    const char* (*error_name)(Status);
    using Complaint = Status (*)(void*, const char*, std::uint64_t, const char*, Status,
                                 const char*, std::va_list);
    Complaint (*on_error)(Complaint, void*);

  private:
    void* handle_;
};

}  // namespace burstline::otf2
