// valgrind's command line, and its results turned into responses. What it says of itself goes nowhere: a log beside the program
// would be a file with a number in its name, and stderr is the program's.
#include "stabd/engine/trial/simulated.h"

#include <signal.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/split.h"
#include "stabd/engine/trial/expectation.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

// What Debian calls valgrind is a script, which puts variables into the program's environment and starts the first of these.
constexpr const char* kValgrinds[] = {"valgrind.bin", "valgrind"};
constexpr char kCountsFile[] = "stab-simulated.";  // and the process's number: forked children write files of their own

std::optional<uint64_t> size_of(const std::string& text) {
  // "32K", "36608K", "1M"
  if (text.empty()) return {};
  const uint64_t unit = text.back() == 'K' ? 1u << 10 : text.back() == 'M' ? 1u << 20 : 1;
  const auto count = host::to_integer(unit == 1 ? text : text.substr(0, text.size() - 1));
  return count && *count > 0 ? std::optional(static_cast<uint64_t>(*count) * unit) : std::nullopt;
}

struct FoundCache {
  int level = 0;
  std::string type;
  plan::CacheShape shape;
};

std::vector<FoundCache> caches_of_machine(const host::Roots& roots) {
  std::vector<FoundCache> found;
  for (int index = 0; index < 16; ++index) {
    const std::string at = roots.sys + "/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto level = host::to_integer(host::read_small_file(at + "level").value_or(""));
    const auto ways = host::to_integer(host::read_small_file(at + "ways_of_associativity").value_or(""));
    const auto line = host::to_integer(host::read_small_file(at + "coherency_line_size").value_or(""));
    const auto bytes = size_of(host::read_small_file(at + "size").value_or(""));
    if (!level || !ways || !line || !bytes || *ways < 1 || *line < 1) continue;
    const uint64_t set = static_cast<uint64_t>(*ways) * static_cast<uint64_t>(*line);
    if (*bytes < set) continue;
    found.push_back({static_cast<int>(*level), host::read_small_file(at + "type").value_or(""),
                     {std::bit_floor(*bytes / set) * set, static_cast<int>(*ways), static_cast<int>(*line)}});
  }
  return found;
}

Error not_installed() {
  return {ErrorCode::kUnavailable, "the plan simulates, and valgrind is not installed; apt install valgrind", {}};
}

std::string option_of(const char* name, const plan::CacheShape& shape) {
  return std::string("--") + name + "=" + std::to_string(shape.bytes) + "," + std::to_string(shape.ways) + "," +
         std::to_string(shape.line_bytes);
}

}  // namespace

Result<plan::Simulation> with_caches_of_machine(plan::Simulation simulation, const host::Roots& roots) {
  const std::vector<FoundCache> found = caches_of_machine(roots);
  const auto take = [&](const char* name, plan::CacheShape& shape, const auto& is_it) -> Status {
    if (shape.declared()) return {};
    const FoundCache* last = nullptr;
    for (const FoundCache& cache : found)
      if (is_it(cache) && (last == nullptr || cache.level > last->level)) last = &cache;
    if (last == nullptr || !plan::why_no_cache(last->shape).empty())
      return Error{ErrorCode::kUnavailable,
                   std::string("this machine doesn't say what its cache ") + name +
                       " is; declare it below simulate = \"cachegrind\": [counters.cache] " + name +
                       " = { size = \"32KiB\", ways = 8, line = 64 }", {}};
    shape = last->shape;
    return {};
  };
  STAB_CHECK_OK(take("I1", simulation.i1, [](const FoundCache& c) { return c.level == 1 && c.type != "Data"; }));
  STAB_CHECK_OK(take("D1", simulation.d1, [](const FoundCache& c) { return c.level == 1 && c.type != "Instruction"; }));
  STAB_CHECK_OK(take("LL", simulation.ll, [](const FoundCache& c) { return c.level > 1; }));
  return simulation;
}

Status must_have_valgrind() {
  for (const std::string_view folder : split(kSearchPath, ':'))
    for (const char* name : kValgrinds)
      if (::access((std::string(folder) + "/" + name).c_str(), X_OK) == 0) return {};
  return not_installed();
}

Result<std::string> find_valgrind(const BuildPlace& place) {
  for (const char* name : kValgrinds)
    if (auto path = find_program(place, {}, name)) return path;
  return not_installed();
}

