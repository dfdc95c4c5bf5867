/* settings.c -- What the environment asks for, and the one way to say something to the user. */
#include "thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PATTERNS 4096

struct burst_settings burst_settings;
char burst_folder[PATH_MAX];
char burst_counter_names[1024];

static char calls[4096]; /* BURSTLINE_CALLS */
static uint8_t unwanted[BURST_OPERATIONS];
static char functions[1u << 16]; /* BURSTLINE_FUNCTIONS */
static const char *pattern[MOST_PATTERNS];
static unsigned patterns;

void burst_say(const char *format, ...) {
    char line[PATH_MAX + 512];
    const int start = snprintf(line, sizeof line, "burstline: process %ld: ", (long)getpid());
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
    va_end(arguments);
    if (bytes < 0) return;
    bytes += start;
    if (bytes > (int)sizeof line - 2) bytes = (int)sizeof line - 2;
    line[bytes++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)bytes) < 0) return; /* nobody left to tell */
}

const char *burst_asked(const char *name) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? NULL : text;
}

static uint32_t number(const char *name, uint32_t otherwise, uint32_t lowest, uint32_t highest) {
    const char *text = burst_asked(name);
    if (text == NULL) return otherwise;
    char *rest;
    errno = 0;
    const unsigned long value = strtoul(text, &rest, 10);
    if (errno != 0 || *rest != '\0' || *text == '-') {
        burst_say("%s=%.80s is no number; %u is used", name, text, otherwise);
        return otherwise;
    }
    if (value < lowest) return lowest;
    return value > highest ? highest : (uint32_t)value;
}

/* An operation by its name, or by its number for those who have no names. */
static int is_operation(uint16_t op, const char *word) {
    char digits[8];
    snprintf(digits, sizeof digits, "%u", op);
    if (strcmp(digits, word) == 0) return 1;
    if (burst_operation_name == NULL) return 0;
    const char *name = burst_operation_name(op);
    return name != NULL && strcmp(name, word) == 0;
}

static void mark(const char *word, int wanted) {
    int known = 0;
    for (unsigned op = 0; op < BURST_OPERATIONS; ++op) {
        if (!is_operation((uint16_t)op, word)) continue;
        unwanted[op] = !wanted;
        known = 1;
    }
    if (!known) burst_say("BURSTLINE_CALLS names %.80s, which is no operation", word);
}

/* The first word decides: `-NAME` takes away from all, `NAME` adds to none. */
static void read_filter(const char *text) {
    snprintf(calls, sizeof calls, "%s", text);
    char *state = NULL;
    int first = 1;
    for (char *word = strtok_r(calls, ", ", &state); word; word = strtok_r(NULL, ", ", &state)) {
        const int without = *word == '-';
        if (first) memset(unwanted, without ? 0 : 1, sizeof unwanted);
        first = 0;
        mark(word + without, !without);
    }
}

int burst_wants(uint16_t op) { return op >= BURST_OPERATIONS || !unwanted[op]; }

static void read_functions(const char *text) {
    snprintf(functions, sizeof functions, "%s", text);
    char *state = NULL;
    for (char *word = strtok_r(functions, ";", &state); word; word = strtok_r(NULL, ";", &state)) {
        if (patterns == MOST_PATTERNS) break;
        pattern[patterns++] = word;
    }
    if (strlen(text) >= sizeof functions || patterns == MOST_PATTERNS)
        burst_say("BURSTLINE_FUNCTIONS is too long; %u patterns are used", patterns);
}

/* As 0,4-7; what is no such list names all. */
int burst_wants_rank(int rank) {
    const char *at = burst_wanted_ranks();
    if (at == NULL) return 1;
    while (*at != '\0') {
        char *rest;
        const long first = strtol(at, &rest, 10);
        const long last = *rest == '-' ? strtol(rest + 1, &rest, 10) : first;
        if (rest == at || (*rest != ',' && *rest != '\0')) return 1;
        if (first <= rank && rank <= last) return 1;
        at = rest + (*rest == ',');
    }
    return 0;
}

const char *burst_wanted_ranks(void) { return burst_asked("BURSTLINE_RANKS"); }

int burst_filters_functions(void) { return patterns > 0; }

static int fits(const char *wanted, const char *name) {
    const char *star = NULL, *again = name;
    while (*name != '\0') {
        if (*wanted == '*') {
            star = ++wanted;
            again = name;
        } else if (*wanted == '?' || *wanted == *name) {
            ++wanted;
            ++name;
        } else if (star != NULL) {
            wanted = star;
            name = ++again;
        } else {
            return 0;
        }
    }
    return wanted[strspn(wanted, "*")] == '\0';
}

/* As with calls, the first pattern says what those are that none fits. */
int burst_wants_function(const char *linked, const char *readable) {
    for (unsigned i = patterns; i > 0; --i) {
        const int without = *pattern[i - 1] == '-';
        const char *text = pattern[i - 1] + without;
        if (fits(text, linked) || fits(text, readable)) return !without;
    }
    return patterns == 0 || *pattern[0] == '-';
}

static int read_mode(void) {
    const char *mode = burst_asked("BURSTLINE_MODE");
    if (mode == NULL || strcmp(mode, "trace") == 0) return 1;
    if (strcmp(mode, "off") == 0) return 0;
    if (strcmp(mode, "profile") == 0) {
        burst_settings.profile = 1;
        return 1;
    }
    if (strcmp(mode, "signature") == 0) {
        burst_settings.signature = 1;
        return 1;
    }
    burst_say("BURSTLINE_MODE=%.80s is none of trace, profile, signature, off; trace is used",
              mode);
    return 1;
}

void burst_read_settings(void) {
    const char *folder = burst_asked("BURSTLINE_DIR");
    if (folder == NULL || !read_mode()) return;
    if (realpath(folder, burst_folder) == NULL) {
        burst_say("nothing is recorded: %s: %s", folder, strerror(errno));
        burst_settings.signature = 0;
        return;
    }
    if (burst_settings.signature) return;
    /* Windows start where pages do, on machines with large pages too. */
    const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    const uint32_t block = number("BURSTLINE_BLOCK", 1u << 20, 2 * page, 1u << 30);
    burst_settings.block_bytes = (block + page - 1) / page * page;
    burst_settings.stack_depth = number("BURSTLINE_STACK_DEPTH", 8, 0, BURST_MAX_DEPTH);
    burst_settings.leave_free_mib =
        number("BURSTLINE_LEAVE_FREE", BURST_AUTOMATIC, 0, BURST_AUTOMATIC);
    burst_settings.sampling_hz = number("BURSTLINE_SAMPLE", 250, 0, 10000);
    burst_settings.sum_misses = (uint8_t)number("BURSTLINE_MISSES", 1, 0, 1);
    burst_settings.poll_gap = number("BURSTLINE_POLL_GAP", 5000, 1, INT32_MAX);
    const char *counters = getenv("BURSTLINE_COUNTERS");
    snprintf(burst_counter_names, sizeof burst_counter_names, "%s", counters ? counters : "cpu");
    const char *filter = burst_asked("BURSTLINE_CALLS");
    if (filter != NULL) read_filter(filter);
    const char *wanted = burst_asked("BURSTLINE_FUNCTIONS");
    if (wanted != NULL) read_functions(wanted);
    burst_settings.active = 1;
}
