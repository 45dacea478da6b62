// hyperfine: its JSON lists each run, its CSV has the mean of each command alone.
//
// JSON: export/json.rs. CSV: export/csv.rs: a heading "command,mean,...", then a row for each command, in seconds; a parameter is
// a column "parameter_NAME".
#include <algorithm>
#include <map>

#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

struct Command {
  std::string text;
  std::vector<Parameter> parameters;
};

// A command as a name: a script has several lines, and may be longer than a name. Its begin and its end are kept.
std::string name_of(const std::string& command) {
  constexpr size_t kMost = 150, kBegin = 100, kEnd = 47;  // what is left is for parameters
  std::string name = command;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  if (name.size() <= kMost) return name;
  const auto is_inside_a_letter = [&](size_t at) { return (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80; };  // UTF-8
  size_t begin = kBegin, end = name.size() - kEnd;
  while (begin > 0 && is_inside_a_letter(begin)) --begin;
  while (end < name.size() && is_inside_a_letter(end)) ++end;
  return name.substr(0, begin) + "..." + name.substr(end);
}

// hyperfine gives one --command-name to each command of a scan of parameters: those are told apart by their parameters.
Result<std::vector<BenchmarkName>> names_of(std::vector<Command> commands) {
  std::map<std::string, size_t> results;
  for (const Command& command : commands) ++results[command.text];
  std::vector<BenchmarkName> names;
  std::vector<std::string> full;
  for (Command& command : commands) {
    const bool alone = results[command.text] == 1;
    names.push_back(with_parameters(std::move(command.text), std::move(command.parameters)));
    if (alone) names.back().full = names.back().plain;
    full.push_back(names.back().full);
  }
  STAB_CHECK_OK(check_apart(full, "name each command: hyperfine --command-name old ... --command-name new ..."));
  return names;
}

Result<std::vector<BenchmarkName>> hyperfine_names(const json& list) {
  std::vector<Command> commands;
  for (size_t i = 0; i < list.size(); ++i) {
    STAB_TRY(std::string text, text_of(list[i], "command", benchmark_at(i)));
    commands.push_back({name_of(text), parameters_of(list[i], "parameters")});
  }
  return names_of(std::move(commands));
}

bool is_table(std::string_view text) {
  return text.starts_with("command,");
}

struct Row {
  BenchmarkName name;
  double mean_s = 0;
};

Result<std::vector<Row>> rows_of(std::string_view text) {
  constexpr std::string_view kParameter = "parameter_";
  size_t lines = 0;
  STAB_TRY(const std::vector<std::string> header, fields_of(take_row(text, lines), "line 1"));
  const auto mean = static_cast<size_t>(std::find(header.begin(), header.end(), "mean") - header.begin());
  if (mean == header.size()) return bad_input("line 1: expected a heading with the columns 'command' and 'mean'");
  std::vector<Command> commands;
  std::vector<double> means;
  while (!text.empty()) {
    const std::string where = "line " + std::to_string(lines + 1);
    const std::string_view row = take_row(text, lines);
    if (row.empty()) continue;
    STAB_TRY(const std::vector<std::string> fields, fields_under(header, row, where));
    const auto seconds = number(fields[mean]);
    if (!seconds) return bad_input(where + ": the mean '" + fields[mean].substr(0, 40) + "' is not a number");
    Command command{name_of(fields[0]), {}};
    for (size_t i = 0; i < header.size(); ++i)
      if (header[i].starts_with(kParameter)) command.parameters.push_back({header[i].substr(kParameter.size()), fields[i]});
    commands.push_back(std::move(command));
    means.push_back(*seconds);
  }
  STAB_TRY(std::vector<BenchmarkName> names, names_of(std::move(commands)));
  std::vector<Row> rows;
  for (size_t i = 0; i < names.size(); ++i) rows.push_back({std::move(names[i]), means[i]});
  return rows;
}

}  // namespace

Result<std::vector<Metric>> read_hyperfine(std::string_view text) {
  if (is_table(text)) {
    STAB_TRY(const std::vector<Row> rows, rows_of(text));
    Collected means;
    for (const Row& row : rows) STAB_CHECK_OK(means.add(row.name.full, row.mean_s));
    return means.take();
  }
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const json* list, list_of(root, "results", "the file"));
  STAB_TRY(const std::vector<BenchmarkName> names, hyperfine_names(*list));
  Collected out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const std::string& name = names[i].full;
    const std::string whose = "'" + name + "'";
    if (const json* codes = member(one, "exit_codes"); codes && codes->is_array()) {
      const auto failed = [](const json& code) { return code.is_null() || (code.is_number() && code != 0); };
      if (std::any_of(codes->begin(), codes->end(), failed)) {
        STAB_CHECK_OK(out.add_failed(name, "the command failed in at least one of its runs"));
        continue;
      }
    }
    if (const json* times = member(one, "times"); times && times->is_array() && !times->empty()) {
      STAB_TRY(const std::optional<double> mean, mean_of(*times, whose));
      STAB_CHECK_OK(out.add(name, *mean));
      continue;
    }
    STAB_TRY(const double mean, number_of(one, "mean", whose));
    STAB_CHECK_OK(out.add(name, mean));
  }
  return out.take();
}

Result<std::vector<ProcessTime>> read_hyperfine_runs(std::string_view text) {
  if (is_table(text)) {
    STAB_TRY(const std::vector<Row> rows, rows_of(text));
    ProcessList means;
    for (const Row& row : rows) STAB_CHECK_OK(means.add(row.name, row.mean_s));
    return means.take();
  }
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const json* list, list_of(root, "results", "the file"));
  STAB_TRY(const std::vector<BenchmarkName> names, hyperfine_names(*list));
  ProcessList out;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    const std::string& name = names[i].full;
    const std::string whose = "'" + name + "'";
    STAB_TRY(const json* times, list_of(one, "times", whose));
    if (times->empty()) return bad_input(whose + " has no run in its 'times'; leave it out, or run it again");
    const json* codes = member(one, "exit_codes");
    for (size_t run = 0; run < times->size(); ++run) {
      const std::string which = whose + ", run " + std::to_string(run + 1);
      if (codes && codes->is_array() && run < codes->size() && (*codes)[run] != 0)
        return bad_input(which + ": the command failed, so its time is that of something else");
      if (!(*times)[run].is_number()) return bad_input(which + ": the time is no number");
      STAB_CHECK_OK(out.add(names[i], (*times)[run].get<double>()));
    }
  }
  return out.take();
}

}  // namespace stab::metrics
