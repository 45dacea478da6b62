// Children that nobody registered. fork() and its relatives run hooks that put a child into kin; clone(2) by hand
// and _Fork() don't, and a child that is killed between the fork and its hook leaves the fork pending. So each
// round the children of the family's threads are listed from outside, and one that has our control block is entered
// for it. Not all relatives are children: CLONE_PARENT makes a sibling, and what a child made that has ended meanwhile is
// somebody else's. So each round looks at all processes, too, that were made since the last one, whoever made them: the kernel
// numbers them one after the other, and says which number was last.
//
// A vfork child has its parent's address space; its parent's thread, which waits inside vfork, stands for both.
// Where the kernel lists no children (CONFIG_PROC_CHILDREN) or compares no processes (kcmp), a pending fork holds
// reclaim up for good instead.
#include "runtime/helper/children.h"

#include <fcntl.h>
#include <string.h>

#include "runtime/code/kin.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr int kCompareMemory = 1;  // KCMP_VM
// Numbers looked at in one round, at up to 10 us each; the rest comes in the rounds that follow.
constexpr uint32_t kMostMade = 1024;
// So many processes are not made between two rounds: a step that is longer is no count of the kernel's (LXCFS has its own).
constexpr int kLongestStep = 32768;
constexpr int kFirstMade = 1;

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

// A number of /proc in a line of its own, or behind the last blank of one. 0: nobody tells.
int last_number_in(const char* path) {
  char line[128];
  if (sys::read_small(AT_FDCWD, path, line, sizeof line) <= 0) return 0;
  const char* const blank = strrchr(line, ' ');
  const char* at = blank == nullptr ? line : blank + 1;
  uint64_t number = 0;
  return take_number(at, number) && number < INT32_MAX ? static_cast<int>(number) : 0;
}

// The process or thread that was made last, as far as /proc reaches.
int last_made() { return last_number_in("/proc/loadavg"); }

// False: it is a thread, or gone.
bool leads_process(int pid) {
  const int descriptor = sys::pidfd_open(pid);
  if (descriptor < 0) return false;
  sys::close(descriptor);
  return true;
}

// A member stands for whatever shares its memory: a thread of its own, or a child inside vfork.
bool shares_memory_of_family(const Session& session, int pid) {
  const auto shares = [pid](int member) {
    return member > 0 && sys::call(SYS_kcmp, pid, member, kCompareMemory, 0, 0) == 0;
  };
  if (shares(session.family.program.pid)) return true;
  for (const int32_t& kin : session.control->kin)
    if (shares(__atomic_load_n(&kin, __ATOMIC_ACQUIRE))) return true;
  return false;
}

// Of a process that can't be read nothing is concluded here: it may be anybody's.
void consider_made(Search& search, int pid) {
  Session& session = *search.session;
  if (is_known(session, pid) || !leads_process(pid) || kinship_of(session, pid) != Kinship::kOurs) return;
  if (shares_memory_of_family(session, pid)) return;
  search.found = true;
  code::enter_kin(*session.control, pid);
}

// Numbers begin anew behind the largest.
int numbers_from(const Family& family, int last) {
  const int step = last - family.made_seen;
  return step >= 0 ? step : step + family.largest_pid;
}

void search_made(Search& search) {
  Family& family = search.session->family;
  const int last = last_made();
  if (last == 0 || family.made_seen == 0) return;
  if (last > family.largest_pid) family.largest_pid = last;
  if (numbers_from(family, last) > kLongestStep) family.made_seen = last;
  for (uint32_t left = kMostMade; family.made_seen != last; --left) {
    if (left == 0) {
      search.torn = true;
      return;
    }
    family.made_seen = family.made_seen >= family.largest_pid ? kFirstMade : family.made_seen + 1;
    consider_made(search, family.made_seen);
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

void begin_finding(Family& family) {
  family.made_seen = last_made();
  family.largest_pid = last_number_in("/proc/sys/kernel/pid_max") - 1;
}

Children find_children(Session& session) {
  Search search{&session, &session.family.program};
  search_made(search);
  if (!kernel_lists_children(session)) return search.found ? Children::kNew : Children::kUnknown;
  search_process(search, session.family.program);
  for (const Process& kin : session.family.kin)
    if (kin.pid != 0) search_process(search, kin);
  if (search.found) return Children::kNew;
  if (search.torn) return Children::kTorn;
  if (search.unreadable) return Children::kUnreadable;
  return search.works ? Children::kAllKnown : Children::kUnknown;
}

}  // namespace stab::helper
