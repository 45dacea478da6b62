// Runs a program under a causal script and prints what its windows gave: the developer's way in, without the laboratory.
//
//   run_windows [OPTIONS] -- PROGRAM ARGUMENTS
//
//   --lib FILE --companion FILE   libstabcausal.so and stab-causal
//   --region NAME=SYMBOL          a function of the program; as often as wanted; numbered from 1
//   --speedups 250,500            permille; each block of windows has each for each region
//   --kinds null,slowdown         further arms, at the largest speedup
//   --baselines N                 baseline windows in a block, default 1
//   --blocks N                    blocks, in random order within; default 1000, as many as the run has time for
//   --window-ms --cool-ms --period-us --least-visits --prolong --skip-ms --seed
//   --pauses auto|cpu-time|spin|thread      --cpus 1 or 0,1: where the program may run      --flags N (Script::flags)
//   --load PERMILLE               of the arrival rate (Script::load_permille)
//   --windows                     a line for each window, too
//   --pilot                       no arms: the histogram's densest addresses
//
// The output's lines begin with what they are: window, arm, latency, state, module, point, hot. An arm's gain is 1 - T / T of the
// baseline, with T effective time over visits of the point that is visited most, and its standard error from window to window.
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/causal/causal_abi.h"

using namespace stab::causal;

namespace {

struct Options {
  std::string lib, companion;
  std::vector<std::pair<std::string, std::string>> regions;
  std::vector<uint32_t> speedups;
  std::vector<int> cpus;
  bool null = false, slowdown = false, windows = false, pilot = false;
  unsigned baselines = 1, blocks = 1000, seed = 1;
  double window_ms = 100, cool_ms = 2, period_us = 1000, skip_ms = 0;
  uint64_t least_visits = 0, prolong = 1, flags = 0;
  uint32_t load = 0;
  Pauses pauses = Pauses::kAuto;
  char** command = nullptr;
};

[[noreturn]] void fail(const std::string& why) {
  fprintf(stderr, "run_windows: %s\n", why.c_str());
  exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Pauses pauses_of(const std::string& word) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(Pauses::kCount); ++i)
    if (word == kPausesWords[i]) return static_cast<Pauses>(i);
  fail("--pauses: '" + word + "' is none of auto, cpu-time, spin, thread");
}

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    const std::string name = argv[i];
    if (name == "--windows") { options.windows = true; continue; }
    if (name == "--pilot") { options.pilot = true; continue; }
    if (i + 1 >= argc) fail(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--lib") options.lib = value;
    else if (name == "--companion") options.companion = value;
    else if (name == "--region") {
      const size_t equals = value.find('=');
      if (equals == std::string::npos) fail("--region wants NAME=SYMBOL");
      options.regions.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (name == "--speedups") {
      for (const auto& part : split(value)) options.speedups.push_back(static_cast<uint32_t>(std::stoul(part)));
    } else if (name == "--cpus") {
      for (const auto& part : split(value)) options.cpus.push_back(std::stoi(part));
    } else if (name == "--kinds") {
      for (const auto& part : split(value)) (part == "null" ? options.null : options.slowdown) = true;
    }
    else if (name == "--baselines") options.baselines = static_cast<unsigned>(std::stoul(value));
    else if (name == "--blocks") options.blocks = static_cast<unsigned>(std::stoul(value));
    else if (name == "--seed") options.seed = static_cast<unsigned>(std::stoul(value));
    else if (name == "--window-ms") options.window_ms = std::stod(value);
    else if (name == "--cool-ms") options.cool_ms = std::stod(value);
    else if (name == "--period-us") options.period_us = std::stod(value);
    else if (name == "--skip-ms") options.skip_ms = std::stod(value);
    else if (name == "--least-visits") options.least_visits = std::stoul(value);
    else if (name == "--prolong") options.prolong = std::stoul(value);
    else if (name == "--flags") options.flags = std::stoul(value);
    else if (name == "--load") options.load = static_cast<uint32_t>(std::stoul(value));
    else if (name == "--pauses") options.pauses = pauses_of(value);
    else fail("'" + name + "' is no option");
  }
  if (i + 1 >= argc) fail("there is no program after --");
  options.command = argv + i + 1;
  return options;
}

