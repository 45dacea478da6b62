// The first screen of a report: what it says of experiments of every kind, and that it fits.
#include "analysis/report/rendering/first_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/report_data/correction.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/side_values.h"
#include "analysis/text/text_table.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const report::Whereabouts kWritten{7, " --db lab.db", "/home/ada/lab/reports/lua-layout-7.html"};
const report::Whereabouts kUnwritten{7, "", ""};

std::string screen(const report::Samples& samples, int width = 100, const report::Whereabouts& where = kWritten,
                   bool colour = false) {
  const auto report = report::analyse(samples);
  EXPECT_TRUE(report) << report.error().message;
  return report ? report::render_first_screen(*report, where, width, colour) : "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// On one line, as a reader takes it in.
std::string unwrapped(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    if (line.empty()) continue;
    const size_t start = std::min(line.find_first_not_of(' '), line.size());
    out += (out.empty() ? "" : " ") + line.substr(start);
  }
  return out;
}

// Compares two compilers' options, everything randomized: the simplest question.
report::Samples two_configurations() {
  report::Samples samples = lab_samples(1, {.programs = 1, .replicates = 20});
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[0] == 0 || trial.levels[1] == 0; });
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"opt", {"-O2", "-O3"}, false, 0}};
  for (report::Trial& trial : samples.trials) trial.levels = {0, trial.levels[2]};
  return samples;
}

// Half of the cells: each effect goes under the name of an interaction of the two others, too.
report::Samples fraction() {
  report::Samples samples = lab_samples(2, {.links = 10});
  std::erase_if(samples.trials,
                [](const report::Trial& trial) { return (trial.levels[0] + trial.levels[1] + trial.levels[2]) % 2 == 1; });
  return samples;
}

report::Samples several_responses() {
  report::Samples samples = lab_samples(3, {.links = 10});
  samples.responses.push_back(
      {.name = "max_rss", .unit = "KiB", .scale = report::Scale::kLinear, .margin = 0.02, .margin_is_share = true});
  samples.responses.push_back(
      {.name = "page-faults", .unit = "", .scale = report::Scale::kLinear, .margin = 0, .declared = false});
  Rng rng = Rng::stream(5, "memory");
  for (report::Trial& trial : samples.trials) {
    trial.values.push_back(4000 + 400 * trial.levels[2] + 20 * standard_normal(rng));
    trial.values.push_back(300 + 3 * standard_normal(rng));
  }
  return samples;
}

// What `stabctl time` leaves: one program, one cell.
report::Samples one_cell() {
  report::Samples samples = two_configurations();
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[1] != 0; });
  samples.factors = {{"code", {"shuffle"}, true, 0}};
  for (report::Trial& trial : samples.trials) trial.levels = {0};
  return samples;
}

report::Samples refused() {
  report::Samples samples = lab_samples(1);
  samples.factors[2] = {"opt", {"-O2", "-O3"}, false, 0};
  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1) trial.excluded = "declared: only cells as linked";
  return samples;
}

// More questions than lines.
report::Samples many_levels(const std::string& prefix = "O") {
  report::Samples samples = lab_samples(4, {.programs = 1, .replicates = 160, .code_effect = 0, .heap_effect = 0});
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[0] == 0; });
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"opt", {}, false, 0}};
  for (int level = 0; level < 64; ++level) samples.factors[1].levels.push_back(prefix + std::to_string(level));
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    report::Trial& trial = samples.trials[i];
    const auto level = static_cast<uint16_t>(i % 64);
    trial.block = static_cast<uint32_t>(i / 64);
    trial.levels = {0, level};
    *trial.values[0] *= level % 3 == 1 ? 1.2 : 1;
    if (level >= 60) *trial.values[0] = 0.5;
  }
  return samples;
}

struct Case {
  std::string name;
  std::function<report::Samples()> make;
};

