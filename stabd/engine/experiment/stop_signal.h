// StopSignal: how a user, a signal handler, another thread or a time limit asks a running experiment to end.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/unique_fd.h"

namespace stab::engine {

class StopSignal {
 public:
  StopSignal()
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
        now_fd_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (const int fd : {event_.get(), timer_.get()}) {
      epoll_event readable{.events = EPOLLIN, .data = {}};
      ::epoll_ctl(now_fd_.get(), EPOLL_CTL_ADD, fd, &readable);
    }
  }

  // Both may be called from a signal handler.
  void after_this_trial() { asked_.store(true, std::memory_order_relaxed); }
  // Kills what runs; its trial is lost and will be replaced.
  void now() {
    after_this_trial();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(event_.get(), &one, sizeof one);
  }
  // As now(), when so much time has passed and this was not called again meanwhile: nobody else has to be awake for it.
  void now_after(std::chrono::nanoseconds time) {
    const auto ns = std::max<int64_t>(time.count(), 1);
    const itimerspec setting{{}, {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}};
    ::timerfd_settime(timer_.get(), 0, &setting, nullptr);
    is_timed_.store(true, std::memory_order_relaxed);
  }
  // Takes now_after() back, also when its time has passed: another run may use the same signal. What somebody asked for stays.
  void without_limit() {
    is_timed_.store(false, std::memory_order_relaxed);
    const itimerspec none{};
    ::timerfd_settime(timer_.get(), 0, &none, nullptr);
  }

  bool asked() const { return asked_.load(std::memory_order_relaxed) || ran_out(); }
  bool ran_out() const {
    pollfd timer{timer_.get(), POLLIN, 0};
    return is_timed_.load(std::memory_order_relaxed) && ::poll(&timer, 1, 0) > 0;
  }
  int now_fd() const { return now_fd_.get(); }  // readable once now() was called or the time has run out

 private:
  std::atomic<bool> asked_{false}, is_timed_{false};
  UniqueFd event_, timer_, now_fd_;
};

}  // namespace stab::engine