// Address and size of a symbol, as the file has them.
std::pair<uint64_t, uint64_t> find_symbol(const std::string& file, const std::string& symbol) {
  FILE* const list = popen(("nm -S --defined-only '" + file + "'").c_str(), "r");
  char line[4096], name[2048], kind;
  unsigned long address = 0, bytes = 0;
  std::pair<uint64_t, uint64_t> found{0, 0};
  while (list != nullptr && fgets(line, sizeof line, list) != nullptr)
    if (sscanf(line, "%lx %lx %c %2047s", &address, &bytes, &kind, name) == 4 && symbol == name) found = {address, bytes};
  if (list != nullptr) pclose(list);
  if (found.second == 0) fail("'" + symbol + "' is no function of '" + file + "'");
  return found;
}

// What is after a colon in SYMBOL@FILE lies in a library of that path.
void fill_ranges(const Options& options, Area& area) {
  Script& script = area.script;
  std::vector<std::string> files = {options.command[0]};
  strcpy(area.modules[0].path, "MAIN");
  std::vector<Range> ranges;
  uint32_t region = 0;
  for (const auto& [name, place] : options.regions) {
    const size_t at = place.find('@');
    const std::string file = at == std::string::npos ? files[0] : place.substr(at + 1);
    size_t module = 0;
    while (module < files.size() && files[module] != file) ++module;
    if (module == files.size()) {
      files.push_back(file);
      strncpy(area.modules[module].path, file.c_str(), sizeof area.modules[module].path - 1);
    }
    const auto [address, bytes] = find_symbol(file, place.substr(0, at));
    ranges.push_back({address, address + bytes, static_cast<uint32_t>(module), ++region});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.module != b.module ? a.module < b.module : a.start < b.start;
  });
  std::copy(ranges.begin(), ranges.end(), area.ranges);
  script.module_count = static_cast<uint32_t>(files.size());
  script.range_count = static_cast<uint32_t>(ranges.size());
  script.region_count = region + 1;
}

void fill_arms(const Options& options, Area& area) {
  std::mt19937 random(options.seed);
  std::vector<Arm> block;
  for (unsigned i = 0; i < options.baselines; ++i) block.push_back({ArmKind::kBaseline, 0, 0, 0});
  uint32_t most = 0;
  for (uint32_t speedup : options.speedups) most = std::max(most, speedup);
  for (uint32_t region = 1; region < area.script.region_count; ++region) {
    for (uint32_t speedup : options.speedups) block.push_back({ArmKind::kSpeedup, region, speedup, 0});
    if (options.null) block.push_back({ArmKind::kNull, region, most, 0});
    if (options.slowdown) block.push_back({ArmKind::kSlowdown, region, most, 0});
  }
  uint32_t count = 0;
  for (unsigned i = 0; i < options.blocks && count + block.size() <= kMaxArms; ++i) {
    std::shuffle(block.begin(), block.end(), random);
    for (const Arm& arm : block) area.arms[count++] = arm;
  }
  area.script.arm_count = options.pilot ? 0 : count;
}

void fill_script(const Options& options, Area& area) {
  Script& script = area.script;
  script.version = kCausalVersion;
  script.header_bytes = sizeof(Area);
  script.flags = options.flags;
  script.period_ns = static_cast<uint64_t>(options.period_us * 1e3);
  script.window_ns = static_cast<uint64_t>(options.window_ms * 1e6);
  script.cooloff_ns = static_cast<uint64_t>(options.cool_ms * 1e6);
  script.skip_look_ns = static_cast<uint64_t>(options.skip_ms * 1e6);
  script.least_visits = options.least_visits;
  script.most_prolonged = options.prolong;
  script.attach_patience_ns = 5'000'000'000;
  script.pauses = options.pauses;
  script.load_permille = options.load;
  fill_ranges(options, area);
  fill_arms(options, area);
  memcpy(script.magic, kAreaMagic, sizeof script.magic);
}

