// A side of a comparison is a level whose value is the words of its command, which run = ["{side}"] takes apart again.
#include "stabctl/sides/ad_hoc_plan.h"

#include <algorithm>
#include <filesystem>

#include "base/line_ends.h"
#include "base/shell_word.h"
#include "plan/limits.h"
#include "plan/parse.h"
#include "plan/short_plan.h"
#include "plan/toml/toml_text.h"
#include "stabctl/command_line/exit_statuses.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

// An array of TOML.
std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "[" : ", ") + toml::toml_text(word);
  return out + "]";
}

std::string list_of(const std::vector<int>& numbers) {
  std::string out;
  for (const int number : numbers) out += (out.empty() ? "[" : ", ") + std::to_string(number);
  return out + "]";
}

std::string duration(nanoseconds time) {
  const int64_t us = time.count() / 1000;
  if (us % 1'000'000 == 0) return "\"" + std::to_string(us / 1'000'000) + "s\"";
  return "\"" + (us % 1000 == 0 ? std::to_string(us / 1000) + "ms" : std::to_string(us) + "us") + "\"";
}

std::string experiment(const AdHocPlan& plan) {
  std::string out = "[experiment]\nname = " + toml::toml_text(plan.name) + "\nseed = " + std::to_string(plan.seed) + "\n";
  if (plan.counts_copies) return out + "replicates = 1\nresponse = \"cpu_time\"\nrecord_samples = true\npreflight = false\n";
  out += "replicates = " + std::to_string(plan.looks.back()) + "\n";
  if (plan.runs_per_seed > 1) out += "runs_per_seed = " + std::to_string(plan.runs_per_seed) + "\n";
  // A minute has too few control blocks to tell a bias from chance, and an answer of three of them would be none.
  if (plan.sliced)
    out += "blocks = \"sliced\"\nalone = \"0%\"\nresponse = \"cpu_time\"\n";
  else if (plan.compares())
    out += "response = \"wall_time\"\n";
  else
    out += "response = [\"wall_time\", \"cpu_time\"]\n";
  if (plan.randomized && plan.compares()) out += "layouts = \"matched\"\n";
  out += "margin = " + toml::toml_text(plan.margin) + "\n";
  if (plan.looks.size() > 1)
    out += "\n[stopping]\nrule = \"looks\"\nspending = \"pocock\"\nlooks = " + list_of(plan.looks) + "\n";
  return out;
}

std::string factors(const AdHocPlan& plan) {
  std::string out;
  if (plan.compares()) out += std::string(kSideFactor) + " = [\n";
  for (const auto& [name, commit] : plan.built.revisions)
    out += "  { name = " + toml::toml_text(name) + ", value = " + toml::toml_text(commit) + " },\n";
  if (plan.commands.size() > 1) {
    const std::vector<std::string> names = names_of_sides(plan.commands);
    for (size_t i = 0; i < plan.commands.size(); ++i)
      out += "  { name = " + toml::toml_text(names[i]) + ", value = " + list_of(plan.commands[i].words) + " },\n";
  }
  if (plan.compares()) out += "]\n";
  if (plan.counts_copies) {
    out += "code = [\"copy\"]\n";
  } else if (plan.randomized) {
    out += plan.one_layout_a_run ? "code = [\"once\"]\n" : "code = [\"shuffle\"]\n";
    if (plan.moves_stack()) out += "stack = [\"on\"]\n";
    out += "heap = [\"page\"]\n";
    if (plan.epoch.count() > 0) out += "epoch = [" + duration(plan.epoch) + "]\n";
    else if (!plan.one_layout_a_run) out += "epoch = [" + toml::toml_text(plan::kEpochByPreflight) + "]\n";
  }
  return out.empty() ? out : "\n[factors]\n" + out;
}

std::string program(const AdHocPlan& plan) {
  std::vector<std::string> words{"{" + plan.side_factor + "}"};
  if (plan.commands.size() == 1) {
    words.clear();
    for (const std::string& word : plan.commands[0].words) words.push_back(without_placeholders(word));
  }
  std::string out = "\n[[program]]\nname = " + toml::toml_text(plan.name) + "\n";
  if (!plan.built.revisions.empty())
    out += "source = { git = " + toml::toml_text(without_placeholders(plan.built.root)) + ", revision = \"{" + plan.side_factor +
           "}\" }\nbuild = " + list_of({"/bin/sh", "-c", without_placeholders(plan.built.build)}) + "\n";
  // Builds are told apart by their commands, and each build has its part in the table by which layouts are matched.
  if (plan.randomized && plan.commands.size() > 1)
    out += "build = " + list_of({"true", "{" + plan.side_factor + "}"}) +
           "  # makes nothing: it tells the programs apart, whose layouts are matched\n";
  if (!plan.built.inputs.empty()) out += "inputs = " + list_of(plan.built.inputs) + "\n";
  out += "run = " + list_of(words) + "\n";
  out += lines_of_runs(plan.input, plan.prepare, plan.directory);
  if (plan.warmup > 0) out += "warmup = " + std::to_string(plan.warmup) + "\n";
  if (!plan.directory.empty()) out += "cwd = " + toml::toml_text(without_placeholders(plan.directory)) + "\n";
  if (plan.timeout.count() > 0) out += "timeout = " + duration(plan.timeout) + "\n";
  if (!plan.environment.empty()) {
    std::string variables;
    for (const std::string& one : plan.environment) {
      const size_t equals = one.find('=');
      variables += (variables.empty() ? "" : ", ") + toml::toml_text(one.substr(0, equals)) + " = " +
                   toml::toml_text(without_placeholders(one.substr(equals + 1)));
    }
    out += "env = { " + variables + " }\n";
  }
  if (plan.exit != std::vector<int>{0} || plan.same_stdout) {
    out += "expect = { exit = " + exit_value(plan.exit);
    out += std::string(plan.same_stdout ? ", same_stdout = true" : "") + " }\n";
  }
  return out;
}

}  // namespace

