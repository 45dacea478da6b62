// Who asks: the helper obeys the program it was started for, and its forked children share the control block but not
// the helper's ear. A system call to find out would be most of what a pause costs, so the pid is kept in a page that
// the kernel gives to a forked child as zeros.
#include "runtime/api/ask_helper.h"

namespace stab::api {
namespace {

int* pid_page = nullptr;  // nullptr: not tried, or the kernel has no such page

}  // namespace

int own_pid() {
  int* page = __atomic_load_n(&pid_page, __ATOMIC_ACQUIRE);
  if (page == nullptr) {
    constexpr int kWipeOnFork = 18;
    using arch::kPage;
    void* fresh = sys::map(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (!sys::is_address(fresh)) return sys::getpid();
    int* expected = nullptr;
    if (sys::call(SYS_madvise, sys::word(fresh), kPage, kWipeOnFork) != 0 ||
        !__atomic_compare_exchange_n(&pid_page, &expected, static_cast<int*>(fresh), false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      sys::unmap(fresh, kPage);
      return sys::getpid();
    }
    page = static_cast<int*>(fresh);
  }
  int pid = __atomic_load_n(page, __ATOMIC_RELAXED);
  if (pid == 0) {
    pid = sys::getpid();
    __atomic_store_n(page, pid, __ATOMIC_RELAXED);
  }
  return pid;
}

bool has_helper() { return control().nonce != 0 && control().program_pid == own_pid(); }

}  // namespace stab::api
