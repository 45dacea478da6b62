// libstabcausal: what its parts share inside a measured program.
#pragma once

#include "runtime/causal/area.h"
#include "runtime/causal/early_sample.h"

namespace stab::causal {

enum Waits : uint8_t { kNot = 0, kForOurs = 1, kForWorld = 2 };

// A thread's own. Initial-exec: traps come at any time, the first instruction of a thread included.
struct Thread {
  bool spins;           // in a pause of ours: a sample there is none of the program
  Waits waits;          // while it waits it owes nothing, as it is off the CPU
  bool blocks_trap;     // the program believes that it blocks SIGTRAP (own_signals.cc), with this mask beside
  bool keeps_trap;      // and one that is the program's has come meanwhile
  bool is_counted;      // in runnable: came by pthread_create, or is a process's first
  uint32_t traps;
  int occupied = -1;    // R3: the CPU, -1: none
  uint64_t seen;        // R4: global when its wait began
  uint64_t seen_open;   // and the window that was open then
  uint64_t overslept_ns;  // of R4's sleeps, which end late: the next are shorter
  uint64_t program_ns;  // its CPU time at the last sample
  uint64_t spun_ns;     // of it, since then, in pauses
  EarlySample early;
  Sampled last;         // its last sample
  uint64_t too_much_ns; // that its pause before took beyond what it should: the next is shorter
  uint64_t owed_ns;     // of pauses that are made in bulk, in the window `owed_in`
  uint64_t owed_in;
  uint64_t local;       // Pauses::kThread: what it has given up itself
  uint64_t switches;    // voluntary ones, as read last
  uint64_t classified;  // waits in interposed calls since then
  uint64_t blocked;     // voluntary ones, as its last wait in the window `seen_open` ended
  uint64_t mask_with_trap;
  uint64_t pause_frame; // where its stack was as a pause began, and the outermost of its waits: a jump to above it has left it
  uint64_t wait_frame;
  LastWrite* noted;     // of a read or write that goes on
  void* alternate_stack;
  int timer;            // samples by timer: its number, if timer_made
  bool timer_made;
};

inline constexpr Thread kNewThread = {};

extern __thread Thread self __attribute__((tls_model("initial-exec")));

struct Program {
  Area* area;         // nullptr: this program isn't profiled, and every interposed call is only passed on
  Process* process;
  Pauses pauses;
  bool by_timer;      // samples come from CPU timers of the threads
  bool is_silent;     // in a sandbox of its own: no sample, no call of ours any more
  int event;          // descriptor of the perf event, -1
  int pid;
};
extern Program program;

// Whether threads have to be told apart by what they wait for: everywhere but where nothing is profiled.
inline bool is_profiled() { return __builtin_expect(program.area != nullptr && !program.is_silent, 0); }
inline bool is_window_open() { return look(program.area->state.live.open) % 2 == 1; }
// A window is open, or there is a load, so waking somebody has to be paid for first.
inline bool must_pay() { return is_window_open() || program.area->script.load_permille != 0; }

// Whether it makes a difference who wakes the calling thread, which has begun to wait: there is something that it would have to
// sleep off if it was the world, or it ends a time in which nobody could run. Finding out who it was takes system calls.
inline bool class_matters() {
  const State& state = program.area->state;
  if (program.area->script.load_permille != 0) return true;
  return is_window_open() && (look(state.global) != self.seen ||
                              (program.pauses == Pauses::kCpuTime && look(state.idle_since_ns) != 0));
}

// A number below `below`, as good as drawn: the same from the same, and another one from the next.
inline uint64_t drawn(uint64_t from, uint64_t below) {
  return (from * 0x9e3779b97f4a7c15u >> 20) % below;
}

// pay.cc
struct Wait {
  Waits outer;         // what the thread waited for already: a signal handler is waiting now
  uint64_t since_ns;
  bool may_bring_task;  // whether an arrival under a load may be its end
  uint64_t asked_ns;    // of a sleep: how long it should be; 0: nobody knows
};
void pay();                                    // R2
uint64_t thread_cpu_ns();                      // of the calling thread
void sleep_for(uint64_t ns);                   // whatever signals come
void spin_for(uint64_t cpu_ns);                // burns the calling thread's CPU time, in the sum over pauses exactly
// A pause of so much CPU time, that of everybody or the thread's own. It ends with the window, and counts for what it took.
void pause_in_window(uint64_t cpu_ns, bool everybody);
Wait start_wait(Waits what);                   // R2, then off the CPU
// R3 or R4; and R1, where the script wants waits of the kind `why` sped up (a bit of Script::flags, 0: none) and `caller` is in
// the region.
void finish_wait(const Wait& wait, Waits by, uint64_t why, uint64_t caller);
// A handler jumps to where the stack is at `stack`: for a pause or wait whose frame lies below this is the end.
void abandon_below(uint64_t stack);
void arrive();                                 // R5: the calling thread is there
void leave();                                  // it ends
void read_switches();                          // voluntary switches, and those that had a class

// trap.cc
void take_signal();                // SIGTRAP is ours from now on
bool start_sampling();             // in the calling process; false: neither kind of sample can be had
void start_thread_sampling();      // of a new thread, which calls it
void take_rest();                  // of the calling thread, which ends: what it has computed since its last sample
void end_thread_sampling();
void stop_sampling();              // of all threads, for good
void give_alternate_stack();
bool restore_alternate_stack();    // where the program has taken its own away
void free_alternate_stack();

// own_descriptors.cc
// The same descriptor under a number that the program is not likely to meet; as it is where there is none.
int out_of_the_way(int fd);

// attach.cc
void begin_child();                // in a process that was forked from one that is profiled

// caller.cc
void load_unwinder();
// The nearest caller in scope of the code that a trap interrupted, called in that trap. False: there is none.
bool find_caller(uint64_t interrupted, Place& place);

// program_side.cc: what a program of szc's has that others don't
void meet_program();
uint64_t original_of(uint64_t pc);
void ask_for_layout();
void say_goodbye();
void end_process();  // the same, and none of its threads runs any more
// This process is about to execute another program, and has failed to. What begin_exec returns is for the latter.
int begin_exec();
void end_failed_exec(int threads);

}  // namespace stab::causal
