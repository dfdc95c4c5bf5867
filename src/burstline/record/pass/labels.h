// Lets a program say in which loop of its source it is.
#ifndef BURSTLINE_LABELS_H
#define BURSTLINE_LABELS_H

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>

namespace burstline {

// Brackets a loop that holds calls which might be recorded, once; says whether it did.
bool label_loop(llvm::Loop& loop, llvm::DominatorTree& dominators, llvm::LoopInfo& loops,
                llvm::ScalarEvolution& evolution, const llvm::TargetLibraryInfo& library);

}  // namespace burstline

#endif
