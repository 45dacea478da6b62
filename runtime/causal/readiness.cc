#include "runtime/causal/readiness.h"

#include "runtime/causal/attach.h"
#include "runtime/causal/last_writer.h"

namespace stab::causal {
namespace {

// key: of an epoll descriptor and what it hands out, 0: free. Two threads that register at once may leave a cell with the key of one
// and the descriptor of the other: a wait is then classed wrongly, once.
struct Registration {
  uint64_t key;
  int fd;
};
Registration registrations[kRegistrations];

uint64_t key_of(int epoll, uint64_t data) {
  uint64_t x = data ^ static_cast<uint64_t>(epoll) << 48;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x == 0 ? 1 : x;
}

// Where it is, or the cell to put it into: a free one, or its first where all near it are taken.
Registration& cell_of(uint64_t key) {
  constexpr uint32_t kMostSteps = 16;
  Registration* const first = &registrations[key % kRegistrations];
  for (uint32_t i = 0; i < kMostSteps; ++i) {
    Registration& cell = registrations[(key + i) % kRegistrations];
    const uint64_t found = look(cell.key);
    if (found == key || found == 0) return cell;
  }
  return *first;
}

}  // namespace

void note_registration(int epoll, int operation, int fd, const epoll_event* event) {
  if (operation == EPOLL_CTL_DEL || event == nullptr) return;
  const uint64_t key = key_of(epoll, event->data.u64);
  Registration& cell = cell_of(key);
  __atomic_store_n(&cell.fd, fd, __ATOMIC_RELAXED);
  __atomic_store_n(&cell.key, key, __ATOMIC_RELEASE);
}

bool Woken::by_ours_in_poll(const pollfd* fds, nfds_t count) const {
  if (result <= 0 || !class_matters()) return false;
  for (nfds_t i = 0; i < count; ++i)
    if ((fds[i].revents & (POLLIN | POLLRDNORM | POLLHUP)) != 0 && last_writer_is_ours(fds[i].fd, since_ns)) return true;
  return false;
}

bool Woken::by_ours_in_select(int count, const fd_set* in) const {
  if (result <= 0 || in == nullptr || !class_matters()) return false;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd)
    if (FD_ISSET(fd, in) && last_writer_is_ours(fd, since_ns)) return true;
  return false;
}

bool Woken::by_ours_in_epoll(int epoll, const epoll_event* events) const {
  if (result <= 0 || !class_matters()) return false;
  for (long i = 0; i < result; ++i) {
    if ((events[i].events & (EPOLLIN | EPOLLRDNORM | EPOLLHUP)) == 0) continue;
    const uint64_t key = key_of(epoll, events[i].data.u64);
    const Registration& cell = cell_of(key);
    if (__atomic_load_n(&cell.key, __ATOMIC_ACQUIRE) == key && last_writer_is_ours(__atomic_load_n(&cell.fd, __ATOMIC_RELAXED), since_ns))
      return true;
  }
  return false;
}

}  // namespace stab::causal
