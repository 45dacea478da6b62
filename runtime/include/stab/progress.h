/* progress.h: progress points, places of a program whose visits count as work done. Manual: docs/how-to/count-work.md.
 *
 *   STAB_PROGRESS("block");                    one block is done
 *   STAB_BEGIN("request"); STAB_END("request") a request comes in, and has been served
 *   STAB_ARRIVAL("job");                       a task has arrived from outside
 *
 * C and C++, nothing to link. A name is a string literal of 1 to 111 bytes. In a program that szc has built and that Stab
 * runs, a visit is an addition to a cell of the thread's own, below 2 ns; anywhere else it is two tests that find nobody
 * who counts. May be called from any thread and from signal handlers. Points of one name are one point, wherever they are.
 */
#ifndef STAB_PROGRESS_H
#define STAB_PROGRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STAB_PROGRESS(name) STAB_VISIT_(1, name)
#define STAB_BEGIN(name) STAB_VISIT_(2, name)
#define STAB_END(name) STAB_VISIT_(3, name)
#define STAB_ARRIVAL(name) STAB_VISIT_(4, name)

/* ---- How it is done: symbols of the runtime; these here are what a program without it finds --------------- */

#if defined(__x86_64__)

/* This thread's cells, NULL while it has none. */
extern __thread char* stab_rt_visits __attribute__((tls_model("initial-exec"), visibility("default")));
__attribute__((weak, tls_model("initial-exec"), visibility("default"))) __thread char* stab_rt_visits;

/* The first visit of a place, and of a thread. Leaves in *site where the count lies among the cells, or all ones: nobody
 * counts. */
__attribute__((weak, visibility("default"))) void stab_rt_visit(uint32_t* site, int kind, const char* name);

static inline void stab_visit_slowly_(uint32_t* site, int kind, const char* name) {
  if (stab_rt_visit)
    stab_rt_visit(site, kind, name);
  else
    __atomic_store_n(site, ~(uint32_t)0, __ATOMIC_RELAXED);
}

/* One instruction, so that a signal handler that comes between loses nothing. */
#define STAB_VISIT_(kind, name)                                                                        \
  do {                                                                                                 \
    static uint32_t stab_site_;                                                                        \
    const uint32_t stab_at_ = __atomic_load_n(&stab_site_, __ATOMIC_RELAXED);                          \
    char* const stab_row_ = stab_rt_visits;                                                            \
    if (__builtin_expect(stab_row_ != 0 && stab_at_ != 0, 1))                                          \
      __asm__ volatile("incq %0" : "+m"(*(uint64_t*)(void*)(stab_row_ + stab_at_)) : : "cc");          \
    else if (stab_at_ != ~(uint32_t)0)                                                                 \
      stab_visit_slowly_(&stab_site_, kind, "" name);                                                  \
  } while (0)

#else
#define STAB_VISIT_(kind, name) ((void)("" name))
#endif

#ifdef __cplusplus
}
#endif

#endif
