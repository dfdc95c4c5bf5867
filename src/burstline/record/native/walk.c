/* walk.c -- The return addresses above a call of MPI. */
#include "thread.h"
#include "python.h"
#include "rules.h"

#include <unwind.h>

#define MOST_RULES 4096u /* per thread; a power of two */
#define MOST_REPLACED 64
#define OWN_FRAMES 16 /* of recorder and MPI, at most, below the program's */

struct found {
    uintptr_t from, *frames;
    unsigned count, depth, passed, of_c; /* the latter: since the last frame of Python */
    int reached; /* the caller of what is recorded, maybe MPI's own Fortran binding */
    struct burst_python python;
};

static void take_python(struct found *found, uintptr_t sp) {
    found->of_c = 0;
    while (sp > found->python.anchor && found->count < found->depth)
        found->count += burst_python_take(&found->python, found->frames + found->count,
                                          found->depth - found->count);
}

/* Keeps what lies above MPI; 0: enough. Frames of Python stand where the interpreter was, and half
 * of the room is theirs. */
static inline int keep(struct found *found, uintptr_t pc, uintptr_t sp, int is_folded) {
    found->reached |= pc == found->from;
    if (found->count == 0 && (!found->reached || (!is_folded && burst_is_of_library(pc))))
        return ++found->passed < OWN_FRAMES;
    if (sp > found->python.anchor) take_python(found, sp);
    const int has_room = found->of_c < found->depth / 2 || found->python.frame == 0;
    if (is_folded || !has_room) return found->count < found->depth;
    ++found->of_c;
    if (found->count < found->depth) found->frames[found->count++] = pc;
    return found->count < found->depth;
}

static _Unwind_Reason_Code keep_context(struct _Unwind_Context *context, void *with) {
    const uintptr_t pc = _Unwind_GetIP(context);
    const int is_folded = burst_has_python() && pc != 0 && burst_is_of_python(pc - 1);
    return pc != 0 && keep(with, pc, _Unwind_GetCFA(context), is_folded) ? _URC_NO_REASON
                                                                         : _URC_NORMAL_STOP;
}

static void walk_slowly(struct found *found) {
    found->count = found->passed = found->of_c = 0;
    found->reached = 0;
    burst_python_begin(&found->python, NULL);
    _Unwind_Backtrace(keep_context, found);
}

#if defined(__x86_64__)

static inline uintptr_t load(uintptr_t address) { return *(const uintptr_t *)address; }

static const struct burst_rule *rule_of(struct burst_thread *thread, uintptr_t pc) {
    struct burst_rule *rule = &thread->rules[(pc ^ pc >> 12) & (thread->rule_count - 1)];
    if (rule->pc == pc) return rule;
    if (rule->pc != 0) ++thread->rules_replaced;
    *rule = burst_rule_at(pc);
    rule->is_folded = burst_has_python() && burst_is_of_python(pc - 1);
    return rule;
}

/* Those that come with the thread, and more where these do not do. */
static void find_rules(struct burst_thread *thread) {
    thread->rules_replaced = 0;
    struct burst_rule *more = NULL;
    if (thread->rules != NULL) more = burst_map(MOST_RULES * sizeof *more);
    thread->rules = more != NULL ? more : thread->first_rules;
    thread->rule_count = more != NULL ? MOST_RULES : BURST_FIRST_RULES;
}

__attribute__((noinline)) static int walk_by_rules(struct burst_thread *thread,
                                                   struct found *found) {
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t high = thread->stack_high;
    if (frame < thread->stack_low || frame + 16 > high) return 0;
    if (thread->rules == NULL ||
        (thread->rules_replaced > MOST_REPLACED && thread->rule_count < MOST_RULES))
        find_rules(thread);
    uintptr_t bp = load(frame), pc = load(frame + 8), sp = frame + 16;
    while (pc != 0) {
        const struct burst_rule *rule = rule_of(thread, pc);
        if (!keep(found, pc, sp, rule->is_folded)) break;
        if (rule->cfa_from == CFA_NONE) break;
        if (!burst_leave_frame(rule, high, &pc, &sp, &bp)) return 0;
    }
    return 1;
}

#else

static int walk_by_rules(struct burst_thread *thread, struct found *found) {
    (void)thread;
    (void)found;
    return 0;
}

#endif

void burst_walk_free(struct burst_thread *thread) {
    if (thread->rules != thread->first_rules)
        burst_unmap(thread->rules, thread->rule_count * sizeof *thread->rules);
    thread->rules = NULL;
}

/* At least the caller of MPI itself, whatever the tables say. */
unsigned burst_walk(struct burst_thread *thread, uintptr_t from, uintptr_t *frames,
                    unsigned depth) {
    struct found found = {.from = from, .frames = frames, .depth = depth};
    burst_python_begin(&found.python, NULL);
    if (!walk_by_rules(thread, &found)) walk_slowly(&found);
    take_python(&found, UINTPTR_MAX); /* where the stack of C could not be walked */
    if (found.count == 0) frames[found.count++] = from;
    return found.count;
}
