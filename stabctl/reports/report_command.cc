// report, compare and list: they read the database and change nothing; an engine may be writing meanwhile.
#include <cstdio>

#include "analysis/commands/answers/render.h"
#include "analysis/commands/answers/verdict.h"
#include "analysis/commands/selftest/causal_report.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_report.h"
#include "stabctl/records/database.h"
#include "stabctl/records/layout_maps.h"
#include "stabctl/records/page_file.h"
#include "stabctl/records/report_text.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/load_causal.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/results/local_time.h"
#include "store/writer.h"

#include <nlohmann/json.hpp>

namespace stab::ctl {
commands::ReportOptions options_of(const Arguments& arguments) {
  commands::ReportOptions options;
  options.width = terminal_width();
  options.colour = terminal_has_colour(arguments.color);
  options.format = arguments.full ? commands::ReportFormat::kTerminal : commands::ReportFormat::kFirstScreen;
  if (arguments.format == "markdown") options.format = commands::ReportFormat::kMarkdown;
  if (arguments.format == "latex") options.format = commands::ReportFormat::kLatex;
  if (arguments.format == "csv") options.format = commands::ReportFormat::kCsv;
  if (arguments.format == "r") options.format = commands::ReportFormat::kR;
  if (arguments.format == "json" || arguments.json) options.format = commands::ReportFormat::kJson;
  options.figures = arguments.figures;
  return options;
}

bool wants_first_screen(const Arguments& arguments) {
  return options_of(arguments).format == commands::ReportFormat::kFirstScreen;
}

namespace {

int print_causal(const std::vector<causal_report::CausalData>& profiles, const commands::ReportOptions& options,
                 const std::string& coz) {
  if (!coz.empty()) {
    const auto text = commands::causal_for_coz(profiles);
    if (!text) return complain(text.error());
    if (const Status written = write_whole(*text, coz); !written) return complain(written.error());
  }
  return print(commands::run_causal_report(profiles, options));
}

}  // namespace

bool says_rejected(store::Store& store, const store::ExperimentRow& row) {
  if (row.state != store::ExperimentState::kFailed) return false;
  if (const auto progress = store.progress(row.id); progress && progress->count(store::TrialState::kRecorded) != 0) return false;
  std::fprintf(stderr, "stabctl: experiment %lld was rejected: %s\n", static_cast<long long>(row.id),
               printable(row.failure).c_str());
  return true;
}

int print_report(store::Store& store, store::Id experiment, const Arguments& arguments, const std::string& page) {
  const auto row = store.experiment(experiment);
  if (!row) return complain(row.error());
  if (says_rejected(store, *row)) return kExitFailed;
  commands::ReportOptions options = options_of(arguments);
  std::vector<std::string> without;
  const auto expanded = engine::expand_stored(*row);
  if (!expanded) return complain(expanded.error());
  const auto profiles = engine::load_causal(store, *row, *expanded, &without);
  if (!profiles) return complain(profiles.error());
  const std::string missing = printable(engine::words_without_windows(*row, without));
  if (!missing.empty() && (!arguments.coz.empty() && profiles->empty())) return complain(bad_input(missing));
  if (!missing.empty()) std::fprintf(stderr, "%s\n", missing.c_str());
  if (!profiles->empty()) {
    const int code = print_causal(*profiles, options, arguments.coz);
    // Its trials as any others are behind --full: windows have changed their times.
    if (code != kExitDone || !arguments.full || options.format == commands::ReportFormat::kJson) return code;
    std::printf("\n");
  } else if (!arguments.coz.empty()) {
    return complain(bad_input("the experiment has no causal profile; [causal] in its plan makes one"));
  }
  const auto samples = engine::load_samples(store, *row, *expanded);
  if (!samples) return complain(samples.error());
  // A bundle's number is not the one that the daemon knows the experiment by.
  if (arguments.socket.empty())
    options.where = {experiment, database_option(arguments), page};
  return print(commands::run_report(*samples, options));
}

int report_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_report(arguments);
  auto stored = open_experiment(arguments, arguments.experiment);
  if (!stored) return complain(stored.error());
  auto& [store, row] = *stored;
  if (arguments.html.empty()) return print_report(store, row.id, arguments, written_page(arguments, row));
  if (says_rejected(store, row)) return kExitFailed;
  // The page first: a reader of the text who has seen enough (`| head`) must not cost it.
  const Status written =
      write_page(store, row, arguments.html, {database_option(arguments), {}}, layout_maps_of(store, row, arguments));
  if (!written) {
    std::vector<std::string> without;
    const auto profiles = engine::load_causal(store, row, &without);
    const std::string missing = profiles ? printable(engine::words_without_windows(row, without)) : std::string();
    if (!missing.empty()) std::fprintf(stderr, "%s\n", missing.c_str());
    return complain(written.error());
  }
  const int code = print_report(store, row.id, arguments, arguments.html);
  std::fflush(stdout);
  if (code == kExitDone) say_page(arguments, arguments.html);
  return code;
}

