// What a helper knows of its program: the result of the handshake.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/pointers.h"
#include "runtime/control.h"
#include "runtime/helper/epoch_log.h"
#include "runtime/helper/family.h"
#include "runtime/helper/images.h"
#include "runtime/helper/looks.h"
#include "runtime/helper/handshake_messages.h"
#include "runtime/helper/dose_report.h"
#include "runtime/helper/program_clock.h"
#include "runtime/helper/script_file.h"
#include "runtime/helper/sampled_functions.h"
#include "runtime/progress/board.h"

namespace stab::helper {

// By their numbers: what has been put in place last. Counted here, since the seed and these give the layouts. Layouts that are
// matched with those of other builds are numbered by the epochs that have passed, which are the same phases of each build's run;
// others by themselves.
struct PlacedLayouts {
  uint32_t epochs = 0;
  uint32_t images_built = 0;
  uint32_t refills = 0;
  uint32_t passed = 0;        // epochs that have ended, missed ones included: what matched layouts are numbered by
  uint32_t image = kNoImage;  // numbers of those in place
  uint32_t refill = kNoImage;
  uint32_t image_in[kMaxSlots] = {};  // which image a slot of the ring holds
  EpochLog log;
};

// What a helper is started for. Descriptors are -1 where there is none.
struct Task {
  int socket = -1;
  int report = -1;             // else the program's, if it has one
  int script = -1;             // layout script; else the program's, if it has one
  bool launched = false;       // by a launcher, not by the program
  int cpu = -1;                // to pin itself to; else what the settings say
  uint32_t switches = 0;       // of switches.h
};

// The layout script of this run, once it is read and bound.
struct FollowedScript {
  bool is_there = false;
  code::ScriptVerdict verdict;
  ScriptFile file;
  uint64_t obeyed[code::kMostPlaced / 64] = {};  // by the number of its line: functions of libraries that were placed

  const code::LayoutScript& script() const { return file.script; }
  bool matches() const { return is_there && file.script.match_line != 0; }
  bool is_about_libraries() const { return is_there && file.script.library_count > 0; }
  uint32_t placed_in_libraries() const {
    uint32_t count = 0;
    for (uint64_t lines : obeyed)
      for (; lines != 0; lines &= lines - 1) ++count;
    return count;
  }
};

// The control block is the program's to write for its whole life, and so is whatever the program says: what the helper
// relies on is kept here, and what it reads there is read once, bounded, and used from the copy.
struct Session {
  Task task;                  // its socket and report are -1 once they are closed
  uint64_t begun_ns = 0;      // when the hello had come
  bool has_clock = true;      // false: a filter that it was started under refuses clocks, and times are 0

  Hello hello;
  Control* control = nullptr;
  const progress::Board* board = nullptr;  // nullptr: the program has none
  uint32_t* pads = nullptr;                // writable view of the slots; nullptr: none, or pads stay as they are
  uint64_t* pad_identities = nullptr;      // by slot, where pads are matched with those of other builds
  Family family;
  Images images;
  Looks looks;
  PlacedLayouts layouts;
  ProgramClock clock;
  FollowedScript followed;
  SampledFunctions samples;
  code::Pointers pointers;    // that are led to the one image; empty: none are
  HelperUse use;

  // So that an epoch's pads are the same in matched runs, whatever either has missed. A library's pads are drawn in its order.
  bool numbers_refills_by_epoch() const { return pad_identities != nullptr || (pads == nullptr && followed.matches()); }
};

// Makes the pages of shared memory at once rather than by one fault each; without effect before Linux 5.14.
void populate(void* memory, uint64_t bytes);

// Greets, and takes the program through Plan and Mapped. False: no program of ours came; nothing is set.
// After true the control block is shared; `moves` and `pads` say what there is to do.
bool shake_hands(Session& session);

// The last word of the handshake: the program goes on to main.
void send_ready(Session& session);

// Epochs (epochs.cc). advance: builds, publishes and retires where code moves, refills pads. An image that nobody has
// entered yet is kept, unless the program ordered a new layout.
// pre of build_first: the handshake is done, main has not started.
bool build_first(Session& session);
void advance(Session& session, bool ordered = false);
// Puts an image of a module that has just come in place, in the newest slot if there is one. False: no slot, or no memory.
bool begin_module(Session& session, Module& module);
// Ends the layouts of code: whoever calls a function from then on runs the original. Frames in images stay there.
void go_home(Session& session);
// True if epochs change anything, so that the helper has to wake for them.
bool has_epochs(const Session& session);
void count_executed(Session& session);
// Records what is in place now; `flags` of epoch_record.h.
void record_epoch(Session& session, uint8_t flags);

// Reclaim (reclaim.cc): looks at the family's threads, frees the images that nobody can come back to, and leads the
// calls of what stays in the others to the newest.
void reclaim(Session& session);
// Leads the calls of the module's listed copies, from the `first` on, to the newest image.
void lead_stayers(Module& module, uint32_t first);
// Leads the loops that are followed to the newest image, which is complete: from all copies that somebody may be in.
void lead_loops(Session& session);
// Whether an open process has our control block: its nonce lies at one address in every member of the family.
bool has_our_control(const Session& session, const Process& process);
// Whether any forked child still shares the images; forgets those that don't.
bool any_kin(Session& session);
// After forks: so that the table has room where epochs pass without a look at threads.
void forget_gone_kin(Session& session);

// The whole life of a helper, from greeting to exit status.
int serve(const Task& task);

// Whether images count who enters them by way of canonical entries (Control::pointer_entries).
bool counts_pointer_entries(const Session& session);

}  // namespace stab::helper
