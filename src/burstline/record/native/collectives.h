/* collectives.h -- Who takes part in a collective call, as the table of calls asks for it. */
#ifndef BURSTLINE_COLLECTIVES_H
#define BURSTLINE_COLLECTIVES_H

#include "communicators.h"

struct burst_part {
    int all, rank, members, root, leaf;
};

/* `root` is MPI_PROC_NULL where the operation has none. */
struct burst_part burst_part(MPI_Comm comm, int root);
struct burst_part burst_part_unrooted(MPI_Comm comm);
int burst_neighbours(MPI_Comm comm, int outgoing);
uint64_t burst_sum(int count, const int* counts, MPI_Datatype type);
uint64_t burst_sums(int count, const int* counts, const MPI_Datatype* types);
uint64_t burst_sum_large(int count, const MPI_Count* counts, MPI_Datatype type);
uint64_t burst_sums_large(int count, const MPI_Count* counts, const MPI_Datatype* types);

/* `op`: see BURST_COLLECTIVE. */
void burst_collective(struct burst_thread* thread, struct burst_comm* comm, uint64_t id, int op,
                      uint64_t sent, uint64_t received);
void burst_root(struct burst_thread* thread, struct burst_comm* comm, int root);
/* Calls that all members make together, and that move nothing of theirs. */
void burst_together(struct burst_thread* thread, MPI_Comm comm, uint64_t id);
void burst_together_on(struct burst_thread* thread, int kind, uintptr_t object, uint64_t id);
/* Collective file operations in two calls. */
void burst_split_begin(struct burst_thread* thread, MPI_File file);
void burst_split_end(struct burst_thread* thread, MPI_File file);

#endif
