// A program is copied under one name for both builds, so that the words of its command, which lie on its stack, are as long.
// Heap and stack are plain in every cell: only the places of functions are drawn.
#include "stabctl/explain_plan.h"

#include <filesystem>
#include <initializer_list>

#include "base/number_text.h"
#include "plan/toml/toml_text.h"
#include "stabctl/ad_hoc_plan.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

std::string absolute_if_file(const std::string& word) {
  std::error_code code;
  return !word.empty() && word[0] != '-' && fs::exists(word, code) ? fs::absolute(word).lexically_normal().string() : word;
}

std::string experiment(const ExplainedBuilds& builds, const char* part, uint32_t blocks, const std::string& more) {
  return "# Written by stabctl explain. docs/how-to/explain.md says what it asks.\n[experiment]\nname = " +
         toml::toml_text("explain-" + builds.name + part) + "\nseed = " + std::to_string(builds.seed) + "\nreplicates = " +
         std::to_string(blocks) + "\nmargin = " + number_text(builds.margin) + "\nalpha = " + number_text(builds.alpha) + "\n" +
         more + "\n[factors]\n";
}

std::string levels(const ExplainedBuilds& builds, std::initializer_list<const std::string*> of) {
  std::string out;
  for (const std::string* level : of) out += (out.empty() ? "" : ", ") + *level;
  return builds.factor + " = [" + out + "]\n";
}

constexpr char kSliced[] = "blocks = \"sliced\"\nalone = \"0%\"\n";

}  // namespace

ExplainedBuilds builds_of_programs(const std::string& name, const std::string& old_path, const std::string& new_path,
                                   const std::vector<std::string>& arguments, uint64_t seed) {
  ExplainedBuilds out;
  out.name = experiment_name_of(name);
  out.factor = "build";
  const auto level = [](const char* name, const std::string& path) {
    const std::string where = fs::absolute(path).lexically_normal().string();
    return "{ name = \"" + std::string(name) + "\", value = " + toml::toml_text(where) + " }";
  };
  out.old_level = level("old", old_path);
  out.new_level = level("new", new_path);
  out.seed = seed;
  out.programs = "\n[[program]]\nname = " + toml::toml_text(out.name) + "\nbuild = [\"cp\", \"{build}\", " +
                 toml::toml_text(out.name) + "]\nrun = [" + toml::toml_text("./" + out.name);
  for (const std::string& word : arguments) out.programs += ", " + toml::toml_text(without_placeholders(absolute_if_file(word)));
  out.programs += "]\n";
  return out;
}

std::string cause_plan(const ExplainedBuilds& builds, uint32_t blocks) {
  return experiment(builds, "", blocks, kSliced + std::string("layouts = \"matched\"\n")) +
         levels(builds, {&builds.old_level, &builds.new_level}) + "code = [\"off\", \"once\"]\n" + builds.programs;
}

std::string profile_plan(const ExplainedBuilds& builds) {
  constexpr uint32_t kRuns = 3;
  return experiment(builds, "-profile", kRuns, "response = \"cpu_time\"\nrecord_samples = true\npreflight = false\n") +
         levels(builds, {&builds.old_level, &builds.new_level}) + "code = [\"copy\"]\n" + builds.programs;
}

std::string places_plan(const ExplainedBuilds& builds, const std::string& layout_script, uint32_t blocks) {
  std::string runs;
  for (uint32_t run = 1; run <= kPlacedRunsOfBlock; ++run) runs += (runs.empty() ? "" : ", ") + std::to_string(run);
  constexpr char kProgram[] = "[[program]]\n";
  std::string programs = builds.programs;
  programs.insert(programs.find(kProgram) + sizeof kProgram - 1, "layout_script = '''\n" + layout_script + "'''\n");
  return experiment(builds, "-places", blocks, kSliced + std::string("layouts = \"independent\"\n")) +
         levels(builds, {&builds.new_level}) + "run = [" + runs + "]\ncode = [\"design\"]\nepoch = [\"1h\"]\n" + programs;
}

}  // namespace stab::ctl
