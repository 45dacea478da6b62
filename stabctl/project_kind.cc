// A file tells the tool; the program's name is looked for where the tool's own language declares it, and where it isn't found the
// folder's name stands in its place, with a mark that asks for the right one.
#include "stabctl/project_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

struct Teller {
  const char* file;
  BuildTool tool;
};
// The first that is there: a project that configures itself has a Makefile, too, once it was built.
constexpr Teller kTellers[] = {
    {"CMakeLists.txt", BuildTool::kCmake}, {"meson.build", BuildTool::kMeson}, {"configure", BuildTool::kConfigure},
    {"Cargo.toml", BuildTool::kCargo},     {"go.mod", BuildTool::kGo},         {"GNUmakefile", BuildTool::kMake},
    {"makefile", BuildTool::kMake},        {"Makefile", BuildTool::kMake}};

// Of a file that a person has written; more than this of it says nothing about its program.
constexpr size_t kMostRead = 64 << 10;

std::string beginning_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostRead, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// The first group of the first match; empty: none.
std::string found(const std::string& text, const char* pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern, std::regex::ECMAScript | std::regex::multiline)) ? match[1].str()
                                                                                                             : "";
}

constexpr char kName[] = "[A-Za-z0-9_.+-]+";

// A target of make that a file of that name is made for: what 'all' needs, else the first that isn't a word such as 'clean'.
std::string target_of(const std::string& text) {
  const std::string name = std::string("(") + kName + ")";
  if (const std::string all = found(text, ("^all[ \\t]*:[ \\t]*" + name).c_str()); !all.empty()) return all;
  const std::regex rule("^" + name + "[ \\t]*:(?!=)", std::regex::ECMAScript | std::regex::multiline);
  for (std::sregex_iterator at(text.begin(), text.end(), rule), end; at != end; ++at) {
    const std::string target = (*at)[1];
    static const std::vector<std::string> kWords{"all", "clean", "install", "test", "check", "help", "default"};
    if (target[0] != '.' && !target.ends_with(".o") && std::find(kWords.begin(), kWords.end(), target) == kWords.end())
      return target;
  }
  return {};
}

std::string program_in(BuildTool tool, const std::string& text) {
  switch (tool) {
    case BuildTool::kCmake:
      return found(text, "add_executable[ \\t]*\\([ \\t\\r\\n]*([A-Za-z0-9_.+-]+)");
    case BuildTool::kMeson:
      return found(text, "executable[ \\t]*\\([ \\t\\r\\n]*'([A-Za-z0-9_.+-]+)'");
    case BuildTool::kCargo:
      return found(text, "^name[ \\t]*=[ \\t]*\"([A-Za-z0-9_-]+)\"");
    case BuildTool::kMake:
      return target_of(text);
    case BuildTool::kGo:
    case BuildTool::kConfigure:
      return {};
  }
  return {};
}

// Where the tool puts it.
std::string place_of(BuildTool tool, const std::string& program) {
  switch (tool) {
    case BuildTool::kCmake:
    case BuildTool::kMeson:
      return "./build/" + program;
    case BuildTool::kCargo:
      return "./target/release/" + program;
    default:
      return "./" + program;
  }
}

// Letters, digits, '_', '-' and '.', as the names of experiments and programs are.
std::string as_name(const std::string& folder) {
  std::string name;
  for (const char c : folder) name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ? c : '-';
  const size_t letter = name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  if (letter == std::string::npos) return "project";
  constexpr size_t kMost = 40;
  return name.substr(letter, kMost);
}

// Of the branch that is checked out, two lines at least: no process is started for it.
bool has_two_commits(const fs::path& folder) {
  std::ifstream log(folder / ".git/logs/HEAD");
  std::string line;
  size_t commits = 0;
  while (std::getline(log, line)) commits += line.find("\tcommit") != std::string::npos;
  return commits >= 2;
}

// The command, a string for the shell, and what of it the levels of 'flags' reach. flags: "{flags}", or the plain ones
std::string build_of(const Project& project, const std::string& flags) {
  const std::string compilers = "CC=szc CXX=szc++";
  switch (project.tool) {
    case BuildTool::kCmake:
      return "cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=szc -DCMAKE_CXX_COMPILER=szc++ "
             "'-DCMAKE_C_FLAGS_RELEASE=" +
             flags + "' '-DCMAKE_CXX_FLAGS_RELEASE=" + flags + "' && cmake --build build -j 2";
    case BuildTool::kMeson:
      return compilers + " CFLAGS='" + flags + "' CXXFLAGS='" + flags +
             "' meson setup build --buildtype=plain && meson compile -C build";
    case BuildTool::kConfigure:
      return "./configure " + compilers + " CFLAGS='" + flags + "' CXXFLAGS='" + flags + "' && make -j 2";
    case BuildTool::kMake:
      return "make " + compilers + " CFLAGS='" + flags + "' CXXFLAGS='" + flags + "' " + project.program;
    case BuildTool::kCargo:
      return "RUSTFLAGS='-C linker=szc -C link-arg=--stab-move=all -C opt-level=" + flags + "' cargo build --release";
    case BuildTool::kGo:
      return "go build " + flags + "-o " + project.program + " .";
  }
  return {};
}

