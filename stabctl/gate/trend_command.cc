// trend: the levels of a treatment over all experiments whose plans declare a series, and, if the user wants it, the commit of a
// lasting change.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "analysis/commands/bisect/series_trend.h"
#include "analysis/page/trend_page.h"
#include "base/printable.h"
#include "base/shell_word.h"

#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_trend.h"
#include "stabctl/records/database.h"
#include "stabctl/records/logbook_of.h"
#include "stabctl/revisions/git.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/load_series.h"
#include "store/logbook.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// What --logbook has: its A/A controls, and for a page the gates of its streams, too.
struct Logged {
  std::vector<store::LogbookFinding> controls;
  std::vector<store::LoggedGate> gates;
  std::map<int64_t, store::LogbookSession> sessions;
};

// Nothing where it isn't asked for.
Result<Logged> logged(const Arguments& arguments) {
  Logged out;
  if (arguments.logbook.empty()) return out;
  std::error_code gone;
  if (!fs::exists(arguments.logbook, gone))
    return bad_input("there is no logbook '" + arguments.logbook + "'; 'stabctl selftest --nightly' makes one");
  STAB_TRY(std::optional<store::Logbook> logbook, known_logbook(arguments.logbook));
  if (!logbook) return out;
  STAB_TRY(out.controls, logbook->controls());
  if (arguments.html.empty()) return out;
  STAB_TRY(out.gates, logbook->gates());
  STAB_TRY(out.sessions, logbook->sessions());
  return out;
}

page::LoggedFinding for_page(const store::LogbookFinding& found, const Logged& logged) {
  page::LoggedFinding out;
  if (const auto session = logged.sessions.find(found.session); session != logged.sessions.end()) {
    out.day = session->second.day;
    out.machine = session->second.machine;
  }
  out.workload = found.workload;
  out.response = found.response;
  out.found = {found.difference, found.standard_error, found.df};
  return out;
}

// "stabctl trend nightly --html trend.html", with what else was asked.
std::string command_of(const Arguments& arguments) {
  std::string out = "stabctl trend " + shell_word(arguments.series);
  for (const auto& [name, value] : {std::pair{" --factor ", &arguments.factor}, std::pair{" --anchor ", &arguments.anchor},
                                    std::pair{" --logbook ", &arguments.logbook}, std::pair{" --db ", &arguments.database},
                                    std::pair{" --html ", &arguments.html}})
    if (!value->empty()) out += name + shell_word(*value);
  return out;
}

Status write_trend_page(const report::Trend& trend, const commands::TrendOptions& options, const Logged& logged,
                        const Arguments& arguments) {
  page::TrendPage about{arguments.series, commands::all_left_out(trend, options), command_of(arguments), {}, {}};
  for (const store::LogbookFinding& one : logged.controls) about.controls.push_back(for_page(one, logged));
  for (const store::LoggedGate& one : logged.gates) {
    about.gates.push_back(for_page(one.found, logged));
    page::LoggedFinding& gate = about.gates.back();
    gate.stream = one.stream;
    gate.base = one.base;
    gate.head = one.head;
    gate.log_e = one.log_e;
    gate.called = one.called;
  }
  return write_whole(page::render_trend(trend, about), arguments.html);
}

Result<commands::CommandOutput> trend_of_database(const Arguments& arguments) {
  STAB_TRY(store::Store store, open_for_reading(arguments));
  STAB_TRY(const engine::LoadedSeries series,
           engine::load_series(store, arguments.series, {static_cast<int64_t>(::geteuid()), true}));
  commands::TrendOptions options;
  options.series = arguments.series;
  options.request = {arguments.factor, arguments.anchor};
  STAB_TRY(const Logged known, logged(arguments));
  for (const store::LogbookFinding& one : known.controls)
    options.request.controls.push_back(
        {one.session, one.workload, one.response, {one.difference, one.standard_error, one.df}});
  options.left_out = series.left_out;
  options.json = arguments.json;
  options.full = arguments.full;
  options.width = terminal_width();
  options.colour = terminal_has_colour();
  STAB_TRY(const report::Trend trend, commands::made_trend(series.parts, options));
  if (!arguments.html.empty()) {
    STAB_CHECK_OK(write_trend_page(trend, options, known, arguments));
    std::fprintf(stderr, "page: %s\n", printable(arguments.html).c_str());
  }
  return commands::trend_output(trend, options);
}

Result<commands::CommandOutput> trend_answer(const Arguments& arguments) {
  return arguments.socket.empty() ? trend_of_database(arguments) : daemon_trend(arguments);
}

// A lasting change whose commit is looked for, as the trend's JSON has it (docs/reference/report-json.md).
struct AskedChange {
  std::string level, range, repository, command;
  bool faster = false;
  size_t others = 0;  // changes of the same line
};

