// The client's half of docs/protocol.md.
#include "stabctl/daemon_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>

namespace stab::ctl {
namespace {

using Json = nlohmann::json;

ErrorCode error_code(int rpc) {
  switch (static_cast<engine::RpcCode>(rpc)) {
    case engine::RpcCode::kInvalidParams:
    case engine::RpcCode::kParse:
    case engine::RpcCode::kInvalidRequest: return ErrorCode::kBadInput;
    case engine::RpcCode::kNotFound: return ErrorCode::kNotFound;
    case engine::RpcCode::kDenied: return ErrorCode::kDenied;
    case engine::RpcCode::kBusy: return ErrorCode::kBusy;
    default: return ErrorCode::kInternal;
  }
}

}  // namespace

Result<DaemonClient> DaemonClient::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return bad_input("socket path '" + path + "' is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return system_error("socket", errno);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Error{errno == EACCES ? ErrorCode::kDenied : ErrorCode::kUnavailable,
                 "no daemon on '" + path + "': " + std::strerror(errno) + "; start one with 'stabd --foreground', or use 'stabctl run'", {}};
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
  const std::string request = engine::request_line(id, method, texts, numbers);
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t put = ::send(fd_.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("send to the daemon", errno);
    sent += static_cast<size_t>(put);
  }
  for (;;) {
    STAB_TRY(const std::string line, next_line());
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return Error{ErrorCode::kCorrupt, "the daemon's answer is no JSON object", {}};
    if (json.value("id", Json()) != id) continue;
    if (const auto error = json.find("error"); error != json.end())
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
