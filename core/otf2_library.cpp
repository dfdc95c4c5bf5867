// otf2_library.cpp -- see otf2_library.hpp.
#include "otf2_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace burstline::otf2 {

namespace {

void* opened(const std::string& path) {
    void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    return handle;
}

}  // namespace

Library::Library(const std::string& path) : handle_(opened(path)) {}

Found Library::find(const std::string& name) const {
    void* const found = dlsym(handle_, name.c_str());
    if (found == nullptr) throw std::runtime_error("no function " + name);
    return {reinterpret_cast<Callback>(found)};
}

}  // namespace burstline::otf2