std::string text_of(const Json& change, const char* key) {
  return change.at(key).is_string() ? change.at(key).get<std::string>() : std::string();
}

// The newest one of the first line that has any. kBadInput: there is none, or its commits are not known.
Result<AskedChange> newest_change(const std::string& trend) try {
  const Json answer = Json::parse(trend);
  for (const Json& line : answer.at("lines")) {
    const Json& changes = line.at("changes");
    if (!changes.at("asked").get<bool>() || changes.at("found").empty()) continue;
    const Json& change = changes.at("found").back();
    AskedChange out{text_of(change, "level"), text_of(change, "range"), text_of(change, "repository"), text_of(change, "command"),
                    change.at("direction") == "better", changes.at("found").size() - 1};
    if (out.range.empty())
      return bad_input("the commits of the lasting change at '" + out.level +
                       "' are not known, so none of them can be searched: " + text_of(change, "unknown"));
    return out;
  }
  return bad_input("the trend has no lasting change, so there is no commit to look for; 'stabctl bisect GOOD..BAD' asks about "
                   "two commits of yours");
} catch (const Json::exception&) {
  return bad_input("this trend does not say where its changes lie: the daemon that made it is older than this stabctl");
}

// Stands in the repository of the change, or, where no plan names a path, in the one that the user stands in.
Status enter_repository(const AskedChange& change) {
  const bool is_path = change.repository.starts_with('/');
  const std::string range = "'stabctl bisect " + change.range + (change.faster ? " --faster'" : "'");
  if (is_path) {
    std::error_code failed;
    fs::current_path(change.repository, failed);
    if (failed)
      return bad_input("the repository '" + change.repository + "' of the series can't be entered (" + failed.message() +
                       "); in a clone of it run " + range);
    struct stat folder {};
    if (::stat(".", &folder) != 0 || folder.st_uid != ::geteuid())
      return bad_input("the repository '" + change.repository + "' of the series belongs to another user, whose gate file would "
                       "build and run with your rights; if you trust it, run " + range + " there, or in a clone of yours");
  }
  const auto root = git({"rev-parse", "--show-toplevel"});
  if (root) return {};
  const std::string repository = change.repository.empty() ? "the repository of the series" : "'" + change.repository + "'";
  return bad_input((is_path ? repository : std::string("this")) + " is no working tree of git (" + root.error().message +
                   "); in a clone of " + repository + " run " + range);
}

// The search of `stabctl bisect`, by its own gate file and in its own trials.
int look_for_commit(const Arguments& arguments, const AskedChange& change) {
  Arguments asked = arguments;
  if (!asked.plan.empty()) asked.plan = fs::absolute(asked.plan).lexically_normal();
  if (const Status entered = enter_repository(change); !entered) return complain_of_no_answer(entered.error());
  if (change.others > 0)
    std::fprintf(stderr, "of %zu lasting changes the newest is searched\n", change.others + 1);
  std::fprintf(stderr, "looking for the commit: %s\n", printable(change.command).c_str());
  asked.database.clear();
  asked.html.clear();
  asked.range = change.range;
  asked.faster = change.faster;
  return bisect_command(asked);
}

int trend_and_bisection(const Arguments& arguments) {
  Arguments as_json = arguments;
  as_json.json = true;
  if (!arguments.json) as_json.html.clear();  // what is shown writes it
  const auto trend = trend_answer(as_json);
  if (!trend) return complain_of_no_answer(trend.error());
  if (trend->exit_code != kExitDone) return print(*trend);
  if (!arguments.json) {
    const auto shown = trend_answer(arguments);
    if (!shown) return complain_of_no_answer(shown.error());
    print(*shown);
    std::fputs("\n", stdout);
    std::fflush(stdout);
  }
  const auto change = newest_change(trend->out);
  if (!change) return complain_of_no_answer(change.error());
  return look_for_commit(arguments, *change);
}

}  // namespace

int trend_command(const Arguments& arguments) {
  if (!arguments.logbook.empty() && !arguments.socket.empty())
    return complain(bad_input("a daemon knows no logbook of yours; leave out --logbook, or ask your database with --db"));
  if (!arguments.html.empty() && !arguments.socket.empty())
    return complain(bad_input("a daemon draws its trends on its own page, which 'stabctl web' opens; leave out --html, or ask "
                              "your database with --db"));
  if (!arguments.html.empty())
    if (const Status writable = check_writable(arguments.html); !writable) return complain(writable.error());
  if (arguments.bisect) return trend_and_bisection(arguments);
  if (!arguments.plan.empty() || !arguments.at_most.empty())
    return complain(bad_input("--plan and --at-most are for the search that --bisect begins; add --bisect"));
  const auto answer = trend_answer(arguments);
  return answer ? print(*answer) : complain(answer.error());
}

}  // namespace stab::ctl
