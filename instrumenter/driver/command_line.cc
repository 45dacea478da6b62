// Reading the user's arguments, as little as possible: clang itself tells what it links and where to
// (link_job.cc). Only here: whether the command surely doesn't link, which saves asking for each compilation;
// -s, which the linker refuses together with --emit-relocs; our own options; and what can't work.
#include "instrumenter/driver/command_line.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace stab::driver {
namespace {

// Options whose value is the next argument: `-o -c` compiles nothing into a file named -c.
constexpr std::string_view kTakesValue[] = {
    "-o",   "-x",         "-I",       "-L",        "-D",          "-U",         "-include",       "-imacros",
    "-MF",  "-MT",        "-MQ",      "-isystem",  "-iquote",     "-idirafter", "-iprefix",       "-isysroot",
    "-T",   "-u",         "-z",       "-e",        "-l",          "-target",    "-arch",          "-Xlinker",
    "-B",   "-Xclang",    "-mllvm",   "-Xassembler", "-Xpreprocessor", "-include-pch", "-iwithprefix"};

constexpr std::string_view kStopsBeforeLink[] = {"-c", "-S",  "-E", "-fsyntax-only", "-M",
                                                 "-MM", "--precompile", "-emit-ast", "--analyze"};

struct Refusal {
  std::string_view prefix;
  std::string_view why;
};
constexpr Refusal kRefused[] = {
    {"-pg", "mcount attributes time by the address of code, which moves"},
    {"-fxray-instrument", "XRay rewrites code in place"},
    {"-fsplit-stack", "it replaces the stack that Stab randomizes"},
    {"-m32", "Stab supports x86-64 only"},
    {"-mx32", "Stab supports x86-64 only"},
};
// Sanitizers with a runtime that replaces malloc, owns the shadow of the address space, or checks code addresses.
constexpr std::string_view kRefusedSanitizers[] = {"address",  "thread", "memory", "leak",   "hwaddress",
                                                   "dataflow", "safe-stack", "kernel-address", "fuzzer",
                                                   "memtag",   "realtime", "numerical", "type", "cfi", "kcfi"};

template <typename List>
bool contains(const List& list, std::string_view value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

Error refused(const std::string& argument, std::string_view why) {
  return bad_input("'" + argument + "' can't be used with Stab: " + std::string(why) +
                   "; build this program with plain clang-19 for that");
}

Status check_sanitizers(const std::string& argument) {
  constexpr std::string_view kOption = "-fsanitize=";
  if (!argument.starts_with(kOption)) return {};
  std::istringstream list(argument.substr(kOption.size()));
  for (std::string name; std::getline(list, name, ',');)
    for (const std::string_view refused_name : kRefusedSanitizers)
      if (name == refused_name || name.starts_with(std::string(refused_name) + "-"))
        return refused(argument, "that sanitizer replaces memory or checks code addresses");
  return {};
}

Status check_allowed(const std::string& argument) {
  for (const Refusal& refusal : kRefused)
    if (argument == refusal.prefix) return refused(argument, refusal.why);
  return check_sanitizers(argument);
}

// Removes "-s", "--strip-all" from "-Wl,a,-s,b"; true if there was one. The argument may become empty.
bool take_strip_from_linker_list(std::string& argument) {
  if (!argument.starts_with("-Wl,")) return false;
  std::string kept = "-Wl";
  bool found = false;
  std::istringstream list(argument.substr(4));
  for (std::string item; std::getline(list, item, ',');) {
    const bool strip = item == "-s" || item == "--strip-all" || item == "-strip-all";
    found |= strip;
    if (!strip) kept += "," + item;
  }
  if (found) argument = kept == "-Wl" ? "" : kept;
  return found;
}

constexpr std::string_view kPads = "--stab-pads=";

Result<bool> all_pads(std::string_view argument) {
  const std::string_view choice = argument.substr(kPads.size());
  if (choice != "long" && choice != "all")
    return bad_input("'" + std::string(argument) + "': expected 'long' (functions whose activations are long) or 'all'");
  return choice == "all";
}

constexpr std::string_view kMove = "--stab-move=";

Result<bool> moves_all(std::string_view argument) {
  const std::string_view choice = argument.substr(kMove.size());
  if (choice != "listed" && choice != "all")
    return bad_input("'" + std::string(argument) + "': expected 'listed' (what Stab's pass compiled) or 'all' (what other "
                     "compilers made, too)");
  return choice == "all";
}

constexpr std::string_view kVisit = "--stab-visit=";

Status add_visited(std::string_view argument, std::string& visited) {
  const std::string_view names = argument.substr(kVisit.size());
  if (names.empty() || names.find_first_of(" \t=") != std::string_view::npos)
    return bad_input("'" + std::string(argument) + "': expected the names of functions as the linker knows them, such as "
                     "--stab-visit=evaluate,_ZN5Board4moveEv");
  visited += (visited.empty() ? "" : ",") + std::string(names);
  return {};
}

constexpr std::string_view kLayout = "--stab-layout=";

Status take_layout(std::string_view argument, std::string& file) {
  const std::string_view path = argument.substr(kLayout.size());
  if (path.empty()) return bad_input("'--stab-layout=' needs a file, which 'stabctl layout emit' writes");
  if (!file.empty() && file != path)
    return bad_input("'" + std::string(argument) + "': a build obeys one layout file, and '" + file + "' is given, too");
  file = path;
  return {};
}

// Words of a response file as clang splits them (GNU style): blanks separate, quotes group, backslash escapes.
Arguments split_words(const std::string& text) {
  Arguments words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
      else word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

// Response files may name others; a file that names itself would never end.
constexpr int kMaxResponseDepth = 20;

Status expand(const std::string& argument, int depth, Arguments& out) {
  if (argument.size() < 2 || argument[0] != '@') {
    out.push_back(argument);
    return {};
  }
  std::ifstream file(argument.substr(1));
  if (!file) {
    out.push_back(argument);  // clang takes it for a file name and says what it thinks
    return {};
  }
  if (depth == kMaxResponseDepth) return bad_input("'" + argument + "': response files nest too deep");
  std::ostringstream text;
  text << file.rdbuf();
  for (const std::string& word : split_words(text.str())) STAB_CHECK_OK(expand(word, depth + 1, out));
  return {};
}

}  // namespace

Result<CommandLine> CommandLine::parse(std::span<char* const> raw) {
  Arguments expanded;
  for (const char* argument : raw) STAB_CHECK_OK(expand(argument, 0, expanded));
  CommandLine line;
  size_t choices = 0;  // options of ours, which clang must not see
  for (size_t i = 0; i < expanded.size(); ++i) {
    std::string& argument = expanded[i];
    const bool is_value = i > 0 && contains(kTakesValue, expanded[i - 1]);
    if (is_value && expanded[i - 1] == "-Xlinker" && (argument == "-s" || argument == "--strip-all")) {
      line.strips = true;
      line.arguments.pop_back();
      continue;
    }
    if (is_value) {
      line.arguments.push_back(argument);
      continue;
    }
    STAB_CHECK_OK(check_allowed(argument));
    if (argument == "--stab-info") {
      if (i + 1 == expanded.size()) return bad_input("'--stab-info' needs a file");
      line.info_file = expanded[++i];
      continue;
    }
    if (argument == "--stab-parts") {
      line.prints_parts = true;
      continue;
    }
    if (argument.starts_with(kPads)) {
      STAB_TRY(line.pads_all, all_pads(argument));
      ++choices;
      continue;
    }
    if (argument.starts_with(kMove)) {
      STAB_TRY(line.move_all, moves_all(argument));
      ++choices;
      continue;
    }
    if (argument.starts_with(kVisit)) {
      STAB_CHECK_OK(add_visited(argument, line.visited));
      ++choices;
      continue;
    }
    if (argument.starts_with(kLayout)) {
      STAB_CHECK_OK(take_layout(argument, line.layout_file));
      ++choices;
      continue;
    }
    line.only_compiles |= contains(kStopsBeforeLink, argument);
    line.prints_steps |= argument == "-###";
    if (argument == "-ffreestanding") line.freestanding = true;
    if (argument == "-fhosted") line.freestanding = false;
    line.verbose |= argument == "-v";
    if (argument == "-s" || argument == "-Wl,-s" || take_strip_from_linker_list(argument)) {
      line.strips = true;
      if (argument.empty() || argument == "-s" || argument == "-Wl,-s") continue;
    }
    line.arguments.push_back(argument);
  }
  // Response files stay response files, unless something had to be taken out of one: expanded they may exceed what exec
  // takes.
  Arguments as_given(raw.begin(), raw.end());
  const size_t taken = std::erase_if(as_given, [](const std::string& argument) {
    return argument.starts_with(kMove) || argument.starts_with(kPads) || argument.starts_with(kVisit) ||
           argument.starts_with(kLayout);
  });
  if (!line.strips && line.info_file.empty() && taken == choices) line.arguments = as_given;
  return line;
}

}  // namespace stab::driver
