/* symbols.c -- Names of functions, straight from the file of a program or library.
 *
 * The dynamic linker knows only what is exported. Nothing here allocates: a function's first call
 * may be anywhere, in malloc as well. What the file claims is compared with its size.
 */
#include "thread.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* The file that was read last: functions come in heaps of one. */
static struct {
    const char *path; /* paths of modules stay */
    const unsigned char *bytes;
    size_t size;
} file;

static int has(uint64_t offset, uint64_t bytes) {
    return offset <= file.size && bytes <= file.size - offset;
}

static const Elf64_Shdr *section(uint64_t number) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file.bytes;
    if (number >= head->e_shnum || head->e_shentsize != sizeof(Elf64_Shdr)) return NULL;
    if (!has(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr))) return NULL;
    const Elf64_Shdr *one = (const Elf64_Shdr *)(file.bytes + head->e_shoff) + number;
    return has(one->sh_offset, one->sh_type == SHT_NOBITS ? 0 : one->sh_size) ? one : NULL;
}

static const char *symbol_in(const Elf64_Shdr *table, uintptr_t offset) {
    const Elf64_Shdr *texts = section(table->sh_link);
    if (texts == NULL || texts->sh_size == 0) return NULL;
    const char *text = (const char *)file.bytes + texts->sh_offset;
    if (text[texts->sh_size - 1] != '\0') return NULL;
    const Elf64_Sym *symbol = (const Elf64_Sym *)(file.bytes + table->sh_offset);
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbol; ++i, ++symbol)
        if (symbol->st_value == offset && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            symbol->st_shndx != SHN_UNDEF && symbol->st_name < texts->sh_size)
            return text + symbol->st_name;
    return NULL;
}

static const char *find(const char *path, uintptr_t offset) {
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    if (file.path != path) {
        burst_unmap((void *)file.bytes, file.size);
        file.path = path;
        file.bytes = burst_map_file(path, &file.size);
    }
    if (file.bytes == NULL || file.size < sizeof(Elf64_Ehdr)) return NULL;
    if (memcmp(file.bytes, ELFMAG, SELFMAG) != 0 || file.bytes[EI_CLASS] != ELFCLASS64) return NULL;
    for (unsigned kind = 0; kind < 2; ++kind) {
        const Elf64_Shdr *table;
        for (uint64_t i = 0; (table = section(i)) != NULL; ++i) {
            const char *name = table->sh_type == kinds[kind] ? symbol_in(table, offset) : NULL;
            if (name != NULL) return name;
        }
    }
    return NULL;
}

/* Behind the arguments of a template, which begin with I; NULL where that is hard to say. */
static const char *skip_template(const char *at) {
    unsigned depth = 0;
    for (; *at != '\0'; ++at) {
        if (*at >= '0' && *at <= '9') {
            size_t bytes = 0;
            for (; *at >= '0' && *at <= '9' && bytes < BURST_LONGEST_SYMBOL; ++at)
                bytes = bytes * 10 + (size_t)(*at - '0');
            if (strnlen(at, bytes) < bytes || bytes == 0) return NULL;
            at += bytes - 1;
        } else if (*at == 'L') {
            at += strcspn(at, "E");
            if (*at == '\0') return NULL;
        } else if (*at == 'S' || *at == 'T') {
            ++at;
            if (!(*at >= 'a' && *at <= 'z')) at += strcspn(at, "_");
            if (*at == '\0') return NULL;
        } else if (strchr("INXJF", *at) != NULL) {
            ++depth;
        } else if (*at == 'E' && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

static int append(char *name, const char *text, size_t bytes) {
    const size_t length = strlen(name), parted = length > 0 ? 2 : 0;
    if (length + parted + bytes + 1 > BURST_LONGEST_SYMBOL) return 0;
    memcpy(name + length, "::", parted);
    memcpy(name + length + parted, text, bytes);
    name[length + parted + bytes] = '\0';
    return 1;
}

/* A name of C++ without arguments, such as space::type::function; 0: it is no such name. */
static int read_cpp(const char *at, char *name) {
    const char *last = "";
    size_t bytes = 0;
    if (strncmp(at, "_Z", 2) != 0) return 0;
    at += 2 + (at[2] == 'L');
    const int nested = *at == 'N';
    if (nested) at += 1 + strspn(at + 1, "rVKRO");
    for (name[0] = '\0'; *at != '\0' && *at != 'E';) {
        if (*at >= '0' && *at <= '9') {
            for (bytes = 0; *at >= '0' && *at <= '9' && bytes < BURST_LONGEST_SYMBOL; ++at)
                bytes = bytes * 10 + (size_t)(*at - '0');
            if (strnlen(at, bytes) < bytes) return 0;
            last = at;
            at += bytes;
            static const char nameless[] = "(anonymous namespace)";
            const int has_name = strncmp(last, "_GLOBAL__N", 10) != 0;
            if (!append(name, has_name ? last : nameless, has_name ? bytes : sizeof nameless - 1))
                return 0;
            if (!nested) return 1;
        } else if (at[0] == 'S' && at[1] == 't') {
            if (!append(name, "std", 3)) return 0;
            at += 2;
        } else if (*at == 'I') {
            at = skip_template(at);
            if (at == NULL) return 0;
        } else if ((*at == 'C' || *at == 'D') && at[1] >= '0' && at[1] <= '9') {
            char of[BURST_LONGEST_SYMBOL];
            const int length = snprintf(of, sizeof of, "%s%.*s", *at == 'D' ? "~" : "",
                                        (int)bytes, last);
            if (length < 0 || !append(name, of, strlen(of))) return 0;
            at += 2;
        } else {
            return 0;
        }
    }
    return name[0] != '\0';
}

/* Fortran's own: __MODULE_MOD_PROCEDURE, PROCEDURE_. */
static void read_fortran(const char *linked, char *name) {
    const char *module = strncmp(linked, "__", 2) == 0 ? strstr(linked + 2, "_MOD_") : NULL;
    const size_t bytes = strlen(linked);
    name[0] = '\0';
    if (module != NULL) {
        append(name, linked + 2, (size_t)(module - linked - 2));
        append(name, module + 5, strlen(module + 5));
    } else {
        append(name, linked, bytes - (bytes > 1 && linked[bytes - 1] == '_'));
    }
}

int burst_symbol(const char *path, uintptr_t offset, char *linked, char *readable) {
    const char *name = find(path, offset);
    if (name == NULL) return 0;
    snprintf(linked, BURST_LONGEST_SYMBOL, "%s", name);
    if (!read_cpp(linked, readable)) read_fortran(linked, readable);
    return 1;
}
