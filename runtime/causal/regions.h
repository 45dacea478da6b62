// Where samples fall: loaded modules, and the ranges of the laboratory's regions in them.
//
// Used in a signal handler: no locks, no allocation. Modules are added, never removed; a library that was unloaded and another
// that comes to its address are told apart by the link map's name and start.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

struct Place {
  uint32_t module = kNoModule;  // index into Area::modules
  uint64_t address = 0;         // as the module's file has it
  uint32_t region = kNoRegion;
  bool in_scope = false;        // in some range, of a region or of none
};

// The range that holds `address` of `module`; nullptr: none. Sorted by module, then start, and disjoint.
const Range* find_range(const Range* ranges, uint32_t count, uint32_t module, uint64_t address);

// Whether the script's tables are what causal_abi.h says: sorted, disjoint, in bounds. nullptr: they are; else what is wrong.
// `script`: the area's, or a copy of it, which nobody changes meanwhile.
const char* fault_of(const Script& script, const Area& area);
inline const char* fault_of(const Area& area) { return fault_of(area.script, area); }

// Counts in the histogram. False: it is full.
bool count_in(HistogramCell* cells, uint32_t module, uint64_t address, uint64_t times = 1);

// Lists every module that is loaded now. Not in a signal handler.
void list_modules(Area& area);

// In a forked child: whoever was adding one is not here.
void forget_module_change();

// Where a pc is. Safe in a signal handler.
Place find_place(Area& area, uint64_t pc);

}  // namespace stab::causal
