#include "stabctl/command_line/shared_options.h"

namespace stab::ctl {
namespace rows {

Operand plan_file() { return {.name = "plan", .target = &A::plan, .help = "plan file (TOML)", .offers = Offers::kFiles}; }
Operand experiment(const std::string& otherwise) {
  return {.name = "experiment",
          .target = &A::experiment,
          .help = "name or number" + (otherwise.empty() ? "" : "; default: " + otherwise),
          .required = otherwise.empty(),
          .offers = Offers::kExperiments};
}
Operand trial() { return {.name = "trial", .target = &A::trial, .help = "number of the trial"}; }

Option database() {
  return {.name = "--db",
          .target = &A::database,
          .help = "database file; default: $XDG_STATE_HOME/stab/stab.db or ~/.local/state/stab/stab.db"};
}
Option socket() {
  return {.name = "--socket",
          .target = &A::socket,
          .help = "the daemon's socket; default: your own, $XDG_RUNTIME_DIR/stab.sock, else the machine's, /run/stab/stab.sock"};
}
Option daemon(const std::string& what) { return {.name = "--socket", .target = &A::socket, .help = what}; }
Option json() { return {.name = "--json", .target = &A::json, .help = "machine-readable"}; }
Option quiet() { return {.name = "--quiet", .target = &A::quiet, .help = "no progress"}; }
Option full() { return {.name = "--full", .target = &A::full, .help = "all tables and caveats, not the first screen alone"}; }
Option html() {
  return {.name = "--html",
          .target = &A::html,
          .help = "file that takes the report as a page: figures, trials, evidence; opens without network"};
}
Option color() {
  return {.name = "--color",
          .target = &A::color,
          .help = "auto (default): on a terminal, unless NO_COLOR is set",
          .words = {"auto", "always", "never"}};
}
Option format_word(const std::string& word) {
  return {.name = "--" + word, .target = &A::format, .help = "the same as --format " + word, .sets = word};
}
Option of_experiment(const std::string& help) {
  return {.name = "--experiment", .target = &A::experiment, .help = help, .offers = Offers::kExperiments};
}

Option at_most_a_minute() {
  return {.name = "--at-most", .target = &A::at_most, .help = "how long it may take; default: 1min", .takes = "TIME"};
}
Option for_shell() {
  return {.name = "--shell", .target = &A::shell, .help = "commands are for /bin/sh -c: pipes, globs, variables"};
}
Option build_command() {
  return {.name = "--build",
          .target = &A::build,
          .help = "the command that builds a revision, instead of a gate's file; behind -- comes what is run",
          .takes = "COMMAND"};
}
Option prepare() {
  return {.name = "--prepare",
          .target = &A::prepare,
          .help = "what /bin/sh runs here before each run, outside its time",
          .offers = Offers::kNothing,
          .takes = "COMMAND"};
}
Option input() {
  return {.name = "--input",
          .target = &A::input,
          .help = "what runs get on standard input, from its beginning; default: nothing",
          .offers = Offers::kFiles,
          .takes = "FILE"};
}
Option warmup() {
  return {.name = "--warmup",
          .target = &A::warmup,
          .help = "runs of each before the first one that is measured; default: 0",
          .range = {{0, 1000}},
          .takes = "N"};
}
Option exit_status() {
  return {.name = "--exit",
          .target = &A::exit,
          .help = "the status that runs end with, or those that they may end with: 0,1; default: 0",
          .offers = Offers::kNothing,
          .takes = "STATUS[,...]",
          .statuses = true};
}
Option margin(const std::string& of) {
  return {.name = "--margin",
          .target = &A::margin,
          .help = of + "the smallest difference that matters; default: 1%",
          .share = true};
}
Option as_markdown() {
  return {.name = "--markdown", .target = &A::format, .help = "a table for a comment or a page", .sets = "markdown"};
}
Option export_json() {
  return {.name = "--export-json", .target = &A::export_json, .help = "file that takes the times, as hyperfine writes them"};
}
Option save_plan() {
  return {.name = "--save", .target = &A::save, .help = "file that takes the plan, for 'stabctl run'"};
}

Option of_workload() {
  return {.name = "--workload",
          .target = &A::workload,
          .help = "whose map, if the experiment has several",
          .offers = Offers::kNothing};
}
Option slow_places() {
  return {.name = "--slow", .target = &A::slow, .help = "the slow places instead of the fast ones: a control"};
}

}  // namespace rows
}  // namespace stab::ctl
