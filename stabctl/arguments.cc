// The command line's grammar and its help. Every option here has its line in docs/man/stabctl.1.
#include "stabctl/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>

namespace stab::ctl {
namespace {

constexpr int kUsage = 2;

// Levels such as -O2 look like options: `compare opt -O2 -O3 --json` becomes `compare --json -- opt -O2 -O3`.
std::vector<std::string> levels_behind_options(std::vector<std::string> words) {
  if (words.empty() || words[0] != "compare" || std::find(words.begin(), words.end(), "--") != words.end()) return words;
  std::vector<std::string> options{"compare"}, levels{"--"};
  for (size_t i = 1; i < words.size(); ++i) {
    const bool takes_word = words[i] == "--db" || words[i] == "--experiment";
    const bool option = words[i].starts_with("--") || words[i] == "-h";
    (option ? options : levels).push_back(words[i]);
    if (takes_word && i + 1 < words.size()) options.push_back(words[++i]);
  }
  if (levels.size() > 1) options.insert(options.end(), levels.begin(), levels.end());
  return options;
}

class Grammar {
 public:
  Grammar() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "stabctl 0.1.0");
    app_.footer("Also: stabctl stats METHOD data.csv, stabctl analyze data.csv (see their --help).");
    CLI::App* plan = app_.add_subcommand("plan", "look at a plan");
    plan->require_subcommand(1);
    CLI::App* check = command(*plan, "check", "print design, aliases, trials and duration; run nothing", Command::kPlanCheck);
    plan_file(*check);
    check->add_option("--seconds-per-trial", out_.seconds_per_trial, "what a trial is thought to take");

    CLI::App* power = command(*plan, "power", "replicates that the margin needs, from the spread that a pilot found", Command::kPlanPower);
    plan_file(*power);
    power->add_option("--pilot", out_.pilot, "an experiment with the plan's factors: name or number")->required();
    power->add_option("--power", out_.power, "share of experiments that shall find it; default: 0.8");
    power->add_option("--margin", out_.margin, "the difference to find, 0.01 for 1 %; default: the plan's");
    database(*power), json(*power);

    CLI::App* run = command(app_, "run", "run a plan here, without a daemon, and print its report", Command::kRun);
    plan_file(*run);
    database(*run), json(*run), quiet(*run);
    CLI::App* resume = command(app_, "resume", "go on with an experiment that was stopped or killed", Command::kResume);
    experiment(*resume, "default: the newest unfinished one");
    database(*resume), json(*resume), quiet(*resume);
    resume->add_option("--socket", out_.socket, "resume what is paused or has failed in the daemon that listens here");
    CLI::App* report = command(app_, "report", "print what an experiment says", Command::kReport);
    experiment(*report, "default: the newest");
    database(*report), json(*report);
    report->add_option("--socket", out_.socket, "let the daemon that listens here make it");
    report->add_option("--format", out_.format, "text (default), json, markdown, csv (the trials) or r (a script)")
        ->check(CLI::IsMember({"text", "json", "markdown", "csv", "r"}));
    for (const char* format : {"markdown", "csv", "r"})
      report->add_flag_callback(std::string("--") + format, [this, format] { out_.format = format; }, std::string("the same as --format ") + format);
    report->add_option("--figures", out_.figures, "folder that takes figures (SVG)");
    CLI::App* list = command(app_, "list", "list experiments", Command::kList);
    database(*list), json(*list);
    CLI::App* extend = command(app_, "extend", "plan more blocks at the end of an experiment", Command::kExtend);
    extend->add_option("experiment", out_.experiment, "name or number")->required();
    extend->add_option("blocks", out_.blocks, "how many, such as +20")->required()->check(CLI::PositiveNumber);
    database(*extend);
    extend->add_option("--socket", out_.socket, "extend it in the daemon that listens here");
    CLI::App* replay = command(app_, "replay", "run one trial again, with its binary, seed and settings", Command::kReplay);
    replay->add_option("trial", out_.trial, "number of the trial")->required();
    database(*replay);
    CLI::App* rerun = command(app_, "rerun", "plan another attempt at a trial that failed", Command::kRerun);
    rerun->add_option("trial", out_.trial, "number of the trial")->required();
    database(*rerun), daemon(*rerun);
    CLI::App* logs = command(app_, "logs", "builds, events and failed trials of an experiment", Command::kLogs);
    experiment(*logs, "default: the newest");
    database(*logs), daemon(*logs);
    CLI::App* remove = command(app_, "delete", "remove an experiment and all it has recorded", Command::kDelete);
    remove->add_option("experiment", out_.experiment, "name or number")->required();
    database(*remove), daemon(*remove);
    CLI::App* bundle = command(app_, "bundle", "EXPERIMENT FILE: one file with all of an experiment; --import FILE: take one in", Command::kBundle);
    bundle->add_option("experiment", out_.experiment, "name or number");
    bundle->add_option("file", out_.path, "the bundle; must not exist");
    bundle->add_option("--import", out_.import, "a bundle to take into the database");
    database(*bundle), daemon(*bundle);
    CLI::App* db = app_.add_subcommand("db", "care of a database");
    db->require_subcommand(1);
    database(*command(*db, "check", "look for damage and contradictions", Command::kDbCheck));
    CLI::App* backup = command(*db, "backup", "a consistent copy, while others read and write", Command::kDbBackup);
    backup->add_option("path", out_.path, "the copy; must not exist")->required();
    database(*backup);
    database(*command(*db, "vacuum", "give space back", Command::kDbVacuum));
    CLI::App* compare = command(app_, "compare", "FACTOR A B: is level B worse than A? A B: two experiments (never sure)", Command::kCompare);
    compare->add_option("words", out_.words, "FACTOR LEVEL_A LEVEL_B, or EXPERIMENT_A EXPERIMENT_B")->required()->expected(2, 3);
    compare->add_option("--experiment", out_.experiment, "that has the factor: name or number; default: the newest");
    database(*compare), json(*compare);
    CLI::App* selftest = command(app_, "selftest", "compare equal builds with each other: this lab's own rate of false alarms", Command::kSelftest);
    selftest->add_option("--minutes", out_.minutes, "how long it may take, about; default: 10")->check(CLI::PositiveNumber);
    selftest->add_option("--comparisons", out_.comparisons, "how many, instead of --minutes")->check(CLI::Range(2, 1000));
    selftest->add_option("--links", out_.links, "freshly linked builds on each side of a comparison; default: 10")->check(CLI::Range(2, 100));
    selftest->add_option("--experiment", out_.experiment, "judge one that is recorded, and run nothing: name or number");
    database(*selftest), json(*selftest), quiet(*selftest);
    CLI::App* doctor = command(app_, "doctor", "say what this machine gives, and how to get the rest", Command::kDoctor);
    json(*doctor);

