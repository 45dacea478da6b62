// poll, select and epoll say that something can be read or written again, and whoever waited there was woken by ours if one of
// ours wrote it, or read and so made room.
//
// Epoll hands out what the program registered a descriptor with, so registrations are remembered. One that is not known, as there
// are more than kRegistrations, counts as the world's.
#pragma once

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>

namespace stab::causal {

inline constexpr uint32_t kRegistrations = 16384;

// epoll_ctl has done `operation` well.
void note_registration(int epoll, int operation, int fd, const epoll_event* event);

// Whether a call of that name, which began at `since_ns` and returned `result`, was woken by ours. pre: nothing of its arguments
// has changed since.
struct Woken {
  uint64_t since_ns;
  long result;

  bool by_ours_in_poll(const pollfd* fds, nfds_t count) const;
  bool by_ours_in_select(int count, const fd_set* in, const fd_set* out) const;
  bool by_ours_in_epoll(int epoll, const epoll_event* events) const;

  template <typename... Rest>
  bool poll(const pollfd* fds, nfds_t count, Rest...) const { return by_ours_in_poll(fds, count); }
  template <typename... Rest>
  bool ppoll(const pollfd* fds, nfds_t count, Rest...) const { return by_ours_in_poll(fds, count); }
  template <typename... Rest>
  bool __poll_chk(const pollfd* fds, nfds_t count, Rest...) const { return by_ours_in_poll(fds, count); }
  template <typename... Rest>
  bool __ppoll_chk(const pollfd* fds, nfds_t count, Rest...) const { return by_ours_in_poll(fds, count); }
  template <typename... Rest>
  bool select(int count, const fd_set* in, const fd_set* out, Rest...) const { return by_ours_in_select(count, in, out); }
  template <typename... Rest>
  bool pselect(int count, const fd_set* in, const fd_set* out, Rest...) const { return by_ours_in_select(count, in, out); }
  template <typename... Rest>
  bool epoll_wait(int epoll, const epoll_event* events, Rest...) const { return by_ours_in_epoll(epoll, events); }
  template <typename... Rest>
  bool epoll_pwait(int epoll, const epoll_event* events, Rest...) const { return by_ours_in_epoll(epoll, events); }
  template <typename... Rest>
  bool epoll_pwait2(int epoll, const epoll_event* events, Rest...) const { return by_ours_in_epoll(epoll, events); }
};

}  // namespace stab::causal