const Case kCases[] = {
    {"two cells", two_configurations},
    {"ablation of code, stack and heap, one link", [] { return lab_samples(1); }},
    {"ablation, ten links", [] { return lab_samples(1, {.links = 10}); }},
    {"half a fraction", fraction},
    {"several responses", several_responses},
    {"refused: one layout a side", refused},
    {"one cell", one_cell},
    {"too few trials", [] { return lab_samples(3, {.programs = 1, .replicates = 2, .links = 2}); }},
    {"one trial a cell, several programs", [] { return lab_samples(4, {.programs = 5, .replicates = 1, .links = 1}); }},
    {"one trial a cell of one program", [] { return lab_samples(4, {.programs = 1, .replicates = 1}); }},
    {"constant values",
     [] {
       report::Samples s = lab_samples(3, {.programs = 2, .replicates = 3});
       for (report::Trial& t : s.trials) t.values[0] = 0.5;
       return s;
     }},
    {"everything unsure",
     [] { return lab_samples(6, {.replicates = 6, .links = 6, .noise = 0.05, .code_effect = 0, .heap_effect = 0}); }},
    {"everything changed",
     [] { return lab_samples(7, {.links = 20, .code_effect = 0.1, .stack_effect = 0.05, .heap_effect = -0.3}); }},
    {"not over",
     [] {
       report::Samples s = lab_samples(1, {.links = 10});
       s.incomplete = true;
       return s;
     }},
    {"a declared look has not come",
     [] {
       report::Samples s = lab_samples(1, {.links = 10});
       s.incomplete = true;
       s.stopping = {.rule = report::StoppingRule::kLooks, .looks = {10, 60}};
       return s;
     }},
    {"64 levels", [] { return many_levels(); }},
    {"64 levels with long names",
     [] { return many_levels("-O3 -march=native -fno-semantic-interposition -fprofile-use=/srv/builds/profiles/"); }},
};
report::Samples made(const std::string& name) {
  return std::find_if(std::begin(kCases), std::end(kCases), [&](const Case& one) { return one.name == name; })->make();
}

constexpr int kWidths[] = {60, 80, 100, 200};

TEST(FirstScreen, FitsAtEveryWidthWhateverItSays) {
  for (const Case& one : kCases) {
    for (const int width : kWidths) {
      SCOPED_TRACE(one.name + ", " + std::to_string(width));
      const std::string text = screen(one.make(), width);
      const std::vector<std::string> lines = lines_of(text);
      EXPECT_LE(lines.size(), static_cast<size_t>(report::kFirstScreenLines)) << text;
      size_t rows = 0;  // of the terminal, which breaks a path that is longer
      for (const std::string& line : lines) {
        rows += (std::max<size_t>(text::display_width(line), 1) + static_cast<size_t>(width) - 1) / static_cast<size_t>(width);
        const size_t most = line.starts_with("  page, ") ? SIZE_MAX : static_cast<size_t>(width);
        EXPECT_LE(text::display_width(line), most) << line;
      }
      EXPECT_LE(rows, static_cast<size_t>(report::kFirstScreenLines));
      for (const char* never : {"nan", "inf,", "-inf", "†", "\033"}) EXPECT_THAT(text, Not(HasSubstr(never)));
      EXPECT_THAT(text, HasSubstr("What to worry about"));
      EXPECT_THAT(text, HasSubstr("/home/ada/lab/reports/lua-layout-7.html"));
      EXPECT_THAT(text, HasSubstr("stabctl report 7 --full --db lab.db"));
    }
  }
}

// Every answer is there as the report has it, so as --json has it, unless the screen says how many are not.
TEST(FirstScreen, SaysWhatTheReportSays) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    const report::Samples samples = one.make();
    const auto report = report::analyse(samples);
    ASSERT_TRUE(report);
    const std::string text = unwrapped(report::render_first_screen(*report, kWritten, 200));
    if (text.find(" more ") != std::string::npos) continue;
    for (const report::Response& response : report->responses) {
      if (!response.declared) continue;
      for (const report::Contrast* contrast : report::answering(*report, response.name)) {
        if (!contrast->refused.empty()) {
          EXPECT_THAT(text, HasSubstr(": " + contrast->refused));
          continue;
        }
        EXPECT_THAT(text, HasSubstr(contrast->factor + "=" + contrast->level + " against " + contrast->baseline + ": "));
        EXPECT_THAT(
            text, HasSubstr(report::interval_text(
                      response, contrast->verdict == report::Verdict::kEquivalent ? contrast->equivalence : contrast->interval)));
        if (contrast->settles_n) {
          EXPECT_THAT(text, HasSubstr("; " + std::to_string(*contrast->settles_n) + " "));
        }
      }
    }
  }
}

TEST(FirstScreen, Golden) {
  std::string all;
  for (const Case& one : kCases)
    for (const int width : {60, 100}) {
      if (width == 60 && one.name != "half a fraction" && one.name != "64 levels with long names") continue;
      all += "==== " + one.name + ", " + std::to_string(width) + " columns\n" +
             screen(one.make(), width, width == 60 ? kUnwritten : kWritten);
    }
  expect_golden("first_screens.txt", all);
}

