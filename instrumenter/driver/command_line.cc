// Reading the user's arguments, as little as possible: clang itself tells what it links and where to
// (link_job.cc). Only here: whether the command surely doesn't link, which saves asking for each compilation;
// -s, which the linker refuses together with --emit-relocs; our own options; and what can't work.
#include "instrumenter/driver/command_line.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/wording.h"

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
    {"-fsanitize-minimal-runtime", "it tells what it has reported by the address of code, which moves"},
    {"-fsplit-stack", "it replaces the stack that Stab randomizes"},
};
constexpr std::string_view kNarrows[] = {"-m32", "-mx32"};
// Sanitizers with a runtime that replaces malloc, owns the shadow of the address space, or checks code addresses.
constexpr std::string_view kRefusedSanitizers[] = {"address",  "thread", "memory", "leak",   "hwaddress",
                                                   "dataflow", "safe-stack", "kernel-address", "fuzzer",
                                                   "memtag",   "realtime", "numerical", "type", "cfi", "kcfi"};

template <typename List>
bool contains(const List& list, std::string_view value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

bool names_another_target(std::string_view argument) {
  for (const std::string_view option : {"--target=", "-target", "-arch", "-m16", "--config"})
    if (argument.starts_with(option)) return true;
  return contains(kNarrows, argument);
}

Error refused(const std::string& argument, std::string_view why) {
  return bad_input("'" + argument + "' can't be used with Stab: " + std::string(why) +
                   "; build this program with plain clang for that");
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

constexpr std::string_view kLlvm = "--stab-llvm=";

Status take_llvm(std::string_view argument, std::string& llvm) {
  llvm = argument.substr(kLlvm.size());
  if (llvm.empty())
    return bad_input("'--stab-llvm=' needs a version, such as 19, or the folder of an LLVM that Stab was built for");
  return {};
}

constexpr std::string_view kStrict = "--stab-strict";

Result<postlink::Factors> strict_factors(const std::string& argument) {
  if (argument == kStrict) return postlink::Factors::all();
  return postlink::parse_factors(std::string_view(argument).substr(kStrict.size() + 1), argument);
}

// Words of a response file as clang splits them (GNU style): blanks separate, quotes group, a backslash escapes the next
// character, between quotes of either kind, too.
Arguments split_words(const std::string& text) {
  Arguments words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
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

// The text of a response file that clang splits into these words.
std::string joined_words(const Arguments& words) {
  std::string text;
  for (const std::string& word : words) {
    text += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\"\n";
  }
  return text;
}

// A word, and which argument it is or comes out of.
struct Word {
  std::string text;
  size_t argument;
  bool taken = false;  // clang doesn't get it
  bool cut = false;    // clang gets less of it than there was
};

// Response files may name others; a file that names itself would never end.
constexpr int kMaxResponseDepth = 20;

Status expand(const std::string& text, size_t argument, int depth, std::vector<Word>& out) {
  if (text.size() < 2 || text[0] != '@') {
    out.push_back({text, argument});
    return {};
  }
  std::ifstream file(text.substr(1));
  if (!file) {
    out.push_back({text, argument});  // clang takes it for a file name and says what it thinks
    return {};
  }
  if (depth == kMaxResponseDepth) return bad_input("'" + text + "': response files nest too deep");
  std::ostringstream content;
  content << file.rdbuf();
  for (const std::string& word : split_words(content.str())) STAB_CHECK_OK(expand(word, argument, depth + 1, out));
  return {};
}

// A response file in memory. Whoever inherits the descriptor reads it under the descriptor's name.
Status write_response_file(const Arguments& words, CommandLine& line) {
  const std::string text = joined_words(words);
  auto memory = std::make_shared<UniqueFd>(memfd_create("stab-arguments", 0));
  for (size_t at = 0; memory->valid() && at < text.size();) {
    const ssize_t count = write(memory->get(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) memory->reset();
    at += static_cast<size_t>(count);
  }
  if (!*memory) return system_error("make a response file in memory", errno);
  line.arguments.push_back("@/proc/self/fd/" + std::to_string(memory->get()));
  line.response_files.push_back(std::move(memory));
  return {};
}

// Sets what clang gets of the arguments. A response file stays one, since expanded it may exceed what exec takes: itself where
// nothing was taken out of it, otherwise one in memory, of the words that are left.
Status keep_the_rest(std::span<char* const> raw, const std::vector<Word>& words, CommandLine& line) {
  auto word = words.begin();
  for (size_t i = 0; i < raw.size(); ++i) {
    Arguments left;
    bool whole = true;
    for (; word != words.end() && word->argument == i; ++word) {
      whole &= !word->taken && !word->cut;
      if (!word->taken) left.push_back(word->text);
    }
    if (whole) left = {raw[i]};
    if (whole || raw[i][0] != '@') line.arguments.insert(line.arguments.end(), left.begin(), left.end());
    else STAB_CHECK_OK(write_response_file(left, line));
  }
  return {};
}

// Options of ours, each with its value; true: it was one.
Result<bool> take_choice(const std::string& argument, CommandLine& line) {
  if (argument.starts_with(kPads)) {
    STAB_TRY(line.pads_all, all_pads(argument));
    return true;
  }
  if (argument.starts_with(kMove)) {
    STAB_TRY(line.move_all, moves_all(argument));
    return true;
  }
  if (argument.starts_with(kVisit)) {
    STAB_CHECK_OK(add_visited(argument, line.visited));
    return true;
  }
  if (argument.starts_with(kLlvm)) {
    STAB_CHECK_OK(take_llvm(argument, line.llvm));
    return true;
  }
  if (argument.starts_with(kLayout)) {
    STAB_CHECK_OK(take_layout(argument, line.layout_file));
    return true;
  }
  if (argument == kStrict || argument.starts_with(std::string(kStrict) + "=")) {
    STAB_TRY(line.strict, strict_factors(argument));
    return true;
  }
  line.prints_parts |= argument == "--stab-parts";
  if (argument == "--stab-parts") return true;
  // clang would say of it what it says of any word, and propose one of its own.
  constexpr std::string_view kOwn = "--stab-";
  if (!argument.starts_with(kOwn)) return false;
  const std::string meant = did_you_mean(argument, std::vector<std::string_view>{"--stab-info", kLayout, kLlvm, kMove, kPads,
                                                                                 "--stab-parts", kStrict, kVisit});
  return bad_input("there is no option '" + argument + "'; " + (meant.empty() ? "szc(1) lists those of szc's own" : meant));
}

}  // namespace

Error no_narrow_programs(const std::string& option) { return refused(option, "Stab supports x86-64 only"); }

Result<CommandLine> CommandLine::parse(std::span<char* const> raw) {
  std::vector<Word> words;
  for (size_t i = 0; i < raw.size(); ++i) STAB_CHECK_OK(expand(raw[i], i, 0, words));
  CommandLine line;
  if (!words.empty() && (words[0].text.starts_with("-cc1") || words[0].text == "-fc1")) {
    line.is_inner = true;
    line.arguments.assign(raw.begin(), raw.end());
    return line;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    std::string& argument = words[i].text;
    const bool is_value = i > 0 && contains(kTakesValue, words[i - 1].text);
    if (is_value && words[i - 1].text == "-Xlinker" && (argument == "-s" || argument == "--strip-all")) {
      line.strips = words[i - 1].taken = words[i].taken = true;
      continue;
    }
    if (is_value) continue;
    if (const Status allowed = check_allowed(argument); !allowed && !line.refused) line.refused = allowed.error();
    line.may_be_other_target |= names_another_target(argument);
    if (contains(kNarrows, argument)) line.narrow = argument;
    if (argument == "--stab-info") {
      if (i + 1 == words.size()) return bad_input("'--stab-info' needs a file");
      words[i].taken = words[i + 1].taken = true;
      line.info_file = words[++i].text;
      continue;
    }
    STAB_TRY(words[i].taken, take_choice(argument, line));
    if (words[i].taken) continue;
    line.only_compiles |= contains(kStopsBeforeLink, argument);
    line.prints_steps |= argument == "-###";
    line.emits_bitcode |= argument == "-emit-llvm";
    line.is_thin_backend |= argument.starts_with("-fthinlto-index=") && argument != "-fthinlto-index=/dev/null";
    if (argument == "-ffreestanding") line.freestanding = true;
    if (argument == "-fhosted") line.freestanding = false;
    if (argument == "-flto" || argument.starts_with("-flto=")) line.optimizes_at_link = true;
    if (argument == "-fno-lto") line.optimizes_at_link = false;
    if (argument == "-fno-integrated-as" || argument == "-no-integrated-as") line.external_assembler = true;
    if (argument == "-fintegrated-as" || argument == "-integrated-as") line.external_assembler = false;
    if (argument.starts_with("-fembed-bitcode"))
      line.embeds_bitcode = argument == "-fembed-bitcode" || argument.ends_with("=all") || argument.ends_with("=bitcode");
    line.verbose |= argument == "-v";
    if (argument == "-s" || take_strip_from_linker_list(argument)) {
      line.strips = words[i].cut = true;
      words[i].taken = argument.empty() || argument == "-s";
    }
  }
  STAB_CHECK_OK(keep_the_rest(raw, words, line));
  return line;
}

}  // namespace stab::driver
