// Lets a program say in which loop of its source it is.
#ifndef BURSTLINE_LABELS_H
#define BURSTLINE_LABELS_H

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Function.h>

namespace burstline {

// Whether a loop is to be labelled: it holds calls that might be recorded.
bool is_labelled(const llvm::Loop& loop, const llvm::TargetLibraryInfo& library);

// Brackets the loops of a function that hold calls; says whether there were any.
bool label_loops(llvm::Function& function, const llvm::TargetLibraryInfo& library);

}  // namespace burstline

#endif
