// Cells must not differ in the size of argv, environment, exec path or directory (DESIGN 4.1), so all of a
// workload's cells are laid out beforehand and padded to the longest. What the plan makes longer on purpose,
// env_size, comes on top.
#include "stabd/trial_setup.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "plan/schedule.h"
#include "stabd/acting_as.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

bool knob_is_off(const plan::Plan& plan, const char* knob) {
  const auto at = plan.machine.knobs.find(knob);
  return at != plan.machine.knobs.end() && at->second == "off";
}

}  // namespace

TrialSetup::TrialSetup(const ExpandedPlan& expanded, BuildPlace place, std::vector<BuiltBinary> binaries,
                       std::string trial_directory)
    : expanded_(&expanded),
      place_(std::move(place)),
      binaries_(std::move(binaries)),
      trial_directory_(std::move(trial_directory)) {}

Result<TrialSetup> TrialSetup::prepare(const ExpandedPlan& expanded, const BuildPlace& place,
                                       std::vector<BuiltBinary> binaries, const std::string& trial_directory) {
  TrialSetup setup(expanded, place, std::move(binaries), trial_directory);
  const counters::Scope scope{expanded.plan.counters.kernel, false, false};
  for (const std::vector<std::string>& names : plan::counter_passes(expanded.plan.counters)) {
    STAB_TRY(auto specs, counters::resolve(names, scope));
    setup.passes_.push_back(std::move(specs));
  }
  const int links = std::max(1, expanded.plan.link.seeds + 1);
  for (size_t subject = 0; subject < expanded.subjects.size(); ++subject) {
    uint64_t longest = 0;
    for (const plan::Cell& cell : expanded.design.cells) {
      for (int link = 0; link < links; ++link) {
        const int build = expanded.builds.of(expanded.subjects[subject].program, cell.index, link);
        if (build < 0) continue;
        STAB_TRY(const LaunchRequest launch, setup.launch_of(static_cast<int>(subject), cell.index, build, link));
        longest = std::max(longest, stack_top_bytes(launch));
        if (const auto seen = look_at(launch.exec_path)) setup.seen_[launch.exec_path] = *seen;
      }
    }
    setup.stack_top_.push_back(longest);
  }
  return setup;
}

Result<LaunchRequest> TrialSetup::launch_of(int subject, int cell, int build, int link) const {
  const plan::Plan& plan = expanded_->plan;
  const plan::Program& program = expanded_->program_of(subject);
  const plan::Workload& workload = expanded_->workload_of(subject);
  const plan::Cell& of = expanded_->design.cells[static_cast<size_t>(cell)];
  LaunchRequest launch;
  launch.argv = plan::substitute(workload.run, plan, of, link).argv;
  const BuiltBinary& binary = binaries_[static_cast<size_t>(build)];
  if (!binary.run_instead.empty() && workload.run.argv[0] == program.workloads[0].run.argv[0]) {
    launch.exec_path = binary.run_instead;
  } else {
    STAB_TRY(launch.exec_path, find_program(place_, binary.directory, launch.argv[0]));
  }
  launch.directory = workload.cwd.empty() ? trial_directory_ : trial_directory_ + "/" + workload.cwd;
  launch.env = {std::string("PATH=") + kSearchPath, "HOME=" + trial_directory_, "LC_ALL=C.UTF-8"};
  for (const auto& [key, value] : workload.env)
    launch.env.push_back(key + "=" + plan::substitute(value, plan, of, link));
  launch.aslr = !knob_is_off(plan, "aslr");
  launch.thp = !knob_is_off(plan, "thp");
  launch.submitter = place_.submitter;
  if (program.stack_limit_bytes > 0)
    launch.limits.push_back({RLIMIT_STACK, program.stack_limit_bytes, program.stack_limit_bytes});
  return launch;
}

