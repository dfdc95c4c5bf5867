/* init.h -- The beginning and the end of MPI, as the wrappers report them. */
#ifndef BURSTLINE_INIT_H
#define BURSTLINE_INIT_H

#include "wrap.h"

void burst_initialized(struct burst_thread* thread);
void burst_finalizing(struct burst_thread* thread);
void burst_session_begun(MPI_Session session);
void burst_session_ending(MPI_Session session);

#endif
