/* raw.h -- What the recorder writes: one file per process, records of 32 bytes.
 *
 * A folder of raw files is one run. The process PID on the node HOST (the MPI rank is in a record)
 * writes `p-HOST-PID.raw`: a header of 4096 bytes, then records. In HOST all but letters and digits
 * are `_`; the header has it in full. A process that was exec'd over it writes `p-HOST-PID.N.raw`,
 * in which N is the number of its first thread. Numbers are little-endian.
 *
 * A BURST_THREAD begins a piece: what follows, up to the next one, are records of that thread, in
 * the order of time. It tells how many records of the thread stand in pieces before.
 *
 * Records are first stored in windows, which are mapped from a file beside it with the ending
 * `.tail` and no header. A full window is written behind the raw file and cleared; at the end the
 * tail is removed. Where it is left because the process was killed or there was no room, its pieces
 * belong to the run: each up to the first record of kind 0. What stands in no piece there does not
 * count, and what is in the raw file already, as the places in the thread tell, counts once.
 *
 * (In version 1 each thread had a file, of which the header says the number, and a tail, which said
 * where its records belong in the file: struct burst_tail.)
 *
 * ENTER and LEAVE bracket an MPI call. Records without a time of their own (marked "of the
 * call") describe the call that was entered last on the thread, whether it has been left or not;
 * their field `time` carries something else. Definitions stand before their first use on the
 * thread that uses them; ids are per process.
 *
 * The reader has the same numbers in Python; a test compares them with those that stand here.
 */
#ifndef BURSTLINE_RAW_H
#define BURSTLINE_RAW_H

#include <stdint.h>

#define BURST_RAW_MAGIC "BURSTRAW"
#define BURST_RAW_VERSION 2
#define BURST_RAW_HEADER_BYTES 4096

struct burst_raw_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t record_bytes; /* 32 */
    uint32_t pid;
    uint32_t thread; /* number of the first, which called MPI_Init, or was seen first */
    uint32_t flags;  /* 0 */
    uint64_t start_ns; /* CLOCK_MONOTONIC when the file was opened */
    uint64_t start_realtime_ns;
    char host[256];
    char program[1024];
    char mpi[256]; /* first line of MPI_Get_library_version, or empty */
};

#define BURST_RAW_SUFFIX ".raw"
#define BURST_TAIL_SUFFIX ".tail"
#define BURST_TAIL_MAGIC "BURSTEND"

struct burst_tail { /* version 1: first 32 bytes of a tail; all zero: none of its records count */
    char magic[8];
    uint64_t belongs; /* offset in the thread's file of its first record; odd: it has them */
    uint64_t unused[2];
};

struct burst_record {
    uint64_t time; /* CLOCK_MONOTONIC in ns, unless said otherwise */
    uint16_t kind;
    uint16_t op; /* MPI operation: its number in calls.toml; else as said */
    uint32_t a;
    uint64_t b, c;
};

enum burst_kind {
    BURST_END_OF_FILE = 0,

    /* Calls. */
    BURST_ENTER = 1,    /* op; a: stack id, 0 unknown */
    BURST_LEAVE = 2,    /* op; a: 0, or the error code MPI returned */
    BURST_COUNTERS = 3, /* readings at the event before it, two a record: a: number
                           of the first counter; b, c: values since the process began. At
                           borders of regions work counters alone */

    BURST_THREAD = 4,   /* time: when it was seen first; a: its number; b: how many records of it
                           stand in pieces before */