// Whoever asked how long a program takes reads it, and not only that nothing was compared.
TEST(FirstScreen, OneCellShowsWhatItMeasured) {
  const report::Samples samples = one_cell();
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report && report->cells.size() == 1);
  const report::Cell& cell = report->cells[0];
  const std::string text = unwrapped(screen(samples));
  const std::string mean = report::value_text(report->responses[0], *cell.geometric_mean);
  EXPECT_THAT(text, HasSubstr("What was measured - wall_time: " + mean));
  EXPECT_THAT(text, HasSubstr("95 % interval ["));
  EXPECT_THAT(text, HasSubstr("; median " + report::value_text(report->responses[0], cell.median) + ", 20 trials"));
  EXPECT_THAT(text, HasSubstr("Nothing was compared: no factor has two levels."));
  EXPECT_THAT(report::screen_answers(*report).measured, ::testing::SizeIs(1));
  EXPECT_THAT(report::screen_answers(*report::analyse(two_configurations())).measured, ::testing::IsEmpty());
}

// People know a program by how long it takes, and their ratio is the difference that stands behind them.
TEST(FirstScreen, BothSidesAreThereAsTheyWereMeasured) {
  for (const report::Samples& samples : {two_configurations(), lab_samples(4, {.programs = 1, .links = 10})}) {
    const auto report = report::analyse(samples);
    ASSERT_TRUE(report);
    const std::string text = unwrapped(screen(samples));
    ASSERT_FALSE(report::answering(*report, "wall_time").empty());
    for (const report::Contrast* contrast : report::answering(*report, "wall_time")) {
      const report::SideValues values = report::side_values(*report, *contrast);
      ASSERT_TRUE(values.before && values.after) << contrast->factor;
      EXPECT_NEAR(*values.after / *values.before, contrast->interval.estimate, 1e-9) << contrast->factor;
      const report::Response& response = report->responses[0];
      EXPECT_THAT(text, HasSubstr(", " + report::value_text(response, *values.before) + " -> " +
                                  report::value_text(response, *values.after) + ", 9"));
    }
  }
  // Of bytes the arithmetic means: those are what the difference is of.
  report::Samples memory = several_responses();
  std::erase_if(memory.trials, [](const report::Trial& trial) { return trial.workload != 0; });
  memory.workloads.resize(1);
  const auto report = report::analyse(memory);
  ASSERT_TRUE(report);
  for (const report::Contrast* contrast : report::answering(*report, "max_rss")) {
    const report::SideValues values = report::side_values(*report, *contrast);
    ASSERT_TRUE(values.before && values.after);
    EXPECT_NEAR(*values.after - *values.before, contrast->interval.estimate, 1e-6) << contrast->factor;
  }
}

// Of several programs no value is that of all, and the blocks alone have other ones than all blocks together.
TEST(FirstScreen, ValuesThatAreNotOfTheDifferenceAreNotBesideIt) {
  const auto several = report::analyse(lab_samples(2, {.links = 10}));
  ASSERT_TRUE(several);
  for (const report::Contrast* contrast : report::answering(*several, "wall_time"))
    EXPECT_EQ(report::side_values_text(*several, *contrast), "");
  auto alone = report::analyse(two_configurations());
  ASSERT_TRUE(alone);
  report::Contrast contrast = *report::answering(*alone, "wall_time")[0];
  EXPECT_THAT(report::side_values_text(*alone, contrast), HasSubstr(" -> "));
  contrast.by_alone = true;
  EXPECT_EQ(report::side_values_text(*alone, contrast), "");
  EXPECT_FALSE(report::compared_values(*alone, contrast).before || report::compared_values(*alone, contrast).after);
  EXPECT_TRUE(report::side_values(*alone, contrast).before && report::side_values(*alone, contrast).after);
}

