// The engine's end of the socket. The other end is a process of a user's: it may be stopped, killed or replaced by
// another process of that user, so every wait has an end, every answer is decoded as a stranger's, and what doesn't fit
// ends it. A new one is started for the next request.
//
// It goes through the launcher as trials do, into none of their groups.
#include "stabd/engine/separation/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/printable.h"
#include "stabd/engine/separation/start_error.h"
#include "stabd/host/launcher/launch_block.h"
#include "stabd/host/process_stat.h"
#include "stabd/host/roots.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

static_assert(worker::kSocketFd == launch::kHelperFd);

// Of address space: a source tree's names, a pattern's states, and the output that the pattern is held against.
constexpr uint64_t kMemoryBytes = uint64_t{4} << 30;
constexpr uint64_t kDescriptors = 256;
// A killed process that is not gone by then waits in the kernel for a device. It is left to itself.
constexpr milliseconds kKillDeadline{1000};

std::string words_of(milliseconds time) {
  return time >= milliseconds(1000) ? std::to_string(time.count() / 1000) + " s" : std::to_string(time.count()) + " ms";
}

bool is_stopped(pid_t pid) { return host::read_process_stat(host::Roots(), pid).value_or(host::ProcessStat()).is_stopped(); }

enum class Woken { kReadable, kCancelled, kLate, kStopped, kFailed };

// Until `socket` can be read or `cancel_fd` says stop; no longer than `limit`, and no longer than `patience` for a process that
// two looks, half of it apart, find stopped: a shell that goes on with the whole job goes on with it, too.
Woken wait_for(int socket, int cancel_fd, pid_t pid, milliseconds limit, milliseconds patience) {
  const auto deadline = steady_clock::now() + limit;
  auto next_look = steady_clock::now() + patience / 2;
  bool was_stopped = false;
  pollfd waiting[2] = {{socket, POLLIN, 0}, {cancel_fd, POLLIN, 0}};  // poll() ignores entries of -1
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(std::min(deadline, next_look) - steady_clock::now());
    const int ready = ::poll(waiting, 2, static_cast<int>(std::max(left, milliseconds(0)).count()));
    if (ready < 0 && errno != EINTR) return Woken::kFailed;
    if (ready <= 0) {
      const auto now = steady_clock::now();
      if (now >= deadline) return Woken::kLate;
      if (now < next_look) continue;
      const bool stands = is_stopped(pid);
      if (stands && was_stopped) return Woken::kStopped;
      was_stopped = stands;
      next_look = now + patience / 2;
      continue;
    }
    // An answer that is there is one, whatever else happened.
    if (waiting[0].revents != 0) return Woken::kReadable;
    if (waiting[1].revents != 0) return Woken::kCancelled;
  }
}

}  // namespace

Status Worker::start() {
  const std::lock_guard<std::mutex> held(mutex_);
  return start_unless_it_runs();
}

Status Worker::start_unless_it_runs() {
  if (process_) return {};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  UniqueFd ours(ends[0]);
  const UniqueFd its(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error("open '/dev/null'", errno);
  host::LaunchRequest request;
  request.exec_path = setting_.program;
  request.directory = "/";
  request.argv = {"stab-worker"};
  request.env = {"LC_ALL=C.UTF-8"};
  request.cpu = setting_.cpu;
  request.submitter = setting_.submitter;
  request.limits = {{RLIMIT_CORE, 0, 0}, host::limit_within_ours(RLIMIT_NOFILE, kDescriptors)};
#ifndef STAB_SANITIZED  // which reserves terabytes
  request.limits.push_back(host::limit_within_ours(RLIMIT_AS, kMemoryBytes));
#endif
  auto process = setting_.start(request, {null.get(), null.get(), null.get(), its.get(), -1});
  if (!process) return start_error(setting_.program, process.error());
  process_ = *std::move(process);
  socket_ = std::move(ours);
  return {};
}

Result<Message> Worker::exchange(const std::string& request, int passed, const char* words, milliseconds limit) {
  const milliseconds most = setting_.limit.value_or(limit);
  if (request.size() > worker::kMaxPacketBytes)
    return bad_input(std::string("to ") + words + " takes more than " + std::to_string(worker::kMaxPacketBytes) +
                     " bytes of names; use fewer or shorter ones");
  STAB_CHECK_OK(start_unless_it_runs());
  // Says nothing about what was asked.
  const auto lost = [&](const char* how, const char* who) -> Error {
    end();
    return note(ErrorCode::kUnavailable, std::string("the worker ") + how + " while it was to " + words + ": " + who);
  };
  const auto ended = [&] {
    return lost("ended", "another process of this user, or the kernel's for want of memory, has ended it");
  };
  const std::vector<int> beside = passed < 0 ? std::vector<int>() : std::vector<int>{passed};
  if (const Status sent = send_message(socket_.get(), request, beside); !sent) return ended();
  switch (wait_for(socket_.get(), setting_.cancel_fd, process_->pid(), most, setting_.stop_patience)) {
    case Woken::kReadable: break;
    case Woken::kStopped: return lost("was stopped", "another process of this user has stopped it, and it was killed");
    case Woken::kFailed: end(); return system_error("poll", errno);
    case Woken::kCancelled: end(); return Error{ErrorCode::kBusy, std::string("cancelled while the worker was to ") + words, {}};
    case Woken::kLate:
      end();
      return note(ErrorCode::kSystem,
                  std::string("the worker took more than ") + words_of(most) + " to " + words +
                      ", and was killed; what it reads is too slow or too much: copy it to a local disk, or make it smaller");
  }
  Result<Message> packet = receive_message(socket_.get(), worker::kMaxPacketBytes, milliseconds(0), 1);
  if (!packet) return no_answer(words);
  if (packet->bytes.empty()) return ended();
  return packet;
}

Error Worker::no_answer(const char* words) {
  end();
  return note(ErrorCode::kSystem,
              std::string("the worker was to ") + words +
                  " and gave an answer that Stab's worker never gives; stop this user's other programs, or install all of stab "
                  "again");
}

Error Worker::note(ErrorCode code, std::string words) {
  events_.push_back(words);
  return Error{code, std::move(words), {}};
}

Error Worker::shown(Error error) {
  error.message = printable(error.message);
  return error;
}

std::vector<std::string> Worker::take_events() {
  const std::lock_guard<std::mutex> held(mutex_);
  return std::exchange(events_, {});
}

// The socket's end is enough for one that waits; others are killed, and waited for no longer than a kill takes.
void Worker::end() {
  socket_.reset();
  if (!process_) return;
  (void)process_->end(kKillDeadline);
  process_.reset();
}

}  // namespace stab::engine
