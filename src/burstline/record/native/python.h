/* python.h -- A walk through the frames of CPython that lie between those of C. */
#ifndef BURSTLINE_PYTHON_H
#define BURSTLINE_PYTHON_H

#include <stdint.h>

struct burst_thread;

#define BURST_MARK_PYTHON (UINT64_C(1) << 62) /* no return address: a place in a code object */

/* Of a handler, where a frame may be half pushed and every load is checked: a system call each, so
 * that much is read at once. What lies on the thread's own stack of C is there. */
#define BURST_PYTHON_AT_ONCE 24
struct burst_python_copies {
    uintptr_t low, high;  /* of the stack in use */
    uintptr_t begin, end; /* of the frames that were read last */
    char frames[4096 + 72];
    char codes[BURST_PYTHON_AT_ONCE][192];
};

struct burst_python {
    uintptr_t frame;  /* the next one, 0: none */
    uintptr_t call;   /* of the interpreter that runs it, where there is a record of it */
    uintptr_t anchor; /* an address in that call's frame on the stack of C; UINTPTR_MAX: none */
    struct burst_python_copies *copies; /* NULL: frames stand still */
};

void burst_find_python(void);
int burst_has_python(void);
const char *burst_unread_python(void); /* the version of one whose frames cannot be read, or NULL */
/* Whether code belongs to the interpreter, to mpi4py, or to what calls C for them. */
int burst_is_of_python(uintptr_t place);

void burst_python_begin(struct burst_python *walk, struct burst_python_copies *copies);
/* The frames of one call of the interpreter, at most `room`; the walk goes on to the next call. */
unsigned burst_python_take(struct burst_python *walk, uintptr_t *frames, unsigned room);

uint64_t burst_python_place(struct burst_thread *thread, uintptr_t frame);

#endif
