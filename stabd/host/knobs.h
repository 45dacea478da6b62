// Knobs: settings of the machine that change what a trial measures. Which files each one is, what its words
// mean, and why it matters. Turning them safely is stabd/host/tuning.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/host/roots.h"
#include "stabd/host/placement.h"

namespace stab::host {

// One change of the machine: a file and the text that is wanted in it, or what a cgroup needs instead.
struct KnobWrite {
  enum class Kind {
    kText,
    kDirectory,   // the directory is made; undone by removing it
    kInside,      // a file of a directory that we made: nothing to undo
    kController,  // path is a cgroup.subtree_control that gets "+wanted"; undone by "-wanted"
    kKept,        // nothing is written: what it says now is written back with the rest, as another write changes it, too
    kMembers,     // path is a cgroup.procs that takes whoever is in the one that `wanted` names; undone by moving them back
  };
  std::string knob;
  std::string path;
  std::string wanted;
  bool may_refuse = false;  // some of these refuse by nature (an interrupt bound to its CPU); not a failure
  Kind kind = Kind::kText;
};

// What a knob is, for people.
struct KnobInfo {
  std::string_view name;
  std::string_view recommended;  // the word that quiets the machine
  std::string_view why;
};
const std::vector<KnobInfo>& knob_infos();

// The writes that a word means on this machine. kBadInput where the knob knows no such word, kUnavailable where
// the machine has no such knob. Empty where the launcher does it for each trial (affinity, aslr, thp).
Result<std::vector<KnobWrite>> writes_of(const std::string& knob, const std::string& word, const Roots& roots,
                                         const Placement& placement);

// The present setting in a few words, "absent" where the machine doesn't have it.
std::string present_value(const std::string& knob, const Roots& roots, const Placement& placement);

// Text of a knob's file as it has to be written back: "[always] madvise" is "always".
std::string written_form(const std::string& text);

}  // namespace stab::host
