/* objects.h -- Windows and files: which there are, and what is moved through them. */
#ifndef BURSTLINE_OBJECTS_H
#define BURSTLINE_OBJECTS_H

#include "communicators.h"

enum { BURST_WINDOW = 0, BURST_FILE = 1 };

struct burst_object { /* a window or a file */
    struct burst_object* next;
    uintptr_t handle;
    uint32_t id;
    struct burst_comm* comm;
    uint64_t pending; /* id of the collective operation that has begun */
};
void burst_object_created(int kind, uintptr_t handle, MPI_Comm comm);
void burst_object_freed(int kind, uintptr_t handle);
struct burst_object burst_object(int kind, uintptr_t handle); /* id 0: unknown */
/* Sets the id that is pending, and returns the one before. */
uint64_t burst_object_pending(int kind, uintptr_t handle, uint64_t id);

void burst_one_sided(struct burst_thread* thread, MPI_Win window, int target, uint64_t bytes,
                     int transfer);
void burst_io(struct burst_thread* thread, MPI_File file, int transfer, uint64_t bytes);

#endif
