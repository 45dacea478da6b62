// Finding the link step in the output of -###: one line a step, every word in double quotes, the linker's last.
// Asking the compiler spares us from knowing its options: implicit a.out, -x, -shared in a configuration file.
#include "instrumenter/driver/link_job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
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

// Each link of an ELF file is told the emulation. Of the compiler's other steps none is: they are its own processes, as and
// objcopy.
bool is_link(const Arguments& words) {
  if (words.size() < 2 || words[1].starts_with("-cc1") || words[1] == "-fc1") return false;
  for (size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "-m" && words[i + 1].starts_with("elf")) return true;
  return false;
}

// Where code for other processors is embedded, a wrapper runs the linker.
std::string linker_of(const Arguments& words) {
  constexpr std::string_view kPath = "--linker-path=";
  for (const std::string& word : words)
    if (word.starts_with(kPath)) return word.substr(kPath.size());
  return words[0];
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

// The last word of each holds.
bool collects_sections(const Arguments& words) {
  bool collects = false;
  for (const std::string& word : words) {
    if (word == "--gc-sections" || word == "-gc-sections") collects = true;
    if (word == "--no-gc-sections" || word == "-no-gc-sections") collects = false;
  }
  return collects;
}

bool folds_functions(const Arguments& words) {
  bool folds = false;
  for (const std::string& word : words) {
    if (word.starts_with("--icf=") || word.starts_with("-icf=")) folds = !word.ends_with("=none");
    if (word == "--no-icf") folds = false;
  }
  return folds;
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

// The last one holds. Empty: none.
std::string dynamic_linker_of(const Arguments& words) {
  constexpr std::string_view kOptions[] = {"-dynamic-linker", "--dynamic-linker", "-I"};
  std::string path;
  for (size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option : kOptions) {
      const std::string with_value = std::string(option) + "=";
      if (words[i] == option && i + 1 < words.size()) path = words[i + 1];
      if (words[i].starts_with(with_value)) path = words[i].substr(with_value.size());
    }
  }
  return path;
}

// A file's name behind all links that lead to it.
std::string real_name(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return (error ? std::filesystem::path(path) : real).filename().string();
}

bool is_named_as_libc(const std::string& path) {
  const std::string name = real_name(path);
  return name == "libc.a" || name == "libc.so" || name.starts_with("libc.so.") || name.starts_with("libc-2.") ||
         name.starts_with("libc.musl") || name.starts_with("ld-musl");
}

// glibc alone has this function; and libc.so of its development files is a script that names the library.
bool is_glibc(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find("gnu_get_libc_version") != bytes.npos || (bytes.size() < 4096 && bytes.find("libc.so.6") != bytes.npos);
}

// libstdc++ does since GCC 14. Each of its archives has the name of the one function alone.
bool archive_takes_posix_memalign(const Arguments& files) {
  const auto is_cxx_archive = [](const std::string& file) {
    const std::string name = file.substr(file.rfind('/') + 1);
    return name == "libstdc++.a" || name == "libc++.a";
  };
  const auto found = std::find_if(files.begin(), files.end(), is_cxx_archive);
  if (found == files.end()) return false;
  std::ifstream file(*found, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find("posix_memalign") != bytes.npos;
}

// By what is linked: -lc, or the library under another name or by its path. A library that nobody finds the linker complains of.
void find_libc(const Arguments& words, LinkJob& job) {
  if (const std::string loader = dynamic_linker_of(words); loader.substr(loader.rfind('/') + 1).starts_with("ld-musl")) {
    job.libc = Libc::kOther;
    job.other_libc = loader;
    return;
  }
  const auto file = std::find_if(job.files.begin(), job.files.end(), is_named_as_libc);
  if (file == job.files.end()) {
    job.libc = has(words, "-lc") ? Libc::kGlibc : Libc::kNone;
    return;
  }
  job.libc = is_glibc(*file) ? Libc::kGlibc : Libc::kOther;
  if (job.libc == Libc::kOther) job.other_libc = *file;
  job.libc_by_file = job.libc == Libc::kGlibc && !job.is_static && !has(words, "-lc");
}

}  // namespace

bool is_linker_configured(const std::string& steps) {
  constexpr std::string_view kFile = "Configuration file: ";
  std::istringstream lines(steps);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kFile)) continue;
    std::ifstream file(line.substr(kFile.size()));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const char* option : {"-fuse-ld=", "--ld-path="})
      if (text.find(option) != text.npos) return true;
  }
  return false;
}

std::optional<LinkJob> find_link_job(const std::string& steps, const Llvm& llvm) {
  std::optional<LinkJob> job;
  std::istringstream lines(steps);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(" \"")) continue;
    const Arguments words = words_of(line);
    if (!is_link(words)) continue;
    const std::string output = output_of(words);
    if (output.empty()) continue;
    const std::string linker = linker_of(words);
    job = LinkJob{
        .linker = linker,
        .kind = kind_by_path(linker, llvm),
        .output = output,
        .files = files_of(words),
        .relocatable = has(words, "-r") || has(words, "--relocatable"),
        .shared = has(words, "-shared") || has(words, "--shared"),
        .is_static = is_static(words),
        .with_cxx_archive = has_cxx_archive(words),
        .collects = collects_sections(words),
        .folds = folds_functions(words),
        .keeps_relocations = has(words, "-q") || has(words, "--emit-relocs") || has(words, "-emit-relocs"),
        .wraps_operators = wraps_operators(words),
    };
    job->archive_takes_posix_memalign = job->with_cxx_archive && archive_takes_posix_memalign(job->files);
    find_libc(words, *job);
  }
  return job;
}

}  // namespace stab::driver
