// What keeps a profile from being empty without a word: each step that may find nothing says what it found instead, and what to
// do.
#include "stabd/engine/experiment/causal_profile.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "base/printable.h"
#include "plan/control_windows.h"
#include "plan/schedule.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/experiment/line_query.h"
#include "stabd/engine/experiment/pilot_arrivals.h"
#include "stabd/engine/experiment/trial_runner.h"
#include "stabd/lines/wire/source_pattern.h"

namespace stab::engine {
namespace {

// Fewer don't tell one line from another.
constexpr uint64_t kLeastSamples = 100;
// COZ doubles an experiment below 5 visits; below 20 the spread of a window's visits is half of its value's.
constexpr uint64_t kLeastVisits = 20;
constexpr uint64_t kMostProlonged = 8;
// A line with a hundredth of the time has two samples in so many periods.
constexpr uint64_t kSkipLookPeriods = 200;
// Kind of log lines, so that an experiment that goes on knows which libraries it had.
constexpr char kCausalModule[] = "causal-module";

std::string stream_of(const std::string& subject, const std::string& cell) { return "causal " + subject + " " + cell; }

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "'" : ", '") + word + "'";
  return text;
}

plan::CausalRegions counts_of(const std::vector<store::RegionRow>& rows) {
  plan::CausalRegions counts;
  for (const store::RegionRow& row : rows) {
    if (row.candidate) ++counts.candidates;
    else counts.others.push_back(static_cast<uint64_t>(std::max<int64_t>(row.pilot_samples, 0)));
  }
  return counts;
}

bool has_windows(const store::TrialRow& trial) {
  return trial.kind == store::TrialKind::kMain || trial.kind == store::TrialKind::kReplay;
}

std::string share_text(uint64_t part, uint64_t whole) {
  return std::to_string(part * 100 / std::max<uint64_t>(whole, 1)) + " %";
}

}  // namespace

lines::Request CausalProfile::question() const {
  lines::Request request;
  request.unit = static_cast<uint32_t>(plan().unit == plan::Causal::Unit::kFunction ?
      lines::Unit::kFunction : lines::Unit::kLine);
  request.attribution =
      static_cast<uint32_t>(plan().attribute == plan::Causal::Attribute::kLeaf ?
          lines::Attribution::kLeaf : lines::Attribution::kCall);
  request.scope = plan().scope;
  return request;
}

Result<lines::Answer> CausalProfile::ask(const lines::Request& request) const {
  return ask_for_lines(machine_->lab(), machine_->submitter(), experiment_->options().installation.lines, request);
}

Status CausalProfile::load() {
  STAB_TRY(const std::vector<store::RegionRow> rows, experiment_->store().regions(experiment_->id()));
  for (const store::RegionRow& row : rows) regions_[row.subject].push_back(row);
  if (rows.empty()) return {};
  STAB_TRY(const std::vector<store::EventRow> events, experiment_->store().events(experiment_->id()));
  controls_ = control_trials_of(events);
  for (const store::EventRow& event : events) {
    const size_t blank = event.text.find(' ');
    if (event.kind != kCausalModule || blank == std::string::npos) continue;
    libraries_[std::atoi(event.text.c_str())].push_back(event.text.substr(blank + 1));
  }
  return {};
}

Status CausalProfile::repeat(store::Id original) {
  STAB_CHECK_OK(load());
  STAB_TRY(const std::vector<store::CausalTrialRow> trials, experiment_->store().causal_trials(experiment_->id()));
  const auto found = std::find_if(trials.begin(), trials.end(), [&](const auto& one) { return one.trial == original; });
  if (found == trials.end() || found->run.windows.empty())
    return bad_input("trial " + std::to_string(original) + " has no window, so there is none to repeat: it ended before its "
                     "first one, or is no recorded main trial");
  repeated_ = found->run.windows.front().position;
  return {};
}

Result<bool> CausalProfile::add_controls() {
  if (controls_) return false;
  STAB_TRY(controls_, add_control_trials(*experiment_));
  return controls_->blocks > 0;
}