// An interval without zero beside "unsure", or one within the margin: what made it so is said.
TEST(FirstScreen, ACorrectionThatLeavesAQuestionOpenIsNamed) {
  auto report = report::analyse(two_configurations());
  ASSERT_TRUE(report);
  report::Contrast contrast = *report::answering(*report, "wall_time")[0];
  contrast.verdict = report::Verdict::kUnsure;
  contrast.margin = 0.01;
  contrast.interval = {1.0118, 1.0024, 1.0213};
  contrast.p_value = 0.0241, contrast.p_holm = 0.119;
  contrast.p_equivalence = contrast.p_equivalence_holm = 0.6;
  const std::string change = "p = 0.0241 for this question alone, but 0.119 with all questions counted (";
  EXPECT_EQ(report::correction_text(*report, contrast), change + "Holm)");
  EXPECT_THAT(report::unsure_text(*report, contrast), testing::StartsWith(change + "Holm); "));
  report->responses[0].error_rate = report::ErrorRate::kFalseDiscovery;
  EXPECT_EQ(report::correction_text(*report, contrast), change + "Benjamini-Yekutieli)");
  report->responses[0].error_rate = report::ErrorRate::kFamilyWise;
  contrast.interval = {1.0018, 0.9974, 1.0063};
  contrast.p_value = contrast.p_holm = 0.3;
  contrast.p_equivalence = 0.02, contrast.p_equivalence_holm = 0.08;
  EXPECT_EQ(report::correction_text(*report, contrast),
            "that it is smaller than the margin has p = 0.0200 for this question alone, but 0.0800 with all questions counted "
            "(Holm)");
  // The interval says "unsure" by itself, or nothing is.
  contrast.interval = {1.0018, 0.9874, 1.0163};
  EXPECT_EQ(report::correction_text(*report, contrast), "");
  contrast.interval = {1.0118, 1.0024, 1.0213};
  contrast.p_holm = 0.119;
  contrast.verdict = report::Verdict::kChanged;
  EXPECT_EQ(report::correction_text(*report, contrast), "");
}

// "100" at the end of a line and "% of its time" below it read as two things.
TEST(FirstScreen, ALineDoesNotEndBetweenANumberAndItsUnit) {
  const std::string text =
      "each keeps one CPU busy (100 % and 99.5 % of its time), for 12 min, 5 ms, and [-1, +2] % more of 3 trials so";
  for (int width = 40; width < 110; ++width) {
    const std::vector<std::string> lines = lines_of(text::wrap(text, width, "", "  "));
    for (const std::string& line : lines) {
      EXPECT_LE(text::display_width(line), static_cast<size_t>(width));
      for (const char* unit : {"  %", "  min", "  ms"}) EXPECT_FALSE(line.starts_with(unit)) << line;
    }
  }
  // A number that is counted with a word is no number with a unit.
  const std::string long_word(37, 'a');
  EXPECT_EQ(text::wrap(long_word + " 3 sides", 40, "", ""), long_word + " 3\nsides\n");
}

// Narrow windows beside an editor: no line is wider, but for what is to be copied whole.
TEST(FirstScreen, LinesFitFortyColumns) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    for (const std::string& line : lines_of(screen(one.make(), 40, kUnwritten))) {
      if (line.starts_with("    stabctl report")) continue;
      EXPECT_LE(text::display_width(line), 40u) << line;
    }
  }
}

// The three questions are answered even by "nothing", each once.
TEST(FirstScreen, EachVerdictUnderItsQuestion) {
  const std::string changed = screen(made("everything changed")), unsure = screen(made("everything unsure"));
  EXPECT_THAT(unwrapped(changed),
              HasSubstr("What didn't - nothing was shown to be the same What is unsure, and what would decide it - no"));
  EXPECT_THAT(
      unwrapped(unsure),
      HasSubstr("What changed - nothing was shown to change over all programs; of 9 comparisons by program 1 changed "
                "What didn't - nothing was shown to be the same What is unsure"));
  EXPECT_THAT(screen(refused()), HasSubstr("What has no answer, and why"));
  const std::string waits = screen(made("not over"));
  EXPECT_THAT(waits, HasSubstr("Not judged before the experiment is over"));
  EXPECT_THAT(waits, Not(HasSubstr("What changed")));
  EXPECT_THAT(waits, HasSubstr("the experiment is not finished")) << "the gravest caveat is among the three";
}

TEST(FirstScreen, CpuTimeStandsNextToWallTimeWhereNobodyAskedForIt) {
  report::Samples samples = two_configurations();
  ASSERT_EQ(samples.responses[0].name, "wall_time");
  report::Response cpu = samples.responses[0];
  cpu.name = "cpu_time";
  cpu.declared = false;
  samples.responses.insert(samples.responses.begin() + 1, cpu);
  for (report::Trial& trial : samples.trials)
    trial.values.insert(trial.values.begin() + 1, *trial.values[0] * (trial.levels[1] == 1 ? 0.9 : 1));
  const std::string alone = unwrapped(screen(samples));
  EXPECT_THAT(alone, testing::ContainsRegex("95 % interval .* % \\(CPU time -[0-9.]+ %, \\[-[0-9.]+, -[0-9.]+\\] %\\)"));
  EXPECT_THAT(alone, Not(HasSubstr("wall_time, opt"))) << "one question is asked";
  samples.responses[1].declared = true;
  const std::string declared = unwrapped(screen(samples));
  EXPECT_THAT(declared, testing::AllOf(Not(HasSubstr("(CPU time")), HasSubstr("cpu_time, opt=-O3 against -O2")));
}

