// Carries out the actions that the trial machine asks for, and tells it what happened.
//
// Order of a trial, the same in every cell: helper, launcher, counters on its pid as soon as that is known, "ready", the ledger's
// first look, go; then one blocking wait; end stamp, tree kill, wait4, counters, ledger, dose, output. Nothing here touches the
// store: the outcome is handed back when the machine says kStore. Helper and launcher may be started earlier than the rest
// (ReadyTrial): they don't need the engine until they are ready.
//
// The waiter is stabd/engine/separation/supervise.cc, the kill the broker's (stabd/host/process_tree.cc), the decisions
// store/trial_machine.cc.
#include "stabd/engine/trial/trial_run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <tuple>
#include <utility>

#include "counters/counting_session.h"
#include "stabd/engine/trial/causal_outcome.h"
#include "stabd/engine/trial/companion.h"
#include "stabd/engine/trial/dose.h"
#include "stabd/engine/trial/epoch_series.h"
#include "stabd/engine/trial/expectation.h"
#include "stabd/engine/trial/throughput.h"
#include "stabd/engine/trial/trial_inputs.h"
#include "stabd/engine/trial/simulated.h"
#include "stabd/engine/trial/trial_metrics.h"
#include "stabd/engine/separation/helper_at_broker.h"
#include "stabd/engine/separation/launched_at_broker.h"
#include "stabd/engine/separation/supervise.h"

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

int64_t nanoseconds_of(const timeval& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + static_cast<int64_t>(time.tv_usec) * 1000;
}

}  // namespace

// One trial on its way through the machine.
class ReadyTrial::Run {
 public:
  Run(const Laboratory& laboratory, TrialRequest request)
      : lab_(laboratory), request_(std::move(request)), begun_(begin()) {}

  bool has_run() const { return has_run_; }

  Result<store::Outcome> to_outcome() {
    STAB_CHECK_OK(go_on());
    return take_outcome();
  }

  // --- the steps of a block, in which others take theirs in between; the table says what follows from each ---------------

  TrialState state() const { return now_.state; }
  // Something happened to it.
  Status raise(TrialEvent event) {
    const TrialStep next = step(now_.state, event);
    if (!next.legal)
      return Error{ErrorCode::kInternal,
                   "trial machine: '" + std::string(name(event)) + "' in state " + std::string(name(now_.state)), {}};
    now_ = next;
    return {};
  }
  // Does what the table asks for and tells it what came of that, until there is an outcome, or something else has to happen: a
  // trial that runs, and one whose check is put off.
  Status go_on(bool check_now = true) {
    while (!has(now_.actions, TrialAction::kStore) && !(has(now_.actions, TrialAction::kCheck) && !check_now)) {
      STAB_TRY(const TrialEvent event, perform(now_.actions));
      STAB_CHECK_OK(raise(event));
    }
    return {};
  }
  // Up to where it waits for go. Nothing: it does; else what happened instead.
  std::optional<TrialEvent> get_set() {
    outcome_.cpu = lab_.placement.trial_cpu;
    if (begun_) begun_ = launched_->wait_until_ready();
    if (!begun_) {
      launched_.reset();
      return not_launched(begun_.error());
    }
    before_ = lab_.ledger->look();
    launcher_delay_ns_ = run_delay_ns_of(lab_.roots, launched_->pid());
    (void)lab_.ledger->new_kernel_log_lines();
    outcome_.started_at_ns = lab_.clock->realtime().count();
    return {};
  }
  // Nothing: sent.
  std::optional<TrialEvent> send_go() {
    const Status sent = launched_->send_go();
    return sent ? std::nullopt : std::optional(not_launched(sent.error()));
  }
  TrialEvent see_exec() {
    const auto stamp = launched_->wait_for_exec();
    if (!stamp) return not_launched(stamp.error());
    start_ = *stamp;
    has_run_ = true;
    program_ = launched_->pid();
    return TrialEvent::kLaunched;
  }
  // pre: launched. Of so many that share the CPU each may take its timeout of CPU time, and of wall time as many times more.
  Watch watch(size_t at_once) {
    Watch watch{launched_->pidfd(), request_.timeout * at_once, lab_.cancel_fd,
                {output_.out.get(), output_.err.get()}, request_.output_limit_bytes, {}};
    watch.began = start_.raw;
    if (at_once > 1) {
      watch.pid = launched_->pid();
      watch.cpu_timeout = request_.timeout;
    }
    if (helper_ && request_.on_progress)
      watch.now_and_then = [this] {
        if (const auto points = helper_->progress()) request_.on_progress(*points);
      };
    return watch;
  }
  TrialEvent see_end(const Ending& ending) {
    end_raw_ = ending.raw;
    // CPU time is the kernel's, and no later for a waiter that is.
    if (ending.event == TrialEvent::kExited && !in_company_) seen_late_ = ending.late;
    if (ending.latency) outcome_.ledger["loop_latency_ns"] = static_cast<double>(ending.latency->count());
    switch (ending.event) {
      case TrialEvent::kDeadline: outcome_.failure = "still running at its timeout, killed"; break;
      case TrialEvent::kOverflow: outcome_.failure = overflow_text(); break;
      case TrialEvent::kCancel: outcome_.failure = "cancelled while it ran"; break;
      default: break;
    }
    return ending.event;
  }
  // Another one has come to nothing, and why.
  Status spoil(const std::string& why) {
    outcome_.failure = why;
    return raise(TrialEvent::kSpoiled);
  }
  // Others that this process has to wait for run beside it.
  void come_into_company() { in_company_ = true; }
  const std::string& failure() const { return outcome_.failure; }
  const Laboratory& lab() const { return lab_; }
  nanoseconds started() const { return start_.raw; }
  nanoseconds ended() const { return end_raw_; }
  // Of it and of its descendants that were waited for; absent: it did not run.
  std::optional<nanoseconds> cpu_time() const {
    if (!outcome_.user_ns || !outcome_.system_ns) return {};
    return nanoseconds(*outcome_.user_ns + *outcome_.system_ns);
  }
  int64_t switches() const { return outcome_.voluntary_switches.value_or(0) + outcome_.involuntary_switches.value_or(0); }
  void note(const char* key, double value) { outcome_.ledger[key] = value; }

