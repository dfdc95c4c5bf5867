// Registers the instrumentation with clang: -fpass-plugin=.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <cstdlib>

#include "counting.h"
#include "labels.h"

using namespace llvm;

namespace {

struct CountWork : PassInfoMixin<CountWork> {
    PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
        auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module);
        const char* kinds = std::getenv("BURSTLINE_PASS_COUNT");
        const auto kept = burstline::counters_of(kinds ? kinds : "");
        burstline::count_work(module, functions.getManager(), kept);
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

struct LabelLoops : PassInfoMixin<LabelLoops> {
    PreservedAnalyses run(Loop& loop, LoopAnalysisManager&, LoopStandardAnalysisResults& known,
                          LPMUpdater&) {
        const bool changed = burstline::label_loop(loop, known.DT, known.LI, known.SE, known.TLI);
        return changed ? getLoopPassPreservedAnalyses() : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

// When calls within the loop have been inlined, and before it may be unrolled.
void add_labels(PassBuilder& builder) {
    builder.registerLateLoopOptimizationsEPCallback(
        [](LoopPassManager& passes, auto&&...) { passes.addPass(LabelLoops()); });
}

void add_passes(PassBuilder& builder) {
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager& passes, auto&&...) { passes.addPass(CountWork()); });
    if (std::getenv("BURSTLINE_PASS_LOOPS")) add_labels(builder);
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "burstline", LLVM_VERSION_STRING, add_passes};
}
