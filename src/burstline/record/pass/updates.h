// The statements that add to the counters of the thread.
#ifndef BURSTLINE_UPDATES_H
#define BURSTLINE_UPDATES_H

#include <llvm/IR/IRBuilder.h>

#include <utility>
#include <vector>

#include "tally.h"

namespace burstline {

// Executions known at run time, and what each of them counts as.
using Executions = std::vector<std::pair<llvm::Value*, const Tally*>>;

class Updates {
  public:
    Updates(llvm::Module& module, Kept kept);

    // Leaves of a tally what is kept; says whether that is anything.
    bool reduce(Tally& tally) const;

    // Adds a tally before a statement.
    void add(llvm::Instruction* before, const Tally& tally) const;

    // Adds tallies times their numbers of executions before a statement.
    void add(llvm::Instruction* before, const Executions& executions) const;

    // After a call by which OpenMP hands iterations to the thread: counts them.
    void count_iterations(llvm::CallInst& call) const;

  private:
    void add(llvm::IRBuilder<>& builder, unsigned counter, llvm::Value* amount) const;

    llvm::Module& module_;
    llvm::GlobalVariable* work_;
    Kept kept_;
};

}  // namespace burstline

#endif
