// Dose: what a trial's randomization really did, as its runtime reports it, and whether that is what the cell
// asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/design.h"

namespace stab::engine {

// Fields of the dose report that the lab decides by; docs/reference/abi.md has all of them.
struct Dose {
  int64_t layouts_built = 0, layouts_executed = 0;
  int64_t functions = 0, functions_moved = 0;  // of the program and what is linked to it, our runtime left out
  int64_t library_functions = 0, library_functions_moved = 0;  // of shared libraries that moved, the most at a time
  int64_t libraries_moved = 0;                 // shared libraries whose code moved, each time that one was loaded
  int64_t pointer_entries = 0;                 // calls that came by a canonical entry; of sampled runs in identity copies alone
  int64_t pads = 0, pads_zeroed = 0;                  // of the executable's functions; of those held at 0
  int64_t library_pads = 0, library_pads_zeroed = 0;  // the same of shared libraries
  int64_t refills = 0;
  int64_t allocations = 0, allocations_mmapped = 0;
  int64_t heap_bytes = 0, heap_bytes_mmapped = 0;
  std::optional<int64_t> heap_layouts;  // older runtimes don't count them
  int64_t visits = 0;    // that the program counted
  int64_t regions = 0;  // of interest, that the program began and ended
  int64_t helper_cpu_ns = 0;
  int64_t epochs = 0, epochs_unentered = 0;  // that ended; of those, with the newest layout as yet unused
  std::optional<int64_t> stack_range_bytes;  // it ran with; older runtimes have one range
  struct Point {  // a progress point that was visited
    std::string name, kind;  // kind: "progress", "begin", "end" or "arrival"
    int64_t visits = 0;
  };
  std::vector<Point> points;
  int64_t points_dropped = 0;
  std::vector<std::string> degradations;
  std::string script_hash;  // of the layout script that it followed, "0x" and hexadecimal; empty: none
  int64_t placed_in_libraries = 0;  // functions of libraries that lie where the script wants them
  std::string code, stack, heap;  // the modes it ran with, in the words of runtime/modes.h; empty: not reported
  std::string heap_served_by;     // whose malloc it was: "stab", "program" or "library"; empty: off, or not reported
};

// Nothing where the helper reports that no program ever connected. kCorrupt where the text is not a dose report.
Result<std::optional<Dose>> parse_dose(std::string_view json);

// Why this dose can't belong to a trial of this cell; empty: it can. No dose at all is right only where
// everything is off (a program that szc has not built).
std::string dose_contradiction(const plan::Layout& layout, const std::optional<Dose>& dose);

// Why a trial that was given this layout script can't count; empty: it was given none, or has followed it.
std::string script_contradiction(const std::string& script, const std::optional<Dose>& dose);

// Why a trial of a plan whose response is region_time can't count; empty: the program had a region.
std::string region_missing(const std::optional<Dose>& dose);

}  // namespace stab::engine
