// What an instrumented module says of itself: to the linker, and to the recorder at its start.
#ifndef BURSTLINE_ANNOUNCING_H
#define BURSTLINE_ANNOUNCING_H

#include <llvm/IR/Module.h>

#include "tally.h"

namespace burstline {

// Who links this by other means is told how: by the name of what the linker does not find.
void ask_for_the_work_object(llvm::Module& module);

// Which counters the module keeps, and which compiler made it.
void announce_counts(llvm::Module& module, Kept kept);

// Whether its loops have labels.
void announce_labels(llvm::Module& module);

}  // namespace burstline

#endif