Result<bool> CausalProfile::find_regions(TrialRunner& runner) {
  STAB_CHECK_OK(load());
  for (int subject = 0; subject < static_cast<int>(experiment_->expanded().subjects.size()); ++subject) {
    if (regions_.count(subject) > 0) continue;
    const std::string& name = experiment_->expanded().subjects[static_cast<size_t>(subject)].name;
    experiment_->observer().phase("pilot: sampling " + name);
    Seen seen;
    STAB_TRY(std::string why_not, pilot(runner, subject, seen));
    if (experiment_->stop().asked()) return false;
    if (why_not.empty()) why_not = why_no_windows(seen);
    if (why_not.empty() && is_load()) {
      const LoadArrivals arrivals = arrivals_of(plan(), seen.points);
      begins_arrive_[subject] = arrivals.begins_arrive;
      why_not = arrivals.why_not;
    }
    std::vector<store::RegionRow> regions;
    if (why_not.empty() && !is_load()) {
      const GateOpen open(experiment_->gate());
      Result<std::string> chosen = choose(subject, seen, regions);
      const bool is_said = chosen || chosen.error().code == ErrorCode::kBadInput || chosen.error().code == ErrorCode::kCorrupt;
      if (!is_said) return chosen.error();
      why_not = chosen ? *chosen : chosen.error().message;
    }
    if (!why_not.empty()) {
      STAB_CHECK_OK(experiment_->reject((is_load() ? "no amplified load of " : "no causal profile of ") + name + ": " + why_not));
      return false;
    }
    if (is_load()) continue;
    STAB_CHECK_OK(experiment_->store().put_regions(experiment_->id(), subject, regions));
    for (const lines::Module& module : seen.samples.modules()) {
      if (std::find(seen.executables.begin(), seen.executables.end(), module.path) != seen.executables.end()) continue;
      STAB_CHECK_OK(experiment_->log(kCausalModule, std::to_string(subject) + " " + module.path));
      libraries_[subject].push_back(module.path);
    }
    const size_t candidates = counts_of(regions).candidates;
    std::string text = name + ": " + std::to_string(seen.samples.all()) + " samples in pilot trials, " +
                       share_text(seen.samples.in_modules(), seen.samples.all()) + " in the plan's modules; " +
                       std::to_string(candidates) + (candidates == 1 ? " candidate, " : " candidates, first ") +
                       one_line(words_of(regions.front()));
    for (const std::string& word : seen.degradations) text += "; " + word;
    STAB_CHECK_OK(experiment_->note_and_log(kCausalPilot, text));
    regions_[subject] = std::move(regions);
  }
  return true;
}

Result<std::string> CausalProfile::pilot(TrialRunner& runner, int subject, Seen& seen) {
  const ExpandedPlan& expanded = experiment_->expanded();
  for (const store::NewTrial& planned : rows_of(expanded, plan::make_preflight(expanded.plan, expanded.design))) {
    if (planned.subject != subject) continue;
    for (int run = 0; run < plan().pilot && !experiment_->stop().asked(); ++run) {
      store::TrialRow trial;
      static_cast<store::NewTrial&>(trial) = planned;
      trial.experiment = experiment_->id();
      trial.kind = store::TrialKind::kWarmup;
      trial.seed += static_cast<uint64_t>(run);
      CausalRecord record;
      std::string executable;
      STAB_TRY(const store::Outcome outcome, runner.run_pilot(trial, record, executable));
      if (experiment_->stop().asked()) return std::string();
      if (outcome.state != store::TrialState::kVerified) return "a pilot trial failed: " + outcome.failure;
      seen.samples.add(record, executable, plan().modules);
      if (std::find(seen.executables.begin(), seen.executables.end(), executable) == seen.executables.end())
        seen.executables.push_back(executable);
      for (const CausalRecord::Point& point : record.points) {
        const auto same = [&](const CausalRecord::Point& one) { return one.name == point.name && one.kind == point.kind; };
        if (std::none_of(seen.points.begin(), seen.points.end(), same)) seen.points.push_back(point);
      }
      for (const std::string& word : record.degradations)
        if (std::find(seen.degradations.begin(), seen.degradations.end(), word) == seen.degradations.end())
          seen.degradations.push_back(word);
      const uint64_t run_ns = record.state.run_ns;
      seen.shortest_ns = seen.shortest_ns == 0 ? run_ns : std::min(seen.shortest_ns, run_ns);
    }
  }
  return std::string();
}

