// made_page KIND FILE: the report page of an experiment made from a seed, for tests of the page.
//   small     3 programs, 2 x 2 x 2 cells, links, weather, a self-test
//   large     100,000 trials
//   hostile   names that are markup, quotes, scripts, megabytes, broken UTF-8
//   refused   one layout a side, constant values, missing values: much is refused
//   lone      one program, one cell: nothing to compare
//   suite     one program that measures 500 benchmarks of its own, two builds of it
//   shapes    small, with a cell of two speeds, a run that changes half way, and declared looks, the second of which has come
//   named     the same, with levels that are long paths, which begin and end alike
//   sequence  shapes, judged by a confidence sequence
//   environments  small, on two machines, one of which got another kernel, under which some trials ran again
//   rebooted  two programs in turns, on a machine that changes twice while they run
//   unfactored    three programs, and nothing to compare
//   crowded   30 programs, so that pairs of levels are too many; the first has no trial with the heap's second level
//   benchmarks    two programs that measure benchmarks of their own, and nothing else
//   replay    one trial's layout beside fresh ones
//   causal    small, with a causal profile: curves of every verdict, a latency, amplified load
//   bisection a search for a commit in 60, of which one is slower and one is faster
//   trend     a series of 40 nights of two programs, of which one became slower and then faster, with a logbook
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/page/bisect_page.h"
#include "analysis/page/page.h"
#include "analysis/page/trend_page.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_bisections.h"
#include "tests/unit/analysis/made_placements.h"
#include "tests/unit/analysis/made_replay.h"
#include "tests/unit/analysis/made_series.h"
#include "tests/unit/analysis/made_windows.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::page;
using namespace stab::report;
using namespace stab::causal_report;
using namespace stab::layout_report;

// A second response and excluded trials, as an experiment of the lab has them.
void add_counter(Samples& samples) {
  Rng rng = Rng::stream(5, "counter");
  samples.responses.push_back(
      {.name = "page-faults", .unit = "", .scale = Scale::kLinear, .margin = 0.01, .margin_is_share = true, .declared = false});
  for (Trial& trial : samples.trials) trial.values.push_back(300 + static_cast<double>(rng.below(20)));
  for (size_t i = 17; i < samples.trials.size(); i += 97) samples.trials[i].excluded = "involuntary_switches > 10";
  for (size_t i = 5; i < samples.trials.size(); i += 41) samples.trials[i].disturbances = bit(Disturbance::kSteal);
}

Evidence evidence_of(const Samples& samples) {
  Rng rng = Rng::stream(9, "weather");
  Evidence out;
  out.experiment = 12;
  out.name = samples.experiment;
  out.state = "done";
  out.submitted = out.finished = "2026-11-21 09:00";
  out.plan = "[experiment]\nname = \"made\"\n";
  out.plan_path = "made.toml";
  out.schedule = "0123456789abcdef";
  out.seed = 18446744073709551615ull;
  out.exclusion_rules = {"involuntary_switches > 10"};
  out.builds = {
      {"lua opt=-O2", "done", "szc -O2 lua.c", "aa", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}};
  out.host = {{"cpu.model", "Made Up 9000"}, {"kernel.release", "6.1"}};
  out.events = {{"2026-11-21 09:00:01", "engine-start", "began"}};
  out.weather = {{"interrupts", {}}, {"steal_ns", {}}};
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    out.trial_numbers.push_back(1000 + i);
    out.started_s.push_back(0.6 * static_cast<double>(i));
    out.builds_of_trials.push_back(0);
    out.weather[0].values.push_back(static_cast<double>(20 + rng.below(30)));
    out.weather[1].values.push_back(i % 41 == 5 ? 4e6 : 0);
  }
  out.calm = {"throttle_count", "swap_in_pages"};
  out.selftest = SelftestEvidence{"selftest (3)", "2026-11-20 08:00", 60, 2, 10, 0.05, 2.0 / 60, 0.00406, 0.11531, false};
  return out;
}

Samples small() {
  Samples samples = lab_samples(3, {.programs = 3, .replicates = 20, .links = 10});
  add_counter(samples);
  return samples;
}

