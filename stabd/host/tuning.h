// Tuning: turns knobs and turns them back, also after a crash.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/knobs.h"
#include "stabd/host/roots.h"

namespace stab::host {

// What became of one write.
struct KnobOutcome {
  KnobWrite write;
  std::string before;
  std::string after;    // read back
  std::string refused;  // why it is not as wanted; empty: it is
  std::string noted;    // the journal's line that undoes it; empty: there is none, or it is struck out
};

// What a restore did.
struct Restored {
  int settings = 0;               // turned back now; the others were so already
  std::vector<std::string> gone;  // files that are no longer there, as of an interrupt that was freed: nothing to turn back
};
// "; 1 is gone with what was set there: '/proc/irq/45/smp_affinity_list'"; empty: none is.
std::string gone_text(const Restored& restored);
// "2 settings of the host that a dead engine had left", and what is gone of them; empty: there was nothing.
std::string left_text(const Restored& restored);

// A journal on disk holds what each file said before we wrote to it:
//
//   stab-knobs 4 BOOT_ID PID START
//   PATH \t BEFORE
//   directory \t PATH                 made by us
//   controller \t PATH \t NAME         taken into this cgroup.subtree_control
//   members \t PATH \t FORMER_PATH     whoever is in this cgroup.procs was in the other
//   undone \t LINE                    strikes out an earlier line: what it names is no longer ours
//   ...
//
// in the order of the writes. A line is on disk (fsync) before its file is written, so whoever dies, restoring
// all lines in reverse brings the machine back. Settings don't survive a boot: a journal of another boot is void.
// The journal is locked (base/path_lock.h) for as long as its Tuning lives, and while it is replayed: the pid alone would say
// nothing to an engine in another PID namespace. Of older versions, which nobody locked, it has to. A process has one Tuning at
// most at a time: a journal of its own pid is what one that ended could not restore.
class Tuning {
 public:
  // `journal`: one path a machine. kBusy where another living process has tuned it.
  static Result<Tuning> begin(const Roots& roots, const std::string& journal, const std::string& boot_id);
  // Restores what a Tuning left that is no more. kBusy where it lives. The Error for what
  // can't be restored says what to do by hand.
  static Result<Restored> recover(const Roots& roots, const std::string& journal, const std::string& boot_id);
  // The same whoever tuned it: for people.
  static Result<Restored> restore(const Roots& roots, const std::string& journal, const std::string& boot_id);
  // Only what this process left: says what a destructor could not restore, and had nobody to tell.
  static Result<Restored> restore_ours(const Roots& roots, const std::string& journal, const std::string& boot_id);

  Tuning(Tuning&& other) noexcept;
  Tuning& operator=(Tuning&&) = delete;
  ~Tuning();  // restores, unless keep() was called; what it can't is told by restore_ours()

  // Saves, writes, reads back. A refusal is in the outcome; the Error is for a journal that can't be written.
  Result<std::vector<KnobOutcome>> apply(const std::vector<KnobWrite>& writes);
  // Leaves the machine tuned and the journal where it is.
  void keep() { active_ = false; }

 private:
  Tuning(Roots roots, std::string journal, UniqueFd held)
      : roots_(std::move(roots)), journal_(std::move(journal)), held_(std::move(held)) {}
  Status note(const std::string& line) const;
  Result<KnobOutcome> apply(const KnobWrite& write) const;
  Status strike_out(KnobOutcome& outcome) const;
  Status take_back(std::vector<KnobOutcome>& outcomes, const std::string& knob) const;
  Roots roots_;
  std::string journal_;
  UniqueFd held_;  // the journal, locked
  bool active_ = true;
};

// Where root keeps what must not be anybody else's to write: /var/lib/stab-broker
std::string default_state();
// knobs.journal there: whoever writes it decides what root writes to the machine's settings
std::string default_journal();

}  // namespace stab::host