// What windows need besides lines.
std::string CausalProfile::why_no_windows(const Seen& seen) const {
  const double seconds = static_cast<double>(seen.shortest_ns) / 1e9;
  if (plan().experiments == plan::Causal::Experiments::kTrials) return {};
  std::vector<std::string> names;
  for (const CausalRecord::Point& point : seen.points) names.push_back(point.name);
  if (names.empty())
    return "it visited no progress point, so nothing says how fast it is: write STAB_PROGRESS(\"name\") (stab/progress.h) or "
           "COZ_PROGRESS (stab/coz.h) where a piece of work is done, or measure whole runs by experiments = \"trials\" below "
           "[causal]; what it executes is not profiled, so where it is a shell or a script name the program itself";
  for (const auto* wanted : {&plan().progress, &plan().latency})
    for (const std::string& name : *wanted)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return "it never visited the point '" + name + "'; it visited " + list_of(names);
  const double window = static_cast<double>((plan().window + plan().cooloff).count()) / 1e9;
  if (seconds < 2 * window)
    return "it runs for " + number_text(seconds) + " s, and a window takes " +
           number_text(window) +
           " s: give it more work, write a shorter window, or measure whole runs by experiments = \"trials\"";
  return {};
}

Result<std::string> CausalProfile::choose(int subject, const Seen& seen, std::vector<store::RegionRow>& regions) {
  const PilotSamples& samples = seen.samples;
  lines::Request request = question();
  request.modules = samples.modules();
  request.places = samples.places();
  if (request.modules.empty())
    for (const std::string& path : seen.executables) request.modules.push_back({path, {}});
  STAB_TRY(const lines::Answer answer, ask(request));
  const auto with_lines = [](const lines::ModuleRead& module) {
    return module.reading == static_cast<uint32_t>(lines::Reading::kLines);
  };
  if (std::none_of(answer.modules.begin(), answer.modules.end(), with_lines)) return answer.modules.front().why;
  if (!plan().lines.empty()) {
    regions = regions_of_plan(plan());
    for (const std::string& executable : seen.executables) {
      STAB_TRY(const Code code, (regions_[subject] = regions, code_of(subject, executable)));
      for (const store::RegionRow& region : regions) {
        const bool has_code = std::any_of(code.ranges.begin(), code.ranges.end(),
                                          [&](const causal::Range& range) { return range.region == region.number; });
        if (has_code) continue;
        regions_.erase(subject);
        return "candidate '" + words_of(region) + "' has no code in '" + executable +
               "': the compiler may have left the line without any; choose a line that a profile shows, or unit = \"function\"";
      }
    }
    regions_.erase(subject);
    return std::string();
  }
  if (samples.all() < kLeastSamples)
    return "its pilot trials had " + std::to_string(samples.all()) + " samples, at least " + std::to_string(kLeastSamples) +
           " are needed: give it more work, more pilot trials, or a shorter sampling";
  regions = regions_by_samples(answer, samples.counts(), plan().candidates, plan().explore > 0 ? plan::kMostOthers : 0);
  if (!regions.empty()) return std::string();
  if (samples.places().empty())
    return "none of its samples lie in the modules of the plan: they are in " + samples.elsewhere() +
           "; name the libraries that count below modules";
  request.scope = {"%", "/%"};
  STAB_TRY(const lines::Answer everywhere, ask(request));
  const std::vector<store::RegionRow> elsewhere = regions_by_samples(everywhere, samples.counts(), 3, 0);
  if (elsewhere.empty()) return std::string("the code that it runs has no lines: build all of it with -g");
  std::string text = "none of its samples lie in the sources of scope = [" + list_of(plan().scope) + "]; most lie in ";
  for (const store::RegionRow& row : elsewhere) text += (&row == &elsewhere.front() ? "" : ", ") + words_of(row);
  return text;
}