// Programs take turns, as the lab's schedule has it; one cell has two speeds, and from block 20 on all is 2 % slower.
Samples shapes() {
  Samples samples = lab_samples(5, {.programs = 2, .replicates = 40, .noise = 0.012});
  std::sort(samples.trials.begin(), samples.trials.end(),
            [](const Trial& a, const Trial& b) { return std::tie(a.block, a.order) < std::tie(b.block, b.order); });
  for (uint32_t i = 0; i < samples.trials.size(); ++i) {
    Trial& trial = samples.trials[i];
    trial.order = i;
    if (trial.workload == 0 && trial.levels == std::vector<uint16_t>{1, 0, 0} && trial.seed % 3 == 0) *trial.values[0] *= 1.2;
    if (trial.block >= 20) *trial.values[0] *= 1.02;
  }
  samples.stopping.rule = StoppingRule::kLooks;
  samples.stopping.looks = {20, 40, 80};
  samples.planned_replicates = 80;
  return samples;
}

// Levels that are paths of builds, which begin and end alike.
Samples named() {
  Samples samples = shapes();
  for (std::string& level : samples.factors[0].levels)
    level = "/home/somebody/work/project/build-of-" + level + "/release/bin/program --with arguments";
  return samples;
}

Samples sequence() {
  Samples samples = shapes();
  samples.stopping = {};
  samples.stopping.rule = StoppingRule::kSequence;
  samples.stopping.first = 5;
  samples.stopping.max = 100;
  return samples;
}

// Two machines that share the blocks; the second got another kernel, under which it ran those trials of its last three blocks
// again whose stack is on. Names are markup.
Samples environments() {
  Samples samples = small();
  samples.machines = {"left", "right</script>"};
  samples.environment_facts_compared = 21;
  samples.environment_facts = {"kernel.cmdline", "kernel.release"};
  const std::string line = "BOOT_IMAGE=/boot/vmlinuz root=UUID=0123 ro quiet mitigations=auto";
  samples.environments = {{true, {line, "6.1.0-13"}}, {true, {line + " isolcpus=3", "6.8.0<b>-1"}}};
  for (Trial& trial : samples.trials) {
    trial.machine = trial.block % 2;
    trial.environment = trial.machine == 1 && trial.block >= 15 && trial.levels[1] == 1;
  }
  return samples;
}

// One machine that got another kernel before block 8, and before block 14 another governor and a boot.
Samples rebooted() {
  Samples samples = shapes();
  samples.environment_facts_compared = 30;
  samples.environment_facts = {"boot_id", "cpu.governor", "kernel.release"};
  samples.environments = {{true, {"a", "performance", "6.1"}}, {true, {"b", "performance", "6.8</script>"}},
                          {true, {"c", "schedutil", "6.8</script>"}}};
  for (Trial& trial : samples.trials) trial.environment = trial.block < 8 ? 0 : trial.block < 14 ? 1 : 2;
  return samples;
}

// The layout of a trial again, which is slow; the trial met a bad moment besides.
Samples replay() { return replay_samples(4, {.effect = 0.06, .layout_sd = 0.01, .excess = 0.2}); }

Samples unfactored() {
  Samples samples = lab_samples(9, {.programs = 3, .replicates = 8});
  std::erase_if(samples.trials, [](const Trial& trial) { return trial.levels != std::vector<uint16_t>{1, 1, 1}; });
  for (Trial& trial : samples.trials) trial.levels = {0, 0, 0};
  for (Factor& factor : samples.factors) factor.levels = {factor.levels[1]};
  return samples;
}

Samples crowded() {
  Samples samples = lab_samples(10, {.programs = 30, .replicates = 3});
  std::erase_if(samples.trials, [](const Trial& trial) { return trial.workload == 0 && trial.levels[2] == 1; });
  return samples;
}

Samples benchmarks() {
  Samples samples = lab_samples(12, {.programs = 2, .replicates = 8});
  samples.responses[0].name = "fib: sum";
  samples.responses[0].only_workload = 0;
  samples.responses.push_back(samples.responses[0]);
  samples.responses[1].name = "strings: sum";
  samples.responses[1].only_workload = 1;
  for (Trial& trial : samples.trials) {
    trial.values.emplace_back();
    if (trial.workload == 1) std::swap(trial.values[0], trial.values[1]);
  }
  return samples;
}

