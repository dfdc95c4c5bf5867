/* Programs with a known answer to "who makes others wait?": see main.c. Work is a timed wait,
 * so that it takes as long on any number of processors. */
#pragma once

void work(double units);         /* work.c: the one thing that takes time, 40 ms a unit */
void relax(int units);           /* relax.c: computes */
void exchange_halo(int rank, int ranks); /* halo.c: communicates and nothing else */
void compute_table(int units);   /* table.c: computes */
void assemble(void);             /* threads.c: one thread computes, others have nothing to do */
void solve(void);                /* threads.c: all threads compute alike */