Result<std::string> path_of_constant_length(const std::string& trial_directory, size_t number, const std::string& name,
                                            const std::string& program) {
  char numbered[32];
  std::snprintf(numbered, sizeof numbered, "program-%06zu", number);
  const fs::path folder = fs::path(trial_directory).parent_path() / numbered;
  const fs::path link = folder / fs::path(name).filename();
  // What cleans /tmp may have taken it.
  std::error_code error;
  if (fs::read_symlink(link, error) == program) return link.string();
  fs::remove(link, error);
  fs::create_directory(folder, error);
  if (!error) fs::permissions(folder, fs::perms(0711), error);
  if (!error) fs::create_symlink(program, link, error);
  if (error) return system_error("create '" + link.string() + "'", error.value());
  return link.string();
}

void put_under_cachegrind(const plan::Simulation& simulation, const std::string& valgrind, const std::string& directory,
                          const std::string& path, host::LaunchRequest& launch) {
  std::vector<std::string> argv = {"valgrind",
                                   "--command-line-only=yes",  // no .valgrindrc of the trial's directory
                                   "--tool=cachegrind",
                                   "--cache-sim=yes",
                                   "--branch-sim=yes",
                                   option_of("I1", simulation.i1),
                                   option_of("D1", simulation.d1),
                                   option_of("LL", simulation.ll),
                                   "--cachegrind-out-file=" + directory + "/" + kCountsFile + "%p",
                                   "--log-file=/dev/null",
                                   "--vgdb=no",                // no files in /tmp, no looks at a clock
                                   "--fair-sched=try",         // of threads, in turn
                                   "--smc-check=all-non-file",
                                   "--trace-children=no",
                                   "--",
                                   path};
  if (!launch.argv.empty()) argv.insert(argv.end(), launch.argv.begin() + 1, launch.argv.end());
  launch.program_path = launch.exec_path;
  launch.exec_path = valgrind;
  launch.argv = std::move(argv);
  launch.aslr = false;  // valgrind's own mappings lie among the program's
}

Result<std::string> add_simulated(const plan::Simulation& simulation, const std::string& directory, pid_t pid, Worker* worker,
                                  std::vector<store::ResponseRow>& responses) {
  if (worker == nullptr) return Error{ErrorCode::kInternal, "simulated counts are to be read, and there is no worker", {}};
  const auto answer = worker->ask(worker::ReadSimulated{directory + "/" + kCountsFile + std::to_string(pid)});
  if (!answer && says_nothing(answer.error())) return answer.error();
  if (!answer) return "what was simulated: " + answer.error().message;
  std::map<std::string, uint64_t> sums;
  for (const worker::ReadSimulated::Row& row : answer->rows) sums[row.event] = row.count;
  for (const char* event : {"Ir", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bcm", "Bim"})
    if (!sums.contains(event))
      return std::string("what was simulated: no count of ") + event + "; is this valgrind's cachegrind?";
  plan::SimulatedCounts counts;
  counts.instructions = sums["Ir"];
  counts.i1_misses = sums["I1mr"];
  counts.d1_misses = sums["D1mr"] + sums["D1mw"];
  counts.ll_misses = sums["ILmr"] + sums["DLmr"] + sums["DLmw"];
  counts.mispredictions = sums["Bcm"] + sums["Bim"];
  for (const plan::SimulatedResponse& response : plan::kSimulatedResponses) {
    store::ResponseRow row;
    row.name = response.name;
    row.value = response.count == nullptr ? plan::cost_of(counts, simulation.weights)
                                          : static_cast<double>(counts.*response.count);
    responses.push_back(std::move(row));
  }
  return std::string();
}

std::string limits_of(const plan::Simulation& simulation) {
  return "trials are simulated: " + plan::words_of(simulation) +
         "; no time is measured, a trial takes some 50 times the program's own, its threads take turns, what it forks or "
         "executes is not counted, and an instruction that valgrind doesn't know (AVX-512) ends it";
}

std::string why_ended_by(int signal) {
  if (signal == SIGILL)
    return "; in a simulated trial that is an instruction that valgrind doesn't know: build without -march=native and AVX-512";
  return {};
}

}  // namespace stab::engine
