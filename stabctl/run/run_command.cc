// run, resume, extend and replay: an engine of our own, in this process and on this thread.
//
// The first Ctrl-C ends after the trial or build that runs; a second one kills it, and it will be repeated by resume.
// A SIGKILL at any moment loses at most that trial.
#include "stabctl/run/run_command.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/absolute_path.h"
#include "plan/toml/units.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/plan_file.h"
#include "stabctl/records/database.h"
#include "stabctl/records/layout_maps.h"
#include "stabctl/records/page_file.h"
#include "stabctl/records/report_text.h"
#include "stabctl/terminal/progress.h"
#include "stabctl/terminal/shell_limits.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/broker/wire/start_broker.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/machines/run_machines.h"
#include "stabd/engine/results/map_of.h"
#include "stabd/engine/results/replay_of.h"
#include "stabd/engine/separation/places.h"
#include "stabd/host/tuning.h"

namespace stab::ctl {
namespace {

constexpr int kBusyTries = 20, kBusyRetryMs = 100;

std::atomic<engine::StopSignal*> g_stop = nullptr;  // for the signal handler only
constexpr std::array kInterrupts = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> g_interrupted = false, g_ends_at_once = false;

void on_interrupt(int) {
  g_interrupted = true;
  engine::StopSignal* const stop = g_stop.load();
  if (!stop) return;
  if (stop->asked()) return stop->now();
  stop->after_this_trial();
  constexpr std::string_view kAtOnce = "\nstopping\n";
  constexpr std::string_view kAfterTrial = "\nstopping after this trial or build; once more to kill it\n";
  const std::string_view text = g_ends_at_once ? kAtOnce : kAfterTrial;
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string where(const Arguments& arguments, store::Id experiment) {
  return "stabctl report " + std::to_string(experiment) + database_option(arguments);
}

int exit_code_of(engine::RunEnd end) {
  switch (end) {
    case engine::RunEnd::kDone: return kExitDone;
    case engine::RunEnd::kGaps:
    case engine::RunEnd::kRejected: return kExitFailed;
    case engine::RunEnd::kStopped: return kExitUnfinished;
  }
  return kExitFailed;
}

// The newest experiment that isn't over.
Result<store::Id> newest_unfinished(store::Store& store) {
  STAB_TRY(const auto all, store.experiments());
  if (all.empty()) return no_experiment_yet();
  store::Id newest = 0;
  for (const store::ExperimentRow& row : all) {
    if (!store::is_over(row.state) && row.id > newest) newest = row.id;
  }
  if (newest == 0) return Error{ErrorCode::kNotFound, "every experiment is over; 'stabctl list' shows them", {}};
  return newest;
}

// The page at the end of a run, and its path.
Result<std::string> page_of(store::Store& store, store::Id experiment, const Arguments& arguments) {
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const std::string path, arguments.html.empty() ? page_to_write(arguments, row) : Result<std::string>(arguments.html));
  STAB_CHECK_OK(write_page(store, row, path, {database_option(arguments), {}}, layout_maps_of(store, row, arguments)));
  return path;
}

// The report, and its page. Trials are never lost for the page: where it can't be written, that is said.
Show report_of(const Arguments& arguments) {
  return [&arguments](store::Store& store, store::Id experiment) {
    const Result<std::string> page = page_of(store, experiment, arguments);
    const int code = print_report(store, experiment, arguments, page ? *page : "");
    std::fflush(stdout);
    if (!names_the_rest(arguments)) std::fprintf(stderr, "results: %s\n", where(arguments, experiment).c_str());
    if (code != kExitDone) return code;
    if (!page) std::fprintf(stderr, "no page: %s\n", printable(page.error().text()).c_str());
    else say_page(arguments, *page);
    return code;
  };
}

// Whether its plan has [machines]; a plan that can't be read is the run's to complain about.
bool on_machines(engine::Engine& engine, store::Id experiment) {
  const auto row = engine.store().experiment(experiment);
  const auto expanded = row ? engine::expand_stored(*row) : Result<engine::ExpandedPlan>(row.error());
  return expanded && expanded->plan.machines.count > 0;
}

}  // namespace

ProgressStyle style_of(const Arguments& arguments) {
  if (arguments.quiet) return ProgressStyle::kQuiet;
  return rewrites_lines() ? ProgressStyle::kBar : ProgressStyle::kLines;
}

CaughtInterrupts::CaughtInterrupts(engine::StopSignal& stop, FirstInterrupt first) {
  g_stop = &stop;
  g_interrupted = false;
  g_ends_at_once = first == FirstInterrupt::kAtOnce;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kInterrupts.size(); ++i) {
    ::sigaction(kInterrupts[i], nullptr, &before_[i]);
    // Who started us wants it ignored: nohup, for one.
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kInterrupts[i], &action, nullptr);
  }
}

