/* A PAPI that counts what a file says, one rule a line:
 *
 *   event NAME        there is this event; presets are named PAPI_...
 *   limit N           at most N events at a time
 *   apart NAME NAME   these two never together
 *   triple A B C      these three never together, any two of them may be
 *
 * The file is named by FAKE_PAPI; without it there is no event at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION (7 << 24)
enum { OK = 0, INVALID = -1, NO_EVENT = -7, CONFLICT = -8, MOST = 64, LONGEST = 64 };

static char names[MOST][LONGEST];
static int known, limit = MOST, rules;
static int rule[4 * MOST][3]; /* numbers of events, -1: none */
static int members[MOST], count, open_sets;

static int find(const char *name) {
    for (int i = 0; i < known; ++i)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static void read_line(const char *line) {
    char word[LONGEST], a[LONGEST], b[LONGEST], c[LONGEST];
    const int got = sscanf(line, "%63s %63s %63s %63s", word, a, b, c);
    if (got < 2) return;
    if (strcmp(word, "event") == 0 && known < MOST) strcpy(names[known++], a);
    if (strcmp(word, "limit") == 0) limit = atoi(a);
    if (got < 3 || rules >= 4 * MOST) return;
    rule[rules][0] = find(a);
    rule[rules][1] = find(b);
    rule[rules++][2] = got == 4 ? find(c) : -1;
}

int PAPI_library_init(int version) {
    if (version != VERSION) return INVALID;
    known = rules = count = 0;
    limit = MOST;
    const char *path = getenv("FAKE_PAPI");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    while (file && fgets(line, sizeof line, file)) read_line(line);
    if (file) fclose(file);
    return version;
}

int PAPI_query_named_event(const char *name) { return find(name) < 0 ? NO_EVENT : OK; }

int PAPI_create_eventset(int *set) {
    if (*set != -1 || open_sets) return INVALID; /* one at a time: shows sets left behind */
    open_sets = 1;
    count = 0;
    *set = 3;
    return OK;
}

static int holds(int event) {
    for (int i = 0; i < count; ++i)
        if (members[i] == event) return 1;
    return 0;
}

int PAPI_add_named_event(int set, const char *name) {
    const int event = find(name);
    if (set != 3 || event < 0) return NO_EVENT;
    if (count == limit) return CONFLICT;
    members[count++] = event;
    for (int i = 0; i < rules; ++i)
        if (holds(rule[i][0]) && holds(rule[i][1]) && (rule[i][2] < 0 || holds(rule[i][2]))) {
            --count;
            return CONFLICT;
        }
    return OK;
}

int PAPI_cleanup_eventset(int set) {
    if (set != 3) return INVALID;
    count = 0;
    return OK;
}

int PAPI_destroy_eventset(int *set) {
    if (*set != 3 || count) return INVALID;
    open_sets = 0;
    *set = -1;
    return OK;
}

int PAPI_enum_event(int *code, int modifier) {
    const int next = modifier == 1 ? 0 : (*code & 0x7fffffff) + 1;
    if (next >= known) return NO_EVENT;
    *code = (int)(0x80000000u | (unsigned)next);
    return OK;
}

int PAPI_event_code_to_name(int code, char *name) {
    const int event = code & 0x7fffffff;
    if (event >= known) return NO_EVENT;
    strcpy(name, names[event]);
    return OK;
}

void PAPI_shutdown(void) { open_sets = 0; }
