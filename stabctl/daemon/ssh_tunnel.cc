#include "stabctl/daemon/ssh_tunnel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace stab::ctl {
namespace {

// How long until a look whether ssh listens by now.
constexpr int kLookMs = 50;
// For a daemon that is there: a round trip around the world, many times.
constexpr int kAnswerMs = 20'000;

Error unavailable(std::string what) { return {ErrorCode::kUnavailable, std::move(what), {}}; }

// ssh splits an address at ':' and expands '%' and '$' in it; '\' quotes.
bool is_plain_path(const std::string& path) { return path.starts_with('/') && path.find_first_of(":%$\\") == std::string::npos; }

// In the child. Only what is safe after fork; returns where ssh can't be had.
void become_ssh(const char* const* words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // no tunnel without who uses it
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, 0);
  ::dup2(2, 1);
  ::execvp(words[0], const_cast<char**>(words));
}

}  // namespace

Result<SshTunnel> SshTunnel::open(const std::string& host, const std::string& socket) {
  if (host.empty() || host.starts_with('-')) return bad_input("--ssh '" + host + "': expected a host as ssh takes it");
  if (!is_plain_path(socket))
    return bad_input("--socket '" + socket + "': with --ssh expected an absolute path on '" + host +
                     "', without ':', '%', '$' and '\\'");
  SshTunnel tunnel(host);
  STAB_CHECK_OK(tunnel.start(socket));
  STAB_TRY(UniqueFd first, tunnel.first_connection());
  STAB_CHECK_OK(tunnel.try_http(std::move(first), socket));
  return tunnel;
}

SshTunnel::SshTunnel(SshTunnel&& other) noexcept
    : host_(std::move(other.host_)), folder_(std::exchange(other.folder_, std::nullopt)), process_(std::move(other.process_)) {}

SshTunnel::~SshTunnel() {
  if (process_) {
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGTERM, nullptr, 0);
    pollfd ended{process_.get(), POLLIN, 0};
    ::poll(&ended, 1, 2000);
  }
}

Status SshTunnel::start(const std::string& socket) {
  STAB_TRY(TemporaryFolder folder, TemporaryFolder::make(TemporaryPurpose::kSsh));
  if (!is_plain_path(folder.path()) || folder.path().size() + 4 >= sizeof(sockaddr_un::sun_path))
    return bad_input("TMPDIR leads to '" + folder.path() + "', which is too long for a socket or holds what ssh reads as "
                     "something else; name another one");
  folder_.emplace(std::move(folder));
  const std::string forward = ours() + ":" + socket;
  // No command, no terminal, nothing else forwarded; a connection of its own, as a shared one would keep the socket.
  const char* const words[] = {"ssh", "-N", "-T", "-a", "-x", "-S", "none", "-o", "ExitOnForwardFailure=yes", "-o",
                               "ServerAliveInterval=15", "-L", forward.c_str(), "--", host_.c_str(), nullptr};
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd hears(told[0]);
  UniqueFd tells(told[1]);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return system_error("start ssh", errno);
  if (pid == 0) {
    become_ssh(words, parent);
    const int why = errno;
    if (::write(tells.get(), &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
  }
  tells.reset();
  process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process_) {
    const int why = errno;
    ::kill(pid, SIGTERM);  // not waited for yet, so it is still this process
    return system_error("watch ssh", why);
  }
  int why = 0;
  if (::read(hears.get(), &why, sizeof why) != static_cast<ssize_t>(sizeof why)) return {};
  if (why == ENOENT)
    return unavailable("there is no 'ssh' on this machine's PATH; install a client (Debian: openssh-client)");
  return system_error("start ssh", why);
}

// It listens once it has been let in.
Result<UniqueFd> SshTunnel::first_connection() const {
  for (;;) {
    if (auto connected = connect()) return connected;
    pollfd ended{process_.get(), POLLIN, 0};
    if (::poll(&ended, 1, kLookMs) < 0 && errno != EINTR) return system_error("poll", errno);
    if (ended.revents != 0)
      return unavailable("ssh did not get through to '" + host_ + "'; its reason is above; does 'ssh " + host_ + " true' work?");
  }
}

Result<UniqueFd> SshTunnel::connect() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = ours();
  std::memcpy(address.sun_path, path.c_str(), path.size());  // it fits: start() has looked
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("socket", errno);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return unavailable("ssh to '" + host_ + "' has ended");
  return fd;
}

// ssh accepts each connection before it asks the other side for one, and closes it where there is none.
Status SshTunnel::try_http(UniqueFd fd, const std::string& socket) const {
  constexpr std::string_view kAsk = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", kAnswer = "HTTP/1.1 ";
  // A connection that is closed by now takes nothing, and what it was closed for is what reading tells.
  if (::send(fd.get(), kAsk.data(), kAsk.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kAsk.size()) && errno != EPIPE &&
      errno != ECONNRESET)
    return system_error("ask through ssh", errno);
  std::string got;
  while (got.size() < kAnswer.size()) {
    char bytes[64];
    pollfd readable{fd.get(), POLLIN, 0};
    if (::poll(&readable, 1, kAnswerMs) <= 0) return unavailable("'" + socket + "' on '" + host_ + "' does not answer");
    const ssize_t size = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (size <= 0)
      return unavailable("no lab's page at '" + socket + "' on '" + host_ +
                         "': is stabd running there, with its page on ([daemon] web), may you connect to it ('stabctl status' "
                         "there), and does its sshd allow AllowStreamLocalForwarding? --socket names another daemon's socket");
    got.append(bytes, static_cast<size_t>(size));
  }
  if (!got.starts_with(kAnswer)) return unavailable("what listens at '" + socket + "' on '" + host_ + "' is no lab's page");
  return {};
}

}  // namespace stab::ctl
