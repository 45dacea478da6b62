#include "stabd/engine/trial/companion.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/engine/separation/process_end.h"


namespace stab::engine {
namespace {

// It looks for the end of its processes several times a second, and then adds up.
constexpr int kPatienceMs = 10'000;
constexpr std::chrono::milliseconds kKillDeadline{1000};

}  // namespace

Result<Companion> Companion::start(const Setting& setting, int area) {
  if (::access(setting.program.c_str(), X_OK) != 0)
    return Error{ErrorCode::kUnavailable, "'" + setting.program + "' is missing; build or install all of stab", {}};
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  UniqueFd error(::memfd_create("stab-companion", MFD_CLOEXEC));
  if (!null || !error) return system_error("memfd_create", errno);
  host::LaunchRequest request;
  request.exec_path = setting.program;
  request.directory = std::string("/");
  request.argv = {"stab-causal", "/proc/self/fd/0"};
  if (setting.cpu >= 0) request.argv.insert(request.argv.end(), {"--cpu", std::to_string(setting.cpu)});
  request.env = {"LC_ALL=C.UTF-8"};
  request.cpu = setting.cpu;
  request.submitter = setting.submitter;
  request.limits = {{RLIMIT_CORE, 0, 0}};
  STAB_TRY(std::unique_ptr<OwnProcess> process, setting.start(request, {area, null.get(), error.get(), -1, -1}));
  return Companion(std::move(process), std::move(error));
}

Companion::~Companion() {
  if (process_) (void)end();
}

Result<host::ProcessUsage> Companion::end() {
  Result<host::ProcessUsage> used = process_->end(kKillDeadline);
  process_.reset();
  return used;
}

Status Companion::finish() {
  pollfd gone{process_->pidfd(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&gone, 1, kPatienceMs);
  while (ready < 0 && errno == EINTR);
  STAB_TRY(const host::ProcessUsage used, end());
  if (ready <= 0) return Error{ErrorCode::kUnavailable, "the companion of the trial's windows hangs", {}};
  if (WIFEXITED(used.status) && WEXITSTATUS(used.status) == 0) return {};
  std::string why = WIFEXITED(used.status) ? describe_end(WEXITSTATUS(used.status), {}) : describe_end({}, WTERMSIG(used.status));
  if (const std::string said = head_of_fd(error_.get(), 400); !said.empty()) why += ": " + said;
  return Error{ErrorCode::kUnavailable, "the companion of the trial's windows ended with " + why, {}};
}

}  // namespace stab::engine