namespace {

Result<report::Samples> samples_of(store::Store& store, const std::string& experiment) {
  STAB_TRY(const store::ExperimentRow row, chosen_experiment(store, experiment));
  return engine::load_samples(store, row);
}

// What runs has an engine that writes it down. One that was stopped, or killed, left "running" behind, or "ready" before its
// first run; what has runs and is ready was extended.
std::string shown_state(store::ExperimentState state, int64_t recorded, bool is_written) {
  using State = store::ExperimentState;
  const bool is_new = (state == State::kSubmitted || state == State::kReady) && recorded == 0;
  const bool is_stopped = (state == State::kRunning || is_new) && !is_written;
  return std::string(is_stopped ? "stopped" : store::name(state));
}

}  // namespace

int verdict_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain_of_no_answer(store.error());
  commands::VerdictOptions options;
  options.json = arguments.json;
  options.width = terminal_width();
  options.colour = terminal_has_colour();
  if (arguments.words.size() == 2) {  // two experiments
    const auto a = samples_of(*store, arguments.words[0]), b = samples_of(*store, arguments.words[1]);
    if (!a) return complain_of_no_answer(a.error());
    if (!b) return complain_of_no_answer(b.error());
    return print(commands::run_verdict(*a, *b, options));
  }
  options.factor = arguments.words[0];
  options.level_a = arguments.words[1];
  options.level_b = arguments.words[2];
  const auto samples = samples_of(*store, arguments.experiment);
  if (!samples) return complain_of_no_answer(samples.error());
  return print(commands::run_verdict(*samples, options));
}

int list_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto all = store->summaries();
  if (!all) return complain(all.error());
  nlohmann::json list = nlohmann::json::array();
  const auto path = database_path(arguments);
  const bool is_written = !path || store::has_writer(*path);
  if (!arguments.json) std::printf("%6s  %-28s %-10s %15s  %s\n", "number", "name", "state", "trials", "submitted");
  for (const store::ExperimentSummary& row : *all) {
    const auto progress = store->progress(row.id);
    if (!progress) return complain(progress.error());
    const int64_t recorded = progress->count(store::TrialState::kRecorded);
    const std::string state = shown_state(row.state, recorded, is_written);
    if (arguments.json) {
      list.push_back({{"id", row.id}, {"name", row.name}, {"state", state}, {"recorded", recorded},
                      {"planned", progress->planned_total}, {"submitted_at_ns", row.submitted_at_ns}});
      continue;
    }
    const std::string trials = std::to_string(recorded) + "/" + std::to_string(progress->planned_total);
    std::printf("%6lld  %-28s %-10s %15s  %s\n", static_cast<long long>(row.id), printable(row.name).c_str(),
                state.c_str(), trials.c_str(),
                engine::local_time(row.submitted_at_ns, "%Y-%m-%d %H:%M").c_str());
  }
  if (arguments.json) std::printf("%s\n", list.dump(2).c_str());
  return kExitDone;
}

}  // namespace stab::ctl
