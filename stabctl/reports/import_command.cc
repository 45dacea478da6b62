// stabctl import FORMAT SIDE=FILE...: what other tools have measured already, judged by our rules. A file is the output of one
// process, but for tools that start one for each measurement (plan/metrics/). hyperfine compares commands in one file: without a
// side it is taken apart by them; commands that differ by the values of their parameters alone are one. Two builds have two
// commands: where each side has one, these are compared.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "analysis/commands/imports/imported_times.h"
#include "base/named_input.h"
#include "base/shell_word.h"
#include "plan/metrics/metrics.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/measured_command.h"
#include "stabctl/records/report_text.h"
#include "stabctl/reports/scanned_commands.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {
namespace {

// Reports are UTF-8: two names that differ in other bytes alone would be one there.
Status check_names(const std::vector<metrics::ProcessTime>& times, const std::string& path, const std::string& text) {
  for (const metrics::ProcessTime& time : times) {
    const std::string* wrong = check_plan_word(time.benchmark) ? nullptr : &time.benchmark;
    for (const metrics::Parameter& parameter : time.parameters)
      if (!wrong && !check_plan_word(parameter.value)) wrong = &parameter.value;
    if (!wrong) continue;
    const size_t at = text.find(*wrong);
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(std::min(at, text.size())), '\n');
    std::string shown = printable(*wrong);
    std::replace_if(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    return bad_input("'" + printable(path) + "'" + (at == std::string::npos ? "" : ", line " + std::to_string(line)) +
                     ": the name '" + shown + "' is not UTF-8; turn the file into UTF-8: iconv -f LATIN1 -t UTF-8 " +
                     shell_word(printable(path)));
  }
  return {};
}

// Of a file, or of the folder where the format's tool leaves its results.
Result<std::vector<metrics::ProcessTime>> times_in(const metrics::Format& format, const std::string& path) {
  std::error_code failed;
  const bool is_folder = format.own_kind != metrics::OwnPlace::kFile && std::filesystem::is_directory(path, failed);
  std::string text;
  if (!is_folder) {
    auto read = read_named_input(path, metrics::kMostBytes);
    if (!read && read.error().code == ErrorCode::kBadInput) return bad_input(read.error().message + "; name a file");
    STAB_TRY(text, std::move(read));
  }
  auto times = is_folder ? metrics::read_own_processes(format, path) : metrics::read_processes(format, text);
  if (!times && times.error().code == ErrorCode::kBadInput)
    return bad_input("'" + printable(path) + "': " + times.error().message);
  if (times) STAB_CHECK_OK(check_names(*times, path, text));
  return times;
}

// What a command of hyperfine's took, where commands are the sides.
constexpr char kOfACommand[] = "time";

commands::ImportedTime imported(const metrics::ProcessTime& time) {
  commands::ImportedTime one{time.benchmark, time.process, time.seconds, time.plain, {}, time.is_count, time.failure};
  for (const metrics::Parameter& parameter : time.parameters) one.parameters.emplace_back(parameter.name, parameter.value);
  return one;
}

// The command of each time, as hyperfine was told it: "sort -n {size}".
std::vector<std::string> commands_of(const std::vector<metrics::ProcessTime>& times) {
  std::map<std::string, size_t> at;
  std::vector<ScannedResult> results;
  for (const metrics::ProcessTime& time : times)
    if (at.try_emplace(time.benchmark, results.size()).second)
      results.push_back({time.plain.empty() ? time.benchmark : time.plain, time.parameters});
  const std::vector<std::string> of_result = scanned_commands(results);
  std::vector<std::string> commands;
  for (const metrics::ProcessTime& time : times) commands.push_back(of_result[at.at(time.benchmark)]);
  return commands;
}

// What this command took, whichever it is. Where parameters can't be factors, each of their combinations is judged alone.
metrics::ProcessTime time_of(const metrics::ProcessTime& time, size_t process) {
  metrics::ProcessTime one{kOfACommand, process, time.seconds};
  for (const metrics::Parameter& parameter : time.parameters) one.benchmark += ":" + parameter.name + "=" + parameter.value;
  if (!time.parameters.empty()) one.plain = kOfACommand;
  one.parameters = time.parameters;
  return one;
}

class Sides {
 public:
  // Times of one file: its processes are others than those of the files before.
  void add(const std::string& name, const std::vector<metrics::ProcessTime>& times) {
    const auto [at, fresh] = at_.try_emplace(name, sides_.size());
    if (fresh) sides_.push_back({name, {}});
    size_t next = next_;
    for (metrics::ProcessTime time : times) {
      time.process += next_;
      next = std::max(next, time.process + 1);
      sides_[at->second].times.push_back(std::move(time));
    }
    next_ = next;
  }
  // hyperfine's benchmarks are commands. Where each side is one command's, and they are not the same, the commands are what is
  // compared. Those of a scan of parameters are one command.
  void compare_commands() {
    std::set<std::string> commands;
    bool one_each = true;
    for (Side& side : sides_) {
      const std::vector<std::string> of_time = commands_of(side.times);
      for (size_t i = 0; i < of_time.size(); ++i)
        if (!side.times[i].parameters.empty()) side.times[i].plain = of_time[i];
      std::set<std::string> of_side(of_time.begin(), of_time.end());
      one_each = one_each && of_side.size() == 1;
      commands.merge(of_side);
    }
    if (!one_each || commands.size() < 2) return;
    for (Side& side : sides_)
      for (metrics::ProcessTime& time : side.times) time = time_of(time, time.process);
  }
  std::vector<commands::ImportedSide> all() const {
    std::vector<commands::ImportedSide> out;
    for (const Side& side : sides_) {
      out.push_back({side.name, {}});
      for (const metrics::ProcessTime& time : side.times) out.back().times.push_back(imported(time));
    }
    return out;
  }

