// The map that perf reads to name moved functions: /tmp/perf-PID.map, one line a function and image.
#pragma once

#include "runtime/helper/module.h"

namespace stab::helper {

class PerfMap {
 public:
  // Replaces the file of an earlier process. False: it can't be made, and add() does nothing.
  bool open(int pid);
  // The image of this module that was just built in the slot. Functions without a name are fn_ADDRESS.
  // False: it could not be written to its end; the map is closed.
  bool add(Module& module, int slot);
  bool is_open() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

}  // namespace stab::helper
