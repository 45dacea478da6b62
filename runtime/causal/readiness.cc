#include "runtime/causal/readiness.h"

#include "runtime/causal/attach.h"
#include "runtime/causal/last_writer.h"

namespace stab::causal {
namespace {

// key: of an epoll descriptor and what it hands out, 0: free. Two threads that register at once may leave a cell with the key of
// one and the descriptor of the other: waits for it are then classed wrongly.
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

namespace {

bool woken_by_ours(int fd, bool can_read, bool can_write, uint64_t since_ns) {
  return (can_read && last_writer_is_ours(fd, since_ns)) || (can_write && last_reader_is_ours(fd, since_ns));
}

}  // namespace

bool Woken::by_ours_in_poll(const pollfd* fds, nfds_t count) const {
  if (result <= 0 || !class_matters()) return false;
  for (nfds_t i = 0; i < count; ++i) {
    const auto is = fds[i].revents;
    const bool can_read = (is & (POLLIN | POLLRDNORM | POLLHUP)) != 0, can_write = (is & (POLLOUT | POLLWRNORM)) != 0;
    if (woken_by_ours(fds[i].fd, can_read, can_write, since_ns)) return true;
  }
  return false;
}

bool Woken::by_ours_in_select(int count, const fd_set* in, const fd_set* out) const {
  if (result <= 0 || !class_matters()) return false;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd)
    if (woken_by_ours(fd, in != nullptr && FD_ISSET(fd, in), out != nullptr && FD_ISSET(fd, out), since_ns)) return true;
  return false;
}

bool Woken::by_ours_in_epoll(int epoll, const epoll_event* events) const {
  if (result <= 0 || !class_matters()) return false;
  for (long i = 0; i < result; ++i) {
    const auto is = events[i].events;
    const uint64_t key = key_of(epoll, events[i].data.u64);
    const Registration& cell = cell_of(key);
    if (__atomic_load_n(&cell.key, __ATOMIC_ACQUIRE) == key &&
        woken_by_ours(__atomic_load_n(&cell.fd, __ATOMIC_RELAXED), (is & (EPOLLIN | EPOLLRDNORM | EPOLLHUP)) != 0,
                      (is & (EPOLLOUT | EPOLLWRNORM)) != 0, since_ns))
      return true;
  }
  return false;
}

}  // namespace stab::causal
