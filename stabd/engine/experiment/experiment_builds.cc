// The build phase of an experiment, and its counterpart in a replay: which binary each trial runs, known by its hash and
// kept in the archive. How one build is made is in builds.cc.
#include "stabd/engine/experiment/experiment_builds.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "plan/design.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/build/szc_program.h"
#include "stabd/engine/results/replay_of.h"
#include "stabd/engine/separation/runs_as.h"
#include "stabd/engine/trial/expectation.h"

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
         now.substr(0, 16) + " now): restore what it is made from" + (kept ? ", or copy '" + *kept + "' over it," : "") +
         " and resume, or submit the plan as a new experiment";
}

// What is there may be linked in other orders while the program stays the same. A directory that can't be looked through, or has
// more files than a build leaves, may have some.
bool may_have_libraries(const std::string& directory) {
  constexpr int kMostFiles = 100'000;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(directory, failed), end;
  for (int files = 0; !failed && at != end; at.increment(failed))
    if (++files > kMostFiles || at->path().filename().string().find(".so") != std::string::npos) return true;
  return static_cast<bool>(failed);
}

}  // namespace

ExperimentBuilds::ExperimentBuilds(LiveExperiment& experiment, const HeldMachine& machine)
    : experiment_(&experiment),
      machine_(&machine),
      place_{files_beside(experiment.options().database) + "/builds",
             experiment.row().plan_directory,
             experiment.options().installation,
             machine.submitter(),
             &machine.worker(),
             [options = &experiment.options()](const std::string& path, unsigned uid, unsigned gid) {
               return give_directory(*options, path, uid, gid);
             }} {}

// Whether the binary that this build's trials ran is still there; then nothing is made, whatever its source has become.
Result<bool> ExperimentBuilds::is_as_measured(const store::BuildRow& row, const plan::Build& build) const {
  if (needs_directory(build) && !std::filesystem::is_directory(build_directory(place_, row.input_hash))) return false;
  const GateOpen open(experiment_->gate());
  return has_recorded_binary(machine_->worker(), row);
}

// All trials of a cell run one binary, also those of an experiment that goes on after an interruption.
Result<bool> ExperimentBuilds::make() {
  STAB_TRY(std::vector<store::BuildRow> rows, experiment_->store().builds(experiment_->id()));
  STAB_TRY(const store::Progress progress, experiment_->store().progress(experiment_->id()));
  const bool measured = progress.count(store::TrialState::kRecorded) > 0;
  binaries_.assign(experiment_->expanded().builds.all().size(), {experiment_->row().plan_directory, "", ""});
  for (store::BuildRow& row : rows) {
    if (experiment_->stop().asked()) return false;
    STAB_TRY(const bool made, make_one(row, measured ? row.binary_sha256 : ""));
    if (!made) return false;
  }
  const std::string one = measured ? std::string() : links_that_are_one(rows);
  if (!one.empty()) STAB_CHECK_OK(experiment_->reject(one));
  return one.empty();
}

// Links of a build that ignores their seeds are one layout, which would count as a draw of each. Says which, or nothing.
std::string ExperimentBuilds::links_that_are_one(const std::vector<store::BuildRow>& rows) const {
  std::map<std::pair<int, int>, std::vector<const store::BuildRow*>> of_cell;  // by program and cell
  for (const store::BuildRow& row : rows) {
    const plan::Build& build = experiment_->expanded().builds.all()[static_cast<size_t>(row.index)];
    if (build.link > 0 && needs_directory(build)) of_cell[{build.program, build.cell}].push_back(&row);
  }
  const Archive archive(archive_beside(experiment_->options().database));
  for (const auto& [cell, links] : of_cell) {
    const store::BuildRow& first = *links.front();
    const std::string directory = build_directory(place_, first.input_hash);
    // A script has no code, and what it starts may differ.
    std::set<std::string> codes;
    for (const store::BuildRow* row : links) {
      if (codes.size() > 1) break;
      const auto archived = archive.find(row->binary_sha256);
      codes.insert(archived ? code_fingerprint(*archived) : std::string());
    }
    if (links.size() < 2 || codes.size() > 1 || codes.begin()->empty()) continue;
    if (!first.binary_path.starts_with(directory + "/") || may_have_libraries(directory)) continue;
    return "the " + std::to_string(links.size()) + " links of '" + first.name.substr(0, first.name.rfind(" link=")) +
           "' have the same code at the same addresses, so they have one layout and not " + std::to_string(links.size()) +
           ": its build ignores STAB_LINK_SEED; link it with szc, which obeys that (gcc -O2 -ffunction-sections -c work.c && "
           "szc work.o -o work), or give the number to lld (gcc -ffunction-sections -fuse-ld=lld "
           "'-Wl,--shuffle-sections=.text*={link}')";
  }
  return {};
}

