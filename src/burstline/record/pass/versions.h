// What is called differently in the versions of LLVM.
#ifndef BURSTLINE_VERSIONS_H
#define BURSTLINE_VERSIONS_H

#include <llvm/ADT/StringRef.h>

namespace burstline {

inline bool begins(llvm::StringRef text, llvm::StringRef start) {
    return text.take_front(start.size()) == start;
}

inline bool ends(llvm::StringRef text, llvm::StringRef end) {
    return text.take_back(end.size()) == end;
}

}  // namespace burstline

#endif
