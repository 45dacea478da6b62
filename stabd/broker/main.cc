// stab-broker: does for an engine what needs rights that the engine does not have, and ends what it started when the
// engine is gone.
//
// The engine reads what strangers send: plans, JSON, their programs' reports. This process reads structs of fixed size
// (stabd/broker/wire/broker_wire.h) from one socket, and does a dozen things for it (stabd/broker/warden.h), none of which it
// does for a user who has not come to the lab himself (stabd/broker/users.h). So whoever takes the engine over has the rights of
// the lab's users, and not those of the machine. For a person's own `stabctl run` it is the same program without root: it can
// start that person's programs, and it is what is left to end them when the engine is killed.
//
// One thread, one engine at a time, no configuration file; what it may do is on its command line.
#include <getopt.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "base/trusted_folder.h"
#include "base/unique_fd.h"
#include "base/message_socket.h"
#include "stabd/broker/users.h"
#include "stabd/broker/warden.h"
#include "stabd/broker/wire/broker_wire.h"
#include "stabd/host/tuning.h"
#include "stabd/host/installation.h"

namespace {

using namespace stab;

constexpr int kFirstActivatedFd = 3;  // sd_listen_fds(3)

constexpr char kUsage[] =
    "usage: stab-broker --peer FD [options]     serves the engine at the other end of a socket, and ends with it\n"
    "       stab-broker --activated [options]   serves one engine after the other at a service manager's socket\n"
    "  --allow-root       start programs as root, for root's own experiments\n"
    "  --front-end USER   the engine's user, which has no rights: nothing is started as this one, nor for anybody who has not\n"
    "                     submitted; --activated serves only it and root\n"
    "  --state DIR        what survives a restart; default for root: /var/lib/stab-broker\n"
    "  --proc DIR, --sys DIR, --dev DIR   where knobs and the kernel's log are; for tests\n"
    "Not for people: stabd and stabctl start it. See stabd(8).\n";

volatile sig_atomic_t g_told_to_end = 0;

struct Options {
  int peer = -1;
  bool activated = false;
  std::string state;
  broker::UserRules users;
  broker::WardenOptions warden;
};

int complain(const std::string& text) {
  std::fprintf(stderr, "stab-broker: %s\n", text.c_str());
  return 1;
}

// By name or number; root needs no broker.
std::optional<uid_t> user_of(const std::string& text) {
  if (const auto number = host::to_integer(text))
    return *number > 0 && *number < UINT32_MAX ? std::optional<uid_t>(*number) : std::nullopt;
  const passwd* found = ::getpwnam(text.c_str());
  return found != nullptr && found->pw_uid != 0 ? std::optional<uid_t>(found->pw_uid) : std::nullopt;
}

std::optional<Options> parse(int argc, char** argv) {
  const option names[] = {{"peer", required_argument, nullptr, 'p'},      {"activated", no_argument, nullptr, 'a'},
                          {"allow-root", no_argument, nullptr, 'r'},      {"front-end", required_argument, nullptr, 'f'},
                          {"state", required_argument, nullptr, 's'},     {"proc", required_argument, nullptr, 'P'},
                          {"sys", required_argument, nullptr, 'S'},       {"dev", required_argument, nullptr, 'D'},
                          {"help", no_argument, nullptr, 'h'},            {nullptr, 0, nullptr, 0}};
  Options options;
  for (int name = 0; (name = ::getopt_long(argc, argv, "", names, nullptr)) != -1;) {
    const std::string value = optarg != nullptr ? optarg : "";
    const auto number = host::to_integer(value);
    switch (name) {
      case 'p':
        if (!number || *number < 0 || *number > 1023) return {};
        options.peer = static_cast<int>(*number);
        break;
      case 'a': options.activated = true; break;
      case 'r': options.users.allow_root = true; break;
      case 'f':
        options.users.front_end = user_of(value);
        if (!options.users.front_end) return {};
        break;
      case 's': options.state = value; break;
      case 'P': options.warden.roots.proc = value; break;
      case 'S': options.warden.roots.sys = value; break;
      case 'D': options.warden.roots.dev = value; break;
      default: return {};
    }
  }
  if (optind != argc || options.activated == (options.peer >= 0)) return {};
  // Whoever connects is not who started us.
  if (options.activated && !options.users.front_end) return {};
  return options;
}

// Nobody but us may write what decides whom we act as, and what is written to the machine's settings.
Status own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make '" + path + "'", errno);
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return system_error("look at '" + path + "'", errno);
  if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 0022) == 0) return check_trusted_folder(path);
  return Error{ErrorCode::kDenied,
               "'" + path + "' must be a directory of user " + std::to_string(::geteuid()) + " that no other user may write",
               {}};
}