// Wall time swings with what else the machine does, CPU time hardly.
TEST(FirstScreen, TheOpenQuestionThatIsNearestToAnAnswerComesFirst) {
  report::Samples samples = lab_samples(6, {.programs = 1, .replicates = 6, .links = 6, .noise = 0.05, .code_effect = 0,
                                            .stack_effect = 0, .heap_effect = 0});
  report::Response steady = samples.responses[0];
  steady.name = "steady";
  samples.responses.push_back(steady);
  for (report::Trial& trial : samples.trials) trial.values.push_back(std::pow(*trial.values[0], 0.5));
  const std::string said = unwrapped(screen(samples));
  const size_t open = said.find("What is unsure");
  ASSERT_NE(open, std::string::npos) << said;
  EXPECT_THAT(said.substr(open, 80), HasSubstr("would decide it - steady, ")) << said;
}

TEST(FirstScreen, NamesAreCutOnlyWhereALineHasNoRoomForThem) {
  report::Samples samples = lab_samples(1, {.programs = 1, .links = 10});
  const std::string name(150, 'x');
  samples.factors[2].levels[1] = name;
  EXPECT_THAT(screen(samples, 200), HasSubstr(name));
  EXPECT_THAT(screen(samples, 100), HasSubstr("xxx…"));
  samples.factors[2].levels[1] = std::string(1'000'000, 'y');
  EXPECT_LE(lines_of(screen(samples, 100)).size(), static_cast<size_t>(report::kFirstScreenLines));
}

TEST(FirstScreen, NamesDontDriveTheTerminal) {
  report::Samples samples = lab_samples(1);
  const std::string clear = "\033[2J\a\r\n";
  samples.experiment += clear;
  for (std::string& workload : samples.workloads) workload += clear;
  samples.factors[0].name += clear;
  samples.factors[2].levels[1] += clear;
  samples.layout_outputs = {"fib" + clear};
  for (const bool colour : {false, true}) {
    const std::string text = screen(samples, 100, kWritten, colour);
    for (const char* control : {"\033[2J", "\a", "\r"}) EXPECT_THAT(text, Not(HasSubstr(control)));
    EXPECT_THAT(text, HasSubstr("heap=page?[2J?? "));
    EXPECT_LE(lines_of(text).size(), static_cast<size_t>(report::kFirstScreenLines));
  }
}

