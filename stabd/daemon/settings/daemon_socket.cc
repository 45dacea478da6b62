#include "stabd/daemon/settings/daemon_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace stab::daemon {
namespace {

// Groups of a peer; more than that are cut off by few systems.
constexpr size_t kMaxGroups = 1024;

bool somebody_listens(const std::string& path) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Status check_socket_is_free(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return bad_input("socket path '" + path + "' is longer than " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return bad_input("'" + path + "' exists and is no socket");
    if (somebody_listens(path)) return Error{ErrorCode::kBusy, "a daemon listens on '" + path + "' already", {}};
  }
  return {};
}

std::optional<Peer> peer_of(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
  Peer peer{credentials.uid, credentials.gid, {}, {}};
  peer.groups.resize(kMaxGroups);
  size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size) != 0) size = 0;
  peer.groups.resize(size / sizeof(gid_t));
  return peer;
}

std::string web_socket_beside(const std::string& socket) { return socket + ".web"; }

std::string default_socket() {
  if (const char* runtime = ::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && runtime[0] == '/')
    return std::string(runtime) + "/stab.sock";
  if (::geteuid() == 0) return kSystemSocket;
  return "/tmp/stab-" + std::to_string(::geteuid()) + ".sock";
}

}  // namespace stab::daemon
