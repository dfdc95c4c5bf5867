/* rules.c -- From the eh_frame of a module to one small rule per return address.
 *
 * A rule tells where the frame ends (CFA) and where the caller's rbp is. It is worked out once
 * per address and thread; a walk is then two loads a frame. What does not fit a rule (signal
 * frames, odd expressions) is left to libgcc's unwinder. Loads stay within the thread's stack,
 * so that wrong tables cost a wrong stack and never a fault.
 */
#include "rules.h"

#include <stddef.h>
#include <string.h>

enum { REGISTER_RBP = 6, REGISTER_RSP = 7, REGISTER_RETURN = 16 };

struct row {
    uint64_t cfa_register;
    int64_t cfa_offset, rbp;
    uint8_t cfa_from, rbp_from, ends;
};

struct program {
    const uint8_t *at, *end;
    uint64_t code_align;
    int64_t data_align;
    uintptr_t location, pc;
    struct row row, first, kept[8];
    unsigned depth;
    uint8_t odd;
};

struct dwarf_eh_bases {
    void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

static uint64_t unsigned_leb(struct program *p) {
    uint64_t value = 0;
    for (unsigned shift = 0; p->at < p->end; shift += 7) {
        const uint8_t byte = *p->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t signed_leb(struct program *p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    while (p->at < p->end) {
        byte = *p->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) break;
    }
    if ((byte & 0x40) && shift < 64) value |= UINT64_MAX << shift;
    return (int64_t)value;
}

static uint64_t fixed(struct program *p, unsigned bytes) {
    uint64_t value = 0;
    if ((size_t)(p->end - p->at) < bytes) {
        p->odd = 1;
        return 0;
    }
    memcpy(&value, p->at, bytes);
    p->at += bytes;
    return value;
}

/* Whether an expression is `rbp + offset`, dereferenced or not. */
static int is_at_rbp(struct program *p, int64_t *offset, int dereferenced) {
    const uint64_t bytes = unsigned_leb(p);
    const uint8_t *start = p->at;
    if (bytes > (uint64_t)(p->end - start)) return 0;
    int fits = bytes > 0 && *p->at++ == 0x70 + REGISTER_RBP;
    if (fits) *offset = signed_leb(p);
    if (fits && dereferenced) fits = p->at < p->end && *p->at++ == 0x06;
    fits = fits && p->at == start + bytes;
    p->at = start + bytes;
    return fits;
}

static void saved(struct program *p, uint64_t reg, int64_t offset) {
    if (reg == REGISTER_RBP) {
        p->row.rbp_from = RBP_AT_CFA;
        p->row.rbp = offset;
    } else if (reg == REGISTER_RSP || (reg == REGISTER_RETURN && offset != -8)) {
        p->odd = 1;
    }
}

static void restored(struct program *p, uint64_t reg) {
    if (reg != REGISTER_RBP) return;
    p->row.rbp_from = p->first.rbp_from;
    p->row.rbp = p->first.rbp;
}

static void define_cfa(struct program *p, uint64_t reg) {
    p->row.cfa_register = reg;
    p->row.cfa_from = reg == REGISTER_RSP ? CFA_RSP : reg == REGISTER_RBP ? CFA_RBP : CFA_ODD;
}

static void by_expression(struct program *p) {
    const uint64_t reg = unsigned_leb(p);
    int64_t offset = 0;
    const int fits = is_at_rbp(p, &offset, 0);
    if (reg == REGISTER_RBP && fits) {
        p->row.rbp_from = RBP_AT_RBP;
        p->row.rbp = offset;
    } else if (reg == REGISTER_RBP || reg == REGISTER_RETURN || reg == REGISTER_RSP) {
        p->odd = 1;
    }
}

static void keep_row(struct program *p) {
    if (p->depth == sizeof p->kept / sizeof *p->kept)
        p->odd = 1;
    else
        p->kept[p->depth++] = p->row;
}

static void take_row(struct program *p) {
    if (p->depth == 0)
        p->odd = 1;
    else
        p->row = p->kept[--p->depth];
}

static void define_by_expression(struct program *p) {
    p->row.cfa_from = is_at_rbp(p, &p->row.cfa_offset, 1) ? CFA_AT_RBP : CFA_ODD;
}

/* The instructions whose first byte says it all (DWARF 5, section 6.4.2), in three groups; each
 * returns 0 if the instruction is not of its own. */
static int on_rows(struct program *p, uint8_t code) {
    switch (code) {
        case 0x00: return 1;
        case 0x02: p->location += fixed(p, 1) * p->code_align; return 1;
        case 0x03: p->location += fixed(p, 2) * p->code_align; return 1;
        case 0x04: p->location += fixed(p, 4) * p->code_align; return 1;
        case 0x0a: keep_row(p); return 1;
        case 0x0b: take_row(p); return 1;
        case 0x2e: unsigned_leb(p); return 1; /* bytes of arguments on the stack */
        default: return 0;
    }
}

static int on_registers(struct program *p, uint8_t code) {
    if (code == 0x10) {
        by_expression(p);
        return 1;
    }
    if ((code < 0x05 || code > 0x08) && code != 0x11) return 0;
    const uint64_t reg = unsigned_leb(p);
    switch (code) {
        case 0x05: saved(p, reg, (int64_t)unsigned_leb(p) * p->data_align); break;
        case 0x06: restored(p, reg); break;
        case 0x07: p->row.ends |= reg == REGISTER_RETURN; break;
        case 0x08:
            if (reg == REGISTER_RBP) p->row.rbp_from = RBP_SAME;
            break;
        default: saved(p, reg, signed_leb(p) * p->data_align);
    }
    return 1;
}

static int on_cfa(struct program *p, uint8_t code) {
    if (code == 0x0f) {
        define_by_expression(p);
        return 1;
    }
    if (code == 0x0c || code == 0x0d || code == 0x12) define_cfa(p, unsigned_leb(p));
    if (code == 0x0c || code == 0x0e) p->row.cfa_offset = (int64_t)unsigned_leb(p);
    if (code == 0x12 || code == 0x13) p->row.cfa_offset = signed_leb(p) * p->data_align;
    return (code >= 0x0c && code <= 0x0e) || code == 0x12 || code == 0x13;
}

static void extended(struct program *p, uint8_t code) {
    if (!on_rows(p, code) && !on_registers(p, code) && !on_cfa(p, code)) p->odd = 1;
}

static void run(struct program *p) {
    while (p->at < p->end && !p->odd && p->location <= p->pc) {
        const struct row before = p->row;
        const uintptr_t location = p->location;
        const uint8_t code = *p->at++;
        const unsigned low = code & 0x3f;
        switch (code >> 6) {
            case 1: p->location += low * p->code_align; break;
            case 2: saved(p, low, (int64_t)unsigned_leb(p) * p->data_align); break;
            case 3: restored(p, low); break;
            default: extended(p, code);
        }
        if (p->location != location && p->location > p->pc) p->row = before;
    }
}

static unsigned pointer_bytes(uint8_t encoding) {
    switch (encoding & 0x07) {
        case 0: return 8;
        case 2: return 2;
        case 3: return 4;
        case 4: return 8;
        default: return 0;
    }
}

/* Sets `encoding` of the FDE's addresses; 0: something in the augmentation is unknown. */
static int read_augmentation(struct program *p, const char *letters, uint8_t *encoding) {
    for (; *letters != '\0'; ++letters) {
        if (*letters == 'R') {
            *encoding = (uint8_t)fixed(p, 1);
        } else if (*letters == 'L') {
            fixed(p, 1);
        } else if (*letters == 'P') {
            const unsigned bytes = pointer_bytes((uint8_t)fixed(p, 1));
            if (bytes == 0) return 0;
            fixed(p, bytes);
        } else {
            return 0;
        }
    }
    return !p->odd;
}

static int run_cie(struct program *p, const uint8_t *cie, uint8_t *encoding) {
    uint32_t length;
    memcpy(&length, cie, sizeof length);
    if (length == UINT32_MAX || cie[8] != 1) return 0;
    const char *letters = (const char *)cie + 9;
    if (*letters != 'z') return 0;
    p->end = cie + 4 + length;
    p->at = cie + 9 + strlen(letters) + 1;
    p->code_align = unsigned_leb(p);
    p->data_align = signed_leb(p);
    if (fixed(p, 1) != REGISTER_RETURN) return 0;
    const uint64_t bytes = unsigned_leb(p);
    const uint8_t *instructions = p->at + bytes;
    if (!read_augmentation(p, letters + 1, encoding)) return 0;
    p->at = instructions;
    run(p);
    p->first = p->row;
    return !p->odd;
}

static int run_fde(struct program *p, const uint8_t *fde) {
    uint32_t length, back;
    uint8_t encoding = 0;
    memcpy(&length, fde, sizeof length);
    memcpy(&back, fde + 4, sizeof back);
    if (length == UINT32_MAX || !run_cie(p, fde + 4 - back, &encoding)) return 0;
    const unsigned bytes = pointer_bytes(encoding);
    if (bytes == 0) return 0;
    p->at = fde + 8 + 2 * bytes;
    p->end = fde + 4 + length;
    const uint64_t skip = unsigned_leb(p);
    p->at += skip;
    run(p);
    return !p->odd;
}

struct burst_rule burst_rule_of(const uint8_t *description, uintptr_t function, uintptr_t place) {
    struct burst_rule rule = {.pc = place, .cfa_from = CFA_ODD};
    if (description == NULL) {
        rule.cfa_from = CFA_NONE;
        return rule;
    }
    struct program program = {.pc = place, .location = function};
    if (!run_fde(&program, description)) return rule;
    const struct row row = program.row;
    rule.cfa_from = row.ends ? CFA_NONE : row.cfa_from;
    rule.rbp_from = row.rbp_from;
    rule.cfa = (int32_t)row.cfa_offset;
    rule.rbp = (int32_t)row.rbp;
    if (rule.cfa != row.cfa_offset || rule.rbp != row.rbp) rule.cfa_from = CFA_ODD;
    return rule;
}

struct burst_rule burst_rule_at(uintptr_t pc) {
    struct dwarf_eh_bases bases = {0};
    const uint8_t *fde = _Unwind_Find_FDE((void *)(pc - 1), &bases);
    struct burst_rule rule = burst_rule_of(fde, (uintptr_t)bases.function, pc - 1);
    rule.pc = pc;
    return rule;
}

#if defined(__x86_64__)

static inline uintptr_t load(uintptr_t address) { return *(const uintptr_t *)address; }

int burst_leave_frame(const struct burst_rule *rule, uintptr_t high, uintptr_t *pc, uintptr_t *sp,
                      uintptr_t *bp) {
    uintptr_t cfa = *sp + (uintptr_t)(intptr_t)rule->cfa;
    if (rule->cfa_from == CFA_RBP) {
        cfa = *bp + (uintptr_t)(intptr_t)rule->cfa;
    } else if (rule->cfa_from == CFA_AT_RBP) {
        const uintptr_t place = *bp + (uintptr_t)(intptr_t)rule->cfa;
        if (place < *sp || place > high - 8 || place % 8) return 0;
        cfa = load(place);
    } else if (rule->cfa_from != CFA_RSP) {
        return 0;
    }
    if (cfa < *sp + 8 || cfa > high || cfa % 8) return 0;
    if (rule->rbp_from != RBP_SAME) {
        const uintptr_t base = rule->rbp_from == RBP_AT_CFA ? cfa : *bp;
        const uintptr_t place = base + (uintptr_t)(intptr_t)rule->rbp;
        if (place < *sp || place > high - 8 || place % 8) return 0;
        *bp = load(place);
    }
    *pc = load(cfa - 8);
    *sp = cfa;
    return 1;
}

#endif
