#include "updates.h"

#include <llvm/IR/Module.h>

#include "versions.h"

using namespace llvm;

namespace burstline {
namespace {

constexpr char WORK[] = "burst_work";

// Code that can only end up in an executable finds the counters at a fixed distance.
GlobalVariable::ThreadLocalMode model_for(const Module& module) {
    const bool shared = module.getPICLevel() != PICLevel::NotPIC &&
                        module.getPIELevel() == PIELevel::Default;
    return shared ? GlobalVariable::InitialExecTLSModel : GlobalVariable::LocalExecTLSModel;
}

GlobalVariable* work_of(Module& module) {
    if (auto* found = module.getGlobalVariable(WORK)) return found;
    auto* type = ArrayType::get(Type::getInt64Ty(module.getContext()), COUNTERS);
    return new GlobalVariable(module, type, false, GlobalValue::ExternalLinkage, nullptr, WORK,
                              nullptr, model_for(module));
}

}  // namespace

Updates::Updates(Module& module, Kept kept)
    : module_(module), work_(work_of(module)), kept_(kept) {}

bool Updates::reduce(Tally& tally) const {
    bool any = false;
    for (unsigned counter = 0; counter < COUNTERS; ++counter) {
        if (!(kept_ >> counter & 1)) tally[counter] = 0;
        any = any || tally[counter];
    }
    return any;
}

void Updates::add(IRBuilder<>& builder, unsigned counter, Value* amount) const {
    Type* word = builder.getInt64Ty();
    Value* place = builder.CreateConstInBoundsGEP2_64(work_->getValueType(), work_, 0, counter);
    Value* before = builder.CreateLoad(word, place);
    builder.CreateStore(builder.CreateAdd(before, amount), place);
}

void Updates::add(Instruction* before, const Tally& tally) const {
    IRBuilder<> builder(before);
    for (unsigned counter = 0; counter < COUNTERS; ++counter)
        if (tally[counter]) add(builder, counter, builder.getInt64(tally[counter]));
}

void Updates::add(Instruction* before, const Executions& executions) const {
    IRBuilder<> builder(before);
    for (unsigned counter = 0; counter < COUNTERS; ++counter) {
        Value* sum = nullptr;
        for (const auto& [times, tally] : executions) {
            if (!(*tally)[counter]) continue;
            Value* part = builder.CreateMul(times, builder.getInt64((*tally)[counter]));
            sum = sum ? builder.CreateAdd(sum, part) : part;
        }
        if (sum) add(builder, counter, sum);
    }
}

void Updates::count_iterations(CallInst& call) const {
    const Function* callee = call.getCalledFunction();
    if (!callee || !(kept_ >> LOOP_ITER & 1)) return;
    const StringRef name = callee->getName();
    const bool fixed = begins(name, "__kmpc_for_static_init_") && call.arg_size() == 9;
    const bool handed = begins(name, "__kmpc_dispatch_next_") && call.arg_size() == 6;
    if (!fixed && !handed) return;
    const unsigned first = fixed ? 4 : 3;  // the place of the lower bound; upper, stride follow
    const bool unsign = ends(name, "u");
    const bool small = ends(name.drop_back(unsign), "4");
    IRBuilder<> builder(&call);
    Type* word = builder.getInt64Ty();
    auto read = [&](unsigned argument) {
        Value* bound = builder.CreateLoad(small ? builder.getInt32Ty() : word,
                                          call.getArgOperand(argument));
        return builder.CreateIntCast(bound, word, !unsign);
    };
    Value* last = fixed ? read(first + 1) : nullptr;
    builder.SetInsertPoint(call.getNextNode());
    Value *lower = read(first), *upper = read(first + 1);
    Type* none = builder.getVoidTy();
    Type* kind = builder.getInt32Ty();
    if (handed) {
        auto noted = module_.getOrInsertFunction("burst_loop_chunk", none, kind, word, word);
        builder.CreateCall(noted, {&call, lower, upper});
        return;
    }
    auto noted = module_.getOrInsertFunction("burst_loop_static", none, kind, word, word, word, word);
    builder.CreateCall(noted, {call.getArgOperand(2), lower, upper, read(first + 2), last});
}

}  // namespace burstline