CaughtInterrupts::~CaughtInterrupts() {
  for (size_t i = 0; i < kInterrupts.size(); ++i) ::sigaction(kInterrupts[i], &before_[i], nullptr);
  g_stop = nullptr;
}

void CaughtInterrupts::ask(engine::StopSignal& stop) {
  g_stop = &stop;
  g_ends_at_once = false;
}

bool CaughtInterrupts::any() const { return g_interrupted; }

Result<std::unique_ptr<engine::Engine>> open_engine(const Arguments& arguments, const Clock& clock, bool share) {
  // A launcher that somebody has killed while it waited is a pipe without a reader: the trial is lost, and the run goes on.
  ::signal(SIGPIPE, SIG_IGN);
  STAB_CHECK_OK(check_open_files_limit());
  engine::Engine::Options options;
  options.share = share;
  options.clock = &clock;
  options.limits.most = engine::default_limits(options.roots);
  STAB_TRY(options.database, arguments.database.empty() ? engine::default_database() : Result<std::string>(arguments.database));
  if (arguments.database.empty()) STAB_CHECK_OK(engine::check_home_above(options.database));
  STAB_TRY(options.database, absolute_path(options.database));
  STAB_TRY(options.installation, host::find_installation());
  // If we are killed, the broker ends what runs.
  broker::StartOptions start;
  start.program = options.installation.broker;
  start.allow_root = true;  // if we are root, so is whoever asks us
  STAB_TRY(options.broker, broker::start(start));
  // A killed engine's child may hold the database for as long as its exec takes.
  for (int tries = 0;; ++tries) {
    auto engine = engine::Engine::open(options);
    if (engine || engine.error().code != ErrorCode::kBusy || tries == kBusyTries) return engine;
    ::poll(nullptr, 0, kBusyRetryMs);
  }
}

Result<std::chrono::nanoseconds> budget_of(const std::string& text) {
  if (text.empty()) return std::chrono::nanoseconds(0);
  const auto found = toml::parse_duration(text);
  if (!found || found->count() <= 0) return bad_input("--at-most '" + text + "' is no time; write 90s, 10min or 1h");
  return *found;
}

Result<engine::RunEnd> run_within(engine::Engine& engine, store::Id experiment, engine::Observer& observer, Budget& budget,
                                  engine::StopSignal& stop) {
  if (budget.most.count() > 0) stop.now_after(budget.most);
  auto end = on_machines(engine, experiment) ? engine::run_on_machines(engine, experiment, observer, stop)
                                             : engine.run(experiment, observer, stop);
  // A budget that ends at the very moment at which the trials do has not stopped them.
  budget.is_over = stop.ran_out() && !(end && *end != engine::RunEnd::kStopped);
  stop.without_limit();
  return end;
}

Result<engine::RunEnd> run_until(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock,
                                 Budget& budget, engine::StopSignal& stop, ToldNotes* told) {
  ProgressDisplay display(style_of(arguments), clock, told);
  if (const auto row = engine.store().experiment(experiment))
    if (auto known = engine::precision_of(engine.store(), *row)) display.begin_with(std::move(*known));
  auto end = run_within(engine, experiment, display, budget, stop);
  display.finish();
  return end;
}

