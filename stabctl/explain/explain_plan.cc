// A program is copied under one name for both builds, so that the words of its command, which lie on its stack, are as long.
// Heap and stack are plain in every cell: only the places of functions are drawn.
#include "stabctl/explain/explain_plan.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "base/absolute_path.h"
#include "base/number_text.h"
#include "plan/placeholder.h"
#include "plan/toml/toml_text.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/plan/workload_text.h"
#include "stabctl/sides/ad_hoc_plan.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

Result<std::string> whole_path(const std::string& path) {
  STAB_TRY(const std::string whole, absolute_path(path));
  return fs::path(whole).lexically_normal().string();
}

// Behind the program, so that the lines of a text that somebody wrote keep their numbers.
std::string experiment(const ExplainedBuilds& builds, const char* part, uint32_t blocks, const std::string& more) {
  return "\n# Written by stabctl explain. docs/how-to/explain.md says what it asks.\n[experiment]\nname = " +
         toml::toml_text("explain-" + builds.name + part) + "\nseed = " + std::to_string(builds.seed) +
         "\nreplicates = " + std::to_string(blocks) + "\nmargin = " + number_text(builds.margin) +
         "\nalpha = " + number_text(builds.alpha) + "\n" + more + "\n[factors]\n";
}

std::string levels(const ExplainedBuilds& builds, std::initializer_list<const std::string*> of) {
  std::string out;
  for (const std::string* level : of) out += (out.empty() ? "" : ", ") + *level;
  return toml::toml_text(builds.factor) + " = [" + out + "]\n";
}

std::string blocks_of(const ExplainedBuilds& builds) {
  return builds.share_prepared_folder ? "blocks = \"in turn\"\nresponse = \"cpu_time\"\n"
                                      : "blocks = \"sliced\"\nalone = \"0%\"\n";
}

// With copies of all functions; `code` says where pointers lead.
std::string copied_plan(const ExplainedBuilds& builds, const char* part, uint32_t runs, const std::string& code,
                        const std::string& more = {}) {
  return builds.text + experiment(builds, part, runs, "response = \"cpu_time\"\nrecord_samples = true\n" + more) +
         levels(builds, {&builds.old_level, &builds.new_level}) + "code = [\"" + code + "\"]\n" + builds.fixed;
}

}  // namespace

bool is_folders_name(const std::string& word) {
  std::error_code code;
  return !word.empty() && word[0] != '-' && word.find('/') == std::string::npos && fs::is_directory(word, code);
}

Result<std::string> passed_word(const std::string& word) {
  std::error_code code;
  if (word.empty() || word[0] == '-' || !fs::exists(word, code) || is_folders_name(word)) return word;
  return whole_path(word);
}

std::string level_text(const std::string& name, const std::string& value) {
  std::string words;
  for (size_t at = 0; value.find(plan::kBetweenWords) != std::string::npos && at <= value.size();) {
    const size_t end = std::min(value.find(plan::kBetweenWords, at), value.size());
    words += (words.empty() ? "[" : ", ") + toml::toml_text(value.substr(at, end - at));
    at = end + 1;
  }
  return "{ name = " + toml::toml_text(name) + ", value = " + (words.empty() ? toml::toml_text(value) : words + "]") + " }";
}

Result<ExplainedBuilds> builds_of_programs(const std::string& program, const std::string& old_path, const std::string& new_path,
                                           const std::vector<std::string>& arguments, const std::vector<int>& exit,
                                           const std::string& more) {
  ExplainedBuilds out;
  out.name = experiment_name_of(program);
  out.factor = "build";
  STAB_TRY(const std::string old_whole, whole_path(old_path));
  STAB_TRY(const std::string new_whole, whole_path(new_path));
  out.old_level = level_text("old", old_whole);
  out.new_level = level_text("new", new_whole);
  out.text = "[[program]]\nname = " + toml::toml_text(out.name) + "\nbuild = [\"cp\", \"{build}\", " + toml::toml_text(out.name) +
             "]\nrun = [" + toml::toml_text("./" + out.name);
  for (const std::string& word : arguments) {
    STAB_TRY(const std::string passed, passed_word(word));
    out.text += ", " + toml::toml_text(without_placeholders(passed));
  }
  out.text += "]\n";
  if (exit != std::vector<int>{0}) out.text += "expect = { exit = " + exit_value(exit) + " }\n";
  out.text += more;
  STAB_TRY(out.directory, absolute_path("."));
  return out;
}

std::string cause_plan(const ExplainedBuilds& builds, uint32_t blocks, PointersLead pointers) {
  const bool direct = pointers == PointersLead::kToCopies;
  return builds.text + experiment(builds, direct ? "-direct" : "", blocks, blocks_of(builds) + "layouts = \"matched\"\n") +
         levels(builds, {&builds.old_level, &builds.new_level}) +
         (direct ? "code = [\"off\", \"direct\"]\n" : "code = [\"off\", \"once\"]\n") + builds.fixed;
}

std::string count_plan(const ExplainedBuilds& builds, PointersLead pointers) {
  const bool direct = pointers == PointersLead::kToCopies;
  return copied_plan(builds, direct ? "-direct-count" : "-count", 1, direct ? "direct" : "copy");
}

std::string profile_plan(const ExplainedBuilds& builds) {
  return copied_plan(builds, "-profile", 3, "copy", "preflight = false\n");
}

Result<std::string> simulated_plan(const ExplainedBuilds& builds, uint32_t layouts, PointersLead pointers) {
  // A simulated run takes some fifty times as long as the program's own, for which a timeout of its file's is meant.
  STAB_TRY(const std::string text, with_timeout(builds.text, "24h"));
  const bool direct = pointers == PointersLead::kToCopies;
  return text + experiment(builds, direct ? "-direct-simulated" : "-simulated", layouts,
                           "response = [\"simulated_cost\", \"simulated_instructions\"]\nlayouts = \"matched\"\n"
                           "preflight = false\n") +
         levels(builds, {&builds.old_level, &builds.new_level}) +
         (direct ? "code = [\"off\", \"direct\"]\n" : "code = [\"off\", \"once\"]\n") + builds.fixed +
         "\n[counters]\nsimulate = \"cachegrind\"\n";
}

Result<std::string> places_plan(const ExplainedBuilds& builds, const std::string& layout_script, uint32_t blocks) {
  std::string runs;
  for (uint32_t run = 1; run <= kPlacedRunsOfBlock; ++run) runs += (runs.empty() ? "" : ", ") + std::to_string(run);
  STAB_TRY(const std::string text, with_layout_script(builds.text, layout_script));
  return text + experiment(builds, "-places", blocks, blocks_of(builds) + "layouts = \"independent\"\n") +
         levels(builds, {&builds.new_level}) + "run_of_block = [" + runs + "]\n" +
         "code = [\"design\"]\nepoch = [\"1h\"]\n" + builds.fixed;
}

}  // namespace stab::ctl