Samples large() {
  Samples samples = lab_samples(4, {.programs = 5, .replicates = 2500, .links = 20});
  add_counter(samples);
  return samples;
}

// Lines of every verdict; the second half of the trials is a profile of the same program with names that are markup.
std::vector<CausalData> profiles(bool hostile) {
  MadeProgram program;
  program.slopes = {0.42, 0.3, 0.16, 0.03, 0, 0, -0.18};
  program.most = {1, 0.06, 1, 1, 1, 1, 1};
  program.alive = {1, 1, 0.5, 1, 1, 1, 1};
  program.trials = 6, program.blocks = 10, program.nulls = 4, program.slowdowns = true, program.arm_spread = 0.004;
  CausalData data = made_data(program);
  data.program = hostile ? "</script><b>" : "compressor";
  if (hostile) data.lines[0].name = "<img src=x onerror=\"document.title='owned'\">.c:1", data.points[0].name = "\xff<!--";
  data.points.push_back({"request", PointKind::kLatency});
  data.margin = 0.02;
  data.factors = {"load"};
  data.cells.clear();
  for (const double load : {1.0, 1.5, 2.0, 3.0, 4.0}) {
    data.cells.push_back({{load == 1.5 ? "1.5" : std::to_string(static_cast<int>(load))}, load});
    program.cell = static_cast<uint32_t>(data.cells.size() - 1);
    program.visits = 400 * std::min(load, 2.3);
    add_trials(data, program, 20 + program.cell);
    program.slopes[1] *= 0.5;
  }
  data.lines.back().candidate = false;
  for (CausalWindow& window : data.windows) {
    if (window.visits.empty()) continue;
    window.visits.push_back(window.visits[0]);
    window.latencies.resize(2);
    const double saved = window.kind == ArmKind::kSpeedup && window.line == 2 ? window.speedup * 0.5 : 0;
    window.latencies[1] = {
        static_cast<double>(window.visits[0]) * 3e6 * (1 - saved) * (1 + 0.01 * static_cast<double>(window.layout % 7)),
        window.visits[0]};
    window.busy_share = 0.4;
  }
  return {data};
}

Samples hostile() {
  Samples samples = lab_samples(6, {.programs = 3, .replicates = 6, .links = 3});
  samples.experiment = "</script><script>document.title='owned'</script>";
  samples.workloads = {"<img src=x onerror=\"document.title='owned'\">", std::string(2 << 20, 'x') + "'\"&",
                       "{report}\xff\xfe \xe2\x80\xa8 </title>"};
  samples.factors[0].name = "\"code\"' onclick=alert(1) <b>";
  samples.factors[1].levels = {"</script x", "]]>\r\n=cmd()"};
  samples.factors[2].levels = {"<!--<script ", "--><!--"};
  samples.responses[0].name = "wall_time,\"</svg>";
  samples.trials[3].excluded = "<i>why</i>";
  return samples;
}

Samples with_refusals() {
  Samples samples = lab_samples(7, {.programs = 2, .replicates = 4});
  for (Trial& trial : samples.trials) {
    if (trial.workload == 0) trial.values[0] = 0.5;           // constant: no test works
    else if (trial.levels[2] == 1) trial.values[0].reset();   // a level without values
  }
  return samples;
}

