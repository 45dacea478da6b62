// A file tells the tool; the program's name is looked for where the tool's own language declares it, and where it isn't found the
// folder's name stands in its place, with a mark that asks for the right one.
#include "stabctl/plan/project_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/toml/toml_text.h"

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

constexpr std::string_view kBlanks = " \t";
// Of a program: what a plan, a shell and make take as it is.
constexpr std::string_view kNameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";

std::string_view past(std::string_view text, std::string_view letters) {
  return text.substr(std::min(text.find_first_not_of(letters), text.size()));
}

// The name that the text begins with; empty: none, or one that no file can have.
std::string leading_name(std::string_view text) {
  constexpr size_t kMostBytes = 255;
  const std::string_view name = text.substr(0, text.size() - past(text, kNameLetters).size());
  return name.size() <= kMostBytes ? std::string(name) : std::string();
}

// The first argument of the first call: executable('NAME' for the word executable and the quotation mark '.
std::string first_argument(std::string_view text, std::string_view word, std::string_view quote) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string_view::npos;) {
    at += word.size();
    std::string_view rest = past(text.substr(at), kBlanks);
    if (!rest.starts_with('(')) continue;
    rest = past(rest.substr(1), " \t\r\n");
    if (!rest.starts_with(quote)) continue;
    rest.remove_prefix(quote.size());
    const std::string name = leading_name(rest);
    if (!name.empty() && rest.substr(name.size()).starts_with(quote)) return name;
  }
  return {};
}

// Of Cargo: name = "NAME".
std::string package_name(std::string_view text) {
  constexpr std::string_view kKey = "name";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(kKey)) continue;
    line = past(line.substr(kKey.size()), kBlanks);
    if (!line.starts_with('=')) continue;
    line = past(line.substr(1), kBlanks);
    if (!line.starts_with('"')) continue;
    if (const std::string name = leading_name(line.substr(1)); line.substr(1 + name.size()).starts_with('"')) return name;
  }
  return {};
}

// A target of make that a file of that name is made for: what 'all' needs, else the first that isn't a word such as 'clean'.
std::string target_of(std::string_view text) {
  static const std::vector<std::string> kWords{"all", "clean", "install", "test", "check", "help", "default"};
  std::string first;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string target = leading_name(line);
    const std::string_view rest = past(line.substr(target.size()), kBlanks);
    if (target.empty() || !rest.starts_with(':')) continue;
    if (target == "all") {
      if (const std::string needed = leading_name(past(rest.substr(1), kBlanks)); !needed.empty()) return needed;
    }
    const bool is_file = target[0] != '.' && !target.ends_with(".o") && !rest.starts_with(":=") &&
                         std::find(kWords.begin(), kWords.end(), target) == kWords.end();
    if (is_file && first.empty()) first = target;
  }
  return first;
}

