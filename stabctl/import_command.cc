// stabctl import FORMAT SIDE=FILE...: what other tools have measured already, judged by our rules. A file is the output of one
// process, but for tools that start one for each measurement (plan/metrics/). hyperfine compares commands in one file: without a
// side it is taken apart by them. Two builds have two commands: where each side has one, these are compared.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "analysis/commands/imported_times.h"
#include "plan/metrics/metrics.h"
#include "stabctl/commands.h"
#include "stabctl/report_text.h"
#include "stabctl/terminal.h"

namespace stab::ctl {
namespace {

Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kNotFound, "can't open '" + printable(path) + "': " + std::strerror(errno), {}};
  std::string text(metrics::kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error{ErrorCode::kSystem, "can't read '" + printable(path) + "'", {}};
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// What a command of hyperfine's took, where commands are the sides.
constexpr char kOfACommand[] = "time";

class Sides {
 public:
  analysis::ImportedSide& named(const std::string& name) {
    const auto [at, fresh] = at_.try_emplace(name, sides_.size());
    if (fresh) sides_.push_back({name, {}});
    return sides_[at->second];
  }
  // Times of one file: its processes are others than those of the files before.
  void add(const std::string& name, const std::vector<metrics::ProcessTime>& times) {
    analysis::ImportedSide& side = named(name);
    size_t next = next_;
    for (const metrics::ProcessTime& time : times) {
      side.times.push_back({time.benchmark, next_ + time.process, time.seconds});
      next = std::max(next, next_ + time.process + 1);
    }
    next_ = next;
  }
  const std::vector<analysis::ImportedSide>& all() const { return sides_; }
  // Where each side is one command's, and they are not the same, the commands are what is compared.
  void compare_commands() {
    std::set<std::string> commands;
    for (const analysis::ImportedSide& side : sides_) {
      for (const analysis::ImportedTime& time : side.times)
        if (time.benchmark != side.times[0].benchmark) return;
      if (!side.times.empty()) commands.insert(side.times[0].benchmark);
    }
    if (commands.size() < 2) return;
    for (analysis::ImportedSide& side : sides_)
      for (analysis::ImportedTime& time : side.times) time.benchmark = kOfACommand;
  }

 private:
  std::vector<analysis::ImportedSide> sides_;
  std::map<std::string, size_t> at_;
  size_t next_ = 0;
};

std::string known_formats() {
  std::string names;
  for (const metrics::Format& format : metrics::formats()) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

// Each benchmark of the file is a side of its own, and what all of them measure is called "time".
Status take_apart(const metrics::Format& format, const std::string& path, const std::vector<metrics::ProcessTime>& times,
                  Sides& sides) {
  if (format.name != "hyperfine")
    return bad_input("'" + printable(path) + "' has no side; write SIDE=FILE, such as base=" + printable(path));
  std::map<std::string, std::vector<metrics::ProcessTime>> of_command;
  std::vector<std::string> order;
  for (const metrics::ProcessTime& time : times) {
    if (!of_command.contains(time.benchmark)) order.push_back(time.benchmark);
    of_command[time.benchmark].push_back({kOfACommand, of_command[time.benchmark].size(), time.seconds});
  }
  for (const std::string& command : order) sides.add(command, of_command[command]);
  return {};
}

}  // namespace

int import_command(const Arguments& arguments) {
  const metrics::Format* format = metrics::format_named(arguments.words[0]);
  if (!format)
    return complain(Error{
        ErrorCode::kBadInput, "format '" + printable(arguments.words[0]) + "' is not one of " + known_formats(), {}});
  if (arguments.margin && !(*arguments.margin >= 0 && *arguments.margin < 1))
    return complain(Error{ErrorCode::kBadInput, "--margin takes a share from 0 to below 100%, such as 1% or 0.01", {}});
  Sides sides;
  for (size_t i = 1; i < arguments.words.size(); ++i) {
    const std::string& word = arguments.words[i];
    const size_t equals = word.find('=');
    const std::string path = equals == std::string::npos ? word : word.substr(equals + 1);
    const std::string side = equals == std::string::npos ? "" : word.substr(0, equals);
    if (equals == 0 || path.empty())
      return complain(Error{ErrorCode::kBadInput, "'" + printable(word) + "': expected SIDE=FILE, such as base=out.json", {}});
    const auto text = text_of(path);
    if (!text) return complain(text.error());
    const auto times = metrics::read_processes(*format, *text);
    if (!times) return complain(Error{times.error().code, "'" + printable(path) + "': " + times.error().message, {}});
    if (!side.empty()) sides.add(side, *times);
    else if (const Status taken = take_apart(*format, path, *times, sides); !taken) return complain(taken.error());
  }
  if (format->name == "hyperfine") sides.compare_commands();
  analysis::ReportOptions options = options_of(arguments);
  if (options.format == analysis::ReportFormat::kFirstScreen) options.format = analysis::ReportFormat::kTerminal;
  return print(analysis::run_import(sides.all(), arguments.margin.value_or(0.01), options));
}

}  // namespace stab::ctl