// `ran`: the hash of what recorded trials ran; empty: none have. False as make().
Result<bool> ExperimentBuilds::make_one(store::BuildRow& row, const std::string& ran) {
  const plan::Build& build = experiment_->expanded().builds.all()[static_cast<size_t>(row.index)];
  BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
  bool as_measured = false;
  if (!ran.empty()) {
    STAB_TRY(as_measured, is_as_measured(row, build));
  }
  if (as_measured) {
    if (needs_directory(build)) binary.directory = build_directory(place_, row.input_hash);
    binary.sha256 = ran;
    return true;
  }
  if (needs_directory(build)) {
    experiment_->observer().phase("building " + build.name);
    const GateOpen open(experiment_->gate());
    STAB_CHECK_OK(make_build(machine_->lab(), place_, program_of(build), build, row));
    binary.directory = build_directory(place_, row.input_hash);
  } else {
    row.state = store::BuildState::kDone;
  }
  if (row.state == store::BuildState::kDone) {
    STAB_TRY(const bool same, identify(row, build, ran));
    if (!same) return false;
  }
  const bool failed = row.state == store::BuildState::kFailed;
  if (failed && experiment_->stop().asked()) return false;
  STAB_CHECK_OK(experiment_->store().update_build(row));
  if (failed) STAB_CHECK_OK(experiment_->reject("build '" + build.name + "' failed:\n" + row.log));
  return !failed;
}

const plan::Program& ExperimentBuilds::program_of(const plan::Build& build) const {
  return experiment_->plan().programs[static_cast<size_t>(build.program)];
}

// Finds what the first workload runs, and its hash; where nothing is found the build has failed. False: it is not what the
// recorded trials ran, and the experiment is paused: once the binary is back, it can go on.
Result<bool> ExperimentBuilds::identify(store::BuildRow& row, const plan::Build& build, const std::string& ran) {
  BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
  const plan::Cell& cell = experiment_->expanded().design.cells[static_cast<size_t>(build.cell)];
  const std::string word = plan::substitute(program_of(build).workloads[0].run, experiment_->plan(), cell, build.link).argv[0];
  const auto [path, hash] = [&] {
    const GateOpen open(experiment_->gate());
    auto found = find_program(place_, binary.directory, word);
    auto content = found ? hash_of(machine_->worker(), *found) : Result<std::string>(found.error());
    return std::pair{std::move(found), std::move(content)};
  }();
  if (!hash && says_nothing(hash.error())) return hash.error();
  if (!hash) {
    row.state = store::BuildState::kFailed;
    row.log += hash.error().message + "\n";
    return true;
  }
  if (!ran.empty() && *hash != ran) {
    STAB_CHECK_OK(experiment_->reject(not_what_ran(*path, *hash, ran, archive_beside(experiment_->options().database)),
                                      store::ExperimentEvent::kPause));
    return false;
  }
  row.binary_path = *path;
  row.binary_sha256 = *hash;
  binary.sha256 = *hash;
  if (const Status kept = keep_in_archive(row); !kept)
    experiment_->note("'" + row.binary_path + "' is not archived: " + kept.error().message);
  return true;
}

