// web: the lab's page in a browser of this user's. The daemon opens no port; we do, for this machine alone, and what passes is
// what this user may do at its socket. Who we are the kernel tells the daemon.
#include <signal.h>
#include <spawn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_client.h"
#include "stabctl/daemon/ssh_tunnel.h"
#include "stabctl/daemon/web_relay.h"
#include "stabctl/terminal/temporary_folder.h"
#include "stabd/daemon/settings/daemon_socket.h"

extern char** environ;

namespace stab::ctl {
namespace {

// A page that leads to the address, for us alone: words of a command line are everybody's to read, and the token is not.
class LeadingPage {
 public:
  static Result<LeadingPage> write(const std::string& address) {
    std::string path = temporary_place() + "/stab-web-XXXXXX.html";
    const UniqueFd fd(::mkostemps(path.data(), 5, O_CLOEXEC));  // mode 0600
    if (!fd) return system_error("make '" + path + "'", errno);
    LeadingPage page(path);
    const std::string text =
        "<!doctype html><meta charset=\"utf-8\"><title>Lab</title><meta http-equiv=\"refresh\" content=\"0;url=" + address +
        "\">\n";
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return system_error("write '" + path + "'", errno);
    return page;
  }
  LeadingPage(LeadingPage&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~LeadingPage() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit LeadingPage(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool has_screen() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = ::getenv(variable); value != nullptr && *value != '\0') return true;
  return false;
}

// Best effort: the address is printed, too.
void open_browser(const std::string& path) {
  const char* words[] = {"xdg-open", path.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, words[0], &actions, &attributes, const_cast<char**>(words), environ) != 0)
    std::fprintf(stderr, "stabctl: no browser could be opened (xdg-open); open the address by hand\n");
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
}

// Readable once one of them is; -1 is none.
Result<UniqueFd> either(int first, int second) {
  UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  if (!both) return system_error("epoll_create1", errno);
  for (const int fd : {first, second}) {
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (fd >= 0 && ::epoll_ctl(both.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_error("epoll_ctl", errno);
  }
  return both;
}

using WayToDaemon = std::function<Result<UniqueFd>()>;

// Connects anew each time. pre: the tunnel, where there is one, lives as long
Result<WayToDaemon> way_to_daemon(const Arguments& arguments, const std::optional<SshTunnel>& tunnel) {
  if (tunnel) return WayToDaemon([&tunnel] { return tunnel->connect(); });
  const std::string path = daemon::web_socket_beside(arguments.socket.empty() ? usual_socket() : arguments.socket);
  WayToDaemon daemon = [path, is_default = arguments.socket.empty()] { return connect_to(path, is_default); };
  STAB_TRY(UniqueFd tried, daemon());
  return daemon;
}

Status serve(const Arguments& arguments) {
  std::optional<SshTunnel> tunnel;
  if (arguments.ssh) {
    // What is the default here says nothing of that machine; its daemon is a service.
    const std::string lines = arguments.socket.empty() ? "/run/stab/stab.sock" : arguments.socket;
    STAB_TRY(SshTunnel opened, SshTunnel::open(*arguments.ssh, daemon::web_socket_beside(lines)));
    tunnel.emplace(std::move(opened));
  }
  STAB_TRY(const auto daemon, way_to_daemon(arguments, tunnel));
  STAB_TRY(WebRelay::Port port, WebRelay::listen(arguments.port));
  STAB_TRY(const std::string token, drawn_word());
  STAB_TRY(const std::string cookie, drawn_word());
  STAB_TRY(const std::string name, drawn_name());
  const WebGate gate(name, port.number, token, cookie);
  sigset_t stopping;
  ::sigemptyset(&stopping);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&stopping, signal);
  ::sigprocmask(SIG_BLOCK, &stopping, nullptr);
  ::signal(SIGCHLD, SIG_IGN);
  const UniqueFd stop(::signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!stop) return system_error("signalfd", errno);
  std::printf("%s\n", gate.address().c_str());
  std::fflush(stdout);
  std::fprintf(stderr, "the lab's page, until Ctrl-C; anyone who has this address acts as you at the daemon\n");
  std::optional<LeadingPage> page;
  if (!arguments.no_browser && has_screen()) {
    STAB_TRY(LeadingPage written, LeadingPage::write(gate.address()));
    page.emplace(std::move(written));
    open_browser(page->path());
  }
  STAB_TRY(const UniqueFd ends, either(stop.get(), tunnel ? tunnel->ended() : -1));
  STAB_CHECK_OK(WebRelay(std::move(port), gate, daemon).run(ends.get()));
  signalfd_siginfo signal;
  const bool was_asked = ::read(stop.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal);
  if (!was_asked && tunnel)
    return Error{
        ErrorCode::kUnavailable, "ssh to '" + *arguments.ssh + "' has ended, and the lab's page with it; start it again", {}};
  return {};
}

}  // namespace

int web_command(const Arguments& arguments) {
  const Status done = serve(arguments);
  return done ? kExitDone : complain(done.error());
}

}  // namespace stab::ctl