Status settle(Options& options) {
  STAB_TRY(const host::Installation installation, host::find_installation());
  options.warden.launcher = installation.launcher;
  options.warden.helper = installation.helper;
  options.users.own = ::geteuid();
  options.warden.knob_journal = host::default_journal();
  if (options.state.empty() && options.users.own == 0) options.state = host::default_state();
  if (options.state.empty()) return {};
  STAB_CHECK_OK(own_directory(options.state));
  options.warden.knob_journal = options.state + "/knobs.journal";
  options.users.journal = options.state + "/vouched";
  return {};
}

// The signals of a terminal and of a service manager that ends us with our engine: the engine's end is ours.
void outlive_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_told_to_end = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

// In front of everything else, so that no trial waits for us; what we start is only where the launcher says so.
void step_in_front() {
  const sched_param lowest{1};
  (void)::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

// Until it is gone.
void serve(int socket, broker::Warden& warden) {
  for (;;) {
    Result<Message> message = receive_message(socket, broker::kMostMessageBytes, std::chrono::milliseconds(-1));
    if (message && message->bytes.empty()) return;
    if (!message && message.error().code != ErrorCode::kCorrupt) return;
    const Result<broker::Request> request =
        message ? broker::decode_request(message->bytes, message->descriptors.size()) : Result<broker::Request>(message.error());
    const broker::Warden::Done done = request ? warden.answer(*request, std::move(message->descriptors))
                                              : broker::Warden::Done{broker::refusal(broker::Kind::kHello, request.error()), {}};
    std::vector<int> beside;
    for (const UniqueFd& fd : done.descriptors) beside.push_back(fd.get());
    const bool understands = !message || !broker::other_version(message->bytes);
    const std::string answer = understands ? broker::encode(done.answer) : broker::encode_for_other_version(done.answer);
    if (!send_message(socket, answer, beside)) return;
    warden.settle();
  }
}

// Who is at the other end. For a pair of sockets the kernel names the process that made both, which is our engine.
std::optional<ucred> peer_of(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  return peer;
}

bool may_ask(const ucred& peer, const broker::UserRules& rules) {
  return peer.uid == 0 || peer.uid == rules.own || (rules.front_end && peer.uid == *rules.front_end);
}

Status serve_all(const Options& options, broker::Users& users) {
  const char* count = std::getenv("LISTEN_FDS");
  if (count == nullptr || std::string_view(count) != "1") return bad_input("--activated: no socket from a service manager");
  while (!g_told_to_end) {
    const UniqueFd peer(::accept4(kFirstActivatedFd, nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!peer) return system_error("accept", errno);
    const std::optional<ucred> who = peer_of(peer.get());
    if (!who || !may_ask(*who, options.users)) continue;
    broker::WardenOptions wanted = options.warden;
    wanted.engine = who->pid;
    broker::Warden warden(wanted, users);
    serve(peer.get(), warden);
  }
  return {};
}

Status run(Options& options) {
  STAB_CHECK_OK(settle(options));
  STAB_TRY(broker::Users users, broker::Users::open(options.users));
  outlive_signals();
  step_in_front();
  if (options.activated) return serve_all(options, users);
  // An engine that is killed ends us by its socket; one of us that is stopped by then has to go on first, to end what runs and
  // to turn the knobs back.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  if (const auto engine = peer_of(options.peer)) options.warden.engine = engine->pid;
  broker::Warden warden(options.warden, users);
  serve(options.peer, warden);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  ::umask(022);
  const Status done = run(*options);
  return done ? 0 : complain(done.error().text());
}
