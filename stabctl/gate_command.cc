// gate BASE..HEAD: is a repository's HEAD slower than BASE? Both revisions are built and their trials interleaved by the engine
// of `stabctl run`; what it finds is written for people and for CI. Whatever it makes lies in one temporary directory, which is
// removed however it ends.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "analysis/commands/gate.h"
#include "base/unique_fd.h"
#include "plan/limits.h"
#include "plan/parse.h"
#include "plan/toml/units.h"
#include "stabctl/commands.h"
#include "stabctl/gate_plan.h"
#include "stabctl/run_command.h"
#include "stabctl/temporary_folder.h"
#include "stabctl/whole_file.h"
#include "stabd/engine/experiment/expand.h"
#include "stabd/engine/results/load_samples.h"

extern char** environ;

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

constexpr char kFile[] = "stab-gate.toml";
constexpr size_t kMostSaid = 64 << 10;
constexpr size_t kShownCommit = 12;

std::string read_all(int fd) {
  std::string said;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::read(fd, bytes, sizeof bytes)) > 0;)
    if (said.size() < kMostSaid) said.append(bytes, static_cast<size_t>(got));
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

// What git answers, without the line's end; an Error with git's own words where it fails. Its warnings, such as of a home
// directory that it may not read, are no part of the answer.
Result<std::string> git(std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const UniqueFd warnings(::memfd_create("git", MFD_CLOEXEC));
  if (!warnings) return system_error("make a file in memory", errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, warnings.get(), 2);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  in.reset();
  if (failed != 0) return system_error("run git", failed);
  const std::string answer = read_all(out.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return answer;
  ::lseek(warnings.get(), 0, SEEK_SET);
  const std::string said = read_all(warnings.get());
  return bad_input("git " + words[1] + ": " + (said.empty() ? "failed" : said));
}

constexpr char kFetchAll[] = "; this clone is shallow and may lack it: fetch with depth 0 (git fetch --unshallow)";

bool is_shallow() {
  const auto shallow = git({"rev-parse", "--is-shallow-repository"});
  return shallow && *shallow == "true";
}

// "HEAD~3" of a history of two commits.
std::string why_no_commit(const std::string& name) {
  if (is_shallow()) return kFetchAll;
  const std::string of = name.substr(0, name.find_first_of("~^"));
  if (of.size() < name.size() && !of.empty()) {
    const auto count = git({"rev-list", "--count", "--end-of-options", of});
    if (count && *count == "1") return "; '" + of + "' is the first commit, with none before it to compare it with";
    if (count) return "; '" + of + "' and what came before it are " + *count + " commits";
  }
  return "; 'git log --all --oneline' lists the commits that there are";
}

struct Revisions {
  std::string root;        // of the working tree
  std::string base, head;  // commits
};

Result<Revisions> revisions_of(const std::string& range) {
  const size_t dots = range.find("..");
  const bool forked = dots != std::string::npos && range.compare(dots, 3, "...") == 0;
  std::string base = dots == std::string::npos ? "" : range.substr(0, dots);
  const std::string head = dots == std::string::npos ? "" : range.substr(dots + (forked ? 3 : 2));
  if (base.empty() || head.empty())
    return bad_input("'" + range + "' is no range of revisions; write BASE..HEAD, or BASE...HEAD to compare "
                     "with where HEAD left BASE");
  Revisions out;
  STAB_TRY(out.root, git({"rev-parse", "--show-toplevel"}));
  const auto commit = [](const std::string& name) {
    return git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  };
  const auto base_commit = commit(base), head_commit = commit(head);
  if (!base_commit) return bad_input("'" + base + "' names no commit here" + why_no_commit(base));
  if (!head_commit) return bad_input("'" + head + "' names no commit here" + why_no_commit(head));
  const auto ancestor = git({"merge-base", *base_commit, *head_commit});
  if (!ancestor)
    return bad_input("'" + base + "' and '" + head + "' have no common ancestor, so there is no change to judge" +
                     (is_shallow() ? kFetchAll : "; compare commits of one history"));
  out.base = forked ? *ancestor : *base_commit;
  out.head = *head_commit;
  STAB_TRY(const std::string changes, git({"-C", out.root, "status", "--porcelain", "--untracked-files=no"}));
  if (!changes.empty())
    return bad_input("the working tree has changes that are in no commit, and the gate builds commits:\n" +
                     changes.substr(0, 400) + "\ncommit or stash them");
  return out;
}

// What CI reads beside the exit status. kExitDone unless one of the files can't be written.
int write_files(const analysis::GateOutput& output, const Arguments& arguments) {
  for (const auto& [path, text] : {std::pair{&arguments.summary, &output.markdown}, std::pair{&arguments.junit, &output.junit}})
    if (!path->empty())
      if (const Status written = write_whole(*text, *path); !written) return complain_of_no_answer(written.error());
  return kExitDone;
}

int say(const analysis::GateOutput& output, const Arguments& arguments) {
  std::fputs((arguments.json ? output.json : output.text).c_str(), stdout);
  std::fflush(stdout);
  const int written = write_files(output, arguments);
  return written == kExitDone ? output.exit_code : written;
}

// What keeps the gate from an answer is said where each reader looks for one: a summary or a JUnit file that is missing, or of
// the run before, says something else.
int say_no_answer(const Error& error, const analysis::GateFacts& facts, const Arguments& arguments) {
  const int exit_code = complain_of_no_answer(error);
  const analysis::GateOutput output = analysis::gate_without_answer(facts, printable(error.text()));
  if (arguments.json) std::fputs(output.json.c_str(), stdout);
  write_files(output, arguments);
  return exit_code;
}

Result<plan::Plan> plan_of(const Revisions& revisions) {
  const std::string path = revisions.root + "/" + kFile;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::kBadInput, "'" + path + "' can't be read; docs/gate.md has one to begin with", {}};
  std::string text(plan::kMaxPlanBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  GatePlan gate = gate_plan(text, kFile, revisions.base, revisions.head);
  if (gate.faults.empty()) {
    const plan::RealFiles files(revisions.root);
    plan::Parsed parsed = plan::parse_plan(gate.text, kFile, {.max_errors = 20, .files = &files});
    std::fputs(plan::render(parsed.warnings).c_str(), stderr);
    if (parsed.plan) {
      gate.faults = engine::event_faults(*parsed.plan);
      if (gate.faults.empty()) return *std::move(parsed.plan);
    } else {
      gate.faults = std::move(parsed.errors);
    }
  }
  std::string faults = plan::render(gate.faults);
  while (faults.ends_with('\n')) faults.pop_back();
  return bad_input(std::string(kFile) + " is no gate:\n" + faults);
}

// "10min"; nothing: 0.
Result<std::chrono::nanoseconds> budget_of(const std::string& text) {
  if (text.empty()) return std::chrono::nanoseconds(0);
  const auto found = plan::parse_duration(text);
  if (!found || found->count() <= 0) return bad_input("--at-most '" + text + "' is no time; write 90s, 10min or 1h");
  return *found;
}

}  // namespace