TEST(FirstScreen, WorstCaveatsFirst) {
  report::Samples samples = lab_samples(1);
  samples.failed = 3;
  samples.unavailable = {{"no cycles here", "use perf"}};
  samples.layout_outputs = {"fib, stack=on: seed 7 gives 'a', off 'b'"};
  const std::string text = unwrapped(screen(samples));
  const size_t worries = text.find("What to worry about");
  EXPECT_LT(text.find("seed 7 gives 'a'", worries), text.find("12 cells ran in one code layout each", worries));
  EXPECT_LT(text.find("12 cells ran", worries), text.find("3 trials failed", worries));
  EXPECT_EQ(text.find("no cycles here"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("- 3 more Where the rest is"));
}

// What settles a question of replicates can be had here; links are the plan's.
TEST(FirstScreen, SaysHowToExtend) {
  report::Samples samples = lab_samples(6, {.programs = 1, .replicates = 6, .noise = 0.05, .code_effect = 0, .heap_effect = 0});
  const auto report = report::analyse(samples);
  const report::Contrast* open = nullptr;
  for (const report::Contrast* contrast : report::answering(*report, "wall_time"))
    if (contrast->settles_n && !contrast->by_link && (!open || *contrast->settles_n - contrast->n < *open->settles_n - open->n))
      open = contrast;
  ASSERT_NE(open, nullptr);
  EXPECT_THAT(unwrapped(screen(samples)),
              HasSubstr(" stabctl extend 7 +" + std::to_string(*open->settles_n - open->n) + " --db lab.db "));
  EXPECT_THAT(unwrapped(screen(samples, 100, {})), Not(HasSubstr("stabctl")));
}

TEST(FirstScreen, ColourOnlyWhenAsked) {
  EXPECT_THAT(screen(two_configurations()), Not(HasSubstr("\033")));
  EXPECT_THAT(screen(two_configurations(), 100, kWritten, true), HasSubstr("\033[32m"));
}

// Less of what one wants more of is worse.
TEST(FirstScreen, RedIsWhatIsWorse) {
  report::Samples samples = two_configurations();
  samples.responses[0] = {.name = "throughput", .unit = "MB/s", .higher_is_better = true};
  const std::string text = screen(samples, 100, kWritten, true);
  EXPECT_THAT(text, HasSubstr("lower\033[0m"));
  EXPECT_THAT(text, HasSubstr("\033[31m"));
  EXPECT_THAT(text, Not(HasSubstr("\033[32m")));
}

// Not "x 0.3 faster", which is said of what became slower, too.
TEST(FirstScreen, RatiosSayWhatTheyAre) {
  report::Samples samples = two_configurations();
  for (report::Trial& trial : samples.trials)
    if (trial.levels[1] == 1) *trial.values[0] *= 0.3;
  EXPECT_THAT(unwrapped(screen(samples)),
              ::testing::ContainsRegex("against -O2: x 0\\.[0-9]+ \\(faster\\), [0-9.]+ ms -> [0-9.]+ ms, 95 % interval \\[x 0"));
}

TEST(Numbers, SayOnWhichSideOfNoDifferenceTheyLie) {
  EXPECT_EQ(text::ratio_text(1), "+0.00 %");
  EXPECT_EQ(text::ratio_text(1 - 4.4e-16), "+0.00 %");
  EXPECT_EQ(text::ratio_text(1.000031), "+0.0031 %");
  EXPECT_EQ(text::ratio_text(0.999968), "-0.0032 %");
  EXPECT_EQ(text::ratio_text(1.000099), "+0.0099 %");
  EXPECT_EQ(text::ratio_text(1.000101), "+0.010 %");
  EXPECT_EQ(text::ratio_text(0.99988), "-0.012 %");
  EXPECT_EQ(text::ratio_text(1.000994), "+0.099 %");
  EXPECT_EQ(text::ratio_text(1.000996), "+0.10 %");
  EXPECT_EQ(text::ratio_text(1.0123), "+1.23 %");
  EXPECT_EQ(text::ratio_text(1), "+0.00 %");
  const report::Response response{.name = "instructions", .unit = ""};
  EXPECT_EQ(report::interval_text(response, {1.00004, 1.00001, 1.00007}), "[+0.0010, +0.0070] %");
}

TEST(Numbers, AUnitIsSaidOnceAndIsNoNumber) {
  const report::Response response{.name = "instructions", .unit = ""};
  EXPECT_EQ(report::interval_text(response, {2.972, 2.971, 2.973}), "[x 2.97, x 2.97]");
  EXPECT_EQ(report::interval_text(response, {1.02, 1.01, 1.03}), "[+1.00, +3.00] %");
  EXPECT_EQ(report::interval_text(response, {0.732, 0.45, 1.1903}), "[-55.00, +19.03] %") << "as '-26.80 %' has it";
  EXPECT_EQ(report::interval_text(response, {2.1, 1.004, 4.4}), "[x 1.004, x 4.400]") << "as 'x 2.1' has it";
  EXPECT_EQ(report::interval_text(response, {1.9, 1.1, 12}), "[x 1.100, x 12.00]");
  EXPECT_EQ(report::between("5.00 MB per s", "6.00 MB per s"), "[5.00, 6.00] MB per s");
}

TEST(Numbers, HaveAsManyDigitsAsAreAskedFor) {
  EXPECT_EQ(text::significant(9.9996, 4), "10.00");
  EXPECT_EQ(text::significant(9.996, 4), "9.996");
  EXPECT_EQ(text::significant(0.09999, 3), "0.100");
  EXPECT_EQ(text::significant(-99.97, 3), "-100");
  EXPECT_EQ(text::significant(0, 3), "0.00");
  EXPECT_EQ(text::significant(12345, 3), "12345");
}

TEST(Numbers, LayoutsOfALongTrialAreCounted) {
  EXPECT_EQ(report::plain(12345), "12345");
  EXPECT_EQ(report::plain(9999.7), "10000");
  EXPECT_EQ(report::plain(0.5), "0.5");
  EXPECT_EQ(report::plain(2.5e6), "2.5e+06");
}

}  // namespace
}  // namespace stab::analysis
