#include "callees.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>

#include "versions.h"

using namespace llvm;

namespace burstline {
namespace {

// With an f or l behind it or without.
constexpr StringLiteral MATHEMATICS[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign",
    "cos", "cosh", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor",
    "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp",
    "lgamma", "lgamma_r", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint",
    "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "pow", "pow10", "remainder",
    "remquo", "rint", "round", "roundeven", "scalbln", "scalbn", "sin", "sincos", "sinh", "sqrt",
    "tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn", "cabs", "cacos", "cacosh", "carg",
    "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "cexp", "clog", "cpow", "cproj",
    "csin", "csinh", "csqrt", "ctan", "ctanh"};

constexpr StringLiteral MEMORY[] = {
    "aligned_alloc", "bcopy", "bzero", "calloc", "free", "malloc", "memalign", "memcpy",
    "memmove", "mempcpy", "memset", "posix_memalign", "realloc", "reallocarray", "valloc",
    "_FortranAAllocatableAllocate", "_FortranAAllocatableDeallocate", "_FortranAPointerAllocate",
    "_FortranAPointerDeallocate"};

constexpr StringLiteral NEW_AND_DELETE[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};
constexpr StringLiteral VECTOR_MATHEMATICS[] = {"_ZGV", "__svml_"};
constexpr StringLiteral EVENTS[] = {"MPI_",    "PMPI_", "mpi_",   "pmpi_",
                                    "__kmpc_", "omp_",  "__tgt_", "__cyg_profile_func_"};

template <size_t N>
bool begins_with_one(StringRef name, const StringLiteral (&starts)[N]) {
    return any_of(starts, [&](StringRef start) { return begins(name, start); });
}

bool is_mathematics(StringRef name) {
    if (begins_with_one(name, VECTOR_MATHEMATICS)) return true;
    if (begins(name, "__") && ends(name, "_finite")) name = name.drop_front(2).drop_back(7);
    if (is_contained(MATHEMATICS, name)) return true;
    return (ends(name, "f") || ends(name, "l")) && is_contained(MATHEMATICS, name.drop_back());
}

bool is_memory(StringRef name) {
    if (begins_with_one(name, NEW_AND_DELETE)) return true;
    if (begins(name, "__") && ends(name, "_chk")) name = name.drop_front(2).drop_back(4);
    return is_contained(MEMORY, name);
}

Counter class_of(const Function* callee) {
    if (!callee) return CALLS_OTHER;  // by pointer
    if (!callee->isDeclaration()) return COUNTERS;
    const StringRef name = callee->getName().ltrim('\1');  // as it was written
    if (begins_with_one(name, EVENTS)) return COUNTERS;
    if (is_mathematics(name)) return CALLS_MATH;
    return is_memory(name) ? CALLS_MEM : CALLS_OTHER;
}

// Square root, sign and absolute value have instructions, however long those take.
bool may_become_a_call(Intrinsic::ID intrinsic) {
    const StringRef name = Intrinsic::getBaseName(intrinsic).drop_front(sizeof "llvm." - 1);
    if (name == "sqrt" || name == "copysign" || name == "fabs") return false;
    return name == "powi" || is_contained(MATHEMATICS, name);
}

// The calls of libm that an intrinsic becomes: one a lane, unless there is an instruction for it.
uint64_t calls_of(const IntrinsicInst& intrinsic, const TargetTransformInfo& target) {
    constexpr int OF_A_CALL = 10;  // what LLVM estimates
    if (!may_become_a_call(intrinsic.getIntrinsicID())) return 0;
    const IntrinsicCostAttributes attributes(intrinsic.getIntrinsicID(), intrinsic);
    const auto cost =
        target.getIntrinsicInstrCost(attributes, TargetTransformInfo::TCK_RecipThroughput);
    if (cost.isValid() && cost < OF_A_CALL) return 0;
    const auto* vector = dyn_cast<VectorType>(intrinsic.getType());
    return vector ? vector->getElementCount().getKnownMinValue() : 1;
}

}  // namespace

void count_callee(Tally& tally, const CallBase& call, const TargetTransformInfo& target) {
    if (call.isInlineAsm()) return;
    if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&call)) {
        tally[CALLS_MEM] += isa<AnyMemIntrinsic>(intrinsic);
        tally[CALLS_MATH] += calls_of(*intrinsic, target);
        return;
    }
    const Counter counter = class_of(call.getCalledFunction());
    if (counter != COUNTERS) ++tally[counter];
}

}  // namespace burstline
