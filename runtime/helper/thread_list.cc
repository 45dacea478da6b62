// Listing the threads of a process while they come and go.
//
// The kernel walks the process's list of threads, newest last, and ends the walk where the thread that it stands on has
// ended meanwhile: what comes behind is left out, and nothing says so. (Asked for more, it resumes by position, and positions
// have moved: another way to leave one out, or to return one that was just born.) So one call returns them all, and three
// signs together say that the walk came to its end: no step of it was without an entry, for one at an ended thread is; the
// last thread listed still exists, so the walk didn't end on it; and the buffer had room. Threads that were born behind the
// walk are not missed: they were made by one that is listed.
#include <string.h>

#include "runtime/code/ring.h"
#include "runtime/helper/watched_process.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Each takes microseconds for a few threads; one in a hundred has to be repeated where thousands are born a second.
constexpr int kMostTries = 8;
// Of one thread, whose number has ten digits at most, and of the two entries of every directory.
constexpr size_t kEntryBytes = 32;

bool is_listed(int task, int tid) {
  char path[16];
  Text(path, sizeof path) << tid;
  const int thread = sys::open_at(task, path, O_PATH);
  if (thread >= 0) sys::close(thread);
  return !means_gone(thread);
}

Listing why_unlisted(long error) {
  if (means_gone(error)) return Listing::kGone;
  return means_denied(error) ? Listing::kDenied : Listing::kUnreadable;
}

// One walk. kTorn: it may have ended too early.
Listing walk(int task, void (*each)(void* context, int tid), void* context) {
  alignas(8) static char entries[(code::ThreadLedger::kMaxThreads + 4) * kEntryBytes];
  const long got = sys::call(SYS_getdents64, task, sys::word(entries), sizeof entries);
  if (got < 0) return why_unlisted(got);
  long count = 0;
  int last = 0;
  for (long at = 0; at < got; ++count) {
    uint16_t length;
    memcpy(&length, entries + at + 16, 2);
    const char* name = entries + at + 19;
    uint64_t tid = 0;
    if (take_number(name, tid)) {
      last = static_cast<int>(tid);
      each(context, last);
    }
    at += length;
  }
  const long steps = sys::call(SYS_lseek, task, 0, SEEK_CUR);
  return steps == count && last != 0 && is_listed(task, last) ? Listing::kComplete : Listing::kTorn;
}

}  // namespace

Listing list_threads(const Process& process, void (*each)(void* context, int tid), void* context) {
  Listing listing = Listing::kTorn;
  for (int tries = 0; tries < kMostTries && listing == Listing::kTorn; ++tries) {
    const int task = sys::open_at(process.directory, "task", O_RDONLY | O_DIRECTORY);
    if (task < 0) return why_unlisted(task);
    listing = walk(task, each, context);
    sys::close(task);
  }
  return listing;
}

}  // namespace stab::helper
