#include "tally.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "callees.h"
#include "versions.h"

using namespace llvm;

namespace burstline {
namespace {

// Calls that instrumentation has put in.
bool is_ours(const Instruction& statement) {
    const auto* call = dyn_cast<CallBase>(&statement);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && begins(callee->getName(), "burst_loop_");
}

bool becomes_nothing(const Instruction& statement) {
    if (isa<PHINode>(statement) || isa<DbgInfoIntrinsic>(statement)) return true;
    if (is_ours(statement)) return true;
    const auto* intrinsic = dyn_cast<IntrinsicInst>(&statement);
    if (!intrinsic) return false;
    switch (intrinsic->getIntrinsicID()) {
        case Intrinsic::lifetime_start:
        case Intrinsic::lifetime_end:
        case Intrinsic::invariant_start:
        case Intrinsic::invariant_end:
        case Intrinsic::assume:
        case Intrinsic::annotation:
        case Intrinsic::var_annotation:
        case Intrinsic::ptr_annotation:
        case Intrinsic::donothing:
        case Intrinsic::sideeffect:
        case Intrinsic::pseudoprobe:
        case Intrinsic::experimental_noalias_scope_decl:
            return true;
        default:
            return false;
    }
}

uint64_t lanes(const Type* type) {
    // Lanes of a scalable vector are known at run time only: the least there can be.
    const auto* vector = dyn_cast<VectorType>(type);
    return vector ? vector->getElementCount().getKnownMinValue() : 1;
}

// Operations on each lane; 0: not floating-point arithmetic.
uint64_t operations(const Instruction& statement) {
    switch (statement.getOpcode()) {
        case Instruction::FAdd:
        case Instruction::FSub:
        case Instruction::FMul:
        case Instruction::FDiv:
        case Instruction::FRem:
            return 1;
        case Instruction::Call:
            break;
        default:
            return 0;
    }
    const auto* intrinsic = dyn_cast<IntrinsicInst>(&statement);
    if (!intrinsic) return 0;
    switch (intrinsic->getIntrinsicID()) {
        case Intrinsic::fma:
        case Intrinsic::fmuladd:
        case Intrinsic::experimental_constrained_fma:
        case Intrinsic::experimental_constrained_fmuladd:
            return 2;
        case Intrinsic::sqrt:
        case Intrinsic::minnum:
        case Intrinsic::maxnum:
        case Intrinsic::minimum:
        case Intrinsic::maximum:
        case Intrinsic::experimental_constrained_fadd:
        case Intrinsic::experimental_constrained_fsub:
        case Intrinsic::experimental_constrained_fmul:
        case Intrinsic::experimental_constrained_fdiv:
        case Intrinsic::experimental_constrained_frem:
        case Intrinsic::experimental_constrained_sqrt:
        case Intrinsic::vector_reduce_fadd:
        case Intrinsic::vector_reduce_fmul:
        case Intrinsic::vector_reduce_fmax:
        case Intrinsic::vector_reduce_fmin:
            return 1;
        default:
            return 0;
    }
}

// The vector an arithmetic statement works on: a reduction returns a scalar.
const Type* worked_on(const Instruction& statement) {
    if (const auto* call = dyn_cast<CallBase>(&statement))
        for (const Use& argument : call->args())
            if (argument->getType()->isVectorTy()) return argument->getType();
    return statement.getType();
}

void count_arithmetic(Tally& tally, const Instruction& statement) {
    const uint64_t each = operations(statement);
    if (!each) return;
    const Type* type = worked_on(statement);
    const bool single = type->getScalarSizeInBits() <= 32;
    tally[single ? FP_SP : FP_DP] += each * lanes(type);
    if (type->isVectorTy())
        ++tally[single ? VEC_SP : VEC_DP];
    else
        ++tally[FP_INS];
}

bool is_masked(const Instruction& statement, bool store) {
    const auto* intrinsic = dyn_cast<IntrinsicInst>(&statement);
    if (!intrinsic) return false;
    const auto id = intrinsic->getIntrinsicID();
    if (store)
        return id == Intrinsic::masked_store || id == Intrinsic::masked_scatter ||
               id == Intrinsic::masked_compressstore;
    return id == Intrinsic::masked_load || id == Intrinsic::masked_gather ||
           id == Intrinsic::masked_expandload;
}

bool handles_vector(const Instruction& statement) {
    if (statement.getType()->isVectorTy()) return true;
    if (const auto* store = dyn_cast<StoreInst>(&statement))
        return store->getValueOperand()->getType()->isVectorTy();
    return isa<IntrinsicInst>(statement) && worked_on(statement)->isVectorTy();
}

bool branches(const Instruction& statement) {
    if (const auto* branch = dyn_cast<BranchInst>(&statement)) return branch->isConditional();
    return isa<SwitchInst>(statement) || isa<IndirectBrInst>(statement);
}

constexpr Kept bit(Counter counter) { return Kept{1} << counter; }

// As KINDS in compiler.py.
constexpr std::pair<const char*, Kept> KINDS[] = {
    {"blocks", bit(BB)},
    {"statements", bit(TOT_INS)},
    {"memory", bit(LD_INS) | bit(SR_INS)},
    {"branches", bit(BR_INS)},
    {"flops", bit(FP_INS) | bit(FP_SP) | bit(FP_DP)},
    {"vectors", bit(VEC_INS) | bit(VEC_SP) | bit(VEC_DP)},
    {"calls", bit(CALLS_MATH) | bit(CALLS_MEM) | bit(CALLS_OTHER)},
    {"iterations", bit(LOOP_ITER)},
};

}  // namespace

Kept counters_of(StringRef kinds) {
    Kept kept = 0;
    SmallVector<StringRef, 8> names;
    kinds.split(names, ',');
    for (const auto& [name, counters] : KINDS)
        if (kinds.empty() || is_contained(names, name)) kept |= counters;
    return kept;
}

void count(Tally& tally, const Instruction& statement, const TargetTransformInfo& target) {
    if (becomes_nothing(statement)) return;
    const bool atomic = isa<AtomicRMWInst>(statement) || isa<AtomicCmpXchgInst>(statement);
    ++tally[TOT_INS];
    tally[LD_INS] += isa<LoadInst>(statement) || atomic || is_masked(statement, false);
    tally[SR_INS] += isa<StoreInst>(statement) || atomic || is_masked(statement, true);
    tally[BR_INS] += branches(statement);
    tally[VEC_INS] += handles_vector(statement);
    if (const auto* call = dyn_cast<CallBase>(&statement)) count_callee(tally, *call, target);
    count_arithmetic(tally, statement);
}

bool may_be_read_in(const Instruction& statement, const TargetLibraryInfo& library) {
    const auto* call = dyn_cast<CallBase>(&statement);
    if (!call || call->isInlineAsm() || isa<IntrinsicInst>(call)) return false;
    if (is_ours(*call)) return call->getCalledFunction()->getName() != "burst_loop_iteration";
    if (call->onlyReadsMemory() && call->doesNotThrow()) return false;  // MPI and OpenMP write
    LibFunc known;
    const Function* callee = call->getCalledFunction();
    const bool in_library = callee && library.getLibFunc(*callee, known) && library.has(known);
    return !in_library || call->doesNotReturn() || isa<InvokeInst>(call);
}

}  // namespace burstline
