#include "announcing.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <string>

using namespace llvm;

namespace burstline {
namespace {

constexpr size_t MADE_BY_BYTES = 124;

// As the compiler calls itself in the object file.
StringRef compiler_of(const Module& module) {
    const NamedMDNode* known = module.getNamedMetadata("llvm.ident");
    if (known && known->getNumOperands() > 0 && known->getOperand(0)->getNumOperands() > 0)
        if (const auto* text = dyn_cast<MDString>(known->getOperand(0)->getOperand(0)))
            return text->getString();
    return "LLVM " LLVM_VERSION_STRING;
}

}  // namespace

void ask_for_the_work_object(Module& module) {
    constexpr char ADVICE[] = "link_with_burstline_cc";
    if (module.getNamedValue(ADVICE)) return;
    LLVMContext& context = module.getContext();
    auto* advice = new GlobalVariable(module, Type::getInt8Ty(context), true,
                                      GlobalValue::ExternalLinkage, nullptr, ADVICE);
    // Not constant: code that is not position-independent would have to be changed when loaded.
    auto* asked = new GlobalVariable(module, advice->getType(), false, GlobalValue::PrivateLinkage,
                                     advice, "burst.linked");
    appendToCompilerUsed(module, {asked});
}

// A record of struct made in work.c: without an address, so that all code may hold it.
void announce_counts(Module& module, Kept kept) {
    LLVMContext& context = module.getContext();
    std::string compiler = compiler_of(module).take_front(MADE_BY_BYTES - 1).str();
    compiler.resize(MADE_BY_BYTES, '\0');
    Constant* counted = ConstantInt::get(Type::getInt32Ty(context), kept);
    Constant* text = ConstantDataArray::getString(context, compiler, false);
    Constant* record = ConstantStruct::getAnon({counted, text});
    auto* made = new GlobalVariable(module, record->getType(), true, GlobalValue::PrivateLinkage,
                                    record, "burst.made");
    made->setSection("burst_made");
    made->setAlignment(Align(4));
    appendToUsed(module, {made});
}

void announce_labels(Module& module) {
    if (!module.getFunction("burst_loop_enter")) return;
    Type* none = Type::getVoidTy(module.getContext());
    auto announced = module.getOrInsertFunction("burst_loop_labels", none);
    appendToGlobalCtors(module, cast<Function>(announced.getCallee()), 65535);
}

}  // namespace burstline
