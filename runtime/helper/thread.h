// A second thread for a process without libc: the helper's watcher.
#pragma once

#include <sched.h>

namespace stab::helper {

inline constexpr unsigned long kThreadFlags =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

// Starts `body`, which never returns, on a small stack of its own. One thread a process, no thread-local storage.
bool start_thread(void (*body)());

}  // namespace stab::helper