Result<engine::RunEnd> build_until(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock,
                                   engine::StopSignal& stop, ToldNotes* told) {
  ProgressDisplay display(style_of(arguments), clock, told);
  auto end = engine.build(experiment, display, stop);
  display.finish();
  return end;
}

int run_to_end(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock, const Show& show,
               engine::StopSignal* stop) {
  Budget budget;
  const bool is_kept = !arguments.is_database_temporary;
  const auto end = [&] {
    if (stop) return run_until(engine, experiment, arguments, clock, budget, *stop);
    engine::StopSignal own;
    const CaughtInterrupts caught(own);
    return run_until(engine, experiment, arguments, clock, budget, own);
  }();
  if (!end) {
    const int code = complain(end.error());
    if (const auto row = engine.store().experiment(experiment); is_kept && row && !store::is_over(row->state))
      std::fprintf(stderr, "then go on with: stabctl resume %lld%s\n", static_cast<long long>(experiment),
                   database_option(arguments).c_str());
    return code;
  }
  if (*end == engine::RunEnd::kRejected) {
    if (is_kept)
      std::fprintf(stderr, "what happened: stabctl logs %lld%s\n", static_cast<long long>(experiment),
                   database_option(arguments).c_str());
    return kExitFailed;
  }
  if (*end == engine::RunEnd::kStopped) {
    if (is_kept)
      std::fprintf(stderr, "stopped; go on with: stabctl resume %lld%s\n", static_cast<long long>(experiment),
                   database_option(arguments).c_str());
    else
      std::fputs("stopped; nothing of it is kept\n", stderr);
    return kExitUnfinished;
  }
  // What its layout map names is measured again by an experiment of its own, and what is shown has both.
  const Result<std::optional<store::Id>> again =
      *end == engine::RunEnd::kDone ? engine::confirmation_of(engine.store(), experiment) : Result(std::optional<store::Id>());
  if (!again) return complain(again.error());
  if (*again && **again != experiment) {
    const int confirmed = run_to_end(engine, **again, arguments, clock, [](store::Store&, store::Id) { return kExitDone; }, stop);
    if (confirmed != kExitDone) return confirmed;
  }
  const int shown = show(engine.store(), experiment);
  return shown != kExitDone ? shown : exit_code_of(*end);
}

int run_command(const Arguments& arguments) {
  const PlanFile file = read_plan(arguments.plan);
  if (!file.plan) return file.exit_code;
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  const auto experiment = (*engine)->submit(*file.plan, file.directory, ::geteuid(), ::getegid());
  if (!experiment) return complain(experiment.error());
  if (!arguments.quiet) note_no_answer(*file.plan);
  const int code = run_to_end(**engine, *experiment, arguments, clock, report_of(arguments));
  if (file.plan->layout.map && code == kExitDone)
    std::fprintf(stderr, "layout map: stabctl layout map %lld%s\n", static_cast<long long>(*experiment),
                 database_option(arguments).c_str());
  return code;
}

int extend_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_extend_command(arguments);
  if (const Status there = must_have_database(arguments); !there) return complain(there.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  const auto row = chosen_experiment((*engine)->store(), arguments.experiment);
  if (!row) return complain(row.error());
  const Status extended = (*engine)->extend(row->id, arguments.blocks);
  if (!extended) return complain(extended.error());
  std::printf("%d more %s planned; %s with: stabctl resume %lld%s\n", arguments.blocks,
              arguments.blocks == 1 ? "block is" : "blocks are", arguments.blocks == 1 ? "it runs" : "they run",
              static_cast<long long>(row->id), database_option(arguments).c_str());
  return kExitDone;
}

