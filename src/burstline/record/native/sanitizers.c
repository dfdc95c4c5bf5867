/* sanitizers.c -- What a program built with -fsanitize=address is told of the recorder.
 *
 * AddressSanitizer's library ends a program before whose libraries another one is preloaded, as
 * that one might replace its malloc. The recorder has none, so the order does no harm: interceptors
 * are still found before the C library. This is asked of every process that inherits the recorder,
 * children without MPI, too; what ASAN_OPTIONS says is read after it, and wins.
 */
#include "runtime.h"

BURST_FOR_PROGRAMS const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "verify_asan_link_order=0"; }
