// Family: the program and the children that go on in its images.
#pragma once

#include <stdint.h>

#include "runtime/control.h"
#include "runtime/helper/watched_process.h"

namespace stab::helper {

struct Family {
  Process program;
  bool numbered = false;  // is_numbered(): threads and children can be found
  int own_pid = 0;
  int pidfd = -1;
  Process kin[kMaxKin];
  uint32_t kin_count_seen = 0;    // Control::kin_count when forget_gone_kin last looked
  uint64_t pending_since_ns = 0;  // since when forks were seen pending or children unreadable; 0: none are
};

}  // namespace stab::helper
