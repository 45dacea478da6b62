// The kernel goes through a dying thread's list of robust futexes and marks each that holds the thread's number. The list
// is the thread's own memory; only the futex itself, at a distance that the list's head names, is the program's, too.
// What the program writes there costs nobody but itself: the mark, and so up to two seconds of waiting.
#include "runtime/helper/life.h"

#include "runtime/sys.h"

namespace stab::helper {

void show_life(uint32_t& word) {
  static robust_list entry;
  static robust_list_head head;
  __atomic_store_n(&word, static_cast<uint32_t>(sys::gettid()), __ATOMIC_RELEASE);
  entry.next = &head.list;
  head.list.next = &entry;
  head.futex_offset = sys::word(&word) - sys::word(&entry);
  head.list_op_pending = nullptr;
  sys::call(SYS_set_robust_list, sys::word(&head), sizeof head);
}

}  // namespace stab::helper
