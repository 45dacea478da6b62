// Finding the link step in the output of -###: one line a step, every word in double quotes, the linker's last.
// Asking the compiler spares us from knowing its options: implicit a.out, -x, -shared in a configuration file.
#include "instrumenter/driver/link_job.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace stab::driver {
namespace {

Arguments words_of(const std::string& line) {
  Arguments words;
  for (size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at)) {
    std::string word;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      word += line[at];
    }
    ++at;
    words.push_back(word);
    if (at >= line.size()) break;
  }
  return words;
}

bool has(const Arguments& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_linker(const std::string& program) {
  const std::string_view name = std::string_view(program).substr(program.rfind('/') + 1);
  return name.starts_with("ld") || name == "mold" || name.ends_with("-ld") || name.find("-ld.") != name.npos;
}

// To linkers -static is a switch for the libraries behind it (-Wl,-static ... -Wl,-Bdynamic). It makes a program static
// where clang names no dynamic linker.
bool is_static(const Arguments& words) {
  return has(words, "--no-dynamic-linker") || (has(words, "-static") && !has(words, "-dynamic-linker"));
}

// Whether the C++ library comes out of an archive: in a static program, or by -static-libstdc++.
bool has_cxx_archive(const Arguments& words) {
  bool archives = is_static(words);
  bool found = false;
  for (const std::string& word : words) {
    if (word == "-Bstatic") archives = true;
    if (word == "-Bdynamic") archives = false;
    if (word == "-lstdc++" || word == "-lc++") found = archives;
  }
  return found;
}

bool discards(const Arguments& words) {
  bool gc = false, icf = false;
  for (const std::string& word : words) {
    if (word == "--gc-sections" || word == "-gc-sections") gc = true;
    if (word == "--no-gc-sections" || word == "-no-gc-sections") gc = false;
    if (word.starts_with("--icf=") || word.starts_with("-icf=")) icf = !word.ends_with("=none");
  }
  return gc || icf;
}

// The names that --wrap gives to functions of the program's.
Arguments wrapped_names(const Arguments& words) {
  Arguments names;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--wrap" && words[i] != "-wrap") {
      for (const std::string_view option : {"--wrap=", "-wrap="})
        if (words[i].starts_with(option)) names.push_back(words[i].substr(option.size()));
    } else if (i + 1 < words.size()) {
      names.push_back(words[i + 1]);
    }
  }
  return names;
}

// Operators call each other by name, and the heap: in a library linked statically each such call is the wrapper's.
bool wraps_operators(const Arguments& words) {
  constexpr std::string_view kCalledByOperators[] = {"malloc", "free", "aligned_alloc", "posix_memalign", "memalign"};
  for (const std::string_view name : wrapped_names(words)) {
    for (const std::string_view op : {"_Znw", "_Zna", "_Zdl", "_Zda"})
      if (name.starts_with(op)) return true;
    if (has_cxx_archive(words) && std::ranges::find(kCalledByOperators, name) != std::end(kCalledByOperators)) return true;
  }
  return false;
}

// The last one holds: a user may say it to the linker (-Wl,-o,a). Empty: none.
std::string output_of(const Arguments& words) {
  constexpr std::string_view kLong = "--output=";
  std::string output;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(kLong)) output = words[i].substr(kLong.size());
    if ((words[i] == "-o" || words[i] == "--output") && i + 1 < words.size()) output = words[i + 1];
  }
  return output;
}

// Where -lNAME leads: to the first folder that has the library, shared ones preferred unless archives alone are wanted. Empty:
// nowhere, which the linker says itself.
std::string find_library(const std::string& name, const Arguments& folders, bool only_archives) {
  std::error_code ignored;
  for (const std::string& folder : folders) {
    if (name.starts_with(':')) {
      if (const std::string file = folder + "/" + name.substr(1); std::filesystem::exists(file, ignored)) return file;
      continue;
    }
    for (const char* ending : {".so", ".a"})
      if (const std::string file = folder + "/lib" + name + ending;
          !(only_archives && std::string_view(ending) == ".so") && std::filesystem::exists(file, ignored))
        return file;
  }
  return {};
}

// Values of options that come as words of their own are no files, or no objects; whoever reads them sees that.
Arguments files_of(const Arguments& words) {
  Arguments folders, files;
  for (const std::string& word : words)
    if (word.starts_with("-L") && word.size() > 2) folders.push_back(word.substr(2));
  bool only_archives = is_static(words);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-Bstatic" || word == "-static") only_archives = true;
    if (word == "-Bdynamic") only_archives = is_static(words);
    if (!word.starts_with('-')) files.push_back(word);
    if (!word.starts_with("-l") || word.size() == 2) continue;
    if (const std::string file = find_library(word.substr(2), folders, only_archives); !file.empty()) files.push_back(file);
  }
  return files;
}

}  // namespace

std::optional<LinkJob> find_link_job(const std::string& steps) {
  std::optional<LinkJob> job;
  std::istringstream lines(steps);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(" \"")) continue;
    const Arguments words = words_of(line);
    if (words.empty()) continue;
    if (has(words, "-cc1") || has(words, "-cc1as") || !is_linker(words[0])) continue;
    const std::string output = output_of(words);
    if (output.empty()) continue;
    job = LinkJob{
        .output = output,
        .files = files_of(words),
        .relocatable = has(words, "-r") || has(words, "--relocatable"),
        .shared = has(words, "-shared") || has(words, "--shared"),
        .is_static = is_static(words),
        .with_libc = has(words, "-lc"),
        .with_cxx_archive = has_cxx_archive(words),
        .lld = words[0].find("lld") != std::string::npos,
        .keeps_relocations = has(words, "-q") || has(words, "--emit-relocs") || has(words, "-emit-relocs"),
        .gold_discards = words[0].ends_with("gold") && discards(words),
        .wraps_operators = wraps_operators(words),
    };
  }
  return job;
}

}  // namespace stab::driver
