// bundle --socket: the daemon makes the file between trials and hands it out in pieces; it is complete here, or not
// there at all.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cerrno>

#include "base/unique_fd.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_report.h"
#include "stabd/daemon/protocol/base64.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::json;

constexpr int kAskAgainMs = 100;

Status put(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0) return system_error("write the bundle", errno);
    done += static_cast<size_t>(wrote);
  }
  return {};
}

Result<int64_t> fetch(DaemonClient& client, const std::string& experiment, int fd) {
  for (int64_t offset = 0, copy = 0;;) {
    const auto answer = client.call("bundle", {{"experiment", experiment}}, {{"offset", offset}, {"copy", copy}});
    if (!answer && answer.error().code == ErrorCode::kBusy) {
      ::poll(nullptr, 0, kAskAgainMs);
      continue;
    }
    if (!answer) return answer.error();
    const Json json = Json::parse(*answer);
    const auto bytes = daemon::from_base64(json.value("data", ""));
    if (!bytes) return Error{ErrorCode::kCorrupt, "the daemon's answer is no Base64", {}};
    STAB_CHECK_OK(put(fd, *bytes));
    offset += static_cast<int64_t>(bytes->size());
    copy = json.value("copy", int64_t{0});
    if (!json.value("end", true)) continue;
    const auto number = json.value("experiment", int64_t{0});
    if (offset == json.value("size", int64_t{-1}) && number > 0) return number;
    return Error{ErrorCode::kCorrupt, "the daemon's bundle is not complete", {}};
  }
}

Status bundle(const Arguments& arguments) {
  if (::access(arguments.path.c_str(), F_OK) == 0)
    return bad_input("bundle '" + arguments.path + "' exists already; choose another path");
  STAB_TRY(DaemonClient client, DaemonClient::connect(arguments.socket));
  STAB_TRY(const int64_t number, fetch_bundle(client, arguments.experiment, arguments.path));
  (void)number;
  return {};
}

}  // namespace

Result<int64_t> fetch_bundle(DaemonClient& client, const std::string& experiment, const std::string& path) {
  const std::string part = path + ".part-" + std::to_string(::getpid());
  const UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd) return system_error("create '" + part + "'", errno);
  Result<int64_t> done = fetch(client, experiment, fd.get());
  if (done && ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    done = system_error("rename '" + part + "'", errno);
  if (!done) ::unlink(part.c_str());
  return done;
}

int daemon_bundle_command(const Arguments& arguments) {
  const Status done = bundle(arguments);
  return done.ok() ? kExitDone : complain(done.error());
}

}  // namespace stab::ctl
