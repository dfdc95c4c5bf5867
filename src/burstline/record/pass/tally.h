// What a statement of the intermediate representation counts as.
#ifndef BURSTLINE_TALLY_H
#define BURSTLINE_TALLY_H

#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/InstrTypes.h>

#include <array>
#include <cstdint>

namespace burstline {

// The places in burst_work, see runtime.h. CALLS is added up where it is read.
enum Counter : unsigned {
    BB,
    TOT_INS,
    LD_INS,
    SR_INS,
    BR_INS,
    FP_INS,
    FP_SP,
    FP_DP,
    VEC_INS,
    VEC_SP,
    VEC_DP,
    CALLS,
    LOOP_ITER,
    CALLS_MATH,
    CALLS_MEM,
    CALLS_OTHER,
    COUNTERS = 16
};

using Tally = std::array<uint64_t, COUNTERS>;

// Bit k: counter k is kept.
using Kept = uint32_t;

// The counters of kinds by their names, with commas between; all of them for an empty text.
Kept counters_of(llvm::StringRef kinds);

// Adds what one execution of the statement counts as.
void count(Tally& tally, const llvm::Instruction& statement,
           const llvm::TargetTransformInfo& target);

// Whether the recorder might read the counters before the statement is over.
bool may_be_read_in(const llvm::Instruction& statement, const llvm::TargetLibraryInfo& library);

}  // namespace burstline

#endif
