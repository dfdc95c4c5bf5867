/* Irregular traffic whose bursts are known by hidden ids: who sends what to whom in a step is fixed, the
 * order of completions, sizes where they adapt, extra steps, and how long work takes vary by run.
 * After a call whose burst has a meaning, event 900 tells it: the same number, the same work.
 *
 *     irregular SCENARIO STEPS MESSAGES EXTRA SKIPPED RUN
 *
 * SCENARIO is one of the names below, or "mixed" for all in turn; EXTRA and SKIPPED are the shares in per
 * cent of steps that this run does twice, or not at all; RUN seeds what varies. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burstline.h"

enum { MOST = 20, LENGTH = 256, ITEM = 900, ITEMS_OF_FARM = 6 };
typedef uint64_t Id;
typedef struct {
    int peer, tag, length;
} Message;
typedef struct {
    Message in[MOST], out[MOST];
    int count;
} Plan;

static int rank, ranks, adapts, is_extra;
static uint64_t fixed_state, common_state, own_state;
static double from[MOST][LENGTH], to[LENGTH];
static volatile double sink;

static unsigned drawn(uint64_t *state, unsigned below) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)((*state >> 11) % below);
}

static void work(unsigned amount) {
    const unsigned turns = 40 * (amount + drawn(&own_state, amount / 2 + 2));
    for (unsigned turn = 0; turn < turns; ++turn) sink = sink * 0.5 + turn;
}

/* What was done: the step, the kind of work, and which of up to 20 things as a set of bits. */
static void item(int step, int kind, uint32_t things) {
    const Id extra = is_extra ? (Id)is_extra << 52 : 0;
    burstline_event(ITEM, extra | (Id)step << 32 | (Id)kind << 24 | things);
    work(10 + 7 * (things % 11) + 5 * (unsigned)kind);
}

/* The same for all ranks and runs: shifts around a ring, with a few messages each. */
static Plan planned(int step, int messages) {
    Plan plan = {.count = 0};
    fixed_state = 88172645463325252ULL + 7919ULL * (uint64_t)step;
    for (int warm = 0; warm < 9; ++warm) drawn(&fixed_state, 2);
    const int shifts = 1 + (int)drawn(&fixed_state, 3);
    for (int shift = 0; shift < shifts; ++shift) {
        const int far = ranks > 1 ? 1 + (int)drawn(&fixed_state, (unsigned)ranks - 1) : 0;
        const int several = 1 + (int)drawn(&fixed_state, (unsigned)messages);
        for (int k = 0; k < several && plan.count < MOST; ++k, ++plan.count) {
            int length = 8 + 8 * (int)drawn(&fixed_state, 12);
            if (adapts) length += (int)drawn(&common_state, (unsigned)length / 5 + 1);
            const int tag = 10 * shift + k;
            plan.in[plan.count] = (Message){(rank + ranks - far) % ranks, tag, length};
            plan.out[plan.count] = (Message){(rank + far) % ranks, tag, length};
        }
    }
    return plan;
}

static void post(int step, const Plan *plan, MPI_Request *in) {
    for (int k = 0; k < plan->count; ++k) {
        const Message *one = &plan->in[k];
        MPI_Irecv(from[k], LENGTH, MPI_DOUBLE, one->peer, one->tag, MPI_COMM_WORLD, &in[k]);
        item(step, 1, 1u << k);
    }
}

static void start(int step, const Plan *plan, MPI_Request *out, int k) {
    const Message *one = &plan->out[k];
    MPI_Isend(to, one->length, MPI_DOUBLE, one->peer, one->tag, MPI_COMM_WORLD, &out[k]);
    item(step, 2, 1u << k);
}

static void by_any(int step, int count, MPI_Request *in) {
    for (int done = 0; done < count; ++done) {
        int at;
        MPI_Waitany(count, in, &at, MPI_STATUS_IGNORE);
        item(step, 3, 1u << at);
    }
}

static void by_test(int step, int count, MPI_Request *in) {
    for (int left = count; left > 0;)
        for (int k = 0; k < count; ++k) {
            int flag = 0;
            if (in[k] == MPI_REQUEST_NULL) continue;
            MPI_Test(&in[k], &flag, MPI_STATUS_IGNORE);
            if (!flag) continue;
            --left;
            item(step, 4, 1u << k);
        }
}

