// The client's half of docs/reference/protocol.md.
#include "stabctl/daemon/daemon_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "stabd/daemon/settings/daemon_socket.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::json;

constexpr int kLateMs = 10'000;

ErrorCode error_code(int rpc) {
  switch (static_cast<daemon::RpcCode>(rpc)) {
    case daemon::RpcCode::kInvalidParams:
    case daemon::RpcCode::kParse:
    case daemon::RpcCode::kInvalidRequest: return ErrorCode::kBadInput;
    case daemon::RpcCode::kNotFound: return ErrorCode::kNotFound;
    case daemon::RpcCode::kDenied: return ErrorCode::kDenied;
    case daemon::RpcCode::kBusy: return ErrorCode::kBusy;
    default: return ErrorCode::kInternal;
  }
}

Error not_ours(const std::string& what) {
  return {ErrorCode::kDenied, what + "; if you trust it, name it: --socket PATH", {}};
}

// The default socket is a place that others may know, and in /tmp one that they may take first.
Status check_owner(const std::string& path) {
  struct stat socket, directory;
  if (::lstat(path.c_str(), &socket) != 0) return {};  // connect says what is wrong
  const uid_t self = ::geteuid();
  if (!S_ISSOCK(socket.st_mode)) return not_ours("'" + path + "' is no socket");
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (::lstat(parent.c_str(), &directory) != 0) return system_error("look at '" + parent + "'", errno);
  const bool sticky = (directory.st_mode & S_ISVTX) != 0, others_write = (directory.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if ((directory.st_uid != 0 && directory.st_uid != self) || (others_write && !sticky))
    return not_ours("the directory '" + parent + "' of the daemon's socket is user " + std::to_string(directory.st_uid) +
                    "'s, or others may replace what is in it");
  // In a directory that nobody else writes to, root or we have let the owner in: a service's user.
  if (socket.st_uid == 0 || socket.st_uid == self || !others_write) return {};
  return not_ours("the daemon's socket '" + path + "' belongs to user " + std::to_string(socket.st_uid) +
                  ", neither root nor you");
}

Status check_peer(int fd, const std::string& path) {
  struct stat socket;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return system_error("ask who listens on '" + path + "'", errno);
  if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
  if (::lstat(path.c_str(), &socket) == 0 && socket.st_uid == peer.uid) return {};  // its owner was checked
  return not_ours("who listens on '" + path + "' is user " + std::to_string(peer.uid) +
                  ", neither root nor you nor the socket's owner");
}

}  // namespace

std::string usual_socket() {
  const std::string own = daemon::default_socket(), machines = daemon::kSystemSocket;
  struct stat seen;
  if (::lstat(own.c_str(), &seen) == 0 || ::lstat(machines.c_str(), &seen) != 0) return own;
  return machines;
}

Result<UniqueFd> connect_to(const std::string& path, bool is_default) {
  if (is_default) STAB_CHECK_OK(check_owner(path));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return bad_input("socket path '" + path + "' is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("socket", errno);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Error{
        errno == EACCES ? ErrorCode::kDenied : ErrorCode::kUnavailable,
        "no daemon on '" + path + "': " + std::strerror(errno) + "; start one with 'stabd --foreground', or use 'stabctl run'",
        {}};
  if (is_default) STAB_CHECK_OK(check_peer(fd.get(), path));
  return fd;
}

Result<DaemonClient> DaemonClient::connect(const std::string& named) {
  STAB_TRY(UniqueFd fd, connect_to(named.empty() ? usual_socket() : named, named.empty()));
  return DaemonClient(std::move(fd));
}

Result<std::string> DaemonClient::next_line() {
  std::array<char, 65536> buffer;
  while (at_ == lines_.size()) {
    lines_.clear();
    at_ = 0;
    const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorCode::kUnavailable, "the daemon has closed the connection", {}};
    if (!splitter_.add(std::string_view(buffer.data(), static_cast<size_t>(got)), lines_))
      return Error{ErrorCode::kCorrupt, "the daemon's line is too long", {}};
  }
  return std::move(lines_[at_++]);
}

Result<std::string> DaemonClient::call(const std::string& method, const std::map<std::string, std::string>& texts,
                                       const std::map<std::string, int64_t>& numbers) {
  const int64_t id = next_id_++;
  const std::string request = daemon::request_line(id, method, texts, numbers);
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t put = ::send(fd_.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE) break;  // what it said before it closed is the answer
    if (put < 0) return system_error("send to the daemon", errno);
    sent += static_cast<size_t>(put);
  }
  for (bool is_late = false;;) {
    // A report may take it minutes, so it is waited for; but who waits must know for what.
    if (pollfd answer{fd_.get(), POLLIN, 0}; at_ == lines_.size() && !is_late && ::poll(&answer, 1, kLateMs) == 0) {
      std::fprintf(stderr, "note: the daemon has not answered '%s' for %d s; Ctrl-C stops waiting\n", method.c_str(),
                   kLateMs / 1000);
      is_late = true;
    }
    STAB_TRY(const std::string line, next_line());
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return Error{ErrorCode::kCorrupt, "the daemon's answer is no JSON object", {}};
    const Json of = json.value("id", Json());
    const auto error = json.find("error");
    // What is said to nobody's request is said of the connection, before it closes.
    if (of != id && !(of.is_null() && error != json.end())) continue;
    if (error != json.end())
      return Error{error_code(error->value("code", 0)), error->value("message", std::string("?")), {}};
    return json.value("result", Json()).dump();
  }
}

Result<std::string> DaemonClient::next_event() {
  for (;;) {
    STAB_TRY(const std::string line, next_line());
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.value("method", "") == "event") return json.value("params", Json::object()).dump();
  }
}

}  // namespace stab::ctl