// Thirty blocks of two builds: 12 benchmarks got slower, 5 faster, one is missing from one build.
Samples suite() {
  constexpr int kBenchmarks = 500;
  Samples samples;
  samples.experiment = "suite (7)";
  samples.workloads = {"suite"};
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"build", {"base", "head"}, false, 0}};
  samples.responses = {{.name = "wall_time", .unit = "s", .margin = 0.02}};
  for (int i = 0; i < kBenchmarks; ++i)
    samples.responses.push_back({.name = "BM_" + std::string(i % 3 == 0 ? "Sort" : i % 3 == 1 ? "Insert" : "Find") + "<" +
                                         std::to_string(i) + ">/" + std::to_string(8 << (i % 12)),
                                 .unit = "s",
                                 .margin = 0.02,
                                 .margin_is_share = true,
                                 .declared = i < 40,
                                 .only_workload = 0,
                                 .family = i < 40 ? "core" : "",
                                 .error_rate = i < 40 ? ErrorRate::kFamilyWise : ErrorRate::kFalseDiscovery});
  Rng rng = Rng::stream(11, "suite");
  for (uint32_t block = 0; block < 30; ++block) {
    for (uint16_t head = 0; head < 2; ++head) {
      Trial trial;
      trial.levels = {0, head};
      trial.block = block;
      trial.order = static_cast<uint32_t>(samples.trials.size());
      trial.layout = trial.seed = rng.next();
      trial.values.push_back(2 * std::exp(0.01 * standard_normal(rng)));
      for (int i = 0; i < kBenchmarks; ++i) {
        const double effect = head == 0 ? 0 : i % 41 == 7 ? 0.06 : i % 97 == 3 ? -0.05 : 0.001 * (i % 7 - 3);
        trial.values.push_back(1e-6 * (1 + i % 50) * std::exp(effect + 0.004 * (1 + i % 5) * standard_normal(rng)));
        if (i == 499 && head == 1) trial.values.back().reset();
      }
      samples.trials.push_back(std::move(trial));
    }
  }
  samples.planned = samples.trials.size();
  return samples;
}

Samples lone() {
  Samples samples = lab_samples(8, {.programs = 1, .replicates = 1});
  samples.trials.resize(1);
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    samples.factors[f].levels.resize(1);
    samples.trials[0].levels[f] = 0;
  }
  return samples;
}

// The second one with names that are markup.
std::vector<std::string> layout_maps() {
  std::vector<std::string> out;
  for (const bool hostile : {false, true}) {
    PlacementData screened = made_placements(1), fresh = made_placements(2, {.forced = true});
    screened.workload = fresh.workload = hostile ? "</script><b>" : "compressor";
    fresh.experiment = "made-confirm";
    for (PlacementData* data : {&screened, &fresh})
      if (hostile) data->functions[0].name = "<img src=x onerror=\"document.title='owned'\">";
    Result<LayoutMap> map = screen_layouts(screened, {});
    if (!map) continue;
    Result<Confirmation> confirmation = confirm_places(fresh, map->screen.candidates, {});
    if (confirmation) add_confirmation(*map, *std::move(confirmation));
    out.push_back(render_map_json(*map));
  }
  return out;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f", 100 * share);
  return text;
}

std::string bisection_page() {
  MadeHistory history;
  history.error = 0.001;
  history.unbuilt = 0.1;
  for (size_t at = 0; at < 60; ++at) history.costs.push_back((at >= 23 ? 0.03 : 0) - (at >= 41 ? 0.02 : 0));
  Rng rng(7);
  commands::Bisection search = made_bisection(history, 0.005, rng);
  search.subject = "words";
  search.margin = 0.005;
  search.command = "stabctl bisect v1.0..HEAD";
  for (size_t at = 0; at < search.commits.size(); ++at) {
    char hash[41];
    std::snprintf(hash, sizeof hash, "%08zx%032zx", 0x9e3779b9 * (at + 1) % 0xffffffff, at);
    search.commits[at] = {hash, "parser: read the whole line, and then look for its end"};
  }
  for (commands::BisectStep& step : search.steps) {
    if (step.finding == commands::CommitFinding::kNotBuilt) continue;
    step.blocks = 20;
    step.change = percent(step.cost) + " %";
    step.interval = "[" + percent(step.cost_low) + ", " + percent(step.cost_high) + "] %";
  }
  return render_bisection(search);
}

