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
  int made_seen = 0;    // up to this number processes have been looked at, whoever made them; 0: nobody tells of new ones
  int largest_pid = 0;  // the number behind which the kernel begins anew
  uint64_t pending_since_ns = 0;  // since when forks were seen pending or children unreadable; 0: none are
};

}  // namespace stab::helper
