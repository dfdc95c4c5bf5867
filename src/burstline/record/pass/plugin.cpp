// Registers the instrumentation with clang: -fpass-plugin=.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include <cstdlib>

#include "counting.h"

using namespace llvm;

namespace {

struct CountWork : PassInfoMixin<CountWork> {
    PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
        auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module);
        burstline::count_work(module, functions.getManager());
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

void add_last(PassBuilder& builder) {
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager& passes, auto&&...) { passes.addPass(CountWork()); });
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "burstline", LLVM_VERSION_STRING, add_last};
}
