// The build phase of an experiment, and its counterpart in a replay: which binary each trial runs, known by its hash and
// kept in the archive. How one build is made is in builds.cc.
#include "engine/experiment/experiment_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "plan/design.h"
#include "engine/experiment/archive.h"
#include "engine/trial/expectation.h"
#include "engine/experiment/gate_open.h"

namespace stab::engine {
namespace {

// What one run puts into the archive, which no quota stops before it is over.
constexpr uint64_t kMostArchivedByARun = uint64_t{4} << 30;

Result<bool> has_recorded_binary(Worker& worker, const store::BuildRow& row) {
  const Result<std::string> now = hash_of(worker, row.binary_path);
  if (!now && says_nothing(now.error())) return now.error();
  return now && *now == row.binary_sha256;
}

std::string not_what_ran(const std::string& path, const std::string& now, const std::string& then, const std::string& archive) {
  const auto kept = Archive(archive).find(then);
  return "'" + path + "' is not the binary that the recorded trials ran (sha256 " + then.substr(0, 16) + " then, " +
         now.substr(0, 16) + " now): restore what it is made from" +
         (kept ? ", or copy '" + *kept + "' over it," : "") + " and resume, or submit the plan as a new experiment";
}

}  // namespace

// Whether the binary that this build's trials ran is still there; then nothing is made, whatever its source has become.
Result<bool> ExperimentRun::is_as_measured(const store::BuildRow& row, const plan::Build& build) const {
  if (needs_directory(build) && !std::filesystem::is_directory(build_directory(place_, row.input_hash))) return false;
  const GateOpen open(engine_->gate());
  return has_recorded_binary(*worker_, row);
}

// All trials of a cell run one binary, also those of an experiment that goes on after an interruption.
Result<bool> ExperimentRun::make_builds() {
  STAB_TRY(std::vector<store::BuildRow> rows, store_->builds(row_.id));
  STAB_TRY(const store::Progress progress, store_->progress(row_.id));
  const bool measured = progress.count(store::TrialState::kRecorded) > 0;
  binaries_.assign(expanded_->builds.all().size(), {row_.plan_directory, "", ""});
  for (store::BuildRow& row : rows) {
    if (stop_->asked()) return false;
    const plan::Build& build = expanded_->builds.all()[static_cast<size_t>(row.index)];
    const plan::Program& program = expanded_->plan.programs[static_cast<size_t>(build.program)];
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    const std::string ran = measured ? row.binary_sha256 : "";
    bool as_measured = false;
    if (!ran.empty()) {
      STAB_TRY(as_measured, is_as_measured(row, build));
    }
    if (as_measured) {
      if (needs_directory(build)) binary.directory = build_directory(place_, row.input_hash);
      binary.sha256 = ran;
      continue;
    }
    if (needs_directory(build)) {
      observer_->phase("building " + build.name);
      const Status made = [&] {
        const GateOpen open(engine_->gate());
        return make_build(lab_, place_, program, build, row);
      }();
      STAB_CHECK_OK(made);
      binary.directory = build_directory(place_, row.input_hash);
    } else {
      row.state = store::BuildState::kDone;
    }
    if (row.state == store::BuildState::kDone) {
      const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(build.cell)];
      const std::string word = plan::substitute(program.workloads[0].run, expanded_->plan, cell, build.link).argv[0];
      const auto [path, hash] = [&] {
        const GateOpen open(engine_->gate());
        auto found = find_program(place_, binary.directory, word);
        auto content = found ? hash_of(*worker_, *found) : Result<std::string>(found.error());
        return std::pair{std::move(found), std::move(content)};
      }();
      if (!hash && says_nothing(hash.error())) return hash.error();
      if (hash && !ran.empty() && *hash != ran) {
        // Paused: once the binary is back, it can go on.
        STAB_CHECK_OK(reject(not_what_ran(*path, *hash, ran, archive_beside(engine_->options().database)),
                             store::ExperimentEvent::kPause));
        return false;
      }
      if (hash) {
        row.binary_path = *path;
        row.binary_sha256 = *hash;
        binary.sha256 = *hash;
        if (const Status kept = keep_in_archive(row); !kept)
          observer_->note("'" + row.binary_path + "' is not archived: " + kept.error().message);
      } else {
        row.state = store::BuildState::kFailed;
        row.log += hash.error().message + "\n";
      }
    }
    if (stop_->asked() && row.state == store::BuildState::kFailed) return false;
    STAB_CHECK_OK(store_->update_build(row));
    if (row.state == store::BuildState::kFailed) {
      STAB_CHECK_OK(reject("build '" + build.name + "' failed:\n" + row.log));
      return false;
    }
  }
  return true;
}

