/* python.c -- The frames of CPython, and the code objects that they execute.
 *
 * At a call of MPI the thread is inside C: its frames of Python stand still and hold their code.
 * Nothing here counts references, allocates by Python or takes its lock. In the handler of samples
 * a frame may be half pushed, so there every load is checked, and every object for its type.
 *
 * A code object is copied when it is seen first: name, file and the table of its lines, from which
 * the line of an instruction is found after the run. Addresses are used again, so it is known by
 * its address, by those of its texts, and by what these hold.
 */
#include "thread.h"

#include "python.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SLOTS (1u << 16)
#define MOST_CODES (SLOTS / 2)
#define SPARE_CODES 1024u /* for threads that add one at the same time */
#define CHUNK ((size_t)1 << 20)
#define MOST_UNITS ((UINT64_C(1) << 24) - 1) /* of instructions */
#define LONGEST_TEXT 4096u                  /* of a name or a file, in UTF-8 */
#define LONGEST_TABLE (1u << 18)
#define FRAME_BYTES 72  /* of one, as far as it is read */
#define LOOK_AHEAD 64   /* frames, to the one where the interpreter was called */
#define MOST_SKIPPED 64 /* frames in a row of which nothing is known */
#define OWNED_BY_GENERATOR 1
#define HELD_BY_C 3 /* from here on a frame is no function's */

/* Where things are in the structures of a version. */
static struct {
    uint16_t call, current, outer; /* of a thread: the call, or the frame; in a call, if any */
    uint16_t code, instruction, previous, owner, entry; /* in a frame */
    uint16_t file, name, table, first_line, instructions, traceable, version; /* in a code object */
    uint16_t ascii, wide; /* in a str: where its letters begin */
    uint8_t has_calls;
} at;
static struct burst_types {
    uintptr_t code, text, bytes;
} types;
static void *(*this_state)(void);
static enum { ABSENT, UNPROVEN, READABLE, UNREADABLE } state;
static char version[64];
static uintptr_t interpreter; /* where its library begins */
static int is_program;        /* the program is the command python */

struct code {
    uint64_t mark, content;
    uint32_t id, first_line, bytes[3];
    uint8_t is_hidden;
    char text[]; /* name, file, lines */
};
static struct code *slots[SLOTS], *codes[MOST_CODES]; /* by mark, the latest last; by id */
static uint32_t code_count;

struct chunk {
    size_t used;
    char bytes[];
};
static struct chunk *chunk;

/* ---- Loads ---- */

static long read_all(const struct iovec *to, const struct iovec *from, unsigned parts) {
    return syscall(SYS_process_vm_readv, syscall(SYS_getpid), to, 1, from, parts, 0);
}

/* 0: it is not there. */
static inline int load(const struct burst_python_copies *copies, void *to, uintptr_t from,
                       size_t bytes) {
    const struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    if (copies != NULL && (from < copies->low || from > copies->high - bytes))
        return read_all(&here, &there, 1) == (long)bytes;
    memcpy(to, (const void *)from, bytes);
    return 1;
}

