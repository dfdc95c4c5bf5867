/* rules.h -- How to leave a frame of x86-64: where it ends, and where the caller's rbp is. */
#ifndef BURSTLINE_RULES_H
#define BURSTLINE_RULES_H

#include <stdint.h>

enum { CFA_ODD = 0, CFA_RSP, CFA_RBP, CFA_AT_RBP, CFA_NONE };
enum { RBP_SAME = 0, RBP_AT_CFA, RBP_AT_RBP };

struct burst_rule { /* of the frame that goes on at pc, or of what is executed at it */
    uintptr_t pc;
    int32_t cfa, rbp;
    uint8_t cfa_from, rbp_from;
    uint8_t is_folded; /* of Python's machinery: no frame of the program */
};
struct burst_rule burst_rule_at(uintptr_t pc);
/* Of the frame of a function that executes what stands at a place: without a lock. NULL: the
 * function has no description. */
struct burst_rule burst_rule_of(const uint8_t *description, uintptr_t function, uintptr_t place);
/* To the frame above; returns 0 where a rule is odd or an address out of the stack. */
int burst_leave_frame(const struct burst_rule *rule, uintptr_t high, uintptr_t *pc, uintptr_t *sp,
                      uintptr_t *bp);

#endif
