/* burstline.h -- Marks of your own in what `burstline record` records.
 *
 * Include it, and link nothing: without the recorder every call does nothing.
 *
 *     burstline_event(7, step);              an event of type 7
 *     { burstline_region("solve"); ... }     a region, to the end of the block
 *     burstline_region_begin("solve");       a region, to the same name's end
 *     burstline_region_end("solve");
 *     burstline_pause(); burstline_resume(); record nothing in between, in all threads
 *
 * Event types below 1000 are yours; names are at most 255 bytes long, and what is longer is cut.
 */
#ifndef BURSTLINE_H
#define BURSTLINE_H

#include <dlfcn.h>
#include <stdint.h>

/* Found when the program runs, because programs that are not position independent are linked
 * with missing weak functions at address 0 for good. Weak itself where it is in a library of
 * its own or the program is static: marks then do nothing. */
#pragma weak dlsym

#define BURSTLINE_FORWARD(name, parameters, arguments)                             \
    static inline void name parameters {                                           \
        typedef void(*burstline_type) parameters;                                  \
        static burstline_type function;                                            \
        static char looked;                                                        \
        if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {                         \
            void *found = dlsym ? dlsym((void *)0, #name) : (void *)0;             \
            burstline_type same;                                                   \
            __builtin_memcpy(&same, &found, sizeof same);                          \
            __atomic_store_n(&function, same, __ATOMIC_RELAXED);                   \
            __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);                        \
        }                                                                          \
        const burstline_type known = __atomic_load_n(&function, __ATOMIC_RELAXED); \
        if (known) known arguments;                                                \
    }

BURSTLINE_FORWARD(burstline_event, (uint32_t type, uint64_t value), (type, value))
BURSTLINE_FORWARD(burstline_region_begin, (const char *name), (name))
BURSTLINE_FORWARD(burstline_region_end, (const char *name), (name))
BURSTLINE_FORWARD(burstline_pause, (void), ())
BURSTLINE_FORWARD(burstline_resume, (void), ())

#define BURSTLINE_JOIN_(a, b) a##b
#define BURSTLINE_JOIN(a, b) BURSTLINE_JOIN_(a, b)

#ifdef __cplusplus
namespace burstline {
class region {
   public:
    explicit region(const char *name) : name_(name) { burstline_region_begin(name_); }
    ~region() { burstline_region_end(name_); }
    region(const region &) = delete;
    region &operator=(const region &) = delete;

   private:
    const char *name_;
};
}  // namespace burstline
#define burstline_region(name) \
    const ::burstline::region BURSTLINE_JOIN(burstline_region_, __LINE__)(name)
#else
static inline const char *burstline_region_opened(const char *name) {
    burstline_region_begin(name);
    return name;
}
static inline void burstline_region_left(const char *const *name) { burstline_region_end(*name); }
#define burstline_region(name)                                    \
    const char *const BURSTLINE_JOIN(burstline_region_, __LINE__) \
        __attribute__((cleanup(burstline_region_left), unused)) = burstline_region_opened(name)
#endif

#endif