// Of two builds of one source.
struct Flags {
  const char* levels;
  const char* plain;
};
Flags flags_of(BuildTool tool) {
  switch (tool) {
    case BuildTool::kCargo:
      return {"[\"2\", \"3\"]", "3"};
    // An empty level needs a name.
    case BuildTool::kGo:
      return {"[{ name = \"inlining\", value = \"\" }, { name = \"plain\", value = \"-gcflags=-l \" }]", ""};
    default:
      return {"[\"-O2\", \"-O3\"]", "-O2"};
  }
}

// Of what is linked by szc code moves; Go's runtime walks code addresses, so nothing of it does.
bool moves_code(BuildTool tool) {
  return tool != BuildTool::kGo;
}

std::string layout_of(const Project& project) {
  if (!moves_code(project.tool))
    return "# Go's runtime walks code addresses, so its code stays where it is: answers are about this binary, layout "
           "included.\n";
  std::string text = "code = [\"shuffle\"]                  # a new place for every function, every epoch\n";
  text += project.tool == BuildTool::kCargo
              ? "stack = [\"off\"]                     # pads are made by szc's own compilation alone\n"
              : "stack = [\"on\"]\n";
  return text + "heap = [\"page\"]\nepoch = [\"20ms\"]                    # how long a layout lasts\n";
}

std::string run_line(const Project& project) {
  const std::string mark = project.program_is_guess ? "   # <- your program and its arguments; the name is a guess"
                                                    : "   # <- with arguments for a run of 0.1 to 10 s";
  return "run = [\"" + place_of(project.tool, project.program) + "\"]" + mark + "\n";
}

std::string suite_of(BuildTool tool) {
  switch (tool) {
    case BuildTool::kCargo:
      return "# metrics = { format = \"criterion\" }   # of 'cargo bench': each benchmark has a verdict of its own\n";
    case BuildTool::kGo:
      return "# metrics = { format = \"go\" }          # of 'go test -bench': each benchmark has a verdict of its own\n";
    default:
      return "# metrics = { file = \"out.json\", format = \"google-benchmark\" }   # of a suite: each benchmark has a verdict\n";
  }
}

std::string program_of(const Project& project, const std::string& source, const std::string& flags) {
  return "[[program]]\nname = \"" + project.name + "\"\nsource = " + source +
         "\nshell = true                         # build is one command line for sh\n" + "build = \"" + build_of(project, flags) +
         "\"\n" + run_line(project) +
         "# inputs = [\"data.txt\"]               # files that it reads; it runs in a folder of its own\n" +
         "# expect = { exit = 0, same_stdout = true }\n" + suite_of(project.tool);
}

}  // namespace

Result<Project> project_in(const std::string& folder) {
  const fs::path here(folder);
  for (const Teller& teller : kTellers) {
    std::error_code failed;
    if (!fs::is_regular_file(here / teller.file, failed)) continue;
    Project project{teller.tool, teller.file, as_name(fs::weakly_canonical(here, failed).filename().string()),
                    "",          false,       has_two_commits(here)};
    project.program = program_in(teller.tool, beginning_of(here / teller.file));
    // With paths in it or words of make it is nothing that can be run.
    project.program_is_guess = project.program.empty();
    if (project.program_is_guess) project.program = project.name;
    return project;
  }
  std::string known;
  for (const Teller& teller : kTellers) known += (known.empty() ? "" : ", ") + std::string(teller.file);
  return Error{ErrorCode::kNotFound,
               "this folder has none of " + known +
                   ", so how its program is built can't be told; go to the project's folder, or begin "
                   "with a plan of plans/examples",
               {}};
}

std::string plan_text(const Project& project) {
  std::string text =
      "# Written by 'stabctl init' for " + project.file + ". Look at what is marked '<-', then:\n#\n" +
      "#   stabctl plan check stab.toml      # what it would run, and how long that takes\n" +
      "#   stabctl run stab.toml\n\n[experiment]\nname = \"" + project.name + "\"\n" +
      "seed = 1\nreplicates = 20                      # runs of each variant; 'stabctl plan power' says how many you need\n" +
      "margin = \"1%\"                        # the smallest difference that matters to you\n\n[factors]\n";
  const Flags flags = flags_of(project.tool);
  if (project.has_parent)
    text += "revision = [\"HEAD~1\", \"HEAD\"]        # <- any two that git knows; the first is the baseline\n# flags = " +
            std::string(flags.levels) + "   # or two builds: put {flags} into build\n";
  else
    text += "flags = " + std::string(flags.levels) + "   # <- two builds of one source; the first is the baseline\n";
  text += layout_of(project) + "\n";
  return text + program_of(project, project.has_parent ? "{ git = \".\", revision = \"{revision}\" }" : "\".\"",
                           project.has_parent ? flags.plain : "{flags}");
}

std::string gate_text(const Project& project) {
  std::string text = "# Written by 'stabctl init --gate' for " + project.file +
                     ". Look at what is marked '<-', commit it, then:\n#\n" +
                     "#   stabctl gate origin/main...HEAD --at-most 10min\n\n[gate]\nmargin = \"2%\"                        # "
                     "the regression that matters\n" +
                     "looks = [10, 20, 40]                 # runs of each side after which it may end\n";
  if (!moves_code(project.tool))
    text += "code = \"off\"                         # Go's code stays where it is\nstack = \"off\"\nheap = \"off\"\n";
  else if (project.tool == BuildTool::kCargo)
    text += "stack = \"off\"                        # pads are made by szc's own compilation alone\n";
  return text + "\n" + program_of(project, "{ git = \".\", revision = \"{revision}\" }", flags_of(project.tool).plain);
}

}  // namespace stab::ctl