  // pre: gone on to the end
  store::Outcome take_outcome() {
    outcome_.state = now_.state;
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
    if (const auto failed = get_set()) return *failed;
    if (const auto failed = send_go()) return *failed;
    return see_exec();
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

  // Has helper and launcher started; then: launched_ is set, or this has failed.
  Status begin() {
    STAB_TRY(output_.out, memory_file("stab-stdout"));
    STAB_TRY(output_.err, memory_file("stab-stderr"));
    STAB_TRY(const UniqueFd in, open_input(lab_.worker, request_.stdin_paths));

    host::LaunchDescriptors descriptors{in.get(), output_.out.get(), output_.err.get(), -1, -1};
    LaunchOrder order{request_.launch, lab_.tree, lab_.limits.trials, {}};
    UniqueFd script;
    if (lab_.with_helper) order.helper = {lab_.placement.housekeeping_cpu, -1, request_.helper_switches};
    if (lab_.with_helper && !request_.script.empty()) {
      STAB_TRY(script, script_file(request_));
      order.helper->script = script.get();
    }
    if (request_.causal) {
      STAB_CHECK_OK(begin_causal());
      descriptors.report = area_->fd();
    }
    order.program.cpu = lab_.placement.trial_cpu;
    order.program.env = full_environment(request_, lab_.placement.housekeeping_cpu, lab_.with_helper);
    broker::Client& broker = lab_.tree->broker();
    STAB_TRY(LaunchedAtBroker launched, LaunchedAtBroker::begin(broker, order, descriptors));
    launched_.emplace(std::move(launched));
    if (order.helper) helper_.emplace(broker, launched_->helper_pid(), launched_->take_helper_report());
    open_counters();
    return {};
  }

  Status begin_causal() {
    STAB_TRY(AreaFile area, AreaFile::create(request_.causal->script));
    area_.emplace(std::move(area));
    if (::access(request_.causal->library.c_str(), R_OK) != 0)
      return Error{ErrorCode::kUnavailable, "'" + request_.causal->library + "' is missing; build or install all of stab", {}};
    STAB_TRY(Companion companion,
             Companion::start({started_by(lab_.tree->broker()), request_.causal->companion, request_.launch.submitter,
                               lab_.placement.housekeeping_cpu}, area_->fd()));
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
    STAB_TRY(const Ending ending, wait_for_ending(watch(1), *lab_.clock));
    return see_end(ending);
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
      if (const auto delay = run_delay_ns_of(lab_.roots, launched_->pid()); delay && launcher_delay_ns_)
        outcome_.ledger["run_delay_ns"] = static_cast<double>(*delay - *launcher_delay_ns_);
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
    // A trial that was killed is checked no further, and a limit that it met may be why it was killed.
    if (const std::string met = limits_text(); !outcome_.failure.empty() && !met.empty()) outcome_.failure += "; " + met;
    return TrialEvent::kTreeGone;
  }

  Status end_program() {
    STAB_TRY(const host::ProcessUsage used, launched_->end(lab_.tree, kKillDeadline));
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
    if (request_.keeps_epochs || keeps_samples() || !request_.script.empty()) keep_epochs(end->epochs);
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
    if (keeps_samples() && !epochs->profile) dose_failure_ = "the helper has told no samples by function";
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
    if (failure->empty()) failure = points_missing(request_.throughputs, dose_);
    if (failure->empty() && request_.keeps_throughput) add_throughputs(request_.throughputs, *dose_, outcome_);
    if (failure->empty() && is_too_late(seen_late_, end_raw_ - start_.raw)) return without_time();
    if (failure->empty()) return TrialEvent::kAccepted;
    outcome_.failure = *std::move(failure);
    if (request_.simulation.on() && outcome_.signal) outcome_.failure += why_ended_by(*outcome_.signal);
    // Where its tree is not bounded, that is all there is to say why.
    if (outcome_.signal == SIGKILL && hits_ == host::LimitHits()) outcome_.failure += machine_kills_;
    if (hits_.memory_kills == 0 && hits_.refused_processes > 0) outcome_.failure += "; " + limits_text();
    return TrialEvent::kRejected;
  }

  // It did what it should, and we were not there.
  TrialEvent without_time() {
    outcome_.wall_ns.reset();
    outcome_.failure =
        "its end was seen up to " + std::to_string(seen_late_.count() / 1'000'000) +
        " ms late, so how long it took is not known: the laboratory was stopped (Ctrl-Z, SIGSTOP) or had no processor";
    return TrialEvent::kCutOff;
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

  bool keeps_samples() const { return (request_.helper_switches & helper::kTellSamples) != 0; }

  static int64_t size_of(int fd) {
    struct stat info;
    return ::fstat(fd, &info) == 0 ? static_cast<int64_t>(info.st_size) : 0;
  }

  const Laboratory& lab_;
  const TrialRequest request_;
  TrialStep now_ = step(TrialState::kPlanned, TrialEvent::kClaim);  // as the store did
  store::Outcome outcome_;
  struct {
    UniqueFd out, err;
  } output_;
  std::optional<HelperAtBroker> helper_;
  std::optional<LaunchedAtBroker> launched_;
  std::optional<counters::Session> counters_;
  HostMoment before_;
  std::optional<int64_t> launcher_delay_ns_;
  host::LaunchStamp start_;
  nanoseconds end_raw_{0};
  nanoseconds seen_late_{0};  // its exit
  bool has_run_ = false;
  bool in_company_ = false;
  pid_t program_ = -1;
  std::optional<AreaFile> area_;
  std::optional<Companion> companion_;
  std::string causal_failure_;
  bool causal_lost_ = false;  // for nothing that the program did
  std::optional<Dose> dose_;
  std::string dose_failure_;
  int helper_signal_ = 0;  // that ended the helper
  std::chrono::milliseconds helper_given_up_{0};
  host::LimitHits hits_;
  std::string machine_kills_;  // memory_kills_text() of the time that it ran
  Status begun_;  // what keeps it from running. Last: begin() fills the others
};

uint64_t stack_top_bytes(const host::LaunchRequest& launch) {
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

namespace {

// How often tasks came onto this CPU, by /proc/schedstat, where the kernel keeps it (CONFIG_SCHED_INFO).
std::optional<int64_t> arrivals_on(const host::Roots& roots, int cpu) {
  std::istringstream lines(host::read_small_file(roots.proc + "/schedstat").value_or(""));
  const std::string wanted = "cpu" + std::to_string(cpu);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, last;
    words >> name;
    if (name != wanted) continue;
    while (words >> last) {
    }
    const auto number = host::to_integer(last);
    return number ? std::optional<int64_t>(*number) : std::nullopt;
  }
  return {};
}

}  // namespace

std::string spoiled_text(const std::string& failure) { return "another trial of its sliced block came to nothing: " + failure; }

Result<std::vector<store::Outcome>> ReadyTrial::run_all(std::vector<ReadyTrial>& trials) {
  if (trials.size() > 1) return run_together(trials);
  STAB_TRY(store::Outcome outcome, trials.front().run());
  return std::vector{std::move(outcome)};
}

// Every trial is ready before the first one begins, and all begin together. Each is ended as soon as it has: whatever it leaves
// behind would take the others' time. Only where trees are told apart by ancestry is that put off, since what another one has
// left behind can't be told from its own there. Output is read and compared when nothing runs any more.
Result<std::vector<store::Outcome>> ReadyTrial::run_together(std::vector<ReadyTrial>& trials) {
  std::vector<Run*> runs;
  for (const ReadyTrial& trial : trials) runs.push_back(trial.run_.get());
  for (Run* run : runs) run->come_into_company();
  const Laboratory& lab = runs.front()->lab();
  std::optional<std::string> spoiled;  // what the first one that came to nothing says
  const auto happened = [&](Run& run, TrialEvent event) -> Status {
    STAB_CHECK_OK(run.raise(event));
    if (event != TrialEvent::kLaunched && event != TrialEvent::kExited && !spoiled)
      spoiled = spoiled_text(run.failure());
    return {};
  };

  for (Run* run : runs)
    if (const auto failed = run->get_set()) STAB_CHECK_OK(happened(*run, *failed));
  const std::optional<int64_t> arrivals = arrivals_on(lab.roots, lab.placement.trial_cpu);
  std::vector<Run*> gone;
  for (Run* run : runs) {
    if (spoiled) break;
    if (const auto failed = run->send_go()) STAB_CHECK_OK(happened(*run, *failed));
    else gone.push_back(run);
  }
  for (Run* run : gone) STAB_CHECK_OK(happened(*run, run->see_exec()));
  // From here on a trial without a failure has started, or all of them are spoiled.

  std::vector<Watch> watches;
  if (!spoiled)
    for (Run* run : runs) watches.push_back(run->watch(runs.size()));
  Status broken;
  STAB_CHECK_OK(wait_for_endings(watches, *lab.clock, [&](size_t i, const Ending& ending) {
    broken = happened(*runs[i], runs[i]->see_end(ending));
    if (broken && lab.tree->kind() != host::TreeKind::kAncestry) broken = runs[i]->go_on(false);
    return broken.ok() && !spoiled;
  }));
  STAB_CHECK_OK(broken);
  const auto spoil_in = [&](std::initializer_list<TrialState> states) -> Status {
    for (Run* run : runs)
      if (spoiled && std::find(states.begin(), states.end(), run->state()) != states.end()) STAB_CHECK_OK(run->spoil(*spoiled));
    return {};
  };
  STAB_CHECK_OK(spoil_in({TrialState::kClaimed, TrialState::kStarted}));
  for (Run* run : runs) STAB_CHECK_OK(run->go_on(false));
  if (!spoiled) note_company(runs, arrivals);

  for (Run* run : runs) STAB_CHECK_OK(run->go_on());
  for (Run* run : runs)
    if (run->state() != TrialState::kVerified && !spoiled)
      spoiled = spoiled_text(run->failure());
  STAB_CHECK_OK(spoil_in({TrialState::kVerified}));
  std::vector<store::Outcome> outcomes;
  for (Run* run : runs) outcomes.push_back(run->take_outcome());
  return outcomes;
}

// The kernel gives each the same share of the CPU until the first one ends; so the shortest one's CPU time is what each had in
// the company of all.
void ReadyTrial::note_company(const std::vector<Run*>& runs, const std::optional<int64_t>& arrivals) {
  nanoseconds shortest = nanoseconds::max(), sum{0}, first = nanoseconds::max(), last{0};
  int64_t switches = 0;
  for (const Run* run : runs) {
    const nanoseconds used = run->cpu_time().value_or(nanoseconds(0));
    shortest = std::min(shortest, used);
    sum += used;
    first = std::min(first, run->started());
    last = std::max(last, run->ended());
    switches += run->switches();
  }
  const auto now = arrivals_on(runs.front()->lab().roots, runs.front()->lab().placement.trial_cpu);
  for (Run* run : runs) {
    const nanoseconds used = run->cpu_time().value_or(nanoseconds(0));
    run->note("overlap", used > nanoseconds(0) ? static_cast<double>(shortest.count()) / static_cast<double>(used.count()) : 1);
    run->note("foreign_ns", static_cast<double>(std::max(last - first - sum, nanoseconds(0)).count()));
    if (arrivals && now)
      run->note("foreign_switches", static_cast<double>(std::max<int64_t>(*now - *arrivals - switches, 0)));
  }
}

Result<store::Outcome> run_trial(const Laboratory& laboratory, const TrialRequest& request) {
  return ReadyTrial(laboratory, request).run();
}

}  // namespace stab::engine