 private:
  struct Side {
    std::string name;
    std::vector<metrics::ProcessTime> times;
  };
  std::vector<Side> sides_;
  std::map<std::string, size_t> at_;
  size_t next_ = 0;
};

// A file is one measurement: given twice, its processes would count twice, or be compared with themselves.
class GivenFiles {
 public:
  Status add(const std::string& path) {
    if (path == "-")
      return std::exchange(has_input_, true) ? bad_input("standard input is given twice, and can be read once") : Status();
    struct stat info;
    if (::stat(path.c_str(), &info) != 0 || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) return {};
    const auto [other, is_new] = path_of_.try_emplace({info.st_dev, info.st_ino}, path);
    if (is_new) return {};
    const std::string also = path == other->second ? "" : ", also as '" + printable(other->second) + "'";
    return bad_input("'" + printable(path) + "' is given twice" + also + "; give each file once, for the side that it measured");
  }

 private:
  bool has_input_ = false;
  std::map<std::pair<dev_t, ino_t>, std::string> path_of_;
};

// A copy can't be told from a process that took the same time; where clocks are coarse there are such.
class SameTimes {
 public:
  void add(const std::string& path, const std::vector<metrics::ProcessTime>& times) {
    const double first = times.empty() ? 0 : times.front().seconds;
    std::vector<File>& alike = files_[{times.size(), std::isfinite(first) ? first : 0}];
    const auto found = std::find_if(alike.begin(), alike.end(), [&](const File& file) { return file.times == times; });
    if (found == alike.end()) return alike.push_back({path, times});
    if (count_++ == 0) first_ = "'" + printable(found->path) + "' and '" + printable(path) + "'";
  }
  void note() const {
    if (count_ == 1)
      std::fprintf(stderr, "note: %s have the same times; if one is a copy, leave it out: each counts as a process\n",
                   first_.c_str());
    if (count_ > 1)
      std::fprintf(stderr,
                   "note: %zu files have the same times as one before them, such as %s; leave out those that are copies: "
                   "each counts as a process\n",
                   count_, first_.c_str());
  }

