// module.hpp -- The parts of the Python module `_core`: one for each bind_*.cpp, the only
// files that know both Python and the kernels.
// Knows Python's modules; knows nothing of what the parts bind.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace burstline {

void bind_reader(nb::module_& m);
void bind_writer(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_nest(nb::module_& m);
void bind_conditions(nb::module_& m);
void bind_reduce(nb::module_& m);
void bind_merge(nb::module_& m);
void bind_otf2(nb::module_& m);
void bind_otf2_writing(nb::module_& m);
void bind_waits(nb::module_& m);
void bind_signature(nb::module_& m);
void bind_timeline(nb::module_& m);

}  // namespace burstline
