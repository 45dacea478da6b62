#include "stabd/broker/wire/start_broker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace stab::broker {
namespace {

// Its number in the broker, and where ours is kept from colliding with it.
constexpr int kSocketThere = 3, kAbove = 16;

}  // namespace

Result<std::unique_ptr<Client>> start(const StartOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  theirs.reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kAbove));
  if (!theirs) return system_error("dup the broker's socket", errno);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), kSocketThere);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kSocketThere + 1);
  // A Ctrl-C is for us; and it begins with no signal blocked or ignored.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> words = {"stab-broker", "--peer", std::to_string(kSocketThere)};
  if (options.allow_root) words.push_back("--allow-root");
  if (!options.state.empty()) words.insert(words.end(), {"--state", options.state});
  if (options.front_end) words.insert(words.end(), {"--front-end", std::to_string(*options.front_end)});
  words.insert(words.end(), options.more.begin(), options.more.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char* envp[] = {nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, options.program.c_str(), &actions, &attributes, argv.data(), envp);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start '" + options.program + "'", failed);
  theirs.reset();
  return Client::over(std::move(ours), pid);
}

Result<std::unique_ptr<Client>> connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return bad_input("the broker's socket '" + path + "': the path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("socket", errno);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error("connect to the broker at '" + path + "'", errno);
  return Client::over(std::move(socket));
}

}  // namespace stab::broker
