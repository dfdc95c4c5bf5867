/* signals.h -- The signal of samples, which stays the program's, too. */
#ifndef BURSTLINE_SIGNALS_H
#define BURSTLINE_SIGNALS_H

#include <signal.h>

int burst_claim_signal(void (*handler)(int, siginfo_t *, void *)); /* 0: none is free */
void *burst_signal_mark(void);                                     /* what ours bring along */
int burst_is_own_signal(const siginfo_t *info);
void burst_pass_signal(int number, siginfo_t *info, void *context); /* to the program */

#endif
