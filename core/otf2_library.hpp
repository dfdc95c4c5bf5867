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

/// A function of the library, as whatever it is taken for.
struct Found {
    Callback function;
    template <class Function>
    operator Function*() const {
        return reinterpret_cast<Function*>(function);
    }
};

class Library {
    void* handle_;  // before the functions that are found in it

  public:
    /// Opens the shared object; throws std::runtime_error with what is wrong with it.
    explicit Library(const std::string& path);

    /// Throws std::runtime_error if there is no such function.
    Found find(const std::string& name) const;

    void* (*open)(const char*) = find("OTF2_Reader_Open");
    Status (*set_serial)(void*) = find("OTF2_Reader_SetSerialCollectiveCallbacks");
    Status (*substrate)(void*, std::uint8_t*) = find("OTF2_Reader_GetFileSubstrate");
    Status (*compression)(void*, std::uint8_t*) = find("OTF2_Reader_GetCompression");
    Status (*version)(void*, std::uint8_t*, std::uint8_t*,
                      std::uint8_t*) = find("OTF2_Reader_GetVersion");

    void* (*global_definitions)(void*) = find("OTF2_Reader_GetGlobalDefReader");
    void* (*new_definition_callbacks)() = find("OTF2_GlobalDefReaderCallbacks_New");
    Status (*register_definitions)(void*, void*, const void*,
                                   void*) = find("OTF2_Reader_RegisterGlobalDefCallbacks");
    Status (*read_definitions)(void*, void*,
                               std::uint64_t*) = find("OTF2_Reader_ReadAllGlobalDefinitions");

    Status (*select)(void*, std::uint64_t) = find("OTF2_Reader_SelectLocation");
    Status (*open_definition_files)(void*) = find("OTF2_Reader_OpenDefFiles");
    Status (*open_event_files)(void*) = find("OTF2_Reader_OpenEvtFiles");
    void* (*local_definitions)(void*, std::uint64_t) = find("OTF2_Reader_GetDefReader");
    Status (*read_local_definitions)(void*, void*,
                                     std::uint64_t*) = find("OTF2_Reader_ReadAllLocalDefinitions");
    Status (*close_local_definitions)(void*, void*) = find("OTF2_Reader_CloseDefReader");

    void* (*local_events)(void*, std::uint64_t) = find("OTF2_Reader_GetEvtReader");
    void* (*new_event_callbacks)() = find("OTF2_EvtReaderCallbacks_New");
    Status (*register_events)(void*, void*, const void*,
                              void*) = find("OTF2_Reader_RegisterEvtCallbacks");
    Status (*read_events)(void*, void*, std::uint64_t,
                          std::uint64_t*) = find("OTF2_Reader_ReadLocalEvents");
    Status (*close_events)(void*, void*) = find("OTF2_Reader_CloseEvtReader");

    std::uint32_t (*attributes)(const void*) = find("OTF2_AttributeList_GetNumberOfElements");
    Status (*attribute)(const void*, std::uint32_t, std::uint32_t*, std::uint8_t*,
                        std::uint64_t*) = find("OTF2_AttributeList_GetAttributeByIndex");

    const char* (*error_name)(Status) = find("OTF2_Error_GetName");
    using Complaint = Status (*)(void*, const char*, std::uint64_t, const char*, Status,
                                 const char*, std::va_list);
    Complaint (*on_error)(Complaint, void*) = find("OTF2_Error_RegisterCallback");
};

}  // namespace burstline::otf2
