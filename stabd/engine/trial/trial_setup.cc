// Cells must not differ in the size of argv, environment, exec path or directory (docs/explanation/how-a-run-is-measured.md), so
// all of a workload's cells are laid out beforehand and padded to the longest. What the plan makes longer on purpose,
// env_size, comes on top.
#include "stabd/engine/trial/trial_setup.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "plan/input_names.h"
#include "plan/layout_confirmation.h"
#include "plan/layout_scripts.h"
#include "plan/matched_layouts.h"
#include "plan/schedule.h"
#include "stabd/engine/trial/simulated.h"

namespace stab::engine {
namespace {

bool knob_is_off(const plan::Plan& plan, const char* knob) {
  const auto at = plan.machine.knobs.find(knob);
  return at != plan.machine.knobs.end() && at->second == "off";
}

// The file whose identity counts: what a simulator executes, not the simulator.
const std::string& program_of(const host::LaunchRequest& launch) {
  return launch.program_path.empty() ? launch.exec_path : launch.program_path;
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
  if (expanded.plan.counters.simulation.on()) {
    STAB_TRY(setup.simulation_, with_caches_of_machine(expanded.plan.counters.simulation, host::Roots()));
    STAB_TRY(setup.valgrind_, find_valgrind(place));
  }
  const auto preloads = [](const plan::Program& program) { return program.preload_heap || program.preload_libraries; };
  if (std::any_of(expanded.plan.programs.begin(), expanded.plan.programs.end(), preloads))
    STAB_CHECK_OK(host::check_preloaded_parts(place.installation));
  const int links = std::max(1, expanded.plan.link.seeds + 1);
  for (size_t subject = 0; subject < expanded.subjects.size(); ++subject) {
    uint64_t longest = 0;
    for (const plan::Cell& cell : expanded.design.cells) {
      for (int link = 0; link < links; ++link) {
        const int build = expanded.builds.of(expanded.subjects[subject].program, cell.index, link);
        if (build < 0) continue;
        STAB_TRY(const host::LaunchRequest launch,
                 setup.launch_of(static_cast<int>(subject), cell.index, build, link, trial_directory));
        longest = std::max(longest, stack_top_bytes(launch));
        const std::string& path = program_of(launch);
        if (setup.seen_.count(path) > 0) continue;
        STAB_TRY(const worker::Look::Answer seen, place.worker->ask(worker::Look{path}));
        setup.seen_[path] = seen;
        setup.look_for_libraries(launch);
      }
    }
    setup.stack_top_.push_back(longest);
  }
  setup.read_programs_anew();
  return setup;
}

// A program that can't be read, but run, has none that we know of.
void TrialSetup::look_for_libraries(const host::LaunchRequest& launch) {
  constexpr std::string_view kVariable = "LD_LIBRARY_PATH=";
  worker::OwnLibraries request{program_of(launch), "", launch.directory};
  for (const std::string& entry : launch.env) {
    if (entry.starts_with(kVariable)) request.search_path = entry.substr(kVariable.size());
  }
  const auto found = place_.worker->ask(request);
  if (!found.ok()) return;
  look_at_files(*place_.worker, found->paths, libraries_);
}

// So that all programs and their libraries lie alike in the page cache, as what was read from a disk does. Where all together
// are too long, none is.
void TrialSetup::read_programs_anew() const {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  uint64_t bytes = 0;
  for (const auto* files : {&seen_, &libraries_}) {
    for (const auto& [path, seen] : *files) bytes += seen.bytes;
  }
  if (bytes > kMostBytes) return;
  if (read_files_anew(*place_.worker, seen_)) read_files_anew(*place_.worker, libraries_);
}

Result<host::LaunchRequest> TrialSetup::launch_of(int subject, int cell, int build, int link,
                                                  const std::string& directory) const {
  const plan::Plan& plan = expanded_->plan;
  const plan::Program& program = expanded_->program_of(subject);
  const plan::Workload& workload = expanded_->workload_of(subject);
  const plan::Cell& of = expanded_->design.cells[static_cast<size_t>(cell)];
  host::LaunchRequest launch;
  launch.argv = plan::substitute(workload.run, plan, of, link).argv;
  const BuiltBinary& binary = binaries_[static_cast<size_t>(build)];
  if (!binary.run_instead.empty() && workload.run.argv[0] == program.workloads[0].run.argv[0]) {
    launch.exec_path = binary.run_instead;
  } else {
    std::string& found = programs_[{binary.directory, launch.argv[0]}];
    if (found.empty()) {
      STAB_TRY(found, find_program(place_, binary.directory, launch.argv[0]));
    }
    launch.exec_path = found;
  }
  const std::string cwd = plan::substitute(workload.cwd, plan, of, link);
  launch.directory = cwd.empty() ? directory : cwd.starts_with('/') ? cwd : directory + "/" + cwd;
  launch.env = {std::string("PATH=") + kSearchPath, "HOME=" + directory, "LC_ALL=C.UTF-8"};
  if (program.preload_heap) launch.env.push_back("LD_PRELOAD=" + place_.installation.heap);
  if (program.preload_libraries) launch.env.push_back("LD_PRELOAD=" + place_.installation.host);
  for (const auto& [key, value] : workload.env)
    launch.env.push_back(key + "=" + plan::substitute(value, plan, of, link));
  launch.aslr = !knob_is_off(plan, "aslr");
  launch.thp = !knob_is_off(plan, "thp");
  launch.submitter = place_.submitter;
  if (program.stack_limit_bytes > 0)
    launch.limits.push_back({RLIMIT_STACK, program.stack_limit_bytes, program.stack_limit_bytes});
  if (valgrind_.empty()) return launch;
  const size_t number = simulated_.try_emplace(launch.exec_path, simulated_.size()).first->second;
  STAB_TRY(const std::string path, path_of_constant_length(directory, number, launch.argv[0], launch.exec_path));
  put_under_cachegrind(simulation_, valgrind_, directory, path, launch);
  return launch;
}

Result<TrialRequest> TrialSetup::request(const store::NewTrial& trial, const std::string& directory) const {
  const plan::Program& program = expanded_->program_of(trial.subject);
  const plan::Workload& workload = expanded_->workload_of(trial.subject);
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  TrialRequest request;
  STAB_TRY(request.launch, launch_of(trial.subject, trial.cell, trial.build, trial.link, directory));
  // The launcher looks, as the submitter.
  const auto seen = seen_.find(program_of(request.launch));
  request.launch.must_be.emplace();  // no file that there is
  if (seen != seen_.end())
    request.launch.must_be = host::FileIdentity{seen->second.inode, seen->second.bytes, seen->second.modified_ns};
  request.layout = cell.layout;
  request.simulation = simulation_;
  request.simulated_directory = directory;
  request.needs_region = expanded_->plan.has_response("region_time");
  request.throughputs = expanded_->plan.throughputs();
  request.keeps_throughput = trial.pass == 0;  // as for wall_time
  request.keeps_epochs = expanded_->plan.experiment.record_epochs;
  if (expanded_->plan.experiment.record_samples) request.helper_switches |= helper::kTellSamples;
  if (expanded_->plan.layout.long_loops) request.helper_switches |= helper::kLeadLoops;
  request.script = plan::script_of_trial(expanded_->plan, program, cell.layout.code);
  const auto counted = counted_.find({trial.subject, trial.build});
  request.script = plan::mapping_script(expanded_->plan.layout, expanded_->subjects[static_cast<size_t>(trial.subject)].name,
                                        trial.build, cell.layout.code,
                                        counted == counted_.end() ? std::vector<std::string>() : counted->second,
                                        std::move(request.script));
  const int program_index = expanded_->subjects[static_cast<size_t>(trial.subject)].program;
  if (const auto matched = matched_.find(program_index); matched != matched_.end()) {
    request.script = plan::matched_script(cell.layout, matched->second.line, std::move(request.script));
    if (plan::is_placed_by_table(cell.layout.code)) request.match_rows = matched->second.rows;
  }
  request.seed = trial.seed;
  if (!workload.stdin_path.empty()) {
    const std::string name = plan::substitute(workload.stdin_path, expanded_->plan, cell, trial.link);
    request.stdin_paths = input_paths(place_, binaries_[static_cast<size_t>(trial.build)].directory, name);
    // In the trial's directory, where inputs and prepare put it; else as an input is found.
    if (name[0] != '/') request.stdin_paths.insert(request.stdin_paths.begin(), directory + "/" + name);
  }
  request.timeout = workload.timeout;
  request.output_limit_bytes = program.output_limit_bytes;
  request.expect = workload.expect;
  if (trial.pass == 0) request.metrics = workload.metrics;  // as for wall_time, other passes are no replicates of their own
  request.events = passes_[static_cast<size_t>(trial.pass) % passes_.size()];
  request.events_together = expanded_->plan.counters.sharing == plan::CounterSharing::kPasses;
  request.stack_top_bytes = stack_top_[static_cast<size_t>(trial.subject)];
  return request;
}

Status TrialSetup::fill_directory(const store::NewTrial& trial, const std::string& directory) const {
  const plan::Workload& workload = expanded_->workload_of(trial.subject);
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  const std::string& from = binaries_[static_cast<size_t>(trial.build)].directory;
  const std::string cwd = plan::substitute(workload.cwd, expanded_->plan, cell, trial.link);
  worker::Fill fill{directory, cwd.starts_with('/') ? std::string() : cwd, {}, kMostInputs};
  const auto send = [&]() -> Status {
    if (fill.inputs.empty() && fill.below.empty()) return {};
    STAB_TRY(const worker::Tally taken, place_.worker->ask(fill));
    fill.most.bytes -= std::min(taken.bytes, fill.most.bytes);
    fill.most.files -= std::min(taken.files, fill.most.files);
    fill.inputs.clear();
    fill.below.clear();
    return {};
  };
  size_t bytes = 0;
  for (const auto* inputs : {&expanded_->program_of(trial.subject).inputs, &workload.inputs}) {
    plan::InputNames names;
    for (const std::string& name : *inputs) {
      const std::string wanted = plan::substitute(name, expanded_->plan, cell, trial.link);
      if (const std::string why = names.why_not_beside(wanted); !why.empty())
        return bad_input(why + ": rename one, or name a directory that holds both");
      const std::string target = plan::input_name(wanted);
      if (target.empty() || target == "..")
        return bad_input("input '" + wanted + "' has no name that a trial's directory could hold: name the directory itself");
      fill.inputs.push_back({input_paths(place_, from, wanted), wanted, target});
      for (const std::string& path : fill.inputs.back().paths) bytes += path.size();
      bytes += 2 * wanted.size() + 64;
      // Many inputs are more than one packet.
      if (bytes < worker::kMaxPacketBytes / 2) continue;
      STAB_CHECK_OK(send());
      bytes = 0;
    }
  }
  return send();
}

std::optional<host::LaunchRequest> TrialSetup::prepare_request(const store::NewTrial& trial, const std::string& directory) const {
  return request_of(expanded_->program_of(trial.subject).prepare, trial, directory);
}

std::optional<host::LaunchRequest> TrialSetup::cleanup_request(const store::NewTrial& trial, const std::string& directory) const {
  return request_of(expanded_->program_of(trial.subject).cleanup, trial, directory);
}

std::optional<host::LaunchRequest> TrialSetup::request_of(const plan::Command& command, const store::NewTrial& trial,
                                                          const std::string& directory) const {
  if (command.empty()) return {};
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  host::LaunchRequest request;
  request.argv = plan::substitute(command, expanded_->plan, cell, trial.link).argv;
  const auto path = find_program(place_, binaries_[static_cast<size_t>(trial.build)].directory, request.argv[0]);
  request.exec_path = path ? *path : request.argv[0];
  request.directory = directory;
  request.env = {std::string("PATH=") + kSearchPath, "HOME=" + directory, "LC_ALL=C.UTF-8",
                 "PLAN_DIR=" + place_.plan_directory};
  request.submitter = place_.submitter;
  return request;
}

}  // namespace stab::engine