std::string trend_page() {
  constexpr size_t kNights = 40;
  std::vector<report::SeriesPart> parts =
      nights(kNights, false, [](size_t night) { return night < 12 ? 0 : night < 27 ? 0.024 : 0.006; });
  add_commits(parts, "/srv/parser");
  for (size_t i = 0; i < parts.size(); ++i) {
    report::SeriesPart& part = parts[i];
    char day[16];
    std::snprintf(day, sizeof day, i < 21 ? "2026-11-%02zu" : "2026-12-%02zu", i < 21 ? 10 + i : i - 20);
    part.sessions[0].day = day;
    part.name += std::string(", ") + day;
    std::vector<std::string>& levels = part.samples.factors[1].levels;
    std::map<std::string, std::string> commits;
    for (std::string& level : levels) {
      char commit[16];
      std::snprintf(commit, sizeof commit, "%08zx", 0x9e3779b9 * (std::stoul(level.substr(1)) + 1) % 0xffffffff);
      level = "nightly-" + level.substr(1);
      commits[level] = commit;
    }
    part.revisions->of_level = commits;
    // A second program, in which nothing changes.
    part.samples.workloads = {"parser/words", "parser/empty"};
    Rng rng = Rng::stream(9, part.name);
    const size_t trials = part.samples.trials.size();
    for (size_t trial = 0; trial < trials; ++trial) {
      report::Trial other = part.samples.trials[trial];
      other.workload = 1;
      other.order += 1000;
      other.values = {std::exp(0.01 * standard_normal(rng))};
      part.samples.trials.push_back(other);
    }
  }
  page::TrendPage about{"parser-nightly", {"41, 2026-12-20: not over"}, "stabctl trend parser-nightly --html trend.html", {}, {}};
  Rng rng(4);
  for (int day = 10; day < 22; ++day)
    about.controls.push_back({"2026-11-" + std::to_string(day), "vm", "parser/words", "wall_time",
                              {0.002 * standard_normal(rng), 0.0015, 39}, "", "", "", 0, false});
  for (int day = 10; day < 22; ++day)
    about.gates.push_back({"2026-11-" + std::to_string(day), "vm", "parser/words", "wall_time",
                           {(day == 15 ? 0.03 : 0) + 0.002 * standard_normal(rng), 0.0015, 39}, "pull-requests",
                           "9e3779b98d14a3c0" + std::to_string(day), "3c6ef372c0ffee00" + std::to_string(day),
                           day == 15 ? 24.0 : -1.5, day == 15});
  const Result<report::Trend> trend = report::trend_of(parts, {});
  return trend ? render_trend(*trend, about) : std::string();
}

// The exit status.
int write(const std::string& page, const char* path) {
  std::FILE* file = std::fopen(path, "we");
  if (!file) return 1;
  const bool written = std::fwrite(page.data(), 1, page.size(), file) == page.size();
  return std::fclose(file) == 0 && written ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "bisection") return write(bisection_page(), argv[2]);
  if (argc == 3 && std::string_view(argv[1]) == "trend") return write(trend_page(), argv[2]);
  const std::map<std::string, std::function<Samples()>> kinds{
      {"small", small},       {"large", large},           {"hostile", hostile},   {"refused", with_refusals},
      {"lone", lone},         {"suite", suite},           {"causal", small},      {"map", small},
      {"shapes", shapes},     {"named", named},           {"sequence", sequence}, {"environments", environments},
      {"rebooted", rebooted}, {"unfactored", unfactored}, {"crowded", crowded},   {"benchmarks", benchmarks},
      {"replay", replay}};
  const auto kind = kinds.find(argc == 3 ? argv[1] : "");
  if (kind == kinds.end()) {
    std::fputs(
        "usage: made_page small|large|hostile|refused|lone|suite|causal|map|shapes|sequence|environments|rebooted|named|"
        "unfactored|crowded|benchmarks|replay|bisection|trend FILE\n",
        stderr);
    return 2;
  }
  const Samples samples = kind->second();
  const bool hostile = kind->first == "hostile";
  const auto causal = hostile || kind->first == "causal" ? profiles(hostile) : std::vector<CausalData>();
  Evidence evidence = evidence_of(samples);
  // As of a plan of one link, whose first cell leaves everything where it is.
  if (kind->first == "small")
    evidence.no_replays = {{"Its layout can't be compared with fresh ones: nothing draws <b>layouts</b>.", {{0, 0, 0}}}};
  if (kind->first == "shapes") evidence.no_replays = {{"The engine wrote it.", {}}};
  if (kind->first == "map") evidence.layout_maps = layout_maps();
  const Result<std::string> page = render_page(samples, evidence, causal);
  if (!page) {
    std::fprintf(stderr, "%s\n", page.error().text().c_str());
    return 1;
  }
  return write(*page, argv[2]);
}