    /* Of the call. Ranks are world ranks (MPI_COMM_WORLD of the own job), or of enum
       burst_no_rank. */
    BURST_COLLECTIVE = 10, /* time: 0, or request id (non-blocking); a: communicator; b: bytes
                              sent; c: bytes received; op: in bit 0 whether this rank is the root,
                              and above it the operation, if it is not that of the call (Start) */
    BURST_ROOT = 11,       /* a: communicator; b: world rank of the root (int64) */
    BURST_SEND = 12,       /* time: request id, 0 if blocking; a: destination (int32); b: tag (low
                              32 bits, int32) and communicator (high 32 bits); c: bytes */
    BURST_SEND_DONE = 13,  /* time: request id, completed by this call */
    BURST_POST = 14,       /* time: request id, 0 if blocking; a: source (int32); b: tag (-1: any)
                              and communicator as above; c: capacity in bytes */
    BURST_RECEIVE = 15,    /* time: request id of the post, 0 if this call posted it; a: source
                              (int32); b: tag and communicator; c: bytes */
    BURST_CANCELLED = 16,  /* time: request id, completed as cancelled */
    BURST_FREED = 17,      /* time: request id, freed before it was known to be complete */
    BURST_COLLECTIVE_DONE = 18, /* time: request id, completed by this call */
    BURST_IO = 19,         /* a: file handle id; b: bytes written; c: bytes read */
    BURST_RMA = 20,        /* a: target (int32); b: window id, and its communicator in the high 32
                              bits; c: bytes; op: enum burst_transfer */
    BURST_PROBE = 21,      /* time: 0, or request id of the post that will receive it (Mprobe);
                              a: source; b: tag and communicator; c: bytes of what was found */
    BURST_MISSES = 22,     /* polls (Test*, Iprobe) without success before this call, summed
                              up: b: how many; c: ns spent in them; time: these, and ns from one to
                              the next poll where that is less than a ns; a: 0 in older files */

    /* Definitions; `time` is 0 unless said. */
    BURST_RANK = 30,       /* a: world rank; b: world size; c: thread level provided */
    BURST_COMMUNICATOR = 31, /* a: id; b: a name equal on all members and on no other
                                communicator (a hash); c: members; op: enum burst_communicator.
                                Followed by BURST_MEMBERS: seven world ranks a record, in a (one),
                                time, b and c (two each), in this order; what is left over is
                                BURST_UNKNOWN_RANK */
    BURST_MEMBERS = 32,
    BURST_STACK = 33,      /* a: id; c: frames; op: 1 of a sample. Followed by BURST_FRAMES: b, c: two frames, module
                              << 48 | offset of the return address, innermost first; 0: none.
                              With BURST_EXECUTED: the offset of what was executed itself. Of
                              module BURST_PYTHON_MODULE: id of a code object << 24 | its
                              instruction, in units of 2 bytes from 1; 0 is none yet */
    BURST_FRAMES = 34,
    BURST_MODULE = 35,     /* a: id from 1; c: bytes of its path, which follow as BURST_TEXT */
    BURST_TEXT = 36,       /* op: bytes used, at most 28, as they lie in time (8), a (4), b (8) and
                              c (8), in this order */
    BURST_COUNTER = 37,    /* a: number; c: bytes of its name, as text; op: 0 events, 1 ns */
    BURST_NAME = 38,       /* a: id of what has the name; op: enum burst_name; b: source line
                              (loops), or module << 48 | offset of its first instruction
                              (functions, whose ids are no region's); c: bytes of the name
                              (loops: of the file; functions: 0), as text */
    BURST_CODE = 39,       /* a: id of a code object of Python; op: enum burst_code; b: its first
                              line; c: bytes of that part, as text */

    /* Threads, user code, loops, OpenMP: with a time. */
    BURST_EVENT = 50,      /* a: type; b: value */
    BURST_REGION_ENTER = 51, /* a: region, or function */
    BURST_REGION_LEAVE = 52, /* a: region, or function */
    BURST_LOOP_ENTER = 53, /* a: loop */
    BURST_LOOP_LEAVE = 54, /* a: loop; b: iterations in all */
    BURST_LOOP_ITERATION = 55, /* a: loop; b: iteration */
    BURST_LABEL = 56,      /* of the call: a: innermost loop around it, 0 none; time: 0 */
    BURST_OMP = 57,        /* op: enum burst_omp; a, b, c: see omp.h */
    BURST_SAMPLE = 58,     /* time; a: stack of what was executed, 0 unknown; b: periods of the
                              CPU clock that it stands for; op: 1 if the stack goes on above. It
                              stands before the next record of its thread that has a time */