// Best effort: without its copy a trial can be repeated only as long as the build is there.
Status ExperimentBuilds::keep_in_archive(const store::BuildRow& row) {
  const Archive archive(archive_beside(experiment_->options().database));
  if (archive.has(row.binary_sha256)) return {};
  const GateOpen open(experiment_->gate());
  STAB_TRY(const worker::Look::Answer seen, machine_->worker().ask(worker::Look{row.binary_path}));
  STAB_TRY(const UniqueFd room, room_for(seen.bytes));
  STAB_TRY(const worker::Done copied, machine_->worker().ask(worker::CopyFile{row.binary_path, seen.bytes}, room.get()));
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
Result<bool> ExperimentBuilds::take_archived() {
  STAB_TRY(const std::vector<store::BuildRow> rows, experiment_->store().builds(experiment_->id()));
  binaries_.assign(rows.size(), {experiment_->row().plan_directory, "", ""});
  for (const store::BuildRow& row : rows) {
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (!row.input_hash.empty()) binary.directory = build_directory(place_, row.input_hash);
    const auto archived = Archive(archive_beside(experiment_->options().database)).find(row.binary_sha256);
    if (!archived) {
      STAB_CHECK_OK(experiment_->reject("build '" + row.name + "': " + archived.error().message));
      return false;
    }
    binary.run_instead = *archived;
    binary.sha256 = row.binary_sha256;
  }
  return true;
}

// Nothing is built: a layout is that of one binary, and what its source gives today may be another.
Result<bool> ExperimentBuilds::take_replayed() {
  const plan::LayoutReplay& how = *experiment_->plan().layout.replay;
  const auto reject = [&](const std::string& why) -> Result<bool> {
    STAB_CHECK_OK(experiment_->reject(why));
    return false;
  };
  const auto of = replayed_experiment(experiment_->store(), experiment_->row(), how);
  if (!of) return reject(of.error().message);
  STAB_TRY(std::vector<store::BuildRow> rows, experiment_->store().builds(experiment_->id()));
  std::vector<std::string> first_words;
  const auto measured = replayed_builds(experiment_->store(), *of, how, experiment_->plan(), first_words);
  if (!measured) return reject(measured.error().message);
  binaries_.assign(rows.size(), {experiment_->row().plan_directory, "", ""});
  for (store::BuildRow& row : rows) {
    const auto index = static_cast<size_t>(row.index);
    if (index >= measured->size()) return Error{ErrorCode::kCorrupt, "a replay has a build that its plan doesn't make", {}};
    const store::BuildRow& then = (*measured)[index];
    BuiltBinary& binary = binaries_[index];
    if (!then.input_hash.empty()) binary.directory = build_directory(place_, then.input_hash);
    binary.sha256 = then.binary_sha256;
    const bool is_there = [&] {
      const GateOpen open(experiment_->gate());
      const auto same = has_recorded_binary(machine_->worker(), then);
      return same && *same;
    }();
    if (!is_there) {
      const plan::Build& build = experiment_->expanded().builds.all()[index];
      const plan::Cell& cell = experiment_->expanded().design.cells[static_cast<size_t>(build.cell)];
      const plan::Command run = plan::substitute(program_of(build).workloads[0].run, experiment_->plan(), cell, build.link);
      const auto archived = Archive(archive_beside(experiment_->options().database)).find(then.binary_sha256);
      // A program's other workloads may run another file of its build than the one that was archived.
      if (!archived || run.argv[0] != first_words[index])
        return reject("'" + then.binary_path + "' is gone or has changed (sha256 " + then.binary_sha256.substr(0, 16) +
                      " then), and " + (archived ? "'" + run.argv[0] + "' is not archived" : archived.error().message) +
                      ": put it back as it was; another binary has other layouts");
      binary.run_instead = *archived;
      experiment_->note("'" + then.binary_path + "' is gone or has changed; its archived copy runs");
    }
    row.state = store::BuildState::kDone;
    row.input_hash = then.input_hash;
    row.binary_path = then.binary_path;
    row.binary_sha256 = then.binary_sha256;
    STAB_CHECK_OK(experiment_->store().update_build(row));
  }
  return true;
}

// What was measured then, whatever its source has become: the build of the same inputs where it still has the
// recorded binary, else the archived one. Nothing of this is stored.
Status ExperimentBuilds::find_recorded(int wanted) {
  STAB_TRY(const std::vector<store::BuildRow> rows, experiment_->store().builds(experiment_->id()));
  binaries_.assign(rows.size(), {experiment_->row().plan_directory, "", ""});
  for (const store::BuildRow& row : rows) {
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (!row.input_hash.empty()) binary.directory = build_directory(place_, row.input_hash);
    const GateOpen open(experiment_->gate());
    STAB_TRY(const bool is_there, has_recorded_binary(machine_->worker(), row));
    if (is_there) continue;
    const auto archived = Archive(archive_beside(experiment_->options().database)).find(row.binary_sha256);
    if (!archived && row.index == wanted)
      return Error{
          archived.error().code, "'" + row.binary_path + "' is not what was measured, and " + archived.error().message, {}};
    if (!archived) continue;
    binary.run_instead = *archived;
    if (row.index == wanted) experiment_->note("'" + row.binary_path + "' is gone or has changed; its archived copy runs");
  }
  return {};
}

}  // namespace stab::engine