static inline uintptr_t word(const void *object, unsigned offset) {
    uintptr_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/* ---- Code objects ---- */

/* Threads and handlers may ask at once: no lock. */
static void *take_memory(size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > CHUNK / 4) return burst_map(bytes);
    for (;;) {
        struct chunk *now = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE);
        if (now != NULL) {
            const size_t place = __atomic_fetch_add(&now->used, bytes, __ATOMIC_RELAXED);
            if (place + bytes <= CHUNK - sizeof *now) return now->bytes + place;
        }
        struct chunk *more = burst_map(CHUNK);
        if (more == NULL) return NULL;
        if (!__atomic_compare_exchange_n(&chunk, &now, more, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            burst_unmap(more, CHUNK);
    }
}

static unsigned put_letter(char *to, uint32_t letter) {
    if (letter < 0x80) {
        to[0] = (char)letter;
        return 1;
    }
    const unsigned more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(first[more] | letter >> 6 * more);
    for (unsigned i = 1; i <= more; ++i)
        to[i] = (char)(0x80 | (letter >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* The most bytes that a str takes as UTF-8; its head is given. 0: it is none that can be read. */
static uint32_t most_bytes(const char *head) {
    const uint32_t bits = (uint32_t)word(head, 32), width = bits >> 2 & 7;
    if ((bits >> 5 & 1) == 0 || (width != 1 && width != 2 && width != 4)) return 0;
    const uint64_t bytes = bits >> 6 & 1 ? word(head, 16) : 4 * word(head, 16);
    return bytes > LONGEST_TEXT ? LONGEST_TEXT : (uint32_t)bytes;
}

/* A str as UTF-8; returns how many bytes of at most `room`. */
static uint32_t copy_text(const struct burst_python_copies *copies, char *to, uint32_t room,
                          uintptr_t from, const char *head) {
    char letters[256];
    const size_t count = word(head, 16), width = word(head, 32) >> 2 & 7;
    from += word(head, 32) >> 6 & 1 ? at.ascii : at.wide;
    uint32_t used = 0;
    for (size_t done = 0; done < count && room > 0;) {
        size_t here = sizeof letters / width;
        if (here > count - done) here = count - done;
        if (!load(copies, letters, from + done * width, here * width)) return used;
        for (size_t i = 0; i < here; ++i) {
            uint32_t letter = 0;
            memcpy(&letter, letters + i * width, width);
            const unsigned bytes = letter < 0x80 ? 1 : 4;
            if (letter > 0x10ffff || used + bytes > room) return used;
            used += put_letter(to + used, letter);
        }
        done += here;
    }
    return used;
}

/* What the address of a code object and its texts are known by. */
struct sign {
    uintptr_t address, name, file, table;
    uint64_t name_size, name_hash, file_size, file_hash, table_size, first_lines;
    int32_t first_line;
    uint32_t version; /* no other code object has it; 0: unknown */
    int32_t first;    /* instruction that Python shows; with the rest no part of the mark */
};

/* Sums of products, which the processor takes at once. Of addresses, and of what they hold. */
static inline uint64_t place_mark(const struct sign *sign) {
    const uint64_t mark = sign->address * 0x9E3779B97F4A7C15u + sign->name * 0xC2B2AE3D27D4EB4Fu +
                          sign->file * 0x165667B19E3779F9u + sign->table * 0xD6E8FEB86659FD93u +
                          (uint64_t)(uint32_t)sign->first_line * 0x589965CC75374CC3u;
    return mark ^ mark >> 31;
}

static inline uint64_t content_mark(const struct sign *sign) {
    if (sign->version != 0) return sign->version;
    return (sign->name_size ^ sign->name_hash) * 0xA0761D6478BD642Fu +
           (sign->file_size ^ sign->file_hash) * 0xE7037ED1A0B428DBu +
           (sign->table_size ^ sign->first_lines) * 0x8EBC6AF09C88C6E3u;
}

/* Of a code object, and of the heads of its texts, 40 bytes each. */
static inline void read_code(struct sign *sign, uintptr_t code, const char *object) {
    sign->address = code;
    sign->name = word(object, at.name);
    sign->file = word(object, at.file);
    sign->table = word(object, at.table);
    memcpy(&sign->first_line, object + at.first_line, sizeof sign->first_line);
    memcpy(&sign->first, object + at.traceable, sizeof sign->first);
    sign->version = 0;
    if (at.version != 0) memcpy(&sign->version, object + at.version, sizeof sign->version);
}

/* `heads`: copies of those of its texts, or NULL where they can be read as they are. */
static inline void read_texts(struct sign *sign, char (*heads)[40]) {
    const char *name = heads == NULL ? (const char *)sign->name : heads[0];
    const char *file = heads == NULL ? (const char *)sign->file : heads[1];
    const char *table = heads == NULL ? (const char *)sign->table : heads[2];
    memcpy(&sign->name_size, name + 16, 16); /* and its hash, if it is known */
    memcpy(&sign->file_size, file + 16, 16);
    sign->table_size = word(table, 16);
    sign->first_lines = word(table, 32);
}

static struct code *copied(const struct burst_python_copies *copies, struct sign *sign,
                           char (*heads)[40]) {
    read_texts(sign, heads);
    const char *name_head = heads == NULL ? (const char *)sign->name : heads[0];
    const char *file_head = heads == NULL ? (const char *)sign->file : heads[1];
    const uint32_t lines =
        sign->table_size > LONGEST_TABLE ? LONGEST_TABLE : (uint32_t)sign->table_size;
    const uint32_t name = most_bytes(name_head), file = most_bytes(file_head);
    struct code *code = take_memory(sizeof *code + name + file + lines);
    if (code == NULL) return NULL;
    *code = (struct code){.mark = place_mark(sign), .content = content_mark(sign)};
    code->first_line = sign->first_line > 0 ? (uint32_t)sign->first_line : 0;
    char *at_text = code->text;
    at_text += code->bytes[0] = copy_text(copies, at_text, name, sign->name, name_head);
    at_text += code->bytes[1] = copy_text(copies, at_text, file, sign->file, file_head);
    /* The machinery of imports */
    code->is_hidden = code->bytes[1] >= 8 && memcmp(at_text - code->bytes[1], "<frozen ", 8) == 0;
    code->bytes[2] = lines;
    return load(copies, at_text, sign->table + 32, lines) ? code : NULL;
}

static __attribute__((noinline)) struct code *added(const struct burst_python_copies *copies,
                                                    struct sign sign, char (*heads)[40]) {
    if (__atomic_load_n(&code_count, __ATOMIC_RELAXED) >= MOST_CODES - SPARE_CODES) return NULL;
    struct code *code = copied(copies, &sign, heads);
    if (code == NULL) return NULL;
    code->id = __atomic_fetch_add(&code_count, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&codes[code->id], code, __ATOMIC_RELEASE);
    return code;
}

/* By addresses alone, and by the version if it has one: what was there last. */
static const struct code *code_at(const struct sign *sign) {
    const uint64_t mark = place_mark(sign);
    const struct code *there, *found = NULL;
    for (uint32_t place = (uint32_t)(mark >> 32);; ++place) {
        there = __atomic_load_n(&slots[place & (SLOTS - 1)], __ATOMIC_ACQUIRE);
        if (there == NULL) return found;
        if (there->mark == mark && (sign->version == 0 || there->content == sign->version))
            found = there;
    }
}

static inline const struct code *known_code(const struct burst_python_copies *copies,
                                            const struct sign *sign, char (*heads)[40]) {
    const uint64_t mark = place_mark(sign), content = content_mark(sign);
    struct code *made = NULL;
    for (uint32_t place = (uint32_t)(mark >> 32);; ++place) {
        struct code **slot = &slots[place & (SLOTS - 1)];
        struct code *there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (there == NULL) {
            if (made == NULL) made = added(copies, *sign, heads);
            if (made == NULL) return NULL;
            if (__atomic_compare_exchange_n(slot, &there, made, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return made;
        }
        if (BURST_LIKELY(there->mark == mark && there->content == content)) return there;
    }
}

uint64_t burst_python_place(struct burst_thread *thread, uintptr_t frame) {
    const uint32_t id = (uint32_t)(frame >> 24) & 0x7fffff;
    if (!burst_is_defined(thread, BURST_CODE, id)) {
        const struct code *code = codes[id];
        const char *text = code->text;
        for (uint16_t part = 0; part < 3; ++part) {
            burst_put(thread, BURST_CODE, part, 0, id, code->first_line, code->bytes[part]);
            burst_put_text(thread, text, code->bytes[part]);
            text += code->bytes[part];
        }
    }
    return (uint64_t)BURST_PYTHON_MODULE << 48 | (frame & (BURST_EXECUTED - 1));
}

/* ---- Frames ---- */

static inline int is_end(const char *frame) {
    if (at.entry != 0) return frame[at.entry] != 0;
    return (uint8_t)frame[at.owner] >= HELD_BY_C;
}

struct seen {
    uintptr_t code, instruction;
    uint8_t owner;
};

/* The place of a frame in its code; 0: it is none that Python would show. */
static inline uintptr_t place_of(const struct seen *seen, const struct sign *sign,
                                 const struct code *code) {
    if (code == NULL || code->is_hidden) return 0;
    const int64_t unit = (int64_t)(seen->instruction - (seen->code + at.instructions)) / 2;
    if (seen->owner != OWNED_BY_GENERATOR && unit < sign->first) return 0;
    const uint64_t kept = unit < 0 ? 0 : (uint64_t)unit + 1;
    return BURST_MARK_PYTHON | (uintptr_t)code->id << 24 | (kept > MOST_UNITS ? MOST_UNITS : kept);
}

static inline unsigned places_of(const struct seen *seen, unsigned count, uintptr_t *places) {
    unsigned kept = 0;
    for (unsigned i = 0; i < count; ++i) {
        const char *object = (const char *)seen[i].code;
        struct sign sign;
        if (object == NULL || word(object, 8) != types.code) continue;
        read_code(&sign, seen[i].code, object);
        if (sign.name == 0 || sign.file == 0 || sign.table == 0) continue;
        if (sign.version == 0) read_texts(&sign, NULL);
        const uintptr_t place = place_of(&seen[i], &sign, known_code(NULL, &sign, NULL));
        if (place != 0) places[kept++] = place;
    }
    return kept;
}

/* The code of a handler's frame, which may not be one. */
static const struct code *checked_code(struct burst_python_copies *copies, struct sign *sign) {
    const struct code *known = code_at(sign);
    if (known != NULL) return known;
    char texts[3][40];
    const struct iovec here = {texts, sizeof texts}, there[] = {{(void *)sign->name, 40},
                                                                {(void *)sign->file, 40},
                                                                {(void *)sign->table, 40}};
    if (read_all(&here, there, 3) != sizeof texts || word(texts[0], 8) != types.text ||
        word(texts[1], 8) != types.text || word(texts[2], 8) != types.bytes)
        return NULL;
    read_texts(sign, texts);
    return known_code(copies, sign, texts);
}

/* The same by one load that is checked. What cannot be read ends them. */
static unsigned checked_places_of(struct burst_python_copies *copies, const struct seen *seen,
                                  unsigned count, uintptr_t *places) {
    struct iovec there[BURST_PYTHON_AT_ONCE];
    const struct iovec here = {copies->codes, count * sizeof copies->codes[0]};
    for (unsigned i = 0; i < count; ++i)
        there[i] = (struct iovec){(void *)seen[i].code, sizeof copies->codes[i]};
    const long bytes = count == 0 ? 0 : read_all(&here, there, count);
    count = bytes <= 0 ? 0 : (unsigned)((size_t)bytes / sizeof copies->codes[0]);
    unsigned kept = 0;
    for (unsigned i = 0; i < count && word(copies->codes[i], 8) == types.code; ++i) {
        struct sign sign;
        read_code(&sign, seen[i].code, copies->codes[i]);
        const uintptr_t place = place_of(&seen[i], &sign, checked_code(copies, &sign));
        if (place != 0) places[kept++] = place;
    }
    return kept;
}

/* A frame; NULL if it is not there. They lie one behind the other in memory, so those of a page are
 * read at once. */
static inline const char *frame_at(struct burst_python_copies *copies, uintptr_t from) {
    if (copies == NULL || (from >= copies->low && from <= copies->high - FRAME_BYTES))
        return (const char *)from;
    if (copies->begin == 0 || from < copies->begin || from > copies->end) {
        const uintptr_t begin = from & ~(uintptr_t)4095;
        copies->begin = 0;
        if (!load(copies, copies->frames, begin, from + FRAME_BYTES - begin)) return NULL;
        copies->begin = begin;
        copies->end = from;
    }
    return copies->frames + (from - copies->begin);
}

/* Where on the stack of C the interpreter was called that runs the next frames. */
static inline void find_anchor(struct burst_python *walk) {
    walk->anchor = UINTPTR_MAX;
    if (walk->frame == 0) return;
    if (at.has_calls) {
        walk->anchor = walk->call;
        return;
    }
    uintptr_t place = walk->frame;
    for (int i = 0; i < LOOK_AHEAD && place != 0; ++i) {
        const char *frame = frame_at(walk->copies, place);
        if (frame == NULL) break;
        if (is_end(frame)) {
            walk->anchor = place;
            return;
        }
        place = word(frame, at.previous);
    }
    walk->anchor = 0; /* deeper than that: at once */
}

static inline void enter_call(struct burst_python *walk) {
    uintptr_t call[3];
    walk->frame = 0;
    if (walk->call != 0 && load(walk->copies, call, walk->call, sizeof call))
        walk->frame = word(call, at.current);
    find_anchor(walk);
}

static inline void leave_call(struct burst_python *walk) {
    uintptr_t call[3];
    if (!at.has_calls) {
        find_anchor(walk);
        return;
    }
    walk->call = load(walk->copies, call, walk->call, sizeof call) ? word(call, at.outer) : 0;
    enter_call(walk);
}

unsigned burst_python_take(struct burst_python *walk, uintptr_t *frames, unsigned room) {
    struct seen seen[BURST_PYTHON_AT_ONCE];
    unsigned count = 0;
    for (unsigned looked = 0; count < room && walk->frame != 0 && looked < MOST_SKIPPED; ++looked) {
        unsigned found = 0;
        int ends = 0;
        while (found < room - count && found < BURST_PYTHON_AT_ONCE && walk->frame != 0 && !ends) {
            const char *frame = frame_at(walk->copies, walk->frame);
            walk->frame = 0;
            if (frame == NULL) break;
            ends = is_end(frame);
            if (!ends || at.entry != 0)
                seen[found++] = (struct seen){word(frame, at.code), word(frame, at.instruction),
                                              (uint8_t)frame[at.owner]};
            walk->frame = word(frame, at.previous);
        }
        count += walk->copies == NULL
                     ? places_of(seen, found, frames + count)
                     : checked_places_of(walk->copies, seen, found, frames + count);
        if (ends) {
            leave_call(walk);
            return count;
        }
    }
    if (count < room) walk->frame = 0;
    if (walk->frame == 0) walk->anchor = UINTPTR_MAX;
    return count;
}

static void begin(struct burst_python *walk, uintptr_t thread_state) {
    uintptr_t first = 0;
    if (!load(walk->copies, &first, thread_state + at.call, sizeof first)) return;
    if (at.has_calls) {
        walk->call = first;
        enter_call(walk);
    } else {
        walk->frame = first;
        find_anchor(walk);
    }
}

/* Once, by checked loads: whether this build is laid out as others are. */
static int is_readable(uintptr_t thread_state) {
    struct burst_python_copies copies = {.high = sizeof copies};
    struct burst_python walk = {.anchor = UINTPTR_MAX, .copies = &copies};
    uintptr_t frames[4];
    begin(&walk, thread_state);
    if (walk.frame == 0) return 0;
    while (walk.frame != 0) {
        if (burst_python_take(&walk, frames, 4) == 0) continue;
        state = READABLE;
        return 1;
    }
    state = UNREADABLE;
    return 0;
}

void burst_python_begin(struct burst_python *walk, struct burst_python_copies *copies) {
    *walk = (struct burst_python){.anchor = UINTPTR_MAX, .copies = copies};
    if (state != READABLE && state != UNPROVEN) return;
    const uintptr_t thread_state = (uintptr_t)this_state();
    if (thread_state == 0) return;
    if (state == UNPROVEN && (copies != NULL || !is_readable(thread_state))) return;
    begin(walk, thread_state);
}

int burst_has_python(void) { return state == READABLE || state == UNPROVEN; }

const char *burst_unread_python(void) { return state == UNREADABLE ? version : NULL; }

/* ---- Which interpreter ---- */

/* As CPython 3.13 begins its _PyRuntime, in numbers of 8 bytes. */
enum { OF_VERSION = 1, OF_FREE_THREADED = 2, OF_CODE_SIZE = 34 };
static const struct {
    uint16_t *to, number, most;
} told[] = {
    {&at.call, 23, UINT16_MAX},    {&at.previous, 29, 64},
    {&at.code, 30, 64},            {&at.instruction, 31, 64},
    {&at.owner, 33, FRAME_BYTES - 1}, {&at.file, 35, 152},
    {&at.name, 37, 152},           {&at.table, 38, 152},
    {&at.first_line, 39, 152},     {&at.instructions, 43, UINT16_MAX},
    {&at.ascii, 70, UINT16_MAX}};

static int read_offsets(uint64_t hex) {
    const uint64_t *table = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (table == NULL || memcmp(table, "xdebugpy", 8) != 0 || table[OF_VERSION] != hex ||
        table[OF_FREE_THREADED] != 0)
        return 0;
    for (unsigned i = 0; i < sizeof told / sizeof *told; ++i) {
        if (table[told[i].number] > told[i].most) return 0;
        *told[i].to = (uint16_t)table[told[i].number];
    }
    at.wide = at.ascii + 16;
    if (table[OF_CODE_SIZE] == 208 && at.first_line == 68) at.version = 92; /* 3.13 to its end */
    return 1;
}

static int choose_offsets(uint64_t hex) {
    if (dlsym(RTLD_DEFAULT, "PyModule_Create2TraceRefs") != NULL) return 0;
    if (hex >> 16 == 0x030b) {
        at.call = 56, at.current = 8, at.outer = 16, at.has_calls = 1;
        at.code = 32, at.instruction = 56, at.previous = 48, at.owner = 69, at.entry = 68;
        at.file = 112, at.name = 128, at.table = 136, at.first_line = 72, at.instructions = 184;
        at.ascii = 48, at.wide = 72;
    } else if (hex >> 16 == 0x030c) {
        at.call = 56, at.current = 0, at.outer = 8, at.has_calls = 1;
        at.code = 0, at.instruction = 56, at.previous = 8, at.owner = 70;
        at.file = 112, at.name = 128, at.table = 136, at.first_line = 68, at.instructions = 192;
        at.ascii = 40, at.wide = 56, at.version = 92;
    } else if (hex >> 16 != 0x030d || !read_offsets(hex)) {
        return 0;
    }
    at.traceable = at.instructions - 16;
    return 1;
}

/* The file that some code was loaded from, and where that begins; NULL: nobody knows. */
static const char *file_of(uintptr_t place, uintptr_t *begins) {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object found; /* without a lock, in a handler, too */
    if (_dl_find_object((void *)place, &found) != 0) return NULL;
    *begins = (uintptr_t)found.dlfo_map_start;
    return found.dlfo_link_map->l_name;
#else
    Dl_info found;
    if (dladdr((void *)place, &found) == 0) return NULL;
    *begins = (uintptr_t)found.dli_fbase;
    return found.dli_fname;
#endif
}

void burst_find_python(void) {
    union {
        void *object;
        void *(*function)(void);
    } found = {dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState")};
    if (found.object == NULL || sizeof(void *) != 8) return;
    this_state = found.function;
    file_of((uintptr_t)found.object, &interpreter);
    char program[PATH_MAX];
    burst_read_program(program, sizeof program);
    const char *slash = strrchr(program, '/');
    is_program = slash != NULL && strncmp(slash, "/python", 7) == 0;
    types.code = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    types.text = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    types.bytes = (uintptr_t)dlsym(RTLD_DEFAULT, "PyBytes_Type");
    const unsigned long *hex = dlsym(RTLD_DEFAULT, "Py_Version");
    const char *(*text)(void);
    *(void **)&text = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    const char *whole = text == NULL ? "of another kind" : text();
    snprintf(version, sizeof version, "CPython %.*s", (int)strcspn(whole, " "), whole);
    if (strstr(whole, "free-threading") != NULL)
        snprintf(version, sizeof version, "CPython %.*s, free-threaded",
                 (int)strcspn(whole, " "), whole);
    state = hex != NULL && choose_offsets(*hex) ? UNPROVEN : UNREADABLE;
}

int burst_is_of_python(uintptr_t place) {
    uintptr_t begins = 0;
    const char *file = file_of(place, &begins);
    if (file == NULL) return 0;
    if (begins == interpreter) return 1;
    if (*file == '\0') return is_program;
    const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
    return strstr(file, "/mpi4py/") != NULL || strstr(file, "/lib-dynload/") != NULL ||
           strncmp(name, "libffi", 6) == 0;
}