Result<TrialRequest> TrialSetup::request(const store::NewTrial& trial) const {
  const plan::Program& program = expanded_->program_of(trial.subject);
  const plan::Workload& workload = expanded_->workload_of(trial.subject);
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  TrialRequest request;
  STAB_TRY(request.launch, launch_of(trial.subject, trial.cell, trial.build, trial.link));
  request.layout = cell.layout;
  request.needs_region = expanded_->plan.has_response("region_time");
  request.seed = trial.seed;
  if (!workload.stdin_path.empty()) {
    STAB_TRY(request.stdin_path,
             find_stdin(binaries_[static_cast<size_t>(trial.build)].directory,
                        plan::substitute(workload.stdin_path, expanded_->plan, cell, trial.link)));
  }
  request.timeout = workload.timeout;
  request.output_limit_bytes = program.output_limit_bytes;
  request.expect = workload.expect;
  request.events = passes_[static_cast<size_t>(trial.pass) % passes_.size()];
  request.events_together = expanded_->plan.counters.sharing == plan::CounterSharing::kPasses;
  request.stack_top_bytes = stack_top_[static_cast<size_t>(trial.subject)];
  return request;
}

Result<std::string> TrialSetup::find_stdin(const std::string& build_directory, const std::string& name) const {
  if (name[0] != '/') {
    const ActingAs submitter(place_.submitter);
    const std::string own = trial_directory_ + "/" + name;
    if (may_access(own, R_OK)) return own;
  }
  return find_input(place_, build_directory, name);
}

Status TrialSetup::fill_directory(const store::NewTrial& trial, const std::string& directory) const {
  const plan::Workload& workload = expanded_->workload_of(trial.subject);
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  const std::string& from = binaries_[static_cast<size_t>(trial.build)].directory;
  std::vector<std::pair<std::string, std::string>> copies;
  for (const auto* inputs : {&expanded_->program_of(trial.subject).inputs, &workload.inputs}) {
    for (const std::string& name : *inputs) {
      const std::string wanted = plan::substitute(name, expanded_->plan, cell, trial.link);
      STAB_TRY(const std::string source, find_input(place_, from, wanted));
      copies.emplace_back(source, directory + "/" + fs::path(wanted).filename().string());
    }
  }
  const ActingAs submitter(place_.submitter);
  std::error_code error;
  if (!workload.cwd.empty()) fs::create_directories(directory + "/" + workload.cwd, error);
  for (const auto& [source, target] : copies) {
    fs::copy(source, target, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
    if (error) return system_error("copy input '" + source + "'", error.value());
  }
  return {};
}

std::optional<LaunchRequest> TrialSetup::around(const store::NewTrial& trial, bool before) const {
  const plan::Program& program = expanded_->program_of(trial.subject);
  const plan::Command& command = before ? program.prepare : program.cleanup;
  if (command.empty()) return {};
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  LaunchRequest request;
  request.argv = plan::substitute(command, expanded_->plan, cell, trial.link).argv;
  const auto path = find_program(place_, binaries_[static_cast<size_t>(trial.build)].directory, request.argv[0]);
  request.exec_path = path ? *path : request.argv[0];
  request.directory = trial_directory_;
  request.env = {std::string("PATH=") + kSearchPath, "HOME=" + trial_directory_, "LC_ALL=C.UTF-8",
                 "PLAN_DIR=" + place_.plan_directory};
  request.submitter = place_.submitter;
  return request;
}

std::optional<TrialSetup::Seen> TrialSetup::look_at(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return {};
  return Seen{info.st_size, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec,
              static_cast<int64_t>(info.st_ino)};
}

Status TrialSetup::check_binary(const store::NewTrial& trial) const {
  STAB_TRY(const LaunchRequest launch, launch_of(trial.subject, trial.cell, trial.build, trial.link));
  const auto before = seen_.find(launch.exec_path);
  const auto now = look_at(launch.exec_path);
  if (before != seen_.end() && now == before->second) return {};
  return Error{ErrorCode::kCorrupt, "'" + launch.exec_path + "' has changed since the experiment began", {}};
}

}  // namespace stab::engine
