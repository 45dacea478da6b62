// The page is written whole; verify reads it back.
#include "stabctl/records/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "analysis/page/page.h"
#include "base/clock.h"
#include "base/named_input.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/records/report_text.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/experiment/planning.h"
#include "stabd/engine/results/evidence.h"
#include "stabd/engine/results/load_causal.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {
namespace {

// A name from a plan as part of a file's name.
std::string as_file_name(const std::string& name) {
  constexpr size_t kLongest = 80;
  std::string out = name.substr(0, kLongest);
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  if (out.empty() || out[0] == '.') out.insert(0, "_");
  return out;
}

// A path as one name of a folder, a different one for each path.
std::string as_folder(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '.' || c == '_' || c == '-') out += c;
    else out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

// Each database numbers its experiments from 1, and so does each daemon: what has numbers of its own has a folder of its own.
Result<std::filesystem::path> usual_page(const Arguments& arguments, const store::ExperimentRow& experiment, std::string folder) {
  STAB_TRY(const std::string named, database_path(arguments));
  const std::filesystem::path database = std::filesystem::absolute(named);
  if (folder.empty()) folder = database.filename().string();
  return database.parent_path() / "reports" / folder /
         (as_file_name(experiment.name) + "-" + std::to_string(experiment.id) + ".html");
}

Result<std::string> to_write(const Result<std::filesystem::path>& path) {
  if (!path) return path.error();
  STAB_CHECK_OK(engine::make_directories(path->parent_path().string()));
  return path->string();
}

// No page's file is older than its experiment's end, or no report names it. The clock of files is up to 10 ms behind the one
// that says the end (CLOCK_REALTIME_COARSE, clock_gettime(2)), and either may be set back between the two.
void stamp_page(const std::string& path, int64_t finished_at_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  if (nanoseconds_of(file.st_mtim).count() >= finished_at_ns) return;
  const timespec times[2] = {{0, UTIME_OMIT}, {finished_at_ns / kSecond, finished_at_ns % kSecond}};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

// What the schedule of the page's plan is by this stabctl; empty where the plan can't be expanded here.
std::string schedule_of(const page::PagePlan& page) {
  store::ExperimentRow row;
  row.plan_text = page.plan;
  row.plan_path = page.plan_path;
  row.plan_directory = "/";
  const auto expanded = engine::expand_stored(row);
  if (!expanded) return {};
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(engine::fingerprint_of(*expanded)));
  return text;
}

}  // namespace

Result<std::string> page_to_write(const Arguments& arguments, const store::ExperimentRow& experiment) {
  return to_write(usual_page(arguments, experiment, ""));
}

Result<std::string> daemons_page_to_write(const Arguments& arguments, const std::string& socket,
                                          const store::ExperimentRow& experiment) {
  return to_write(usual_page(arguments, experiment, as_folder(std::filesystem::absolute(socket).string())));
}

std::string written_page(const Arguments& arguments, const store::ExperimentRow& experiment) {
  const auto path = usual_page(arguments, experiment, "");
  struct stat file {};
  if (!path || experiment.finished_at_ns == 0 || ::stat(path->c_str(), &file) != 0) return {};
  const int64_t written_at_ns = nanoseconds_of(file.st_mtim).count();
  return written_at_ns >= experiment.finished_at_ns ? path->string() : "";
}

bool names_the_rest(const Arguments& arguments) {
  return wants_first_screen(arguments) && ::isatty(STDOUT_FILENO) && ::isatty(STDERR_FILENO);
}

void say_page(const Arguments& arguments, const std::string& path) {
  if (!names_the_rest(arguments)) std::fprintf(stderr, "page: %s\n", path.c_str());
}

Status write_page(store::Store& store, const store::ExperimentRow& experiment, const std::string& path,
                  const PageCommands& commands, const std::vector<std::string>& layout_maps) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(experiment));
  STAB_TRY(const report::Samples samples, engine::load_samples(store, experiment, expanded));
  STAB_TRY(report::Evidence evidence, engine::load_evidence(store, experiment, expanded, samples));
  evidence.layout_maps = layout_maps;
  evidence.options = commands.options;
  if (commands.at_daemon) {
    evidence.experiment = *commands.at_daemon;
    evidence.at_daemon = true;
  }
  STAB_TRY(const std::vector<causal_report::CausalData> profiles, engine::load_causal(store, experiment, expanded));
  STAB_TRY(const std::string page, page::render_page(samples, evidence, profiles));
  STAB_CHECK_OK(write_whole(page, path));
  stamp_page(path, experiment.finished_at_ns);
  return {};
}

int verify_command(const Arguments& arguments) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const Result<std::string> text = read_named_input(arguments.path, kMostBytes);
  if (!text) return complain(bad_input(text.error().message + "; name a page that --html wrote"));
  if (text->size() > kMostBytes) return complain(bad_input("'" + arguments.path + "' is larger than a page that --html wrote"));
  commands::CommandOutput output = page::verify_page(*text);
  if (output.exit_code == 0) {
    const auto plan = page::plan_of_page(*text);
    if (plan && !plan->plan.empty()) {
      const std::string schedule = schedule_of(*plan);
      if (schedule == plan->schedule) output.out += "the plan gives the schedule that the page names: " + schedule + "\n";
      else
        output = {"", "the page's plan does not give its schedule: the page says " + plan->schedule + ", the plan gives " +
                          (schedule.empty() ? "none, it is no plan of this stabctl" : schedule) + "\n", kExitFailed};
    }
  }
  return print(output);
}

}  // namespace stab::ctl
