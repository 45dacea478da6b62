// What tools leave where they ran. A file is read as any output is; of a folder the newest file that the tool may have written
// counts, or all of them; criterion has a folder for each benchmark. Links are not followed, and nothing but regular files is
// read.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/unique_fd.h"
#include "plan/metrics/criterion_files.h"
#include "plan/metrics/metrics.h"

namespace stab::metrics {
namespace {

namespace fs = std::filesystem;

// A tree of 2,000 benchmarks with three files each and the sample before has below 20,000 entries.
constexpr size_t kMostEntries = 200'000;

Result<std::string> text_of_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!file) return system_error("open '" + path + "'", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("stat '" + path + "'", errno);
  if (!S_ISREG(info.st_mode)) return bad_input("'" + path + "' is not a regular file");
  std::string text(std::min<size_t>(static_cast<size_t>(info.st_size), kMostBytes + 1), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read '" + path + "'", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return text;
}

// Regular files below the folder, sorted.
Result<std::vector<fs::path>> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  size_t entries = 0;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (++entries > kMostEntries)
      return bad_input("'" + folder + "' has more than " + std::to_string(kMostEntries) + " entries; name a folder in it");
    if (at.depth() > kMostDepth)
      return bad_input("'" + folder + "' nests deeper than " + std::to_string(kMostDepth) + " folders");
    std::error_code ignored;
    if (fs::is_regular_file(at->symlink_status(ignored))) files.push_back(at->path());
  }
  if (failed) return system_error("list '" + folder + "'", failed.value());
  std::sort(files.begin(), files.end());
  return files;
}

// What asv keeps beside its results.
bool is_of_results(const fs::path& file) {
  const std::string name = file.filename().string();
  return name != "machine.json" && name != "benchmarks.json";
}

Result<std::vector<std::string>> results_in(const Format& format, const std::string& folder) {
  STAB_TRY(std::vector<fs::path> files, files_below(folder));
  std::erase_if(files, [&](const fs::path& file) {
    return !file.filename().string().ends_with(format.own_suffix) || !is_of_results(file);
  });
  if (files.empty())
    return bad_input("'" + folder + "' has no file '*" + std::string(format.own_suffix) + "'; expected " +
                     std::string(format.what));
  if (format.own_kind == OwnPlace::kNewest) {
    const auto time = [](const fs::path& file) {
      std::error_code ignored;
      return fs::last_write_time(file, ignored);
    };
    files = {*std::max_element(files.begin(), files.end(), [&](const auto& a, const auto& b) { return time(a) < time(b); })};
  }
  std::vector<std::string> paths;
  for (const fs::path& file : files) paths.push_back(file.string());
  return paths;
}

// Each folder "new" that has a benchmark.json is the last measurement of a benchmark; "base" beside it is the one before.
Result<std::vector<CriterionBenchmark>> criterion_tree(const std::string& folder) {
  STAB_TRY(const std::vector<fs::path> files, files_below(folder));
  std::vector<CriterionBenchmark> out;
  const auto text_or_nothing = [&](const fs::path& path) -> Result<std::string> {
    if (!std::binary_search(files.begin(), files.end(), path)) return std::string();
    return text_of_file(path.string());
  };
  for (const fs::path& file : files) {
    const fs::path of = file.parent_path();
    if (file.filename() != "benchmark.json" || of.filename() != "new") continue;
    STAB_TRY(const std::string named, text_of_file(file.string()));
    STAB_TRY(const std::string estimates, text_or_nothing(of / "estimates.json"));
    STAB_TRY(const std::string sample, text_or_nothing(of / "sample.json"));
    if (named.size() > kMostBytes || estimates.size() > kMostBytes || sample.size() > kMostBytes)
      return bad_input("'" + of.string() + "' has a file of more than " + std::to_string(kMostBytes) + " bytes");
    auto one = read_criterion_files(named, estimates, sample);
    if (!one) return bad_input("'" + of.string() + "': " + one.error().message);
    out.push_back(*std::move(one));
  }
  if (out.empty())
    return bad_input("'" + folder +
                     "' has no 'new/benchmark.json' below it; expected the folder target/criterion of a 'cargo bench'");
  std::vector<std::string> names;
  for (const CriterionBenchmark& one : out) names.push_back(one.name.full);
  STAB_CHECK_OK(check_apart(names, "give each benchmark a name of its own"));
  return out;
}

// use(text) of each file, whose errors name it.
template <typename Use>
Status for_each_text(const Format& format, const std::string& path, const Use& use) {
  std::vector<std::string> paths{path};
  if (std::error_code failed; fs::is_directory(path, failed)) {
    STAB_TRY(paths, results_in(format, path));
  }
  for (const std::string& one : paths) {
    STAB_TRY(const std::string text, text_of_file(one));
    if (const Status used = use(text); !used) return bad_input("'" + one + "': " + used.error().message);
  }
  return {};
}

Status twice(const std::string& name) {
  return bad_input("'" + name + "' is in another file, too; keep the files of one run");
}

}  // namespace

Result<std::vector<Metric>> read_own_place(const Format& format, const std::string& path) {
  if (format.own_kind == OwnPlace::kCriterion) {
    STAB_TRY(const std::vector<CriterionBenchmark> tree, criterion_tree(path));
    Collected collected;
    for (const CriterionBenchmark& one : tree) STAB_CHECK_OK(collected.add(one.name.full, one.seconds));
    return collected.take();
  }
  std::vector<Metric> out;
  std::set<std::string> names;
  STAB_CHECK_OK(for_each_text(format, path, [&](const std::string& text) -> Status {
    STAB_TRY(std::vector<Metric> metrics, read(format, text));
    for (Metric& one : metrics) {
      if (!names.insert(one.name).second) return twice(one.name);
      out.push_back(std::move(one));
    }
    return out.size() > kMostBenchmarks ? bad_input("more than " + std::to_string(kMostBenchmarks) + " benchmarks") : Status();
  }));
  return out;
}

Result<std::vector<ProcessTime>> read_own_processes(const Format& format, const std::string& path) {
  if (format.own_kind == OwnPlace::kCriterion) {
    STAB_TRY(const std::vector<CriterionBenchmark> tree, criterion_tree(path));
    ProcessList list;
    for (const CriterionBenchmark& one : tree) STAB_CHECK_OK(list.add(one.name, one.seconds, 0));
    return list.take();
  }
  std::vector<ProcessTime> out;
  std::set<std::string> names;
  STAB_CHECK_OK(for_each_text(format, path, [&](const std::string& text) -> Status {
    STAB_TRY(std::vector<ProcessTime> times, read_processes(format, text));
    std::set<std::string> own;
    for (ProcessTime& one : times) {
      if (names.contains(one.benchmark)) return twice(one.benchmark);
      own.insert(one.benchmark);
      out.push_back(std::move(one));
    }
    names.merge(own);
    return {};
  }));
  return out;
}

}  // namespace stab::metrics
