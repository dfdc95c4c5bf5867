// Lets a module count its own work.
#ifndef BURSTLINE_COUNTING_H
#define BURSTLINE_COUNTING_H

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include "tally.h"

namespace burstline {

// Instruments every function of the module that has a body, for the counters that are kept.
void count_work(llvm::Module& module, llvm::FunctionAnalysisManager& analyses, Kept kept);

}  // namespace burstline

#endif
