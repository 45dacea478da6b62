// SshTunnel: a socket of another machine as one of ours, by ssh's forwarding (ssh -L OURS:THEIRS). sshd's process there is
// the user, so the daemon takes whoever connects for that user. Neither machine opens a port.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabctl/terminal/temporary_folder.h"

namespace stab::ctl {

class SshTunnel {
 public:
  // Until ssh has let us in, which may ask for a password on the terminal, and something there answers HTTP. What ssh has
  // to say goes to standard error by itself. `socket`: an absolute path on that machine.
  static Result<SshTunnel> open(const std::string& host, const std::string& socket);
  SshTunnel(SshTunnel&& other) noexcept;
  ~SshTunnel();

  Result<UniqueFd> connect() const;
  int ended() const { return process_.get(); }  // readable once ssh has ended

 private:
  explicit SshTunnel(std::string host) : host_(std::move(host)) {}
  Status start(const std::string& socket);
  Result<UniqueFd> first_connection() const;
  Status try_http(UniqueFd connection, const std::string& socket) const;
  std::string ours() const { return folder_->path() + "/web"; }
  std::string host_;
  std::optional<TemporaryFolder> folder_;  // of our end of the tunnel
  UniqueFd process_;                       // a pidfd
};

}  // namespace stab::ctl