    CLI::App* machine = app_.add_subcommand("machine", "look at and turn the host's knobs");
    machine->require_subcommand(1);
    json(*command(*machine, "show", "knobs this machine has, and how they stand", Command::kMachineShow));
    CLI::App* tune = command(*machine, "tune", "turn knobs until restore, or until the next engine starts", Command::kMachineTune);
    tune->add_option("knobs", out_.words, "KNOB=WORD ...; default: all, as doctor recommends");
    command(*machine, "restore", "turn back what was tuned", Command::kMachineRestore);
    json(*command(*machine, "doctor", "the same as stabctl doctor", Command::kDoctor));

    CLI::App* submit = command(app_, "submit", "hand plans to the daemon", Command::kSubmit);
    submit->add_option("plans", out_.plans, "plan files (TOML); they run one after the other")->required();
    submit->add_option("--priority", out_.priority, "before those with a lower one; default: 0");
    socket(*submit);
    CLI::App* status = command(app_, "status", "what the daemon does", Command::kStatus);
    experiment(*status, "default: all");
    socket(*status), json(*status);
    CLI::App* watch = command(app_, "watch", "follow an experiment of the daemon until it ends", Command::kWatch);
    experiment(*watch, "default: the newest");
    socket(*watch), json(*watch);
    CLI::App* pause = command(app_, "pause", "stop an experiment of the daemon after its trial; 'resume --socket' goes on", Command::kPause);
    pause->add_option("experiment", out_.experiment, "name or number")->required();
    socket(*pause);
    CLI::App* priority = command(app_, "priority", "change when an experiment of the daemon has its turn", Command::kPriority);
    priority->add_option("experiment", out_.experiment, "name or number")->required();
    priority->add_option("priority", out_.priority, "higher ones are first")->required();
    socket(*priority);
    CLI::App* cancel = command(app_, "cancel", "end an experiment; what it has recorded is kept", Command::kCancel);
    cancel->add_option("experiment", out_.experiment, "name or number")->required();
    socket(*cancel);
  }

  ParsedArguments parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Success& success) {
      return {out_, app_.exit(success)};  // --help, --version
    } catch (const CLI::ParseError& error) {
      app_.exit(error);
      return {out_, kUsage};
    }
    return {out_, {}};
  }

 private:
  CLI::App* command(CLI::App& parent, const char* name, const char* help, Command which) {
    CLI::App* sub = parent.add_subcommand(name, help);
    sub->final_callback([this, which] { out_.command = which; });
    return sub;
  }
  void plan_file(CLI::App& app) { app.add_option("plan", out_.plan, "plan file (TOML)")->required(); }
  void experiment(CLI::App& app, const std::string& otherwise) {
    app.add_option("experiment", out_.experiment, "name or number; " + otherwise);
  }
  void database(CLI::App& app) {
    app.add_option("--db", out_.database, "database file; default: $XDG_STATE_HOME/stab/stab.db or ~/.local/state/stab/stab.db");
  }
  void socket(CLI::App& app) {
    app.add_option("--socket", out_.socket, "the daemon's socket; default: $XDG_RUNTIME_DIR/stab.sock or /run/stab/stab.sock");
  }
  // For commands that work on a database of one's own unless a daemon is named.
  void daemon(CLI::App& app) { app.add_option("--socket", out_.socket, "ask the daemon that listens here instead"); }
  void json(CLI::App& app) { app.add_flag("--json", out_.json, "machine-readable"); }
  void quiet(CLI::App& app) { app.add_flag("--quiet", out_.quiet, "no progress"); }

  CLI::App app_{"stabctl: run experiments that randomize program layout, and say what they show"};
  Arguments out_;
};

}  // namespace

ParsedArguments parse_arguments(int argc, char** argv) { return Grammar().parse(levels_behind_options({argv + 1, argv + argc})); }

}  // namespace stab::ctl
