// Children that nobody registered. fork() and its relatives run hooks that put a child into kin; clone(2) by hand
// and _Fork() don't, and a child that is killed between the fork and its hook leaves the fork pending. So each
// round the children of the family's threads are listed from outside, and one that has our control block is entered
// for it.
//
// A vfork child has its parent's address space; its parent's thread, which waits inside vfork, stands for both.
// Where the kernel lists no children (CONFIG_PROC_CHILDREN) or compares no processes (kcmp), a pending fork holds
// reclaim up for good instead.
#include "runtime/helper/children.h"

#include "runtime/code/kin.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr int kCompareMemory = 1;  // KCMP_VM

struct Search {
  Session* session;
  const Process* process;
  bool found = false;
  bool unreadable = false;
  bool torn = false;
  bool works = true;
};

bool is_known(const Session& session, int pid) {
  if (pid == session.family.own_pid || pid == session.family.program.pid) return true;
  for (const int32_t& kin : session.control->kin)
    if (__atomic_load_n(&kin, __ATOMIC_ACQUIRE) == pid) return true;
  return false;
}

enum class Kinship : uint8_t { kOurs, kNone, kUnreadable };

// A child that nobody may read (Yama) has our images as long as it hasn't exec'd.
Kinship kinship_of(const Session& session, int pid) {
  Process process;
  process.pid = pid;
  Kinship kinship = Kinship::kNone;
  if (open_process(process)) {
    if (has_our_control(session, process)) kinship = Kinship::kOurs;
  } else if (process.directory >= 0 && is_unexeced_fork(process)) {
    kinship = Kinship::kUnreadable;
  }
  close_process(process);
  return kinship;
}

void consider(Search& search, int parent_tid, int pid) {
  Session& session = *search.session;
  if (is_known(session, pid)) return;
  const Kinship kinship = kinship_of(session, pid);
  if (kinship == Kinship::kUnreadable) search.unreadable = true;
  if (kinship != Kinship::kOurs) return;
  const long order = sys::call(SYS_kcmp, pid, search.process->pid, kCompareMemory, 0, 0);
  // Not of vfork: clone(CLONE_VM) makes one that is no thread of its parent, whose stack nobody would look at.
  if (order == 0 && waits_in_vfork(*search.process, parent_tid)) return;
  if (order == -ESRCH) return;
  if (order < 0) {
    search.works = false;
    return;
  }
  search.found = true;
  code::enter_kin(*session.control, pid);
}

void consider_children_of(void* context, int tid) {
  Search& search = *static_cast<Search*>(context);
  char path[64];
  Text(path, sizeof path) << "task/" << tid << "/children";
  char list[4096];
  const long got = sys::read_small(search.process->directory, path, list, sizeof list);
  if (got == -ENOENT || got == -ESRCH) return;  // the thread is gone, or the kernel has no such file: see below
  if (got < 0 || got == static_cast<long>(sizeof list) - 1) {
    search.works = false;
    return;
  }
  const char* at = list;
  uint64_t pid = 0;
  while (take_number(at, pid)) {
    consider(search, tid, static_cast<int>(pid));
    while (*at == ' ') ++at;
  }
}

void search_process(Search& search, const Process& process) {
  search.process = &process;
  const Listing listing = list_threads(process, consider_children_of, &search);
  if (listing == Listing::kTorn) search.torn = true;
  if (listing == Listing::kUnreadable || listing == Listing::kDenied) search.works = false;
}

bool kernel_lists_children(const Session& session) {
  char path[64];
  Text(path, sizeof path) << "task/" << session.family.program.pid << "/children";
  char list[8];
  return sys::read_small(session.family.program.directory, path, list, sizeof list) >= 0;
}

}  // namespace

Children find_children(Session& session) {
  if (!kernel_lists_children(session)) return Children::kUnknown;
  Search search{&session, &session.family.program};
  search_process(search, session.family.program);
  for (const Process& kin : session.family.kin)
    if (kin.pid != 0) search_process(search, kin);
  if (search.found) return Children::kNew;
  if (search.torn) return Children::kTorn;
  if (search.unreadable) return Children::kUnreadable;
  return search.works ? Children::kAllKnown : Children::kUnknown;
}

}  // namespace stab::helper