    /* Bookkeeping. */
    BURST_GAP = 70,        /* time: until when nothing was recorded; b: since when; c: records
                              dropped, or missed for want of memory */
    BURST_PAUSE = 71,      /* time; a: 1 recording stopped by the program, 0 started again */
    BURST_CLOCK = 72,      /* time: local; b: estimate of rank 0's clock at that moment; c: round
                              trip in ns; op: 0 at initialisation, 1 at finalisation */
    BURST_OVERHEAD = 73,   /* time; b: estimated ns of recording per call, a: those of them that go
                              to reading counters; c: calls recorded. op 1: the same of
                              borders of functions; op 2: of threads, begun and ended */
    BURST_SAMPLING = 75,   /* time; op: Hz that were asked for; a: periods that no sample stands
                              for; b: periods in MPI (low 32 bits) and signals that came (high 32
                              bits); c: ns in the handler of samples */
    BURST_PROCESSORS = 76, /* a: a multiple of 64; b: of the 64 processors from there on those whose
                              bit is set; op: enum burst_processors; c: number of the socket or NUMA
                              node; time: when it was so, 0 of what the machine has. The last
                              BURST_MAY_USE of a thread, and others of that time, count */
    BURST_LEFT = 74        /* time: when the thread or process ended; op: enum burst_ending; a: of
                              an abort its error code, of a signal its number */
};

#define BURST_EXECUTED (UINT64_C(1) << 47)
#define BURST_PYTHON_MODULE 0xffff

enum burst_no_rank {
    BURST_PROC_NULL = -1,
    BURST_ANY_SOURCE = -2,
    BURST_UNKNOWN_RANK = -3 /* of another job: intercommunicators of spawned processes */
};

enum burst_communicator { BURST_WORLD = 1, BURST_SELF = 2, BURST_INTRA = 3, BURST_INTER = 4 };

enum burst_transfer { /* see calls.toml */
    BURST_RMA_PUT = 1,
    BURST_RMA_GET = 2,
    BURST_RMA_ACCUMULATE = 3,
    BURST_RMA_BOTH = 4
};

enum burst_name {
    BURST_NAME_REGION = 0,
    BURST_NAME_EVENT_TYPE = 1,
    BURST_NAME_LOOP = 2,
    BURST_NAME_COMPILER = 3, /* that made counted code */
    BURST_NAME_FUNCTION = 4,
    BURST_NAME_SILENT = 5, /* library of OpenMP that has no tool tell of its threads */
    BURST_NAME_STARTED = 6, /* NAME=VALUE: a variable by which launchers and users place processes */
    BURST_NAME_UNREAD = 7, /* interpreter of Python whose frames cannot be read */
    BURST_NAME_RANKS = 8 /* that were to be recorded, as 0,4-7; without it all were */
};

enum burst_code { /* the line table is that of CPython 3.11 */
    BURST_CODE_NAME = 0,
    BURST_CODE_FILE = 1,
    BURST_CODE_LINES = 2
};

enum burst_processors {
    BURST_MAY_USE = 1, /* the thread */
    BURST_USED = 2,    /* the thread was seen there */
    BURST_ONLINE = 3,  /* of the machine */
    BURST_CORE = 4,    /* that of the first processor that the process may use */
    BURST_SOCKET = 5,
    BURST_NUMA = 6
};

enum burst_ending {
    BURST_BY_FINALIZE = 1,
    BURST_BY_EXIT = 2,
    BURST_BY_ABORT = 3,
    BURST_BY_SIGNAL = 4
};

/* In profile mode a file has no calls, but two BURST_EVENT for each operation that was called:
 * of these types plus its number, with the calls of this thread and the ns spent in them. */
#define BURST_COUNT_TYPE 1000
#define BURST_TIME_TYPE 2000

#endif
