// module.cpp -- The Python module of the kernels, put together of its parts.
#include "module.hpp"

NB_MODULE(_core, m) {
    using namespace burstline;
    m.doc() = "Compiled kernels over columns of integers; see the Python modules for meaning.";
    bind_reader(m);
    bind_writer(m);
    bind_structure(m);
    bind_nest(m);
    bind_conditions(m);
    bind_reduce(m);
    bind_merge(m);
    bind_otf2(m);
    bind_otf2_writing(m);
    bind_waits(m);
    bind_signature(m);
    bind_timeline(m);
}
