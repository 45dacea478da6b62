// Carries out the actions that the trial machine asks for, and tells it what happened.
//
// Order of a trial, the same in every cell: helper, launcher up to "ready", counters on the launcher's pid (with a broker
// as soon as its number is known), the ledger's first look, go; then one blocking wait; end stamp, tree kill, wait4,
// counters, ledger, dose, output. Nothing here touches the store: the outcome is handed back when the machine says kStore. Helper
// and launcher may be started earlier than the rest (ReadyTrial): they don't need the engine until they are ready.
//
// The waiter is engine/trial/supervise.cc, the kill host/process_tree.cc, the decisions store/trial_machine.cc.
#include "engine/trial/trial_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "counters/counting_session.h"
#include "runtime/stab_abi.h"
#include "engine/causal/causal_outcome.h"
#include "engine/causal/companion.h"
#include "engine/trial/dose.h"
#include "engine/trial/epoch_series.h"
#include "engine/trial/expectation.h"
#include "engine/trial/throughput.h"
#include "engine/trial/simulated.h"
#include "engine/trial/trial_metrics.h"
#include "host/helper_process.h"
#include "host/launcher/launch_block.h"
#include "engine/trial/supervise.h"
#include "worker/named_file.h"

namespace stab::engine {

using store::TrialAction;
using store::TrialEvent;
using store::TrialState;
using store::TrialStep;

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A killed process that is not gone by then sits in the kernel: a broken device or file system. No further
// trial makes sense on that machine.
constexpr milliseconds kKillDeadline{10'000};
// What is kept of the output of a trial that did not pass.
constexpr size_t kHeadBytes = 4096;

struct Output {
  UniqueFd out, err;
};

Result<UniqueFd> memory_file(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  return fd;
}

// For the helper, which may rely on its length: nobody changes it any more.
Result<UniqueFd> script_file(const TrialRequest& request) {
  const std::string text = script_with_rows(request);
  UniqueFd fd(::memfd_create("stab-script", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return system_error("write the layout script", errno);
  return fd;
}

// A worker is the submitter's, and so may be what it hands over: asked without asking the file system that it is on,
// which may be a process of the same user's.
bool is_input(int fd) {
  struct statx info;
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &info) != 0) return false;
  return S_ISREG(info.stx_mode) || worker::is_endless_device(info.stx_mode, ::makedev(info.stx_rdev_major, info.stx_rdev_minor));
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

int64_t nanoseconds_of(const timeval& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + static_cast<int64_t>(time.tv_usec) * 1000;
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

}  // namespace

// One trial on its way through the machine.
class ReadyTrial::Run {
 public:
  Run(const Laboratory& laboratory, TrialRequest request)
      : lab_(laboratory), request_(std::move(request)), begun_(begin()) {}

  bool has_run() const { return has_run_; }

  Result<store::Outcome> to_outcome() {
    TrialStep now = step(TrialState::kPlanned, TrialEvent::kClaim);  // as the store did
    while (!has(now.actions, TrialAction::kStore)) {
      STAB_TRY(const TrialEvent event, perform(now.actions));
      const TrialStep next = step(now.state, event);
      if (!next.legal)
        return Error{ErrorCode::kInternal,
                     "trial machine: '" + std::string(name(event)) + "' in state " + std::string(name(now.state)), {}};
      now = next;
    }
    outcome_.state = now.state;
    outcome_.finished_at_ns = lab_.clock->realtime().count();
    const bool is_kept = outcome_.state != TrialState::kVerified || request_.for_comparison || request_.keeps_output;
    if (is_kept && output_.out) {
      outcome_.stdout_head = head_of_fd(output_.out.get(), kHeadBytes);
      outcome_.stderr_head = head_of_fd(output_.err.get(), kHeadBytes);
    }
    return std::move(outcome_);
  }

 private:
  // Does the actions of one step and says what happened.
  Result<TrialEvent> perform(TrialAction actions) {
    if (has(actions, TrialAction::kLaunch)) return launch();
    if (has(actions, TrialAction::kWait)) return wait();
    if (has(actions, TrialAction::kStampEnd)) outcome_.wall_ns = (end_raw_ - start_.raw).count();
    if (has(actions, TrialAction::kKillTree)) return kill_tree();
    if (has(actions, TrialAction::kCheck)) return check();
    return Error{ErrorCode::kInternal, "trial machine: nothing to do", {}};
  }

  Result<TrialEvent> launch() {
    outcome_.cpu = lab_.placement.trial_cpu;
    if (begun_) begun_ = launched_->wait_until_ready();
    if (!begun_) {
      launched_.reset();
      return not_launched(begun_.error());
    }
    if (!counters_) open_counters();
    before_ = lab_.ledger->look();
    (void)lab_.ledger->new_kernel_log_lines();
    outcome_.started_at_ns = lab_.clock->realtime().count();
    const auto stamp = launched_->go();
    if (!stamp) return not_launched(stamp.error());
    start_ = *stamp;
    has_run_ = true;
    program_ = launched_->pid();
    return TrialEvent::kLaunched;
  }

  // pre: it is known who becomes the program
  void open_counters() {
    counters_ = counters::Session::open(
        launched_->pid(), request_.events, -1, *lab_.perf,
        request_.events_together ? counters::Grouping::kTogether : counters::Grouping::kAlone);
  }

  TrialEvent not_launched(const Error& error) {
    outcome_.failure = error.message + lab_.ledger->memory_kills_since_look();
    if (error.code == ErrorCode::kCorrupt) outcome_.failure = "'" + request_.launch.exec_path + "': " + outcome_.failure;
    return says_nothing(error) ? TrialEvent::kCutOff : TrialEvent::kLaunchFailed;
  }

  // Starts helper and launcher; then: launched_ is set, or this has failed.
  Status begin() {
    lab_.tree->forget_spared();
    STAB_TRY(output_.out, memory_file("stab-stdout"));
    STAB_TRY(output_.err, memory_file("stab-stderr"));
    STAB_TRY(const UniqueFd in, open_input(lab_.worker, request_.stdin_paths));

    LaunchDescriptors descriptors{in.get(), output_.out.get(), output_.err.get(), -1, -1};
    UniqueFd program_end;
    LaunchRequest request = request_.launch;
    request.limits_of_tree = lab_.limits.trials;
    STAB_CHECK_OK(lab_.tree->admit(request));
    const bool with_helper = !lab_.helper.empty();
    request.with_helper = with_helper && request.broker != nullptr;
    request.helper_cpu = lab_.placement.housekeeping_cpu;
    request.helper_samples = with_helper && request_.keeps_samples;
    request.helper_long_loops = with_helper && request_.leads_loops;
    UniqueFd script;
    if (with_helper && !request_.script.empty()) {
      STAB_TRY(script, script_file(request_));
      descriptors.script = script.get();
    }
    if (with_helper && !request.with_helper) {
      const HelperTask task{lab_.placement.housekeeping_cpu, descriptors.script, request.helper_samples,
                            request.helper_long_loops};
      STAB_TRY(Helper started, Helper::start(lab_.helper, task, request_.launch.submitter));
      helper_.emplace(std::move(started));
      lab_.tree->spare(helper_->pid());
      program_end = helper_->take_program_end();
      descriptors.helper = program_end.get();
    }
    if (request_.causal) {
      STAB_CHECK_OK(begin_causal());
      descriptors.report = area_->fd();
    }
    request.cpu = lab_.placement.trial_cpu;
    request.env = full_environment(request_, lab_.placement.housekeeping_cpu, with_helper);
    if (!lab_.isolated_procs.empty()) request.cgroup_procs.push_back(lab_.isolated_procs);
    STAB_TRY(Launched launched, Launched::begin(lab_.launcher, request, descriptors));
    launched_.emplace(std::move(launched));
    if (request.with_helper)
      helper_.emplace(Helper::at(*request.broker, launched_->helper_pid(), launched_->take_helper_report()));
    if (request.broker != nullptr) open_counters();
    return {};
  }

  Status begin_causal() {
    STAB_TRY(AreaFile area, AreaFile::create(request_.causal->script));
    area_.emplace(std::move(area));
    if (::access(request_.causal->library.c_str(), R_OK) != 0)
      return Error{ErrorCode::kUnavailable, "'" + request_.causal->library + "' is missing; build or install all of stab", {}};
    STAB_TRY(Companion companion,
             Companion::start({lab_.launcher, request_.causal->companion, request_.launch.submitter,
                               lab_.placement.housekeeping_cpu, lab_.tree}, area_->fd()));
    companion_.emplace(std::move(companion));
    return {};
  }

  // pre: everything of the program has ended
  void finish_causal() {
    // It would wait for a program that never came.
    const auto nobody_came = [&] {
      const Result<CausalRecord> so_far = area_->read(request_.causal->script);
      return so_far && so_far->attached == 0;
    };
    const Status ended = nobody_came() ? Status() : companion_->finish();
    companion_.reset();
    Result<CausalRecord> record = area_->read(request_.causal->script);
    area_.reset();
    if (!record) {
      causal_failure_ = record.error().message;
      return;
    }
    causal_failure_ = why_not_causal(*record, request_.causal->script.load_permille != 0);
    // What it says of the program itself comes first.
    if (!ended && record->finished != causal::kNobodyCame) causal_failure_ = ended.error().message;
    causal_lost_ = !ended && record->finished == causal::kRunning;
    if (causal_failure_.empty() && request_.causal->is_kept) outcome_.causal = run_of(*record, request_.causal->script);
    if (request_.causal->record) *request_.causal->record = *std::move(record);
  }

  Result<TrialEvent> wait() {
    Watch watch{launched_->pidfd(), request_.timeout, lab_.cancel_fd,
                {output_.out.get(), output_.err.get()}, request_.output_limit_bytes, {}};
    if (helper_ && request_.on_progress)
      watch.now_and_then = [this] {
        if (const auto points = helper_->progress()) request_.on_progress(*points);
      };
    STAB_TRY(const Ending ending, wait_for_ending(watch, *lab_.clock));
    end_raw_ = ending.raw;
    if (ending.latency) outcome_.ledger["loop_latency_ns"] = static_cast<double>(ending.latency->count());
    switch (ending.event) {
      case TrialEvent::kDeadline: outcome_.failure = "still running at its timeout, killed"; break;
      case TrialEvent::kOverflow: outcome_.failure = overflow_text(); break;
      case TrialEvent::kCancel: outcome_.failure = "cancelled while it ran"; break;
      default: break;
    }
    return ending.event;
  }

  std::string overflow_text() const {
    return "more than " + std::to_string(request_.output_limit_bytes) +
           " bytes of output, killed; output_limit of the program raises this";
  }

  // Ends whatever is left of the program, then everything that was measured can be read.
  Result<TrialEvent> kill_tree() {
    if (launched_) {
      const auto migrations = migrations_of(lab_.roots, launched_->pid());
      if (migrations) outcome_.ledger["migrations"] = static_cast<double>(*migrations);
    }
    if (launched_) STAB_CHECK_OK(end_program());
    else STAB_CHECK_OK(lab_.tree->kill_all(kKillDeadline));
    if (const auto lines = lab_.ledger->new_kernel_log_lines()) outcome_.ledger["kernel_log_lines"] = static_cast<double>(*lines);
    const HostMoment after = lab_.ledger->look();
    outcome_.ledger.merge(Ledger::between(before_, after));
    machine_kills_ = memory_kills_text(before_.memory_kills, after.memory_kills);
    read_counters();
    if (helper_) finish_helper();
    if (companion_) finish_causal();
    reap_orphans();
    // A trial that was killed is checked no further, and a limit that it met may be why it was killed.
    if (const std::string met = limits_text(); !outcome_.failure.empty() && !met.empty()) outcome_.failure += "; " + met;
    return TrialEvent::kTreeGone;
  }

  Status end_program() {
    STAB_TRY(const ProcessUsage used, launched_->end(lab_.tree, kKillDeadline));
    const int status = used.status;
    const rusage& usage = used.usage;
    hits_ = used.hits;
    if (WIFEXITED(status)) outcome_.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    outcome_.user_ns = nanoseconds_of(usage.ru_utime) - start_.user.count();
    outcome_.system_ns = nanoseconds_of(usage.ru_stime) - start_.system.count();
    outcome_.max_rss_kib = usage.ru_maxrss;
    outcome_.minor_faults = usage.ru_minflt - start_.minor_faults;
    outcome_.major_faults = usage.ru_majflt - start_.major_faults;
    outcome_.voluntary_switches = usage.ru_nvcsw - start_.voluntary_switches;
    outcome_.involuntary_switches = usage.ru_nivcsw - start_.involuntary_switches;
    const auto note = [&](const char* key, const std::optional<int64_t>& value) {
      outcome_.ledger[key] = static_cast<double>(*value);
    };
    note("minor_faults", outcome_.minor_faults);
    note("major_faults", outcome_.major_faults);
    note("voluntary_switches", outcome_.voluntary_switches);
    note("involuntary_switches", outcome_.involuntary_switches);
    return {};
  }

  // Children that the program left to us, where we are their subreaper. The helper is waited for by its own class.
  void reap_orphans() {
    while (lab_.tree->number() == 0 && ::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  void read_counters() {
    if (!counters_) return;
    for (const counters::Reading& reading : counters_->read()) {
      store::ResponseRow row;
      row.name = reading.name;
      row.value = reading.value;
      row.reason = reading.reason;
      if (reading.value) {
        row.raw = static_cast<int64_t>(reading.raw);
        row.enabled_ns = static_cast<int64_t>(reading.enabled_ns);
        row.running_ns = static_cast<int64_t>(reading.running_ns);
      }
      outcome_.responses.push_back(std::move(row));
    }
    counters_.reset();
  }

  void finish_helper() {
    const Result<HelperEnd> end = helper_->finish(lab_.helper_patience);
    if (!end) {
      dose_failure_ = end.error().message;
      return;
    }
    helper_signal_ = end->signal;
    helper_given_up_ = end->given_up;
    outcome_.dose_json = end->report;
    if (helper_signal_ != 0 || end->report.empty()) return;  // empty where it was given up, too
    const Result<std::optional<Dose>> parsed = parse_dose(end->report);
    if (!parsed) {
      dose_failure_ = parsed.error().message;
      return;
    }
    dose_ = *parsed;
    if (!dose_) return;
    if (request_.keeps_epochs || request_.keeps_samples || !request_.script.empty()) keep_epochs(end->epochs);
    const std::optional<Dose>& dose = dose_;
    outcome_.layouts_built = dose->layouts_built;
    outcome_.layouts_executed = dose->layouts_executed;
    outcome_.functions_moved = dose->functions_moved;
    outcome_.functions_kept = dose->functions - dose->functions_moved;
    outcome_.helper_cpu_ns = dose->helper_cpu_ns;
  }

  // What was asked for, and the script without which layouts can't be computed again.
  void keep_epochs(std::string_view told) {
    Result<EpochSeries> epochs = parse_epochs(told);
    if (!epochs) {
      dose_failure_ = epochs.error().message;
      return;
    }
    if (!request_.keeps_epochs) {
      epochs->records.clear();
      epochs->points.clear();
    }
    if (request_.keeps_samples && !epochs->profile) dose_failure_ = "the helper has told no samples by function";
    epochs->script = request_.script;
    outcome_.epochs = encode_epochs(*epochs);
  }

  // Sizes first: what is too long is not read.
  Result<TrialEvent> check() {
    if (helper_given_up_.count() > 0) {
      outcome_.failure = "its helper lived and sent no whole dose report for " + std::to_string(helper_given_up_.count()) + " ms";
      return TrialEvent::kCutOff;
    }
    if (helper_signal_ != 0) {
      outcome_.failure = "its helper was ended by signal " + std::to_string(helper_signal_) + " (" +
                         ::sigdescr_np(helper_signal_) + ") before it reported";
      if (helper_signal_ == SIGKILL) outcome_.failure += machine_kills_;
      return TrialEvent::kCutOff;
    }
    if (hits_.outside_kills > 0 && lab_.limits.trials.memory_bytes > 0) {
      outcome_.failure = outside_kill_text();
      return TrialEvent::kCutOff;
    }
    outcome_.stdout_bytes = size_of(output_.out.get());
    outcome_.stderr_bytes = size_of(output_.err.get());
    const int64_t limit = static_cast<int64_t>(request_.output_limit_bytes);
    Result<std::string> failure = hits_.memory_kills > 0 ? limits_text() : std::string();
    if (failure->empty() && limit > 0 && std::max(*outcome_.stdout_bytes, *outcome_.stderr_bytes) > limit)
      failure = overflow_text();
    if (failure->empty()) failure = hash_and_compare();
    if (!failure) {
      if (!says_nothing(failure.error())) return failure.error();
      outcome_.failure = failure.error().message;
      return TrialEvent::kCutOff;
    }
    if (failure->empty() && causal_lost_) {
      outcome_.failure = causal_failure_;
      return TrialEvent::kCutOff;
    }
    if (failure->empty()) failure = causal_failure_;
    if (request_.for_comparison && failure->empty()) return TrialEvent::kAccepted;
    if (failure->empty()) failure = dose_failure_;
    if (failure->empty()) failure = dose_contradiction(request_.layout, dose_);
    if (failure->empty()) failure = script_contradiction(request_.script, dose_);
    if (failure->empty() && request_.needs_region) failure = region_missing(dose_);
    if (failure->empty()) failure = points_missing(request_.points, dose_);
    if (failure->empty() && request_.keeps_throughput) add_throughputs(request_.points, *dose_, outcome_);
    if (failure->empty()) return TrialEvent::kAccepted;
    outcome_.failure = *std::move(failure);
    if (request_.simulation.on() && outcome_.signal) outcome_.failure += why_ended_by(*outcome_.signal);
    // Where its tree is not bounded, that is all there is to say why.
    if (outcome_.signal == SIGKILL && hits_ == LimitHits()) outcome_.failure += machine_kills_;
    if (hits_.memory_kills == 0 && hits_.refused_processes > 0) outcome_.failure += "; " + limits_text();
    return TrialEvent::kRejected;
  }

  // What it met of its limits; empty: nothing.
  std::string limits_text() const {
    if (hits_.memory_kills > 0) return memory_kill_text(lab_.limits);
    if (hits_.outside_kills > 0) return outside_kill_text();
    return refused_processes_text(hits_, lab_.limits);
  }

  // Says what contradicts the plan; an Error only where the worker or the engine ended.
  Result<std::string> hash_and_compare() {
    for (const auto& [fd, bytes, sha256] : {std::tuple{output_.out.get(), *outcome_.stdout_bytes, &outcome_.stdout_sha256},
                                            std::tuple{output_.err.get(), *outcome_.stderr_bytes, &outcome_.stderr_sha256}}) {
      Result<std::string> hash = hash_of_output(fd, bytes, lab_.worker);
      if (!hash && says_nothing(hash.error())) return hash.error();
      if (!hash) return "output: " + hash.error().message;
      *sha256 = *std::move(hash);
    }
    const ProcessEnd end{outcome_.exit_status,   outcome_.signal,
                         output_.out.get(),      output_.err.get(),
                         outcome_.stdout_sha256, outcome_.stderr_sha256,
                         *outcome_.stdout_bytes, *outcome_.stderr_bytes,
                         request_.launch.directory};
    STAB_TRY(std::string found, contradiction(request_.expect, end, request_.first_stdout_sha256, lab_.worker));
    if (found.empty() && request_.simulation.on())
      return add_simulated(request_.simulation, request_.simulated_directory, program_, lab_.worker, outcome_.responses);
    if (!found.empty() || !request_.metrics || request_.for_comparison) return found;
    return add_metrics(*request_.metrics, request_.launch.directory, output_.out.get(), lab_.worker, outcome_.responses);
  }

  static int64_t size_of(int fd) {
    struct stat info;
    return ::fstat(fd, &info) == 0 ? static_cast<int64_t>(info.st_size) : 0;
  }

  const Laboratory& lab_;
  const TrialRequest request_;
  store::Outcome outcome_;
  Output output_;
  std::optional<Helper> helper_;
  std::optional<Launched> launched_;
  std::optional<counters::Session> counters_;
  HostMoment before_;
  LaunchStamp start_;
  nanoseconds end_raw_{0};
  bool has_run_ = false;
  pid_t program_ = -1;
  std::optional<AreaFile> area_;
  std::optional<Companion> companion_;
  std::string causal_failure_;
  bool causal_lost_ = false;  // for nothing that the program did
  std::optional<Dose> dose_;
  std::string dose_failure_;
  int helper_signal_ = 0;  // that ended the helper
  std::chrono::milliseconds helper_given_up_{0};
  LimitHits hits_;
  std::string machine_kills_;  // memory_kills_text() of the time that it ran
  Status begun_;  // what keeps it from running. Last: begin() fills the others
};

uint64_t stack_top_bytes(const LaunchRequest& launch) {
  uint64_t bytes = launch.exec_path.size() + 1;
  for (const auto* list : {&launch.argv, &launch.env})
    for (const std::string& text : *list) bytes += text.size() + 1 + sizeof(char*);
  return bytes;
}

ReadyTrial::ReadyTrial(const Laboratory& laboratory, TrialRequest request)
    : run_(std::make_unique<Run>(laboratory, std::move(request))) {}
ReadyTrial::ReadyTrial(ReadyTrial&&) noexcept = default;
ReadyTrial::~ReadyTrial() = default;

Result<store::Outcome> ReadyTrial::run() { return run_->to_outcome(); }
bool ReadyTrial::has_run() const { return run_->has_run(); }

Result<store::Outcome> run_trial(const Laboratory& laboratory, const TrialRequest& request) {
  return ReadyTrial(laboratory, request).run();
}

}  // namespace stab::engine
