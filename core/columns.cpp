// columns.cpp -- see columns.hpp.
#include "columns.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace burstline {

namespace {
// Straight from the system, so that what is never written is never resident. Huge pages
// are not asked for: getting them compacted costs more than the faults they save.
constexpr std::size_t large = std::size_t{1} << 20;
}  // namespace

Memory::Memory(std::size_t bytes) : data_(nullptr), bytes_(bytes) {
    if (bytes_ == 0) return;
    if (bytes_ < large) {
        data_ = std::malloc(bytes_);
        if (data_ == nullptr) throw std::bad_alloc();
        return;
    }
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
}

Memory::~Memory() {
    if (data_ == nullptr) return;
    if (bytes_ < large)
        std::free(data_);
    else
        munmap(data_, bytes_);
}

}  // namespace burstline
