#include "counting.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <map>
#include <set>

#include "announcing.h"
#include "regions.h"
#include "updates.h"
#include "versions.h"

using namespace llvm;

namespace burstline {
namespace {

constexpr size_t REGISTERS = 6;  // for counts of a loop nest; more than these would be spilled

// Statements that are counted together, just before the last of them.
struct Segment {
    Instruction* last;
    Tally tally;
};

using Segments = std::map<BasicBlock*, std::vector<Segment>>;

// Cuts a block after each statement in which the counters might be read.
std::vector<Segment> cut(BasicBlock& block, const Updates& updates,
                         const TargetLibraryInfo& library, const TargetTransformInfo& target) {
    std::vector<Segment> segments(1, {nullptr, {}});
    segments.back().tally[BB] = 1;
    bool together = false;  // nothing may stand between a musttail call and its return
    for (Instruction& statement : block) {
        if (segments.back().last && !together) segments.push_back({nullptr, {}});
        Segment& segment = segments.back();
        count(segment.tally, statement, target);
        const auto* call = dyn_cast<CallInst>(&statement);
        together = together || (call && call->isMustTailCall());
        const bool cuts = may_be_read_in(statement, library) || statement.isTerminator();
        if ((cuts || together) && !segment.last) segment.last = &statement;
    }
    for (Segment& segment : segments) updates.reduce(segment.tally);
    return segments;
}

class Counting {
  public:
    Counting(Function& function, const Updates& updates, TargetLibraryInfo& library,
             TargetTransformInfo& target)
        : function_(function), updates_(updates), library_(library), target_(target) {}

    void run();

  private:
    void count_loop(Flow& flow, Loop& loop);
    void count_headers(Flow& flow, Loop& loop);
    void flush(Loop& loop);
    AllocaInst* number(BasicBlock* leader);
    Tally& tally(BasicBlock* block) { return segments_.at(block).front().tally; }