bool AdHocPlan::moves_stack() const {
  return !built.revisions.empty() ||
         std::all_of(commands.begin(), commands.end(), [](const MeasuredCommand& one) { return one.szc.stack; });
}

std::string text_of(const AdHocPlan& plan) {
  return "# " + plan.comment + "\n" + experiment(plan) + factors(plan) + program_text_of(plan);
}

std::string lines_of_runs(const std::string& input, const std::string& prepare, const std::string& directory) {
  const std::string there = directory.empty() ? prepare : "cd " + shell_word(directory) + " && {\n" + prepare + "\n}";
  return (input.empty() ? "" : "stdin = " + toml::toml_text(without_placeholders(input)) + "\n") +
         (prepare.empty() ? "" : "prepare = " + list_of({"/bin/sh", "-c", without_placeholders(there)}) + "\n");
}

std::string program_text_of(const AdHocPlan& plan) {
  // These programs are somebody's own, and may use what lies in /tmp.
  return "\n[machine]\nipc = \"shared\"\ntmp = \"shared\"\n" + program(plan);
}

std::vector<std::string> names_of_sides(const std::vector<MeasuredCommand>& commands) {
  std::vector<std::string> shown;
  for (const MeasuredCommand& one : commands) shown.push_back(one.shown);
  return names_of_levels(shown);
}

std::vector<std::string> names_of_levels(const std::vector<std::string>& shown) {
  std::vector<std::string> out;
  for (const std::string& one : shown) {
    // A character of several bytes is not cut: the end is replaced where the first half of one would stay.
    std::string name = one.substr(0, plan::kMaxLevelNameBytes - 12);
    if (name.size() < one.size()) {
      while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xc0) == 0x80) name.pop_back();
      if (!name.empty() && static_cast<unsigned char>(name.back()) >= 0xc0) name.pop_back();
      name += "...";
    }
    const std::string plain = name;
    for (int again = 2; std::find(out.begin(), out.end(), name) != out.end(); ++again)
      name = plain + " (" + std::to_string(again) + ")";
    out.push_back(name);
  }
  return out;
}

std::string experiment_name_of(const std::string& program) {
  constexpr size_t kMost = 80;
  std::string name;
  for (const char c : std::filesystem::path(program).filename().string()) {
    const bool stays =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    name += stays ? c : '_';
  }
  if (name.empty() || name[0] == '.' || name[0] == '-') name = "program" + name;
  return name.substr(0, kMost);
}

std::string without_placeholders(const std::string& word) {
  std::string out;
  for (const char c : word) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

std::string few_layouts_text(nanoseconds run, nanoseconds epoch) {
  constexpr int64_t kFew = 20, kWanted = 30;
  const int64_t layouts = epoch.count() > 0 ? run / epoch : kFew;
  if (layouts >= kFew) return {};
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(run).count();
  return "a run takes " + std::to_string(ms) + " ms and sees some " + std::to_string(std::max<int64_t>(layouts, 1)) +
         " layouts, where " + std::to_string(kWanted) + " and more are wanted; give the program more to do";
}

std::vector<int> looks_up_to(int blocks) {
  constexpr int kFirst = 8;
  std::vector<int> looks;
  for (int at = blocks; at >= kFirst || looks.empty(); at /= 2) looks.insert(looks.begin(), at);
  return looks;
}

Result<plan::Plan> parse_ad_hoc(const std::string& text, const std::string& directory, const std::string& name) {
  const plan::RealFiles files(directory);
  plan::Parsed parsed = plan::parse_plan(text, name, {.max_errors = 20, .files = &files});
  if (parsed.plan) return *std::move(parsed.plan);
  return bad_input("this makes no plan that can be run:\n" + without_line_ends(toml::render(parsed.errors)));
}

}  // namespace stab::ctl