pid_t start(const std::vector<const char*>& command, const Options* preloaded, const char* path) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (preloaded != nullptr) {
    char setting[kCausalSettingLength + 1];
    if (!encode_causal_setting(path, setting)) fail("the area's path is too long");
    setenv(kCausalSettingName, setting, 1);
    setenv("LD_PRELOAD", preloaded->lib.c_str(), 1);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : preloaded->cpus) CPU_SET(static_cast<size_t>(cpu), &set);
    if (!preloaded->cpus.empty() && sched_setaffinity(0, sizeof set, &set) != 0) fail("the program can't run on these CPUs");
  }
  execvp(command[0], const_cast<char**>(command.data()));
  fprintf(stderr, "run_windows: '%s' can't be executed\n", command[0]);
  _exit(127);
}

uint32_t busiest_point(const Area& area) {
  uint32_t best = 0;
  const WindowRecord& whole = area.windows[area.state.windows_used - 1];
  for (uint32_t point = 1; point <= area.state.points_used; ++point)
    if (area.points[point].kind == 1 && (best == 0 || whole.visits[point] > whole.visits[best])) best = point;
  return best;
}

const char* kKinds[] = {"baseline", "speedup", "null", "slowdown"};

struct Sums {
  std::vector<double> time, visits;
  double credited = 0;
  std::map<uint32_t, std::pair<double, double>> latency;  // of each end point: time inside in ms, and visits
  double total(const std::vector<double>& of) const {
    double sum = 0;
    for (double value : of) sum += value;
    return sum;
  }
  double period() const { return total(time) / total(visits); }
  // Of the ratio, from window to window.
  double relative_error() const {
    const double n = static_cast<double>(time.size()), ratio = period(), mean = total(visits) / n;
    double squares = 0;
    for (size_t i = 0; i < time.size(); ++i) squares += (time[i] - ratio * visits[i]) * (time[i] - ratio * visits[i]);
    return n < 2 ? INFINITY : sqrt(squares / (n * (n - 1))) / mean / ratio;
  }
};

