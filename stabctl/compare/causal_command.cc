// causal: a plan of one program that somebody wants a first look at, and its run. The program isn't built here: it is run as it
// is,
// in an empty directory of the trial's, so words that name files are made absolute.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/absolute_path.h"
#include "base/shell_word.h"
#include "plan/parse.h"
#include "plan/toml/toml_text.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/report_text.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

std::string absolute_if_file(const std::string& word) {
  std::error_code code;
  return !word.empty() && word[0] != '-' && fs::exists(word, code) ? fs::absolute(word).lexically_normal().string() : word;
}

// A first look: ten trials know a null control to 1 %, so verdicts are about differences of 2 %.
std::string plan_text(const Arguments& arguments, uint64_t seed) {
  const std::string name = experiment_name_of(arguments.words[0]);
  std::string text = "# Written by stabctl causal. docs/how-to/find-the-line.md says what the keys do.\n[experiment]\nname = " +
                     toml::toml_text(name + "-causal") + "\nseed = " + std::to_string(seed) +
                     "\nreplicates = " + std::to_string(arguments.trials) +
                     "\nmargin = \"2%\"\n\n[machine]\ncpus = " + (arguments.one_cpu ? "\"auto\"" : "\"none\"") +
                     "\n\n[causal]\ncandidates = 5\nspeedups = [\"50%\"]\ncontrols = [\"null\"]\nexplore = \"0%\"\n";
  if (!arguments.progress.empty()) text += "progress = [" + toml::toml_text(arguments.progress) + "]\n";
  if (!arguments.scope.empty()) text += "scope = [" + toml::toml_text(arguments.scope) + "]\n";
  text += "\n[[program]]\nname = " + toml::toml_text(name) + "\nrun = [";
  for (size_t i = 0; i < arguments.words.size(); ++i)
    text += (i > 0 ? ", " : "") + toml::toml_text(without_placeholders(i == 0 && arguments.words[0].find('/') == std::string::npos
                                                              ? arguments.words[0]
                                                              : absolute_if_file(arguments.words[i])));
  return text + "]\n";
}

}  // namespace

int causal_command(const Arguments& arguments) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seed = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  const std::vector<std::string> behind(arguments.words.begin() + 1, arguments.words.end());
  // A plan that is only written may be of a program that is built later.
  const bool runs = arguments.plan.empty();
  if (runs) {
    const auto command = measured_command(arguments.words[0], behind, false);
    if (!command) return complain(command.error());
  }
  const std::string text = plan_text(arguments, seed);
  const Result<std::string> here = absolute_path(".");
  if (!here) return complain(here.error());
  const plan::RealFiles files(*here);
  const plan::Parsed parsed = plan::parse_plan(text, "causal.toml", {.max_errors = 20, .files = runs ? &files : nullptr});
  if (!parsed.plan) {
    std::fputs(toml::render(parsed.errors).c_str(), stderr);
    return kExitUsage;
  }
  if (!runs) {
    if (const Status written = write_whole(text, arguments.plan); !written) return complain(written.error());
    std::printf("it runs with: stabctl run %s\n", printable(shell_word(arguments.plan)).c_str());
    return kExitDone;
  }
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  const auto experiment = (*engine)->submit(*parsed.plan, *here, ::geteuid(), ::getegid());
  if (!experiment) return complain(experiment.error());
  return run_to_end(**engine, *experiment, arguments, clock,
                    [&](store::Store& store, store::Id id) { return print_report(store, id, arguments, ""); });
}

}  // namespace stab::ctl
