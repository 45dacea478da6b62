// The notify command runs through the same launcher as builds do: as the submitter, so that nothing a plan names
// reaches a command with more rights than that one has, and it can't outlive its time. Retention looks into users' builds
// by their own workers.
#include "stabd/daemon/upkeep/upkeep.h"

#include <sys/statvfs.h>

#include <filesystem>

#include "base/printable.h"
#include "stabd/broker/wire/client.h"
#include "stabd/daemon/upkeep/proven_time.h"
#include "stabd/daemon/upkeep/retention.h"
#include "stabd/daemon/upkeep/user_workers.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/build/command.h"
#include "stabd/engine/separation/runs_as.h"
#include "stabd/engine/separation/submitter.h"

namespace stab::daemon {
namespace {

// How much of a failure's text a notify command is told.
constexpr size_t kFailureBytes = 1000;

}  // namespace

void Upkeep::between(const EndedRun& ended, int quit_fd) {
  const bool over = is_over(ended.how);
  const bool bad = ended.how == ExperimentEnd::kFailed || ended.how == ExperimentEnd::kUnsettled;
  if (ended.experiment != 0)
    log_({bad ? LogPriority::kWarning : LogPriority::kInfo, "end", ended.why,
          {{"experiment", std::to_string(ended.experiment)}, {"state", std::string(name(ended.how))}}});
  if (over && !config_->notify.empty()) {
    const Status told = notify(ended, quit_fd);
    if (!told) log_({LogPriority::kWarning, "notify", told.error().message, {{"experiment", std::to_string(ended.experiment)}}});
  }
  if (over || ended.experiment == 0) retain(quit_fd);
}

// Whoever submits waits for the gate, and files may be many: they are looked at and removed without it. Only this
// thread makes builds, so what the store says of them stays true meanwhile.
void Upkeep::retain(int quit_fd) {
  const engine::Engine::Options& options = engine_->options();
  const int64_t now_ns =
      proven_now_ns(engine::files_beside(options.database) + "/proven-time", *options.clock, engine::boot_id(options.roots));
  const auto kept = [&]() -> Result<KeptExperiments> {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    return retain_experiments(*config_, engine_->store(), now_ns);
  }();
  if (!kept) return log_({LogPriority::kError, "retention", kept.error().message, {}});
  UserWorkers workers({options.installation.launcher, options.installation.worker, options.clock, quit_fd,
                       engine::is_separated(options) ? options.broker.get() : nullptr});
  const RetentionResult result = retain_files(*config_, *kept, options.database, now_ns, workers, counted_);
  for (const std::string& line : result.wrong) log_({LogPriority::kWarning, "retention", line, {}});
  for (const auto* said : {&kept->said, &result.said})
    for (const std::string& line : *said) log_({LogPriority::kNotice, "retention", line, {}});
  if (workers.cancelled()) return;  // not all were looked at
  const std::lock_guard<std::mutex> held(mutex_);
  disk_bytes_ = result.bytes_by_user;
}

Status Upkeep::notify(const EndedRun& ended, int quit_fd) {
  const engine::Engine::Options& options = engine_->options();
  STAB_TRY(const store::ExperimentRow row, [&] {
    const std::lock_guard<engine::Gate> gate(engine_->gate());
    return engine_->store().experiment(ended.experiment);
  }());
  STAB_TRY(engine::TreeAtBroker tree, engine::TreeAtBroker::create(*options.broker));
  engine::Laboratory laboratory;
  laboratory.roots = options.roots;
  laboratory.clock = options.clock;
  laboratory.tree = &tree;
  laboratory.cancel_fd = quit_fd;
  host::LaunchRequest request;
  request.exec_path = config_->notify[0];
  request.argv = config_->notify;
  request.directory = "/";
  request.submitter = engine::runs_as(options, static_cast<uid_t>(row.submitter_uid), static_cast<gid_t>(row.submitter_gid));
  request.env = {std::string("PATH=") + engine::kSearchPath,
                 "LC_ALL=C.UTF-8",
                 "STAB_EXPERIMENT=" + std::to_string(row.id),
                 "STAB_NAME=" + one_line(row.name),
                 "STAB_STATE=" + std::string(name(ended.how)),
                 "STAB_UID=" + std::to_string(row.submitter_uid),
                 "STAB_FAILURE=" + one_line(std::string_view(row.failure).substr(0, kFailureBytes))};
  STAB_TRY(const engine::CommandOutput output, engine::run_command(laboratory, request, config_->notify_timeout));
  if (output.ok) return {};
  return Error{ErrorCode::kSystem, "'" + config_->notify[0] + "': " + output.failure + " " + one_line(output.log), {}};
}

uint64_t Upkeep::disk_bytes_of(uint32_t uid) const {
  const std::lock_guard<std::mutex> held(mutex_);
  const auto found = disk_bytes_.find(uid);
  return found == disk_bytes_.end() ? 0 : found->second;
}

bool Upkeep::disk_is_full() const {
  struct statvfs disk;
  const std::string directory = std::filesystem::path(engine_->options().database).parent_path().string();
  if (config_->retention.free_bytes == 0 || ::statvfs(directory.c_str(), &disk) != 0) return false;
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize < config_->retention.free_bytes;
}

}  // namespace stab::daemon
