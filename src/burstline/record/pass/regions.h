// Which blocks are executed equally often, and how often loops iterate.
#ifndef BURSTLINE_REGIONS_H
#define BURSTLINE_REGIONS_H

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <vector>

namespace burstline {

// What is known about the flow of control of a function; valid while its blocks stay.
class Flow {
  public:
    Flow(llvm::Function& function, llvm::TargetLibraryInfo& library,
         llvm::TargetTransformInfo& target);

    llvm::LoopInfo& loops() { return loops_; }
    llvm::DominatorTree& dominators() { return dominators_; }

    // The first block that is executed exactly as often as this one, of the same loop.
    llvm::BasicBlock* leader(llvm::BasicBlock* block);

    // Writes into the preheader how often the loop goes back; null if that is not known there.
    llvm::Value* times_back(llvm::Loop& loop);

  private:
    llvm::TargetTransformInfo& target_;
    std::map<llvm::BasicBlock*, llvm::BasicBlock*> leaders_;
    llvm::DominatorTree dominators_;
    llvm::PostDominatorTree after_;
    llvm::LoopInfo loops_;
    llvm::AssumptionCache assumptions_;
    llvm::ScalarEvolution evolution_;
};

// Gives a loop and all in it a preheader and exits of its own; says whether that could be done.
bool separate(llvm::Loop& loop, llvm::DominatorTree& dominators, llvm::LoopInfo& loops);

// Gives loops that hold no block of `loud` a preheader and exits of their own, outermost first.
// Returns their headers; those where it could not be done are left out, with all inside.
std::vector<llvm::BasicBlock*> separate_quiet_loops(llvm::Function& function,
                                                    const std::set<llvm::BasicBlock*>& loud);

}  // namespace burstline

#endif