 private:
  struct File {
    std::string path;
    std::vector<metrics::ProcessTime> times;
  };
  std::map<std::pair<size_t, double>, std::vector<File>> files_;
  size_t count_ = 0;
  std::string first_;
};

std::string known_formats() {
  std::string names;
  for (const metrics::Format& format : metrics::formats()) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

// Of the word where a format belongs. Who forgets it has a file there, such as old.json or base=old.json.
Error no_format(const std::string& word) {
  std::error_code unknown;
  const size_t equals = word.find('=');
  if (equals == std::string::npos && !std::filesystem::exists(word, unknown))
    return bad_input("format '" + printable(word) + "' is not one of " + known_formats());
  return bad_input("'" + printable(word) + "' is a file, and its format comes before it, such as: stabctl import hyperfine " +
                   printable(word) + "; formats are " + known_formats());
}

// Each benchmark of the file is a side of its own, and what all of them measure is called "time".
Status take_apart(const metrics::Format& format, const std::string& path, const std::vector<metrics::ProcessTime>& times,
                  Sides& sides) {
  if (format.name != "hyperfine")
    return bad_input("'" + printable(path) + "' has no side; write SIDE=FILE, such as base=" + printable(path));
  std::map<std::string, std::vector<metrics::ProcessTime>> of_command;
  std::vector<std::string> order;
  const bool is_scan = std::all_of(times.begin(), times.end(), [](const auto& time) { return !time.parameters.empty(); });
  const std::vector<std::string> commands = commands_of(times);
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string& command = is_scan ? commands[i] : times[i].benchmark;
    std::vector<metrics::ProcessTime>& of = of_command[command];
    if (of.empty()) order.push_back(command);
    of.push_back(is_scan ? time_of(times[i], of.size()) : metrics::ProcessTime{kOfACommand, of.size(), times[i].seconds});
  }
  for (const std::string& command : order) sides.add(command, of_command[command]);
  return {};
}

}  // namespace

int import_command(const Arguments& arguments) {
  const metrics::Format* format = metrics::format_named(arguments.words[0]);
  if (!format) return complain(no_format(arguments.words[0]));
  if (arguments.margin && !(*arguments.margin >= 0 && *arguments.margin < 1))
    return complain(Error{ErrorCode::kBadInput, "--margin takes a share from 0 to below 100%, such as 1% or 0.01", {}});
  if (arguments.words.size() == 1)
    return complain(Error{ErrorCode::kBadInput,
                          "which files? Give one of each process: stabctl import " + std::string(format->name) +
                              " old=a old=b new=c new=d",
                          {}});
  Sides sides;
  GivenFiles given;
  SameTimes same;
  for (size_t i = 1; i < arguments.words.size(); ++i) {
    const std::string& word = arguments.words[i];
    const size_t equals = word.find('=');
    const std::string path = equals == std::string::npos ? word : word.substr(equals + 1);
    const std::string side = equals == std::string::npos ? "" : word.substr(0, equals);
    if (equals == 0 || path.empty())
      return complain(Error{ErrorCode::kBadInput, "'" + printable(word) + "': expected SIDE=FILE, such as base=out.json", {}});
    if (const Status once = given.add(path); !once) return complain(once.error());
    const auto times = times_in(*format, path);
    if (!times) return complain_of_no_answer(times.error());
    same.add(path, *times);
    if (!side.empty()) sides.add(side, *times);
    else if (const Status taken = take_apart(*format, path, *times, sides); !taken) return complain(taken.error());
  }
  same.note();
  if (format->name == "hyperfine") sides.compare_commands();
  commands::ReportOptions options = options_of(arguments);
  if (options.format == commands::ReportFormat::kFirstScreen) options.format = commands::ReportFormat::kTerminal;
  return print(commands::run_import(sides.all(), arguments.margin.value_or(0.01), options));
}

}  // namespace stab::ctl
