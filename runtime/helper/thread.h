// A second thread for a process without libc: the helper's watcher.
#pragma once

namespace stab::helper {

// Starts `body`, which never returns, on a small stack of its own. One thread a process, no thread-local storage.
bool start_thread(void (*body)());

}  // namespace stab::helper