std::string program_in(BuildTool tool, const std::string& text) {
  switch (tool) {
    case BuildTool::kCmake: return first_argument(text, "add_executable", "");
    case BuildTool::kMeson: return first_argument(text, "executable", "'");
    case BuildTool::kCargo: return package_name(text);
    case BuildTool::kMake: return target_of(text);
    case BuildTool::kGo:
    case BuildTool::kConfigure: return {};
  }
  return {};
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

// A gate checks out the whole repository, and its paths are relative to the root.
std::string path_below_root(const fs::path& folder) {
  std::error_code failed;
  const fs::path here = fs::weakly_canonical(folder, failed);
  for (fs::path at = here; !failed && at.has_relative_path(); at = at.parent_path())
    if (fs::exists(at / ".git", failed)) return at == here ? std::string() : here.lexically_relative(at).string();
  return {};
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
    return "# Go's runtime walks code addresses, so its code stays where it is: answers are about these binaries, layout "
           "included.\n";
  std::string text = "code = [\"shuffle\"]                  # a new place for every function, every epoch\n";
  text += project.tool == BuildTool::kCargo
              ? "stack = [\"off\"]                     # pads are made by szc's own compilation alone\n"
              : "stack = [\"on\"]\n";
  return text + "heap = [\"page\"]\nepoch = [\"auto\"]                    # some 40 layouts in a run\n";
}

std::string run_line(const Project& project, const std::string& place) {
  const std::string mark = project.program_is_guess ? "   # <- your program and its arguments; the name is a guess"
                                                    : "   # <- with arguments for a run of 0.1 to 10 s";
  return "run = [" + toml::toml_text(place) + "]" + mark + "\n";
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

// below: the folder in what is checked out; empty: it is all of it
std::string program_of(const Project& project, const std::string& source, const std::string& flags, const std::string& below) {
  const std::string build = (below.empty() ? "" : "cd " + shell_word(below) + " && ") + build_of(project, flags);
  const std::string place = below.empty() ? place_of(project) : "./" + below + place_of(project).substr(1);
  return "[[program]]\nname = \"" + project.name + "\"\nsource = " + source +
         "\nshell = true                         # build is one command line for sh\n" + "build = " + toml::toml_text(build) +
         "\n" + run_line(project, place) +
         "# inputs = [\"data.txt\"]               # files that it reads; it runs in a folder of its own\n" +
         "# expect = { exit = 0, same_stdout = true }\n" + suite_of(project.tool);
}

// Go's programs use several CPUs, and CPU time is not how long they take.
constexpr char kSliced[] =
    "blocks = \"sliced\"                    # both at once on one CPU, by CPU time; where a program waits or has threads: \"in "
    "turn\"\n";

constexpr char kOfBinaries[] = "about = \"binaries\"                   # as they are linked: Go's code stays where it is\n";

// What may be done in a folder that doesn't tell how it is built.
std::string way_to_project(const fs::path& here) {
  std::error_code failed;
  for (const char* file : {"configure.ac", "configure.in"})
    if (fs::is_regular_file(here / file, failed)) {
      const char* script = fs::is_regular_file(here / "autogen.sh", failed) ? "./autogen.sh" : "autoreconf -i";
      return "make its 'configure' from " + std::string(file) + " first: " + script;
    }
  std::string below;
  for (fs::directory_iterator at(here, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const auto tells = [&](const Teller& teller) { return fs::is_regular_file(at->path() / teller.file, failed); };
    const bool is_first = below.empty() || name < below;  // whatever order the file system has
    if (!name.starts_with('.') && is_first && std::any_of(std::begin(kTellers), std::end(kTellers), tells)) below = name;
    failed.clear();
  }
  return "go to the project's folder" + (below.empty() ? "" : ", such as " + in_quotes(printable(below))) +
         ", or begin with a plan of plans/examples";
}

}  // namespace

Result<Project> project_in(const std::string& folder) {
  const fs::path here(folder);
  for (const Teller& teller : kTellers) {
    std::error_code failed;
    if (!fs::is_regular_file(here / teller.file, failed)) continue;
    Project project{teller.tool, teller.file, as_name(fs::weakly_canonical(here, failed).filename().string()),
                    "",          false,       has_two_commits(here), path_below_root(here)};
    project.program = program_in(teller.tool, beginning_of(here / teller.file));
    // With paths in it or words of make it is nothing that can be run.
    project.program_is_guess = project.program.empty();
    if (project.program_is_guess) project.program = project.name;
    return project;
  }
  std::string known;
  for (const Teller& teller : kTellers) known += (known.empty() ? "" : ", ") + std::string(teller.file);
  return Error{ErrorCode::kNotFound,
               "this folder has none of " + known + ", so how its program is built can't be told; " + way_to_project(here), {}};
}

std::string place_of(const Project& project) {
  switch (project.tool) {
    case BuildTool::kCmake:
    case BuildTool::kMeson:
      return "./build/" + project.program;
    case BuildTool::kCargo:
      return "./target/release/" + project.program;
    default:
      return "./" + project.program;
  }
}

std::string plan_text(const Project& project) {
  std::string text =
      "# Written by 'stabctl init' for " + project.file + ". Look at what is marked '<-', then:\n#\n" +
      "#   stabctl plan check stab.toml      # what it would run, and how long that takes\n" +
      "#   stabctl run stab.toml\n\n[experiment]\nname = \"" + project.name + "\"\n" +
      "seed = 1\nreplicates = 20                      # runs of each variant; 'stabctl plan power' says how many you need\n" +
      "margin = \"1%\"                        # the smallest difference that matters to you\n" +
      (moves_code(project.tool) ? kSliced : kOfBinaries) + "\n[factors]\n";
  const Flags flags = flags_of(project.tool);
  if (project.has_parent)
    text += "revision = [\"HEAD~1\", \"HEAD\"]        # <- any two that git knows; the first is the baseline\n# flags = " +
            std::string(flags.levels) + "   # or two builds: put {flags} into build\n";
  else
    text += "flags = " + std::string(flags.levels) + "   # <- two builds of one source; the first is the baseline\n";
  text += layout_of(project) + "\n";
  return text + program_of(project, project.has_parent ? "{ git = \".\", revision = \"{revision}\" }" : "\".\"",
                           project.has_parent ? flags.plain : "{flags}", "");
}

std::string gate_text(const Project& project) {
  // By default a gate reads the file at the root.
  const std::string plan = project.below_root.empty() ? "" : " --plan " + shell_word(project.below_root + "/stab-gate.toml");
  std::string text = "# Written by 'stabctl init --gate' for " + project.file +
                     ". Look at what is marked '<-', commit it, then:\n#\n" +
                     "#   stabctl gate origin/main...HEAD --at-most 10min" + plan +
                     "\n\n[gate]\nmargin = \"" + (moves_code(project.tool) ? "2%" : "5%") +
                     "\"                        # the regression that matters\n" +
                     "looks = [10, 20, 40]                 # runs of each side after which it may end\n";
  if (!moves_code(project.tool))
    text += "# Go's code stays where it is, so the two binaries are compared as they are linked. Where their code lies\n"
            "# is a part of the difference, often 1 to 3 %.\nabout = \"binaries\"\n";
  else if (project.tool == BuildTool::kCargo)
    text += "stack = \"off\"                        # pads are made by szc's own compilation alone\n";
  return text + "\n" +
         program_of(project, "{ git = \".\", revision = \"{revision}\" }", flags_of(project.tool).plain, project.below_root);
}

}  // namespace stab::ctl