    Function& function_;
    const Updates& updates_;
    TargetLibraryInfo& library_;
    TargetTransformInfo& target_;
    Segments segments_;
    // Of the loop nest at hand: executions of each leader, and what one counts as.
    std::map<BasicBlock*, AllocaInst*> numbers_;
    MapVector<BasicBlock*, Tally> sums_;
    std::vector<BasicBlock*> order_;
    std::vector<AllocaInst*> in_registers_;
};

void Counting::run() {
    std::set<BasicBlock*> loud;
    for (BasicBlock& block : function_) {
        auto& segments = segments_[&block] = cut(block, updates_, library_, target_);
        if (segments.size() > 1 || may_be_read_in(*segments.front().last, library_))
            loud.insert(&block);
    }
    const auto headers = separate_quiet_loops(function_, loud);
    Flow flow(function_, library_, target_);
    for (BasicBlock* header : headers)
        if (Loop* loop = flow.loops().getLoopFor(header)) count_loop(flow, *loop);
    for (auto& [block, segments] : segments_)
        for (const Segment& segment : segments) updates_.add(segment.last, segment.tally);
    if (!in_registers_.empty()) {
        DominatorTree dominators(function_);
        PromoteMemToReg(in_registers_, dominators);
    }
}

AllocaInst* Counting::number(BasicBlock* leader) {
    AllocaInst*& found = numbers_[leader];
    if (!found) {
        Type* word = Type::getInt64Ty(function_.getContext());
        found = new AllocaInst(word, 0, "burst", &*function_.getEntryBlock().begin());
        order_.push_back(leader);
    }
    return found;
}

void add_to(AllocaInst* number, Instruction* before, Value* amount) {
    IRBuilder<> builder(before);
    Value* so_far = builder.CreateLoad(builder.getInt64Ty(), number);
    builder.CreateStore(builder.CreateAdd(so_far, amount), number);
}

void Counting::count_loop(Flow& flow, Loop& loop) {
    numbers_.clear(), sums_.clear(), order_.clear();
    for (BasicBlock* block : loop.blocks()) {
        if (!segments_.count(block)) continue;
        Tally& sum = sums_[flow.leader(block)];
        for (unsigned counter = 0; counter < COUNTERS; ++counter)
            sum[counter] += tally(block)[counter];
        segments_.erase(block);
    }
    sums_.remove_if([&](auto& entry) { return !updates_.reduce(entry.second); });
    count_headers(flow, loop);
    for (auto& [leader, sum] : sums_)
        if (!numbers_.count(leader))
            add_to(number(leader), leader->getTerminator(),
                   IRBuilder<>(leader).getInt64(1));
    for (BasicBlock* leader : order_) {
        AllocaInst* place = numbers_[leader];
        BasicBlock* before = loop.getLoopPreheader();
        const bool entry = before == &function_.getEntryBlock();
        IRBuilder<> builder(entry ? place->getNextNode() : &*before->getFirstInsertionPt());
        builder.CreateStore(builder.getInt64(0), place);
    }
    flush(loop);
    for (BasicBlock* leader : order_)
        if (order_.size() <= REGISTERS) in_registers_.push_back(numbers_[leader]);
}

// Headers of loops whose iterations are known beforehand need no count inside.
void Counting::count_headers(Flow& flow, Loop& loop) {
    for (Loop* inner : loop.getLoopsInPreorder()) {
        BasicBlock* header = inner->getHeader();
        if (!sums_.count(header)) continue;
        Value* back = flow.times_back(*inner);
        if (!back) continue;
        Instruction* before = inner->getLoopPreheader()->getTerminator();
        IRBuilder<> builder(before);
        add_to(number(header), before, builder.CreateAdd(back, builder.getInt64(1)));
    }
}

void Counting::flush(Loop& loop) {
    SmallVector<BasicBlock*, 4> exits;
    loop.getUniqueExitBlocks(exits);
    for (BasicBlock* exit : exits) {
        Instruction* before = &*exit->getFirstInsertionPt();
        IRBuilder<> builder(before);
        Executions executions;
        for (BasicBlock* leader : order_)
            executions.emplace_back(builder.CreateLoad(builder.getInt64Ty(), numbers_[leader]),
                                    &sums_[leader]);
        updates_.add(before, executions);
    }
}

// What was pure before it counted is so no longer.
void forget_purity(Function& function) {
#if LLVM_VERSION_MAJOR >= 16
    function.removeFnAttr(Attribute::Memory);
#else
    for (auto kind : {Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly,
                      Attribute::ArgMemOnly, Attribute::InaccessibleMemOnly,
                      Attribute::InaccessibleMemOrArgMemOnly})
        function.removeFnAttr(kind);
#endif
}

bool is_counted(const Function& function) {
    return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
           !function.hasFnAttribute(Attribute::Naked) &&
           !function.hasFnAttribute(Attribute::NoProfile);
}

}  // namespace

void count_work(Module& module, FunctionAnalysisManager& analyses, Kept kept) {
    const StringRef target(module.getTargetTriple());
    if (begins(target, "nvptx") || begins(target, "amdgcn")) return;
    const Updates updates(module, kept);
    std::vector<CallInst*> calls;
    std::vector<Function*> functions;
    for (Function& function : module)
        if (is_counted(function)) functions.push_back(&function);
    for (Function* function : functions) {
        for (BasicBlock& block : *function)
            for (Instruction& statement : block)
                if (auto* call = dyn_cast<CallInst>(&statement)) calls.push_back(call);
        Counting(*function, updates, analyses.getResult<TargetLibraryAnalysis>(*function),
                 analyses.getResult<TargetIRAnalysis>(*function))
            .run();
    }
    for (CallInst* call : calls) updates.count_iterations(*call);
    for (Function* function : functions) forget_purity(*function);
    if (!functions.empty()) {
        ask_for_the_work_object(module);
        announce_counts(module, kept);
    }
    announce_labels(module);
}

}  // namespace burstline
