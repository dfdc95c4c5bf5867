/* unwinding.h -- The words of a rule: where a frame ends, and where the caller's rbp is. */
#ifndef BURSTLINE_UNWINDING_H
#define BURSTLINE_UNWINDING_H

enum { CFA_ODD = 0, CFA_RSP, CFA_RBP, CFA_AT_RBP, CFA_NONE };
enum { RBP_SAME = 0, RBP_AT_CFA, RBP_AT_RBP };

#endif
