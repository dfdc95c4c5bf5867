// What a call that leaves the module is for.
#ifndef BURSTLINE_CALLEES_H
#define BURSTLINE_CALLEES_H

#include <llvm/Analysis/TargetTransformInfo.h>

#include "tally.h"

namespace burstline {

// Adds a call to the class of what it calls. What events tell of is in none: MPI and OpenMP.
void count_callee(Tally& tally, const llvm::CallBase& call,
                  const llvm::TargetTransformInfo& target);

}  // namespace burstline

#endif