Result<CausalProfile::Code> CausalProfile::code_of(int subject, const std::string& executable) {
  const std::vector<store::RegionRow>& regions = regions_[subject];
  lines::Request request = question();
  if (is_wanted_module(plan().modules, executable, executable)) request.modules.push_back({executable, {}});
  for (const std::string& library : libraries_[subject]) request.modules.push_back({library, {}});
  request.whole_scope = true;
  std::vector<uint32_t> numbers;
  for (const store::RegionRow& region : regions) {
    request.wanted.push_back(as_wanted(region, plan().unit));
    numbers.push_back(region.number);
  }
  Code code;
  if (request.modules.empty()) return code;
  STAB_TRY(const lines::Answer answer, ask(request));
  for (size_t i = 0; i < request.modules.size(); ++i)
    code.modules.push_back({request.modules[i].path, answer.modules[i].build_id});
  STAB_TRY(code.ranges, ranges_of(answer, numbers));
  code.flags = causal::kScriptCallers;
  if (code.ranges.size() > causal::kMaxRanges) {
    // Without the rest of the scope nobody looks for callers: what a library does for a line is not the line's then.
    std::erase_if(code.ranges, [](const causal::Range& range) { return range.region == causal::kNoRegion; });
    code.flags = 0;
    experiment_->note("the sources in scope are too many pieces of code, so time in other code isn't counted for the line that "
                      "calls it; name fewer sources in scope");
  }
  if (code.ranges.size() > causal::kMaxRanges)
    return bad_input("the candidates are " + std::to_string(code.ranges.size()) + " pieces of code, at most " +
                     std::to_string(causal::kMaxRanges) + " are possible; write fewer candidates, or explore = \"0%\"");
  return code;
}

// Behind the last place of the plan's list that a recorded trial has used.
Result<int64_t> CausalProfile::next_of_plan(store::Store& store, const store::TrialRow& trial) const {
  STAB_TRY(const std::vector<store::CausalTrialRow> trials, store.causal_trials(experiment_->id()));
  int64_t next = 0;
  for (const store::CausalTrialRow& one : trials) {
    if (one.subject != trial.subject || one.cell != trial.cell) continue;
    for (const store::WindowRow& window : one.run.windows)
      if (window.position < static_cast<int64_t>(plan::kFirstControlWindow)) next = std::max(next, window.position + 1);
  }
  return next;
}

Status CausalProfile::look_up_position(const store::TrialRow& trial) {
  positions_.clear();
  if (trial.kind == store::TrialKind::kReplay) positions_[trial.id] = repeated_;
  if (trial.kind != store::TrialKind::kMain) return {};
  store::Store& store = experiment_->store();
  STAB_TRY(int64_t next, store.next_window(experiment_->id(), trial.subject, trial.cell));
  // Where there are control trials, two lists.
  const auto first_control = static_cast<int64_t>(plan::kFirstControlWindow);
  const bool is_control = controls_ && controls_->has(trial.block);
  if (is_control && next < first_control) next = first_control;
  if (!is_control && next > first_control) {
    STAB_TRY(next, next_of_plan(store, trial));
  }
  positions_[trial.id] = next;
  return {};
}

// Baseline windows, one behind the other, as many as its time is good for.
void CausalProfile::script_of_load(const store::TrialRow& trial, CausalScript& script) const {
  constexpr int64_t kWindowsInBlock = 8;
  const plan::Cell& cell = experiment_->cell_of(trial);
  const auto begins = begins_arrive_.find(trial.subject);
  script.load_permille = cell.load_permille;
  if (begins != begins_arrive_.end() && begins->second) script.flags |= causal::kScriptBeginsArrive;
  const auto timeout = experiment_->expanded().workload_of(trial.subject).timeout;
  const uint64_t windows = std::min<uint64_t>(causal::kMaxArms, static_cast<uint64_t>(timeout / plan().window) + 1);
  script.arms.assign(windows, {causal::ArmKind::kBaseline, 0, 0, 0});
  script.arms_in_block = kWindowsInBlock;
}

