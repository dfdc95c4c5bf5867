#include "regions.h"

#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>

using namespace llvm;

namespace burstline {
namespace {

constexpr unsigned CHEAP = 4;  // in the cost model's units: dearer than counting is no gain

bool safe(SCEVExpander& expander, const SCEV* number, ScalarEvolution& evolution) {
#if LLVM_VERSION_MAJOR >= 15
    (void)evolution;
    return expander.isSafeToExpand(number);
#else
    (void)expander;
    return isSafeToExpand(number, evolution);
#endif
}

// Whether there is a way from a block back to it that avoids another.
bool comes_back(BasicBlock* block, BasicBlock* avoiding) {
    std::vector<BasicBlock*> waiting{block};
    std::set<BasicBlock*> seen;
    while (!waiting.empty()) {
        BasicBlock* here = waiting.back();
        waiting.pop_back();
        for (BasicBlock* next : successors(here)) {
            if (next == block) return true;
            if (next != avoiding && seen.insert(next).second) waiting.push_back(next);
        }
    }
    return false;
}

}  // namespace

Flow::Flow(Function& function, TargetLibraryInfo& library, TargetTransformInfo& target)
    : target_(target),
      dominators_(function),
      after_(function),
      loops_(dominators_),
      assumptions_(function),
      evolution_(function, library, assumptions_, dominators_, loops_) {}

BasicBlock* Flow::leader(BasicBlock* block) {
    auto known = leaders_.find(block);
    if (known != leaders_.end()) return known->second;
    const Loop* loop = loops_.getLoopFor(block);
    BasicBlock* found = block;
    for (auto* node = dominators_.getNode(block)->getIDom(); node; node = node->getIDom()) {
        BasicBlock* above = node->getBlock();
        if (loop && !loop->contains(above)) break;
        if (loops_.getLoopFor(above) != loop || !after_.dominates(block, above)) continue;
        if (comes_back(above, block) || comes_back(block, above)) continue;
        found = leader(above);
        break;
    }
    return leaders_[block] = found;
}

Value* Flow::times_back(Loop& loop) {
    const SCEV* back = evolution_.getBackedgeTakenCount(&loop);
    if (isa<SCEVCouldNotCompute>(back)) return nullptr;
    Instruction* place = loop.getLoopPreheader()->getTerminator();
    auto* type = dyn_cast<IntegerType>(back->getType());
    if (!type || type->getBitWidth() > 64) return nullptr;
    SCEVExpander expander(evolution_, place->getModule()->getDataLayout(), "burst");
    if (!safe(expander, back, evolution_)) return nullptr;
    if (expander.isHighCostExpansion(back, &loop, CHEAP, &target_, place)) return nullptr;
    Value* count = expander.expandCodeFor(back, type, place);
    return IRBuilder<>(place).CreateZExt(count, Type::getInt64Ty(place->getContext()));
}

bool separate(Loop& loop, DominatorTree& dominators, LoopInfo& loops) {
    for (Loop* inner : loop.getSubLoops())
        if (!separate(*inner, dominators, loops)) return false;
    if (!loop.getLoopPreheader() &&
        !InsertPreheaderForLoop(&loop, &dominators, &loops, nullptr, false))
        return false;
    formDedicatedExitBlocks(&loop, &dominators, &loops, nullptr, false);
    return loop.getLoopPreheader() && loop.hasDedicatedExits();
}

std::vector<BasicBlock*> separate_quiet_loops(Function& function,
                                              const std::set<BasicBlock*>& loud) {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    std::vector<BasicBlock*> headers;
    std::vector<Loop*> waiting(loops.begin(), loops.end());
    while (!waiting.empty()) {
        Loop* loop = waiting.back();
        waiting.pop_back();
        const bool quiet = std::none_of(loop->block_begin(), loop->block_end(),
                                        [&](BasicBlock* block) { return loud.count(block) > 0; });
        if (!quiet)
            waiting.insert(waiting.end(), loop->begin(), loop->end());
        else if (separate(*loop, dominators, loops))
            headers.push_back(loop->getHeader());
    }
    return headers;
}

}  // namespace burstline