// Best effort: without its copy a trial can be repeated only as long as the build is there.
Status ExperimentRun::keep_in_archive(const store::BuildRow& row) {
  const Archive archive(archive_beside(engine_->options().database));
  if (archive.has(row.binary_sha256)) return {};
  const GateOpen open(engine_->gate());
  STAB_TRY(const worker::Look::Answer seen, worker_->ask(worker::Look{row.binary_path}));
  STAB_TRY(const UniqueFd room, room_for(seen.bytes));
  STAB_TRY(const worker::Done copied, worker_->ask(worker::CopyFile{row.binary_path, seen.bytes}, room.get()));
  (void)copied;
  struct stat info;
  if (::fstat(room.get(), &info) != 0) return system_error("stat a binary", errno);
  if (static_cast<uint64_t>(info.st_blocks) * 512 > kMostArchivedByARun - archived_bytes_)
    return bad_input("the experiment's binaries take more than 4 GiB; keep the builds to replay their trials");
  STAB_TRY(const uint64_t bytes, archive.put(room.get(), row.binary_sha256));
  archived_bytes_ += std::min(bytes, kMostArchivedByARun - archived_bytes_);
  return {};
}

// A worker's share: what was built elsewhere came along by its hash, and nothing else may run.
Result<bool> ExperimentRun::take_archived_binaries() {
  STAB_TRY(const std::vector<store::BuildRow> rows, store_->builds(row_.id));
  binaries_.assign(rows.size(), {row_.plan_directory, "", ""});
  for (const store::BuildRow& row : rows) {
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (!row.input_hash.empty()) binary.directory = build_directory(place_, row.input_hash);
    const auto archived = Archive(archive_beside(engine_->options().database)).find(row.binary_sha256);
    if (!archived) {
      STAB_CHECK_OK(reject("build '" + row.name + "': " + archived.error().message));
      return false;
    }
    binary.run_instead = *archived;
    binary.sha256 = row.binary_sha256;
  }
  return true;
}

// What was measured then, whatever its source has become: the build of the same inputs where it still has the
// recorded binary, else the archived one. Nothing of this is stored.
Status ExperimentRun::find_recorded_binaries(int wanted) {
  STAB_TRY(const std::vector<store::BuildRow> rows, store_->builds(row_.id));
  binaries_.assign(rows.size(), {row_.plan_directory, "", ""});
  for (const store::BuildRow& row : rows) {
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (!row.input_hash.empty()) binary.directory = build_directory(place_, row.input_hash);
    const GateOpen open(engine_->gate());
    STAB_TRY(const bool is_there, has_recorded_binary(*worker_, row));
    if (is_there) continue;
    const auto archived = Archive(archive_beside(engine_->options().database)).find(row.binary_sha256);
    if (!archived && row.index == wanted)
      return Error{
          archived.error().code, "'" + row.binary_path + "' is not what was measured, and " + archived.error().message, {}};
    if (!archived) continue;
    binary.run_instead = *archived;
    if (row.index == wanted) observer_->note("'" + row.binary_path + "' is gone or has changed; its archived copy runs");
  }
  return {};
}

}  // namespace stab::engine
