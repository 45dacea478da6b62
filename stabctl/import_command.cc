// stabctl import FORMAT SIDE=FILE...: what other tools have measured already, judged by our rules. A file is the output of one
// process, but for tools that start one for each measurement (plan/metrics/). hyperfine compares commands in one file: without a
// side it is taken apart by them; commands that differ by the values of their parameters alone are one. Two builds have two
// commands: where each side has one, these are compared.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
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

// Of a file, or of the folder where the format's tool leaves its results.
Result<std::vector<metrics::ProcessTime>> times_in(const metrics::Format& format, const std::string& path) {
  if (std::error_code failed; format.own_kind != metrics::OwnPlace::kFile && std::filesystem::is_directory(path, failed))
    return metrics::read_own_processes(format, path);
  STAB_TRY(const std::string text, text_of(path));
  return metrics::read_processes(format, text);
}

// What a command of hyperfine's took, where commands are the sides.
constexpr char kOfACommand[] = "time";

// processes: of the side before
commands::ImportedTime imported(const metrics::ProcessTime& time, size_t processes) {
  commands::ImportedTime one{time.benchmark, processes + time.process, time.seconds, time.plain, {}, time.is_count};
  for (const metrics::Parameter& parameter : time.parameters) one.parameters.emplace_back(parameter.name, parameter.value);
  return one;
}

// "sort -n 8" with size 8: "sort -n {size}", as hyperfine was told. Of several ways to have it, one.
std::string scanned(const commands::ImportedTime& time) {
  std::string text = time.plain.empty() ? time.benchmark : time.plain;
  for (const auto& [name, value] : time.parameters)
    for (size_t at = 0; !value.empty() && (at = text.find(value, at)) != std::string::npos;) {
      text.replace(at, value.size(), "{" + name + "}");
      at += name.size() + 2;
    }
  return text;
}

class Sides {
 public:
  commands::ImportedSide& named(const std::string& name) {
    const auto [at, fresh] = at_.try_emplace(name, sides_.size());
    if (fresh) sides_.push_back({name, {}});
    return sides_[at->second];
  }
  // Times of one file: its processes are others than those of the files before.
  void add(const std::string& name, const std::vector<metrics::ProcessTime>& times) {
    commands::ImportedSide& side = named(name);
    size_t next = next_;
    for (const metrics::ProcessTime& time : times) {
      side.times.push_back(imported(time, next_));
      next = std::max(next, next_ + time.process + 1);
    }
    next_ = next;
  }
  const std::vector<commands::ImportedSide>& all() const { return sides_; }
  // Where each side is one command's, and they are not the same, the commands are what is compared. Those of a scan of parameters
  // are one command.
  void compare_commands() {
    std::set<std::string> texts;
    for (const commands::ImportedSide& side : sides_) {
      std::set<std::string> of_side;
      for (const commands::ImportedTime& time : side.times) of_side.insert(scanned(time));
      if (of_side.size() > 1) return;
      texts.merge(of_side);
    }
    if (texts.size() < 2) return;
    for (commands::ImportedSide& side : sides_) {
      for (commands::ImportedTime& time : side.times) {
        time.benchmark = kOfACommand;
        if (!time.parameters.empty()) time.plain = kOfACommand;
      }
    }
  }

 private:
  std::vector<commands::ImportedSide> sides_;
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
  // A scan of parameters: each combination of their values is one command of all of them.
  const bool is_scan = std::all_of(times.begin(), times.end(), [](const auto& time) { return !time.parameters.empty(); });
  for (const metrics::ProcessTime& time : times) {
    const std::string command = is_scan ? scanned(imported(time, 0)) : time.benchmark;
    if (!of_command.contains(command)) order.push_back(command);
    metrics::ProcessTime one{kOfACommand, of_command[command].size(), time.seconds};
    if (is_scan) {
      one.plain = kOfACommand;
      one.parameters = time.parameters;
    }
    of_command[command].push_back(std::move(one));
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
    const auto times = times_in(*format, path);
    if (!times && times.error().code != ErrorCode::kBadInput) return complain(times.error());
    if (!times) return complain(Error{times.error().code, "'" + printable(path) + "': " + times.error().message, {}});
    if (!side.empty()) sides.add(side, *times);
    else if (const Status taken = take_apart(*format, path, *times, sides); !taken) return complain(taken.error());
  }
  if (format->name == "hyperfine") sides.compare_commands();
  commands::ReportOptions options = options_of(arguments);
  if (options.format == commands::ReportFormat::kFirstScreen) options.format = commands::ReportFormat::kTerminal;
  return print(commands::run_import(sides.all(), arguments.margin.value_or(0.01), options));
}

}  // namespace stab::ctl