namespace {

// Runs one trial's layout again and again, beside fresh ones. That is an experiment as any other.
int replay_times_command(const Arguments& arguments) {
  if (const Status there = must_have_database(arguments); !there) return complain(there.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  const auto replay = engine::replay_plan((*engine)->store(), arguments.trial, arguments.times);
  if (!replay) return complain(replay.error());
  const auto experiment = (*engine)->submit(replay->plan, replay->of.plan_directory, static_cast<uid_t>(replay->of.submitter_uid),
                                            static_cast<gid_t>(replay->of.submitter_gid));
  if (!experiment) return complain(experiment.error());
  return run_to_end(**engine, *experiment, arguments, clock, report_of(arguments));
}

// Options that only one way to replay has; nothing where all fit.
Status options_of_replay_fit(const Arguments& arguments) {
  if (arguments.times > 0 && !arguments.under.empty())
    return bad_input("--under shows one run in a tool, and --times compares many that nothing slows: name one of them");
  if (arguments.times > 0) return {};
  for (const auto& [is_given, option] : {std::pair{!arguments.socket.empty(), "--socket"}, {arguments.wait, "--wait"},
                                         {arguments.full, "--full"}, {arguments.json, "--json"},
                                         {!arguments.html.empty(), "--html"}})
    if (is_given)
      return bad_input(std::string(option) +
                       " is of the experiment that --times makes, and one run has no report; add --times 20");
  return {};
}

std::optional<int64_t> cpu_ns(const store::Outcome& outcome) {
  if (!outcome.user_ns || !outcome.system_ns) return {};
  return *outcome.user_ns + *outcome.system_ns;
}

// In a block of time slices the recorded wall time is that of all its trials: CPU time is what compares.
void print_now_and_then(const char* what, std::optional<int64_t> now, std::optional<int64_t> then) {
  if (now && then)
    std::printf("%s %.6f s, when it was recorded %.6f s\n", what, static_cast<double>(*now) / 1e9,
                static_cast<double>(*then) / 1e9);
}

}  // namespace

int replay_command(const Arguments& arguments) {
  if (const Status fit = options_of_replay_fit(arguments); !fit) return complain(fit.error());
  if (arguments.times > 0) return arguments.socket.empty() ? replay_times_command(arguments) : daemon_replay_command(arguments);
  const auto tool = toml::split_words(arguments.under, "write a script, and name that");
  if (!tool) return complain(bad_input("--under '" + arguments.under + "': " + tool.error().message));
  if (const Status there = must_have_database(arguments); !there) return complain(there.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  engine::StopSignal stop;
  const CaughtInterrupts caught(stop);
  ProgressDisplay display(style_of(arguments), clock);
  if (!arguments.under.empty()) {
    const auto status = (*engine)->replay_under(arguments.trial, *tool, display, stop);
    return status ? *status : complain(status.error());
  }
  const auto before = (*engine)->store().outcome(arguments.trial);
  if (!before) return complain(before.error());
  const auto again = (*engine)->replay(arguments.trial, display, stop);
  if (!again) return complain(again.error());
  std::printf("%s%s%s\n", std::string(store::name(again->state)).c_str(), again->failure.empty() ? "" : " ",
              printable(again->failure).c_str());
  print_now_and_then("CPU time", cpu_ns(*again), cpu_ns(*before));
  print_now_and_then("wall time", again->wall_ns, before->wall_ns);
  std::printf("the seed gives the same sequence of layouts; when each begins is driven by time\n");
  std::printf("what it printed: stabctl output %lld%s\n", static_cast<long long>(again->trial),
              database_option(arguments).c_str());
  return again->state == store::TrialState::kRecorded ? kExitDone : kExitFailed;
}

int resume_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_resume_command(arguments);
  if (const Status there = must_have_database(arguments); !there) return complain(there.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  store::Store& store = (*engine)->store();
  Result<store::Id> experiment = newest_unfinished(store);
  if (!arguments.experiment.empty()) {
    const auto row = chosen_experiment(store, arguments.experiment);
    experiment = row ? Result<store::Id>(row->id) : Result<store::Id>(row.error());
  }
  if (!experiment) return complain(experiment.error());
  if (const size_t lost = (*engine)->recovered().lost.size(); lost > 0)
    std::fprintf(stderr, "%zu trial%s cut off earlier: lost, and planned again\n", lost, lost == 1 ? " was" : "s were");
  return run_to_end(**engine, *experiment, arguments, clock, report_of(arguments));
}

}  // namespace stab::ctl
