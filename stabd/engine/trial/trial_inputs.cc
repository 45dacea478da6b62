// What a trial is born with (trial_inputs.h). Whatever the submitter's worker hands over is looked at without asking its file
// system.
#include "stabd/engine/trial/trial_inputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "runtime/causal/causal_abi.h"
#include "runtime/settings_abi.h"
#include "stabd/host/launcher/launch_block.h"
#include "stabd/worker/named_file.h"

namespace stab::engine {
namespace {

// A worker is the submitter's, and so may be what it hands over: asked without asking the file system that it is on,
// which may be a process of the same user's.
bool is_input(int fd) {
  struct statx info;
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &info) != 0) return false;
  return S_ISREG(info.stx_mode) || worker::is_endless_device(info.stx_mode, ::makedev(info.stx_rdev_major, info.stx_rdev_minor));
}

// The same in every trial of a causal plan, so that no cell's environment is longer.
void put_causal(const std::string& library, std::vector<std::string>& env) {
  char text[causal::kCausalSettingLength + 1];
  causal::encode_causal_setting(("/proc/self/fd/" + std::to_string(launch::kReportFd)).c_str(), text);
  env.push_back(std::string(causal::kCausalSettingName) + "=" + text);
  constexpr std::string_view kPreload = "LD_PRELOAD=";
  for (std::string& variable : env)
    if (variable.starts_with(kPreload)) return void(variable.insert(kPreload.size(), library + ":"));
  env.push_back(std::string(kPreload) + library);
}

}  // namespace

Result<UniqueFd> memory_file(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  return fd;
}

Result<UniqueFd> script_file(const TrialRequest& request) {
  const std::string text = script_with_rows(request);
  UniqueFd fd(::memfd_create("stab-script", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return system_error("write the layout script", errno);
  return fd;
}

Result<UniqueFd> open_input(Worker* worker, const std::vector<std::string>& paths) {
  if (paths.empty()) {
    UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null) return system_error("open '/dev/null'", errno);
    return null;
  }
  if (worker == nullptr) return Error{ErrorCode::kInternal, "stdin is to be opened, and there is no worker", {}};
  STAB_TRY(auto answer, worker->ask_for_fd(worker::Open{paths}));
  if (answer.second && is_input(answer.second.get())) {
    const std::string why_not = worker::why_not_passed_on(answer.second.get());
    if (why_not.empty()) return std::move(answer.second);
    // Our worker passes no such thing on. To close it might take for ever.
    (void)answer.second.release();
    return bad_input("'" + paths.front() + "' is no stdin: " + why_not);
  }
  return Error{ErrorCode::kSystem, "the worker has opened no file for stdin '" + paths.front() + "'", {}};
}

std::vector<std::string> full_environment(const TrialRequest& request, int helper_cpu, bool helper) {
  std::vector<std::string> env = request.launch.env;
  abi::Settings settings;
  settings.code = request.layout.code;
  settings.stack = request.layout.stack;
  settings.stack_range_bytes = request.layout.stack_range_bytes;
  settings.heap = request.layout.heap;
  settings.seed = request.seed;
  settings.epoch_ns = request.layout.epoch_ns;
  settings.epoch_visits = request.layout.epoch_visits;
  if (helper) {
    // The helper that was started knows its own. A simulated program's settings are the same on every machine.
    settings.helper_cpu = request.simulation.on() ? -1 : helper_cpu;
    settings.helper_socket = launch::kHelperFd;
  }
  char text[abi::kSettingsLength + 1];
  abi::encode_settings(settings, text);
  env.push_back(std::string(abi::kSettingsName) + "=" + text);

  if (request.causal) put_causal(request.causal->library, env);

  const uint64_t used = stack_top_bytes(request.launch);
  const uint64_t missing = request.stack_top_bytes > used ? request.stack_top_bytes - used : 0;
  env.push_back("PAD=" + std::string(missing + request.layout.env_size_bytes, 'x'));
  return env;
}

}  // namespace stab::engine
