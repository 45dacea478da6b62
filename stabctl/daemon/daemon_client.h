// DaemonClient: one connection to stabd, blocking.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/daemon/protocol/protocol.h"

namespace stab::ctl {

// Where a command asks that names no socket: one's own daemon, else, where none has a socket, the machine's.
std::string usual_socket();

// A connection to the socket at `path`. `is_default`: nobody has named it, so kDenied where it is none that root or we have
// made: plans and data are not for whoever was first in a folder that everybody writes to.
Result<UniqueFd> connect_to(const std::string& path, bool is_default);

class DaemonClient {
 public:
  // kUnavailable where no daemon listens. Without `path`, the default socket.
  static Result<DaemonClient> connect(const std::string& path);
  // The JSON of the result; the daemon's fault becomes an Error with the matching code.
  Result<std::string> call(const std::string& method, const std::map<std::string, std::string>& texts,
                           const std::map<std::string, int64_t>& numbers = {});
  // The next line that is not an answer: the JSON of an event's params. kUnavailable once the daemon is gone.
  Result<std::string> next_event();

 private:
  explicit DaemonClient(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<std::string> next_line();
  UniqueFd fd_;
  daemon::LineSplitter splitter_;
  std::vector<std::string> lines_;
  size_t at_ = 0;
  int64_t next_id_ = 1;
};

}  // namespace stab::ctl
