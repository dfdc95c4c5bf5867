// otf2_library.cpp -- see otf2_library.hpp.
#include "otf2_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace burstline::otf2 {

namespace {

template <class Function>
void look_up(const Library& library, Function& target, const char* name) {
    target = reinterpret_cast<Function>(library.find(name));
}

}  // namespace

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    look_up(*this, open, "OTF2_Reader_Open");
    look_up(*this, set_serial, "OTF2_Reader_SetSerialCollectiveCallbacks");
    look_up(*this, substrate, "OTF2_Reader_GetFileSubstrate");
    look_up(*this, compression, "OTF2_Reader_GetCompression");
    look_up(*this, version, "OTF2_Reader_GetVersion");
    look_up(*this, global_definitions, "OTF2_Reader_GetGlobalDefReader");
    look_up(*this, new_definition_callbacks, "OTF2_GlobalDefReaderCallbacks_New");
    look_up(*this, register_definitions, "OTF2_Reader_RegisterGlobalDefCallbacks");
    look_up(*this, read_definitions, "OTF2_Reader_ReadAllGlobalDefinitions");
    look_up(*this, select, "OTF2_Reader_SelectLocation");
    look_up(*this, open_definition_files, "OTF2_Reader_OpenDefFiles");
    look_up(*this, open_event_files, "OTF2_Reader_OpenEvtFiles");
    look_up(*this, local_definitions, "OTF2_Reader_GetDefReader");
    look_up(*this, read_local_definitions, "OTF2_Reader_ReadAllLocalDefinitions");
    look_up(*this, close_local_definitions, "OTF2_Reader_CloseDefReader");
    look_up(*this, local_events, "OTF2_Reader_GetEvtReader");
    look_up(*this, new_event_callbacks, "OTF2_EvtReaderCallbacks_New");
    look_up(*this, register_events, "OTF2_Reader_RegisterEvtCallbacks");
    look_up(*this, read_events, "OTF2_Reader_ReadLocalEvents");
    look_up(*this, close_events, "OTF2_Reader_CloseEvtReader");
    look_up(*this, attributes, "OTF2_AttributeList_GetNumberOfElements");
    look_up(*this, attribute, "OTF2_AttributeList_GetAttributeByIndex");
    look_up(*this, error_name, "OTF2_Error_GetName");
    look_up(*this, on_error, "OTF2_Error_RegisterCallback");
}

Callback Library::find(const std::string& name) const {
    void* const found = dlsym(handle_, name.c_str());
    if (found == nullptr) throw std::runtime_error("no function " + name);
    return reinterpret_cast<Callback>(found);
}

}  // namespace burstline::otf2
