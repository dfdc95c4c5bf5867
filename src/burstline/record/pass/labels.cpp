#include "labels.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <string>

#include "regions.h"
#include "tally.h"

using namespace llvm;

namespace burstline {
namespace {

constexpr char ITERATION[] = "burst_loop_iteration";

uint32_t hash_of(StringRef file, unsigned line) {
    uint32_t hash = 2166136261u;
    for (const char letter : (file + ":" + Twine(line)).str())
        hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619u;
    hash &= 0x7fffffff;  // values in files of labels are often read as signed
    return hash ? hash : 1;
}

bool holds_reading(const BasicBlock& block, const TargetLibraryInfo& library) {
    for (const Instruction& statement : block)
        if (may_be_read_in(statement, library)) return true;
    return false;
}

// Where an iteration begins: after the test of a loop that tests first.
Instruction* beginning(const Loop& loop, const TargetLibraryInfo& library) {
    BasicBlock* header = loop.getHeader();
    const auto* branch = dyn_cast<BranchInst>(header->getTerminator());
    Instruction* first = &*header->getFirstInsertionPt();
    if (!branch || !branch->isConditional() || loop.isLoopLatch(header)) return first;
    if (holds_reading(*header, library)) return first;
    BasicBlock *one = branch->getSuccessor(0), *other = branch->getSuccessor(1);
    if (loop.contains(one) == loop.contains(other)) return first;
    BasicBlock* inside = loop.contains(one) ? one : other;
    return inside->getSinglePredecessor() ? &*inside->getFirstInsertionPt() : first;
}

void label(Loop& loop, const DebugLoc& place, const TargetLibraryInfo& library) {
    const StringRef file = cast<DIScope>(place.getScope())->getFilename();
    Module& module = *loop.getHeader()->getModule();
    SmallVector<BasicBlock*, 4> exits;
    loop.getUniqueExitBlocks(exits);
    Instruction* begin = beginning(loop, library);

    IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
    builder.SetCurrentDebugLocation(place);
    Type *none = builder.getVoidTy(), *number = builder.getInt32Ty();
    Value* name = builder.CreateGlobalStringPtr(file, "burst.file");
    auto enter = module.getOrInsertFunction("burst_loop_enter", number, number, name->getType(),
                                            number);
    auto iterate = module.getOrInsertFunction(ITERATION, none, number);
    auto leave = module.getOrInsertFunction("burst_loop_leave", none, number);
    Value* depth = builder.CreateCall(enter, {builder.getInt32(hash_of(file, place.getLine())), name,
                                              builder.getInt32(place.getLine())});
    auto call_before = [&](Instruction* before, FunctionCallee callee) {
        builder.SetInsertPoint(before);
        builder.SetCurrentDebugLocation(place);
        builder.CreateCall(callee, {depth});
    };
    call_before(begin, iterate);
    for (BasicBlock* exit : exits) call_before(&*exit->getFirstInsertionPt(), leave);
}

// A loop inside that was unrolled leaves its own calls here: theirs begin in here.
bool is_labelled(const Loop& loop, const LoopInfo& loops) {
    for (BasicBlock* block : loop.blocks()) {
        if (loops.getLoopFor(block) != &loop) continue;
        for (Instruction& statement : *block) {
            const auto* call = dyn_cast<CallInst>(&statement);
            const Function* callee = call ? call->getCalledFunction() : nullptr;
            if (!callee || callee->getName() != ITERATION) continue;
            if (loop.isLoopInvariant(call->getArgOperand(0))) return true;
        }
    }
    return false;
}

}  // namespace

bool label_loop(Loop& loop, DominatorTree& dominators, LoopInfo& loops,
                ScalarEvolution& evolution, const TargetLibraryInfo& library) {
    const DebugLoc place = loop.getStartLoc();
    if (!place || place.getLine() == 0) return false;
    const bool calls = std::any_of(loop.block_begin(), loop.block_end(), [&](BasicBlock* block) {
        return holds_reading(*block, library);
    });
    if (!calls || is_labelled(loop, loops) || !separate(loop, dominators, loops)) return false;
    label(loop, place, library);
    // A way out of two loops at once uses what was defined in the outer one.
    Loop* outermost = &loop;
    while (outermost->getParentLoop()) outermost = outermost->getParentLoop();
    formLCSSARecursively(*outermost, dominators, &loops, &evolution);
    return true;
}

}  // namespace burstline