int gate_command(const Arguments& arguments) {
  for (const std::string* path : {&arguments.summary, &arguments.junit})
    if (!path->empty())
      if (const Status writable = check_writable(*path); !writable) return complain_of_no_answer(writable.error());
  analysis::GateFacts facts;
  const auto no_answer = [&](const Error& error) { return say_no_answer(error, facts, arguments); };
  const auto budget = budget_of(arguments.at_most);
  if (!budget) return no_answer(budget.error());
  const auto revisions = revisions_of(arguments.range);
  if (!revisions) return no_answer(revisions.error());
  facts.base = revisions->base.substr(0, kShownCommit);
  facts.head = revisions->head.substr(0, kShownCommit);
  facts.command = "stabctl gate " + facts.base + ".." + facts.head;
  const auto plan = plan_of(*revisions);
  if (!plan) return no_answer(plan.error());
  // From here on: what is interrupted still removes what it has made.
  engine::StopSignal stop;
  const CaughtInterrupts caught(stop);
  const auto scratch = TemporaryFolder::make("gate");
  if (!scratch) return no_answer(scratch.error());
  Arguments own = arguments;
  if (own.database.empty()) own.database = scratch->path() + "/gate.db";
  const SystemClock clock;
  const auto engine = open_engine(own, clock);
  if (!engine) return no_answer(engine.error());
  const auto experiment = (*engine)->submit(*plan, revisions->root, ::geteuid(), ::getegid());
  if (!experiment) return no_answer(experiment.error());
  Budget limit{*budget};
  const auto end = run_until(**engine, *experiment, arguments, clock, limit, stop);
  if (!end) return no_answer(end.error());
  const auto row = (*engine)->store().experiment(*experiment);
  if (!row) return no_answer(row.error());
  if (*end == engine::RunEnd::kRejected) return say(analysis::gate_without_answer(facts, printable(row->failure)), arguments);
  if (*end == engine::RunEnd::kStopped)
    facts.unfinished = limit.is_over ? "the budget of " + arguments.at_most + " ended first" : "it was interrupted";
  if (*end == engine::RunEnd::kGaps)
    return say(analysis::gate_without_answer(facts, "trials of a revision failed each time; --db FILE keeps them for 'stabctl "
                                                    "logs'"),
               arguments);
  const auto samples = engine::load_samples((*engine)->store(), *row);
  if (!samples) return no_answer(samples.error());
  const auto output = analysis::run_gate(*samples, facts);
  // No trial was over before the budget was.
  if (!output && !facts.unfinished.empty()) return say(analysis::gate_without_trials(facts), arguments);
  if (!output) return no_answer(output.error());
  return say(*output, arguments);
}

}  // namespace stab::ctl
