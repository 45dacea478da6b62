// The profile has one descriptor in the program, its event's. A program that closes whatever it did not open, as daemons do, must
// not end its samples by that, and its own descriptors have the numbers that they would have had.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"

// Those that are defined here.
#define STAB_DESCRIPTORS(ONE) ONE(close) ONE(close_range) ONE(closefrom) ONE(dup2) ONE(dup3)
STAB_DESCRIPTORS(STAB_KEPT)

namespace stab::causal {

void find_real_descriptors() { STAB_DESCRIPTORS(STAB_FIND) }

int out_of_the_way(int fd) {
  constexpr int kLastStandard = 2;
  rlimit limit{};
  const bool is_limited = sys::call(SYS_getrlimit, RLIMIT_NOFILE, sys::word(&limit)) == 0 && limit.rlim_cur <= 1000;
  // Below its limit a program hardly comes near the last ones.
  const int first = is_limited ? static_cast<int>(limit.rlim_cur) - 1 : 1000;
  for (int wanted = first; wanted > kLastStandard && wanted > first - 16; --wanted) {
    const long moved = sys::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, wanted);
    if (moved < 0) continue;
    sys::close(fd);
    return static_cast<int>(moved);
  }
  return fd;
}

namespace {

// A child of vfork has its parent's memory, and a table of descriptors of its own.
bool is_event(int fd) { return is_profiled() && fd >= 0 && fd == program.event; }

int is_none_of_yours() {
  errno = EBADF;
  return -1;
}

// What the program wants under the event's number comes there.
void make_room_for(int fd) {
  if (!is_event(fd) || sys::getpid() != program.pid) return;
  const int moved = out_of_the_way(program.event);
  if (moved == program.event) degrade(*program.area, Degraded::kNoSamples);
  program.event = moved == program.event ? -1 : moved;
}

}  // namespace
}  // namespace stab::causal

STAB_INTERPOSED(int, close, (int fd)) {
  using namespace stab::causal;
  STAB_REAL(close, int (*)(int));
  return is_event(fd) ? is_none_of_yours() : real(fd);
}

STAB_INTERPOSED(int, close_range, (unsigned first, unsigned last, int flags)) {
  using namespace stab::causal;
  STAB_REAL(close_range, int (*)(unsigned, unsigned, int));
  const auto event = static_cast<unsigned>(program.event);
  if (!is_profiled() || program.event < 0 || event < first || event > last) return real(first, last, flags);
  // All of what is asked for can fail, then nothing is done; so the first part decides.
  const int before = event > first ? real(first, event - 1, flags) : 0;
  if (before != 0 || event == last) return before;
  return real(event + 1, last, flags);
}

STAB_INTERPOSED(void, closefrom, (int first)) {
  using namespace stab::causal;
  STAB_REAL(closefrom, void (*)(int));
  if (!is_profiled() || program.event < first) return real(first);
  if (program.event > first && first >= 0) stab::sys::call(SYS_close_range, first, program.event - 1, 0);
  real(program.event + 1);
}

STAB_INTERPOSED(int, dup2, (int from, int to)) {
  using namespace stab::causal;
  STAB_REAL(dup2, int (*)(int, int));
  if (is_event(from)) return is_none_of_yours();
  make_room_for(to);
  return real(from, to);
}

STAB_INTERPOSED(int, dup3, (int from, int to, int flags)) {
  using namespace stab::causal;
  STAB_REAL(dup3, int (*)(int, int, int));
  if (is_event(from)) return is_none_of_yours();
  make_room_for(to);
  return real(from, to, flags);
}