Result<CausalScript> CausalProfile::script_of(const store::TrialRow& trial, const std::string& executable) {
  CausalScript script;
  const plan::Cell& cell = experiment_->cell_of(trial);
  script.period_ns = static_cast<uint64_t>(plan::drawn_period(plan(), trial.seed).count());
  script.window_ns = static_cast<uint64_t>(plan().window.count());
  script.cooloff_ns = static_cast<uint64_t>(plan().cooloff.count());
  script.pauses = static_cast<causal::Pauses>(plan().pauses);
  if (is_load()) {
    if (trial.kind == store::TrialKind::kMain) script_of_load(trial, script);
    return script;
  }
  const auto key = std::pair(trial.subject, executable);
  if (code_.count(key) == 0) {
    STAB_TRY(Code code, code_of(trial.subject, executable));
    // Those of a pilot know no lines yet.
    if (!has_windows(trial)) {
      script.modules = std::move(code.modules);
      script.ranges = std::move(code.ranges);
      script.flags = code.flags;
      return script;
    }
    code_[key] = std::move(code);
  }
  const Code& code = code_[key];
  script.modules = code.modules;
  script.ranges = code.ranges;
  script.flags = code.flags;
  if (!has_windows(trial)) return script;

  if (plan().blocked_io) script.flags |= causal::kScriptBlockedIo;
  if (plan().blocked_sleep) script.flags |= causal::kScriptBlockedSleep;
  if (plan().blocked_lock) script.flags |= causal::kScriptBlockedLock;
  if (plan::asks_for_layouts(cell)) script.flags |= causal::kScriptLayouts;
  const plan::CausalRegions regions = counts_of(regions_[trial.subject]);
  script.region_count = regions.candidates + static_cast<uint32_t>(regions.others.size()) + 1;
  const auto position = positions_.find(trial.id);
  if (position == positions_.end()) return Error{ErrorCode::kInternal, "a causal trial whose place in the list is not known", {}};
  script.first_position = position->second;
  const bool is_control = script.first_position >= static_cast<int64_t>(plan::kFirstControlWindow);
  script.arms_in_block =
      static_cast<int64_t>(is_control ? plan::kControlBlock : plan::arms_in_block(plan(), regions));
  // As many as its time is good for, and as many again that may be skipped.
  const auto timeout = experiment_->expanded().workload_of(trial.subject).timeout;
  const bool whole = plan().experiments == plan::Causal::Experiments::kTrials;
  const uint64_t windows = whole ? 1
                                 : std::min<uint64_t>(causal::kMaxArms,
                                                      2 * static_cast<uint64_t>(timeout / plan().window) + 1000);
  if (whole) {
    script.window_ns = 3'600'000'000'000;
  } else {
    script.least_visits = kLeastVisits;
    script.most_prolonged = kMostProlonged;
    script.skip_look_ns = std::max(script.window_ns, kSkipLookPeriods * script.period_ns);
  }
  const std::string stream =
      stream_of(experiment_->expanded().subjects[static_cast<size_t>(trial.subject)].name, cell.name);
  const auto list = is_control ? plan::control_arms_from : plan::arms_from;
  static_assert(static_cast<uint32_t>(causal::ArmKind::kSlowdown) == static_cast<uint32_t>(plan::CausalArmKind::kSlowdown));
  for (const plan::CausalArm& arm : list(plan(), experiment_->plan().experiment.seed, stream,
                                         static_cast<uint64_t>(script.first_position), windows, regions))
    script.arms.push_back({static_cast<causal::ArmKind>(arm.kind), arm.region, arm.permille, 0});
  return script;
}

}  // namespace stab::engine
