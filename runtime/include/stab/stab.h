/* stab.h: what a program can ask of the Stab runtime it was linked with. Manual: stab.h(3).
 *
 * C and C++, nothing to link: without the runtime (another compiler, a plain build) every call returns
 * STAB_ABSENT and costs a test of a pointer. With it, a call that asks for nothing new stays below 100 ns.
 * All calls are thread-safe; none may be made from a signal handler, except stab_active and stab_epoch.
 */
#ifndef STAB_STAB_H
#define STAB_STAB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call answers. Don't renumber. */
enum stab_status {
  STAB_OK = 0,
  STAB_ABSENT = 1,       /* no runtime in this process, or nothing switched on */
  STAB_UNAVAILABLE = 2,  /* the helper process is gone or does not answer */
  STAB_NESTED = 3,       /* this thread has a region open already */
  STAB_OTHER_THREAD = 4, /* another thread has the region open */
  STAB_NOT_BEGUN = 5,    /* an end without its beginning */
  STAB_FULL = 6,         /* no room for one more stack */
  STAB_BAD_ARGUMENT = 7
};

/* ---- Layouts ------------------------------------------------------------------------------------------- */

/* Ends the current epoch: returns when the next layout is in place. New calls use it; a function that is running
 * keeps its code and its frame until it returns. Works while paused, too. Some 30 us in a small program. */
static inline int stab_new_layout(void);

/* Counts a visit to the place where it stands. With STAB_EPOCH=Nvisits, in a plan epoch = { visits = N }, a layout lasts N
 * visits instead of a time: each N-th one returns in the next layout, so that a run with one thread is a function of its seed.
 * Elsewhere a visit is only counted. szc --stab-visit=FUNCTION puts one at each entry of a function. */
static inline int stab_visit(void);

/* Between stab_pause and stab_resume the layout changes only by stab_new_layout. They count: as many resumes
 * as pauses. After stab_pause returns, no change is under way. */
static inline int stab_pause(void);
static inline int stab_resume(void);

/* 1 if the layout of this process changes with time. */
static inline int stab_active(void);

/* How many layouts there have been since main started; 0 if stab_active() is 0. */
static inline uint64_t stab_epoch(void);

/* ---- Region of interest -------------------------------------------------------------------------------- */

/* A bit for each counter that was counted; the others are 0 and mean nothing. Don't renumber. */
enum stab_counter {
  STAB_CYCLES = 0,        /* these four: the region's thread and threads it made since the process's first region */
  STAB_INSTRUCTIONS = 1,
  STAB_CACHE_MISSES = 2,
  STAB_BRANCH_MISSES = 3,
  STAB_PAGE_FAULTS = 4,   /* these two: the whole process */
  STAB_CONTEXT_SWITCHES = 5,
  STAB_COUNTERS = 6
};

struct stab_region {
  uint64_t wall_ns;  /* CLOCK_MONOTONIC_RAW */
  uint64_t cpu_ns;   /* of the whole process, its helper not included */
  uint64_t layouts;  /* that began inside */
  uint32_t counted;  /* bit 1 << STAB_CYCLES and so on */
  uint32_t reserved;
  uint64_t counters[STAB_COUNTERS];
};

/* One region at a time in a process, ended by the thread that began it; anything else is refused and changes
 * nothing. Regions add up in the dose report. `region` may be NULL. Also works with all factors off, so that
 * every cell of an experiment is measured alike; only without the runtime it is STAB_ABSENT. */
static inline int stab_region_begin(void);
static inline int stab_region_end(struct stab_region* region);

/* ---- Stacks of fibers ---------------------------------------------------------------------------------- */

/* A stack that the program switches to by itself (makecontext, its own assembly). It gets no pads until it is
 * registered and entered. Unregister it before its memory is used for anything else. (Moved code is safe on any
 * stack: in a program that switches stacks the memory of moved code is never reused.) */
static inline int stab_fiber_register(void* lowest, size_t bytes);
static inline int stab_fiber_unregister(void* lowest);

/* First thing on the fiber, and again each time it is resumed; `lowest` as registered. NULL: back on the
 * thread's own stack. The thread's pads follow. */
static inline int stab_fiber_enter(void* lowest);

/* ---- Dose ---------------------------------------------------------------------------------------------- */

struct stab_dose {
  uint64_t layouts;          /* as stab_epoch */
  uint64_t code_layouts;     /* images of the code that were published */
  uint64_t pad_refills;      /* times that the stack pads were drawn anew */
  uint32_t functions;        /* that the code metadata lists */
  uint32_t functions_moved;
  uint32_t pads;             /* slots of stack pads, all modules */
  uint32_t degraded;         /* 1: something is less than asked for; the dose report says what */
  uint64_t heap_allocations; /* served by our heap */
};
static inline int stab_read_dose(struct stab_dose* dose);

/* ---- How it is done: weak symbols of the runtime -------------------------------------------------------- */

#define STAB_WEAK_ __attribute__((weak, visibility("default")))
STAB_WEAK_ int stab_rt_new_layout(void);
STAB_WEAK_ int stab_rt_layout_visit(void);
STAB_WEAK_ int stab_rt_pause(void);
STAB_WEAK_ int stab_rt_resume(void);
STAB_WEAK_ int stab_rt_active(void);
STAB_WEAK_ uint64_t stab_rt_epoch(void);
STAB_WEAK_ int stab_rt_region_begin(void);
STAB_WEAK_ int stab_rt_region_end(struct stab_region* region, size_t bytes);
STAB_WEAK_ int stab_rt_fiber_register(void* lowest, size_t bytes);
STAB_WEAK_ int stab_rt_fiber_unregister(void* lowest);
STAB_WEAK_ int stab_rt_fiber_enter(void* lowest);
STAB_WEAK_ int stab_rt_read_dose(struct stab_dose* dose, size_t bytes);
#undef STAB_WEAK_

static inline int stab_new_layout(void) { return stab_rt_new_layout ? stab_rt_new_layout() : STAB_ABSENT; }
static inline int stab_visit(void) { return stab_rt_layout_visit ? stab_rt_layout_visit() : STAB_ABSENT; }
static inline int stab_pause(void) { return stab_rt_pause ? stab_rt_pause() : STAB_ABSENT; }
static inline int stab_resume(void) { return stab_rt_resume ? stab_rt_resume() : STAB_ABSENT; }
static inline int stab_active(void) { return stab_rt_active ? stab_rt_active() : 0; }
static inline uint64_t stab_epoch(void) { return stab_rt_epoch ? stab_rt_epoch() : 0; }
static inline int stab_region_begin(void) { return stab_rt_region_begin ? stab_rt_region_begin() : STAB_ABSENT; }
static inline int stab_region_end(struct stab_region* region) {
  return stab_rt_region_end ? stab_rt_region_end(region, sizeof *region) : STAB_ABSENT;
}
static inline int stab_fiber_register(void* lowest, size_t bytes) {
  return stab_rt_fiber_register ? stab_rt_fiber_register(lowest, bytes) : STAB_ABSENT;
}
static inline int stab_fiber_unregister(void* lowest) {
  return stab_rt_fiber_unregister ? stab_rt_fiber_unregister(lowest) : STAB_ABSENT;
}
static inline int stab_fiber_enter(void* lowest) {
  return stab_rt_fiber_enter ? stab_rt_fiber_enter(lowest) : STAB_ABSENT;
}
static inline int stab_read_dose(struct stab_dose* dose) {
  return stab_rt_read_dose ? stab_rt_read_dose(dose, sizeof *dose) : STAB_ABSENT;
}

#ifdef __cplusplus
}
#endif

#endif