void print(const Options& options, const Area& area) {
  const State& state = area.state;
  printf("state finished %u attached %u pauses %s cpus %u moving %u start_us %.0f samples %lu in_ranges %lu unattributed %lu "
         "late %lu spun %lu lost %lu waits %lu classified %lu foreign_traps %lu layouts %lu cpu_s %.3f\n",
         state.finished, state.attached, kPausesWords[static_cast<uint32_t>(state.pauses)], state.cpus, state.moving,
         static_cast<double>(state.start_ns) / 1e3, state.samples, state.samples_in_ranges, state.samples_unattributed,
         state.samples_late, state.samples_spun, state.samples_lost, state.waits, state.waits_classified, state.foreign_traps,
         state.layouts_asked, static_cast<double>(state.cpu_ns) / 1e9);
  for (uint32_t bit = 0; bit < static_cast<uint32_t>(Degraded::kCount); ++bit)
    if ((state.degradations >> bit & 1) != 0) printf("degraded %s\n", kDegradedWords[bit]);
  for (uint32_t i = 0; i < state.modules_used && i < kMaxModules; ++i)
    if (options.pilot) printf("module %u %s flags %u\n", i, area.modules[i].path, area.modules[i].flags);
  for (uint32_t point = 1; point <= state.points_used; ++point)
    printf("point %u %s kind %u visits %lu\n", point, area.points[point].name, area.points[point].kind,
           area.windows[state.windows_used - 1].visits[point]);
  for (uint32_t region = 1; region < area.script.region_count; ++region)
    printf("region %u %s samples %lu ms %.1f\n", region, options.regions[region - 1].first.c_str(), state.region_samples[region],
           static_cast<double>(state.region_ns[region]) / 1e6);
  if (state.windows_used == 0) return;
  const uint32_t point = busiest_point(area);
  std::map<std::vector<uint32_t>, Sums> arms;
  for (uint32_t i = 0; i < state.windows_used; ++i) {
    const WindowRecord& window = area.windows[i];
    if (options.windows)
      printf("window %u %s region %u permille %u flags %u wall_ms %.3f cpu_ms %.3f effective_ms %.3f growth_ms %.3f "
             "credited_ms %.3f blocked_ms %.3f samples %lu in_region %lu region_ms %.3f foreign_ms %.1f visits %lu "
             "inside_ms %.3f layout %lu\n",
             window.number, kKinds[static_cast<uint32_t>(window.kind)], window.region, window.speedup_permille, window.flags,
             static_cast<double>(window.wall_ns) / 1e6, static_cast<double>(window.cpu_ns) / 1e6,
             static_cast<double>(window.effective_ns) / 1e6, static_cast<double>(window.growth_ns) / 1e6,
             static_cast<double>(window.credited_ns) / 1e6, static_cast<double>(window.world_blocked_ns) / 1e6, window.samples,
             window.samples_in_region, static_cast<double>(window.region_ns) / 1e6,
             static_cast<double>(window.foreign_ns) / 1e6, window.visits[point],
             static_cast<double>(window.inside_ns[point]) / 1e6, window.layout);
    if ((window.flags & (kWindowSkipped | kWindowCut | kWindowWhole)) != 0) continue;
    Sums& sums = arms[{window.region, static_cast<uint32_t>(window.kind), window.speedup_permille}];
    sums.time.push_back(static_cast<double>(window.effective_ns) / 1e6);
    sums.visits.push_back(static_cast<double>(window.visits[point]));
    sums.credited += static_cast<double>(window.credited_ns) / 1e6;
    for (uint32_t end = 1; end <= state.points_used; ++end) {
      if (area.points[end].kind != 3) continue;
      sums.latency[end].first += static_cast<double>(window.inside_ns[end]) / 1e6;
      sums.latency[end].second += static_cast<double>(window.visits[end]);
    }
  }
  const auto base = arms.find({0, 0, 0});
  for (const auto& [key, sums] : arms) {
    const double ratio = base == arms.end() ? NAN : sums.period() / base->second.period();
    const double error = base == arms.end() ? NAN : ratio * hypot(sums.relative_error(), base->second.relative_error());
    printf("arm %s region %u permille %u windows %zu visits %.0f effective_ms %.1f credited_ms %.1f period_ms %.4f gain %.2f "
           "se %.2f\n",
           kKinds[key[1]], key[0], key[2], sums.time.size(), sums.total(sums.visits), sums.total(sums.time), sums.credited,
           sums.period(), 100 * (1 - ratio), 100 * error);
    for (const auto& [end, inside] : sums.latency)
      printf("latency %s %s region %u permille %u ms %.4f\n", area.points[end].name, kKinds[key[1]], key[0], key[2],
             inside.first / inside.second);
  }
}

void print_hot(const Area& area) {
  std::vector<HistogramCell> cells;
  for (const HistogramCell& cell : area.histogram)
    if (cell.key != 0) cells.push_back(cell);
  std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  for (size_t i = 0; i < cells.size() && i < 20; ++i)
    printf("hot module %lu address %lx count %lu\n", (cells[i].key >> 48) - 1, cells[i].key & 0xffff'ffff'ffff, cells[i].count);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const int fd = memfd_create("causal", 0);
  if (fd < 0 || ftruncate(fd, sizeof(Area)) != 0) fail("no memory for an area");
  Area& area = *static_cast<Area*>(mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  fill_script(options, area);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const pid_t companion = start({options.companion.c_str(), path.c_str(), nullptr}, nullptr, nullptr);
  std::vector<const char*> command;
  for (char** at = options.command; *at != nullptr; ++at) command.push_back(*at);
  command.push_back(nullptr);
  const pid_t program = start(command, &options, path.c_str());
  int status = 0, companion_status = 0;
  waitpid(program, &status, 0);
  waitpid(companion, &companion_status, 0);
  print(options, area);
  if (options.pilot) print_hot(area);
  printf("status %d companion %d\n", status, companion_status);
  return status == 0 && companion_status == 0 ? 0 : 1;
}