static void by_some(int step, int count, MPI_Request *in, int waits) {
    for (int left = count; left > 0;) {
        int several, at[MOST];
        uint32_t things = 0;
        if (waits)
            MPI_Waitsome(count, in, &several, at, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(count, in, &several, at, MPI_STATUSES_IGNORE);
        if (several <= 0) continue;
        for (int k = 0; k < several; ++k) things |= 1u << at[k];
        left -= several;
        item(step, waits ? 5 : 6, things);
    }
}

/* A receive that is complete lets a send begin: of its own number's successor, or, if sends have two
 * places in the program, of the next in order. Sends are tested in between. */
static void interleaved(int step, const Plan *plan, MPI_Request *in, MPI_Request *out, int places) {
    int received = 0, begun = 0, sent = 0;
    for (int k = 0; k < plan->count && !places; k += 2) start(step, plan, out, k);
    while (received < plan->count || sent < plan->count) {
        for (int k = 0; k < plan->count; ++k) {
            int flag = 0;
            if (in[k] != MPI_REQUEST_NULL) MPI_Test(&in[k], &flag, MPI_STATUS_IGNORE);
            if (!flag) continue;
            ++received;
            item(step, 7, 1u << k);
            if (places && begun < plan->count) start(step, plan, out, begun++);
            if (!places && k % 2 == 0 && k + 1 < plan->count) start(step, plan, out, k + 1);
        }
        if (places && begun < plan->count) start(step, plan, out, begun++);
        for (int k = 0; k < plan->count; ++k) {
            int flag = 0;
            if (out[k] != MPI_REQUEST_NULL) MPI_Test(&out[k], &flag, MPI_STATUS_IGNORE);
            if (!flag) continue;
            ++sent;
            item(step, 8, 1u << k);
        }
    }
}

static void by_wildcard(int step, const Plan *plan) {
    for (int done = 0; done < plan->count; ++done) {
        MPI_Status status;
        MPI_Recv(from[0], LENGTH, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        for (int k = 0; k < plan->count; ++k)
            if (plan->in[k].peer == status.MPI_SOURCE && plan->in[k].tag == status.MPI_TAG)
                item(step, 9, 1u << k);
    }
}

/* Rank 0 hands out work to who asks; blind: all messages look alike. */
static void farm(int step, int blind) {
    const int items = ITEMS_OF_FARM * (ranks - 1);
    int number = -1, next = 0;
    MPI_Status status;
    if (rank != 0) {
        for (;;) {
            MPI_Send(&number, 1, MPI_INT, 0, blind || number < 0 ? 200 : number, MPI_COMM_WORLD);
            MPI_Recv(&number, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (number < 0) return;
            item(step, 10, (uint32_t)number);
            work(20 + 9 * (unsigned)(number % 7));
        }
    }
    for (int left = items + ranks - 1; left > 0; --left) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (number >= 0) item(step, 11, (uint32_t)number);
        number = next < items ? next++ : -1;
        MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, blind || number < 0 ? 200 : number,
                 MPI_COMM_WORLD);
        if (number >= 0) item(step, 12, (uint32_t)number);
    }
}

static void exchanged(int step, int messages, const char *how) {
    MPI_Request in[MOST], out[MOST];
    if (!strcmp(how, "farm") || !strcmp(how, "blind")) {
        farm(step, how[0] == 'b');
        return;
    }
    const Plan plan = planned(step, messages);
    for (int k = 0; k < plan.count; ++k) out[k] = MPI_REQUEST_NULL;
    if (strcmp(how, "wildcard") != 0) post(step, &plan, in);
    if (!strcmp(how, "interleaved") || !strcmp(how, "places")) {
        interleaved(step, &plan, in, out, how[0] == 'p');
        return;
    }
    for (int k = 0; k < plan.count; ++k) start(step, &plan, out, k);
    if (!strcmp(how, "waitany")) by_any(step, plan.count, in);
    if (!strcmp(how, "test")) by_test(step, plan.count, in);
    if (!strcmp(how, "waitsome")) by_some(step, plan.count, in, 1);
    if (!strcmp(how, "testsome")) by_some(step, plan.count, in, 0);
    if (!strcmp(how, "wildcard")) by_wildcard(step, &plan);
    MPI_Waitall(plan.count, out, MPI_STATUSES_IGNORE);
    item(step, 13, 1);
}

static void once(int step, int messages, const char *how) {
    static const char *const all[] = {"waitany", "test",     "waitsome", "testsome",
                                      "farm",    "wildcard", "interleaved"};
    double sum = 0;
    exchanged(step, messages, strcmp(how, "mixed") ? how : all[step % 7]);
    MPI_Allreduce(&to[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    item(step, 14, 1);
    /* Only now and then together, as what is asynchronous is. */
    if (step % 5 == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        item(step, 15, 1);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 7) return fprintf(stderr, "wants SCENARIO STEPS MESSAGES EXTRA SKIPPED RUN\n"), 2;
    const char *how = argv[1];
    adapts = !strcmp(how, "adaptive");
    const int steps = atoi(argv[2]), messages = atoi(argv[3]), run = atoi(argv[6]);
    const unsigned extra = (unsigned)atoi(argv[4]), skipped = (unsigned)atoi(argv[5]);
    common_state = 0x9E3779B97F4A7C15ULL ^ ((uint64_t)run * 2654435761ULL);
    own_state = common_state ^ ((uint64_t)(rank + 1) * 0xD1B54A32D192ED03ULL);
    for (int warm = 0; warm < 30; ++warm) drawn(&common_state, 9), drawn(&own_state, 9);
    for (int step = 1; step <= steps; ++step) {
        if (drawn(&common_state, 100) < skipped) continue;
        once(step, messages, adapts ? "waitany" : how);
        if (drawn(&common_state, 100) >= extra) continue;
        is_extra = run;
        once(step, messages, adapts ? "waitany" : how);
        is_extra = 0;
    }
    MPI_Finalize();
    return 0;
}
