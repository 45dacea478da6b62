// analyse() and its renderings on made experiments with known effects.
#include "analysis/report/report_data/report.h"

#include "analysis/commands/answers/render.h"
#include "analysis/commands/answers/verdict.h"
#include "analysis/commands/selftest/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <regex>
#include <sstream>
#include <string_view>

#include "tests/places.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const report::Contrast& find(const report::Report& report, std::string_view factor, std::string_view workload,
                             report::Population population = report::Population::kOneWorkload) {
  for (const report::Contrast& contrast : report.contrasts)
    if (contrast.factor == factor && contrast.workload == workload && contrast.population == population)
      return contrast;
  ADD_FAILURE() << "no contrast of " << factor;
  return report.contrasts.at(0);
}

TEST(Report, FindsKnownEffects) {
  const auto report = report::analyse(lab_samples(1, {.links = 10}));
  ASSERT_TRUE(report) << report.error().message;
  const report::Contrast& code = find(*report, "code", "", report::Population::kThese);
  EXPECT_EQ(code.verdict, report::Verdict::kChanged);
  EXPECT_NEAR(code.interval.estimate, std::exp(0.02), 0.006);
  EXPECT_LT(code.interval.low, code.interval.estimate);
  const report::Contrast& heap = find(*report, "heap", "", report::Population::kThese);
  EXPECT_EQ(heap.verdict, report::Verdict::kChanged);
  EXPECT_NEAR(heap.interval.estimate, std::exp(-0.03), 0.004);
  EXPECT_EQ(find(*report, "stack", "", report::Population::kThese).verdict, report::Verdict::kEquivalent);
  // The two questions have two error terms: cells, and programs.
  const report::Contrast& others = find(*report, "code", "", report::Population::kLikeThese);
  EXPECT_DOUBLE_EQ(others.df, 2);
  EXPECT_DOUBLE_EQ(others.interval.estimate, code.interval.estimate);
  EXPECT_GT(std::abs(others.standard_error - code.standard_error), 1e-4);
  EXPECT_EQ(report->cells.size(), 24u);
  EXPECT_EQ(report->analysed, 720u);
}

// fib and strings are workloads of one program: their mean is one observation of two.
TEST(Report, WorkloadsOfOneProgramCountOnceForOthers) {
  report::Samples samples = lab_samples(1, {.links = 10});
  samples.workload_word = "workload";
  samples.programs = {"lua", "lua", "loop"};
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  const auto effect = [&](const std::string& workload) { return std::log(find(*report, "code", workload).interval.estimate); };
  const double lua = (effect("fib") + effect("strings")) / 2, loop = effect("loop");
  const report::Contrast& others = find(*report, "code", "", report::Population::kLikeThese);
  EXPECT_NEAR(std::log(others.interval.estimate), (lua + loop) / 2, 1e-12);
  EXPECT_NEAR(others.standard_error, std::fabs(lua - loop) / 2, 1e-12);
  EXPECT_EQ(others.n, 2u);
  const auto table =
      std::find_if(report->anovas.begin(), report->anovas.end(), [](const report::AnovaTable& t) { return t.within_subjects; });
  ASSERT_NE(table, report->anovas.end());
  EXPECT_EQ(table->errors[0].df, 1);
  const std::string text = report::render_terminal(*report, 200, false);
  EXPECT_THAT(text, HasSubstr("of 3 workloads"));
  EXPECT_THAT(text, HasSubstr("other programs like these"));
  EXPECT_THAT(text, HasSubstr("their programs are a sample, error between them, workloads of one averaged"));
  EXPECT_THAT(text, HasSubstr("2 programs: too few to say much about others like them"));
  EXPECT_THAT(report::to_json(*report), HasSubstr("\"programs\""));

  samples.programs = {"lua", "lua", "lua"};
  const auto alone = report::analyse(samples);
  ASSERT_TRUE(alone);
  for (const report::Contrast& contrast : alone->contrasts) EXPECT_NE(contrast.population, report::Population::kLikeThese);
  for (const report::AnovaTable& one : alone->anovas) EXPECT_FALSE(one.within_subjects);
  EXPECT_THAT(report::render_terminal(*alone, 200, false), HasSubstr("one program: the answer does not cover others"));
}

// Both directions, and the scripts of the page, which read the words.
TEST(Populations, HaveTheWordsOfThePage) {
  for (const report::Population one :
       {report::Population::kOneWorkload, report::Population::kThese, report::Population::kLikeThese})
    EXPECT_EQ(report::population(name(one)), one);
  EXPECT_FALSE(report::population("machines"));
  size_t seen = 0;
  for (const auto& script : std::filesystem::directory_iterator(STAB_SOURCE_DIR "/analysis/page")) {
    if (script.path().extension() != ".js") continue;
    std::ifstream file(script.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::regex quoted("population [!=]== '([^']*)'");
    for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at, ++seen)
      EXPECT_TRUE(report::population((*at)[1].str())) << script.path() << ": " << (*at)[1];
  }
  EXPECT_GT(seen, 4u);
}

TEST(Report, GoldenTerminal) {
  const auto report = report::analyse(lab_samples(1));
  ASSERT_TRUE(report);
  expect_golden("lab.txt", report::render_terminal(*report, 100, false));
}

TEST(Report, GoldenJson) {
  const auto report = report::analyse(lab_samples(1, {.programs = 2, .replicates = 5, .links = 5}));
  ASSERT_TRUE(report);
  expect_golden("lab.json", report::to_json(*report));
}

// Benchmarks of templates have such names, and Markdown would make tags of them.
TEST(Report, NamesAreNoMarkdown) {
  report::Samples samples = lab_samples(1, {.links = 10});
  samples.experiment = "__sorting__";
  samples.workloads[0] = "BM_Find<int>|8";
  samples.factors[2].levels[1] = "a*b*`c`";
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  const std::string text = report::render_markdown(*report);
  EXPECT_TRUE(text.starts_with("# \\_\\_sorting\\_\\_: ")) << text.substr(0, 60);
  EXPECT_THAT(text, HasSubstr("| BM_Find&lt;int>\\|8 |"));
  EXPECT_THAT(text, HasSubstr("heap=a\\*b\\*\\`c\\` against base"));
  EXPECT_THAT(text, HasSubstr("- response: wall_time on a log scale"));
  for (const char* raw : {"<int>", "a*b", "__sorting"}) EXPECT_THAT(text, Not(HasSubstr(raw)));
}

TEST(Report, GoldenMarkdown) {
  const auto report = report::analyse(lab_samples(2, {.programs = 6, .replicates = 12, .links = 4}));
  ASSERT_TRUE(report);
  expect_golden("lab.md", report::render_markdown(*report));
}

// The script is checked by hand against R (docs/evaluation/records/calibration.md says how); here it must not change unnoticed.
TEST(Report, GoldenRScript) {
  expect_golden("lab.R", commands::run_report(lab_samples(1), {.format = commands::ReportFormat::kR, .figures = ""}).out);
  report::Samples samples = lab_samples(1);
  samples.programs = {"lua", "lua", "loop"};
  EXPECT_THAT(commands::run_report(samples, {.format = commands::ReportFormat::kR, .figures = ""}).out,
              HasSubstr("program_of <- setNames(c(\"lua\", \"lua\", \"loop\"), c(\"fib\", \"strings\", \"loop\"))\n"));
}

TEST(Report, CsvHoldsEveryTrial) {
  report::Samples samples = lab_samples(1, {.programs = 1, .replicates = 2, .links = 2});
  samples.trials[3].excluded = "declared: a, \"b\"";
  samples.trials[4].values[0].reset();
  const std::string csv = commands::run_report(samples, {.format = commands::ReportFormat::kCsv, .figures = ""}).out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
  EXPECT_THAT(csv, HasSubstr("workload,code,stack,heap,block,order,seed,link,layout,excluded,wall_time\n"));
  EXPECT_THAT(csv, HasSubstr(",\"declared: a, \"\"b\"\"\",0."));
}

// No two columns have one name, and the R script asks for the same.
TEST(Report, CsvTellsAFactorFromAColumnOfItsOwn) {
  report::Samples samples = lab_samples(1);
  samples.factors[0].name = "layout";
  EXPECT_THAT(commands::run_report(samples, {.format = commands::ReportFormat::kCsv, .figures = ""}).out,
              HasSubstr("workload,factor.layout,stack,heap,block,order,seed,link,layout,excluded,wall_time\n"));
  EXPECT_THAT(commands::run_report(samples, {.format = commands::ReportFormat::kR, .figures = ""}).out,
              HasSubstr("factors <- c(\"factor.layout\", \"stack\", \"heap\")"));
}

// Each caveat speaks when its reason is there, and only then: a quiet experiment has none of those that are made here.
TEST(Caveats, SpeakWhenTheirReasonIsThere) {
  const LabShape shape{.programs = 6, .replicates = 20, .links = 10};
  const auto codes = [](const report::Samples& samples) {
    std::vector<std::string> out;
    const auto report = report::analyse(samples);
    EXPECT_TRUE(report);
    for (const report::Caveat& caveat : report->caveats) {
      EXPECT_FALSE(caveat.message.empty() || caveat.hint.empty());
      out.emplace_back(name(caveat.code));
    }
    return out;
  };
  const auto of_each = [](const std::function<void(report::Trial&)>& change) {
    return [change](report::Samples& samples) { std::for_each(samples.trials.begin(), samples.trials.end(), change); };
  };
  const std::vector<std::pair<std::string, std::function<void(report::Samples&)>>> reasons{
      {"low-dose", of_each([](report::Trial& t) { t.dose->code_layouts_executed = 3; })},
      {"few-workloads",
       [](report::Samples& s) {
         std::erase_if(s.trials, [](const report::Trial& t) { return t.workload > 1; });
         s.workloads.resize(2);
       }},
      {"one-layout", of_each([](report::Trial& t) { t.link = 0; })},
      {"drift", of_each([](report::Trial& t) { *t.values[0] *= 1 + 0.0002 * (t.order % 160) + 0.001 * (t.order % 8); })},
      {"steal", of_each([](report::Trial& t) { t.disturbances |= report::bit(report::Disturbance::kSteal); })},
      {"disturbed", of_each([](report::Trial& t) { t.disturbances |= report::bit(report::Disturbance::kMigrated); })},
      {"excluded", of_each([](report::Trial& t) {
         if (t.order % 50 == 0) t.excluded = "load_1min > 3";
       })},
      {"failed-trials", [](report::Samples& s) { s.failed = 4; }},
      {"failed-trials", [](report::Samples& s) { s.repeated = 3, s.repeated_cells = {"stack=on: 3"}; }},
      {"layout-output",
       [](report::Samples& s) {
         s.layout_outputs = {"prove, stack=on: seed 7 gives 'a', off 'b'", "prove, heap=page: the same"};
       }},
      {"simulated", [](report::Samples& s) { s.simulated = {"simulated cost = instructions + 10 x misses"}; }},
      {"unmasked", [](report::Samples& s) { s.early_looks = {"user 7 looked at the cells by name after 12 of 40 trials"}; }},
      {"not-normal", of_each([](report::Trial& t) {
         if (t.order % 37 == 0) *t.values[0] *= 3;
       })},
      {"unequal-variance", of_each([](report::Trial& t) {
         if (t.levels[2]) *t.values[0] *= t.block % 2 ? 1.1 : 1 / 1.1;
       })},
      {"small-sample", [](report::Samples& s) { std::erase_if(s.trials, [](const report::Trial& t) { return t.block > 7; }); }},
      {"unbalanced", [](report::Samples& s) { s.trials.erase(s.trials.begin() + 5); }},
      {"unavailable-counter",
       [](report::Samples& s) {
         s.unavailable.push_back({"cycles: not here", "a machine with counters"});
       }},
      {"incomplete", [](report::Samples& s) { s.incomplete = true; }},
      {"extended", [](report::Samples& s) { s.planned_replicates = 15; }},
      {"degraded", of_each([](report::Trial& t) { t.dose->degradations = {"the helper was late"}; })},
      {"large-arrays", of_each([](report::Trial& t) { t.dose->heap_bytes_share = 0.1; })},
      {"short-run", of_each([](report::Trial& t) { *t.values[0] /= 100; })},
  };
  const std::vector<std::string> quiet = codes(lab_samples(21, shape));
  for (const auto& [code, make] : reasons) {
    EXPECT_THAT(quiet, Not(::testing::Contains(code)));
    report::Samples samples = lab_samples(21, shape);
    make(samples);
    const std::vector<std::string> found = codes(with_layouts(samples));
    EXPECT_THAT(found, ::testing::Contains(code));
  }
}

// Of ten values nothing is nearly normal for being a mean.
TEST(Caveats, WhatIsNotNormalSaysOfHowManyMeansAre) {
  const auto hint_of = [](int replicates) {
    report::Samples samples = lab_samples(21, {.programs = 1, .replicates = replicates, .links = 10});
    for (report::Trial& trial : samples.trials)
      if (trial.order % 37 == 0) *trial.values[0] *= 3;
    const auto report = report::analyse(with_layouts(samples));
    EXPECT_TRUE(report);
    for (const report::Caveat& one : report->caveats)
      if (one.code == report::CaveatCode::kNotNormal) return one.hint;
    return std::string();
  };
  EXPECT_EQ(hint_of(40), "means of 30 are close to normal anyway; see whether ranks agree");
  EXPECT_THAT(hint_of(20), HasSubstr("means of 30 would be close to normal anyway, and a cell has 20; see whether"));
}

// On a terminal it stands alone: no lines follow it.
TEST(Caveats, LessRandomizationNamesItsCausesInOneText) {
  const auto of_causes = [](const std::vector<std::string>& causes) {
    report::Samples samples = lab_samples(21, {.programs = 1, .replicates = 20});
    for (report::Trial& trial : samples.trials)
      if (trial.dose) trial.dose->degradations = causes;
    const auto report = report::analyse(with_layouts(samples));
    EXPECT_TRUE(report);
    for (const report::Caveat& one : report->caveats)
      if (one.code == report::CaveatCode::kDegraded) return one;
    return report::Caveat{};
  };
  const report::Caveat one = of_causes({"the helper was late; give it a CPU"});
  EXPECT_THAT(one.message, ::testing::EndsWith("less randomization than asked: the helper was late; give it a CPU"));
  EXPECT_EQ(one.hint, "remove this cause and run the experiment again; until then layouts have a larger part in the differences "
                      "than planned");
  const report::Caveat two = of_causes({"the helper was late; give it a CPU", "no pads"});
  EXPECT_THAT(two.message, ::testing::EndsWith("asked: (1) no pads; (2) the helper was late; give it a CPU"));
  EXPECT_THAT(two.hint, ::testing::StartsWith("remove these causes and run"));
}

// Beyond 5,000 residuals the test is Anderson and Darling's.
TEST(Caveats, ManyResidualsAreStillSeenNotToBeNormal) {
  const auto not_normal = [](bool outliers) {
    report::Samples samples = lab_samples(21, {.programs = 1, .replicates = 800});
    if (outliers)
      for (report::Trial& trial : samples.trials)
        if (trial.order % 37 == 0) *trial.values[0] *= 3;
    const auto report = report::analyse(samples, report::Depth::kVerdicts);
    EXPECT_TRUE(report);
    EXPECT_TRUE(std::any_of(report->diagnostics.begin(), report->diagnostics.end(),
                            [](const report::Diagnostic& one) { return one.name == "anderson-darling"; }));
    return std::any_of(report->caveats.begin(), report->caveats.end(),
                       [](const report::Caveat& one) { return one.code == report::CaveatCode::kNotNormal; });
  };
  EXPECT_TRUE(not_normal(true));
  EXPECT_FALSE(not_normal(false));
}

// Plain, or everything on: what the treatment does in each half, beside the contrast over both.
TEST(Halves, AreThePlainAndTheRandomizedCells) {
  report::Samples samples = lab_samples(21, {.programs = 1, .replicates = 20, .links = 10});
  EXPECT_TRUE(report::analyse(samples)->halves.empty()) << "no treatment";
  samples.factors[0].fixed = samples.factors[1].fixed = {true, false};
  samples.factors[2] = {"version", {"before", "after"}, false, 0};
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[0] != trial.levels[1]; });
  // Neither when layouts change nor how far stacks move says of a plain cell that it is a random one.
  samples.factors.push_back({"epoch", {"auto"}, true, 0, {false}});
  samples.factors.push_back({"stack_range", {"256"}, true, 0, {false}});
  for (report::Trial& trial : samples.trials) trial.levels.insert(trial.levels.end(), {0, 0});
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->halves.size(), 2u);
  const report::HalfContrast &plain = report->halves[0], &randomized = report->halves[1];
  EXPECT_EQ(plain.within, "code=off, stack=zero");
  EXPECT_EQ(randomized.within, "code=shuffle, stack=on");
  EXPECT_FALSE(plain.randomized);
  EXPECT_TRUE(randomized.randomized);
  for (const report::HalfContrast& half : report->halves) {
    EXPECT_EQ(half.refused, "");
    EXPECT_EQ(half.level, "after");
    EXPECT_LT(half.interval.low, std::exp(-0.03));
    EXPECT_GT(half.interval.high, std::exp(-0.03));
  }
  const double over_both = find(*report, "version", samples.workloads[0]).interval.estimate;
  EXPECT_NEAR(std::log(plain.interval.estimate * randomized.interval.estimate) / 2, std::log(over_both), 1e-9);
  const std::string text = report::render_terminal(*report, 160, false);
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("Plain and randomized cells: wall_time"), HasSubstr("version: after / before")));
  EXPECT_THAT(report::to_json(*report), HasSubstr("\"halves\""));
  // The other way around.
  samples.factors[2].baseline = 1;
  const auto turned = report::analyse(samples);
  ASSERT_EQ(turned->halves.size(), 2u);
  EXPECT_EQ(turned->halves[0].level, "before");
  EXPECT_NEAR(turned->halves[0].interval.low, 1 / plain.interval.high, 1e-12);
  EXPECT_NEAR(turned->halves[0].interval.estimate, 1 / plain.interval.estimate, 1e-12);
}

// What a process takes has its start in it; an operation of a benchmark, in nanoseconds, has not.
TEST(Caveats, ShortRunsAreOfProcesses) {
  const auto short_run = [](const char* response) {
    report::Samples samples = lab_samples(21, {.programs = 6, .replicates = 20, .links = 10});
    samples.responses[0].name = response;
    for (report::Trial& trial : samples.trials) *trial.values[0] /= 1e7;
    const auto report = report::analyse(samples);
    EXPECT_TRUE(report);
    return std::any_of(report->caveats.begin(), report->caveats.end(),
                       [](const report::Caveat& one) { return one.code == report::CaveatCode::kTiny; });
  };
  EXPECT_TRUE(short_run("wall_time"));
  EXPECT_FALSE(short_run("Sort/8"));
  EXPECT_FALSE(short_run("region_time"));
}

// A simulator's counts are no other on a busy machine, and it has no epochs that could be shorter.
TEST(Caveats, ASimulatorGetsNoAdviceForMachines) {
  report::Samples samples = lab_samples(21, {.programs = 6, .replicates = 20, .links = 10});
  const auto advised = [&] {
    std::vector<report::CaveatCode> out;
    const auto report = report::analyse(samples);
    EXPECT_TRUE(report);
    for (const report::Caveat& caveat : report->caveats)
      for (const report::CaveatCode code :
           {report::CaveatCode::kLowDose, report::CaveatCode::kSteal, report::CaveatCode::kDisturbed})
        if (caveat.code == code) out.push_back(code);
    return out.size();
  };
  for (report::Trial& trial : samples.trials) {
    trial.disturbances = report::bit(report::Disturbance::kSteal) | report::bit(report::Disturbance::kMigrated);
    trial.dose->code_layouts_executed = trial.dose->stack_layouts = 1;
    trial.dose->epochs = 0;
  }
  EXPECT_EQ(advised(), 3u);
  samples.simulated = {"simulated cost = instructions + 10 x misses"};
  EXPECT_EQ(advised(), 0u);
}

// Too few epochs are cured by shorter ones; a loop that is entered once isn't, and the caveat doesn't say so.
TEST(Caveats, LowDoseNamesItsReason) {
  const auto low_doses = [](uint64_t epochs, uint64_t unentered, const char* level = "shuffle") {
    report::Samples samples = lab_samples(21, {.programs = 6, .replicates = 20, .links = 10});
    samples.factors[0].levels[1] = level;
    for (report::Trial& trial : samples.trials) {
      trial.dose->code_layouts_executed = trial.levels[0] ? 1 : 0;
      trial.dose->epochs = epochs;
      trial.dose->epochs_unentered = unentered;
    }
    const auto report = report::analyse(samples);
    EXPECT_TRUE(report);
    std::vector<std::string> out;
    for (const report::Caveat& caveat : report->caveats)
      if (caveat.code == report::CaveatCode::kLowDose) out.push_back(caveat.message + " | " + caveat.hint);
    return out;
  };
  const std::vector<std::string> few = low_doses(3, 1), loop = low_doses(100, 99);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_THAT(few[0],
              ::testing::AllOf(HasSubstr("only 1 layout (median): 3 epochs ended in a run"), HasSubstr("shorten the epoch")));
  ASSERT_EQ(loop.size(), 1u);
  EXPECT_THAT(loop[0], ::testing::AllOf(
                           HasSubstr("only 1 layout (median) in 100 epochs: in 99 % of them no function was entered"),
                           HasSubstr("stab_new_layout()"), HasSubstr("more replicates"), Not(HasSubstr("shorten the epoch"))));
  // A run of ten epochs in one loop gains as little from shorter ones.
  EXPECT_THAT(low_doses(10, 9)[0], ::testing::AllOf(HasSubstr("long_loops = true"), Not(HasSubstr("shorten the epoch"))));
  // Layouts that are held, or as yet unused in a few epochs, are no loop; an older runtime counts no epochs.
  EXPECT_THAT(low_doses(100, 40)[0], HasSubstr("shorten the epoch"));
  EXPECT_THAT(low_doses(0, 0)[0], ::testing::AllOf(HasSubstr("shorten the epoch"), Not(HasSubstr("epochs ended"))));
  // One layout a run is what the plan asks for.
  EXPECT_TRUE(low_doses(100, 99, "once").empty());
  EXPECT_TRUE(low_doses(100, 99, "direct").empty());
}

// Forty programs whose two builds are the same: the alarms are counted one by one, and their rate has an exact interval.
TEST(Selftest, CountsFalseAlarms) {
  const auto experiment = [](double effect) {
    report::Samples samples = lab_samples(9, {.programs = 40, .replicates = 20, .links = 10, .stack_effect = effect});
    // Only the cells in which nothing but the stack differs, which becomes the build.
    std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[0] != 1 || trial.levels[2] != 0; });
    for (report::Trial& trial : samples.trials) trial.levels = {trial.levels[1]};
    samples.factors = {{"build", {"1", "2"}, false, 0}};
    for (report::Trial& trial : samples.trials) trial.link = 1 + trial.block;
    for (size_t w = 0; w < samples.workloads.size(); ++w) samples.workloads[w] = "aa" + std::to_string(w + 1);
    samples.experiment = "selftest (1)";
    return with_layouts(std::move(samples));
  };
  const commands::CommandOutput honest = commands::run_selftest(experiment(0), {.json = true});
  EXPECT_EQ(honest.exit_code, 0) << honest.out;
  EXPECT_THAT(honest.out, HasSubstr("\"comparisons\": 40"));
  const commands::CommandOutput biased = commands::run_selftest(experiment(0.02), {});
  EXPECT_EQ(biased.exit_code, 1) << biased.out;
  EXPECT_THAT(biased.out, HasSubstr("more alarms than promised"));
  report::Samples another = experiment(0.02);
  another.experiment = "compilers (2)";
  EXPECT_THAT(commands::run_selftest(another, {}).err, HasSubstr("is no selftest"));
  report::Samples stopped = experiment(0);
  stopped.incomplete = true;
  EXPECT_THAT(commands::run_selftest(stopped, {}).err, HasSubstr("is not finished"));
}

// A linear response whose margin is a share of the baseline: 1 % of 2000 is 20, whatever the unit.
TEST(Report, LinearMarginIsAShareOfTheBaseline) {
  report::Samples samples = lab_samples(5, {.links = 10, .code_effect = 0, .heap_effect = 0.003});
  for (report::Trial& trial : samples.trials) trial.values[0] = 4000 * *trial.values[0];
  samples.responses[0].scale = report::Scale::kLinear;
  samples.responses[0].margin_is_share = true;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const report::Contrast& heap = find(*report, "heap", "fib");
  EXPECT_NEAR(heap.margin, 20, 1);
  EXPECT_EQ(heap.verdict, report::Verdict::kEquivalent);
  samples.responses[0].margin_is_share = false;
  EXPECT_NE(find(*report::analyse(samples), "heap", "fib").verdict, report::Verdict::kEquivalent) << "within 0.01 units?";
}

// A block that lacks a cell has no part in the difference, and none in the baseline that its margin is a share of.
TEST(Report, LinearMarginIsOfTheBlocksCompared) {
  report::Samples samples = lab_samples(5, {.programs = 1, .links = 30});
  samples.responses[0].scale = report::Scale::kLinear;
  samples.responses[0].margin_is_share = true;
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann, 0.5}};
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.block == 0 && trial.levels[2] == 1; });
  double sum = 0, baselines = 0;
  for (report::Trial& trial : samples.trials) {
    if (trial.block == 0) trial.values[0] = 10 * *trial.values[0];
    if (trial.block == 0 || trial.levels[2] == 1) continue;
    sum += *trial.values[0];
    baselines += 1;
  }
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const report::Contrast& heap = find(*report, "heap", "fib");
  EXPECT_EQ(heap.blocks_left_out, 1u);
  EXPECT_NEAR(heap.margin, 0.01 * sum / baselines, 1e-12);
  const auto estimator =
      std::find_if(report->estimators.begin(), report->estimators.end(),
                   [](const report::EstimatorContrast& one) { return one.factor == "heap" && one.workload == "fib"; });
  ASSERT_NE(estimator, report->estimators.end());
  EXPECT_EQ(estimator->refused, "");
  EXPECT_NEAR(estimator->margin, heap.margin, 1e-12);
}

// One level can't vary: it is said once, and takes no column of its own.
TEST(Report, OneLevelFactorsLeaveTheTables) {
  report::Samples samples = lab_samples(1);
  samples.factors.push_back({"epoch", {"20ms"}, true, 0});
  for (report::Trial& trial : samples.trials) trial.levels.push_back(0);
  const std::string text = report::render_terminal(*report::analyse(samples), 100, false);
  EXPECT_THAT(text, HasSubstr("Cells: wall_time, epoch=20ms"));
  EXPECT_THAT(text, Not(HasSubstr("heap   epoch")));
  for (size_t at = text.find("Cells:"); at < text.find("Where the spread"); at = text.find('\n', at) + 1)
    EXPECT_EQ(text.substr(at, text.find('\n', at) - at).find("…"), std::string::npos) << "half an interval is no interval";
}

// Means that agree in their first digits are told apart where their intervals are.
TEST(Report, MeansHaveAsManyDigitsAsTheirIntervalsTell) {
  report::Samples samples = lab_samples(1);
  const std::string usual = report::render_terminal(*report::analyse(samples), 200, false);
  EXPECT_TRUE(std::regex_search(usual, std::regex("fib.* [0-9.]{5} m?s .* [0-9.]{5} m?s"))) << usual;
  for (report::Trial& trial : samples.trials) trial.values[0] = std::exp(23 + 1e-5 * std::log(*trial.values[0]));
  samples.responses[0].unit = "instructions";
  const std::string tight = report::render_terminal(*report::analyse(samples), 200, false);
  EXPECT_TRUE(std::regex_search(tight, std::regex("fib.* [0-9][.][0-9]{6,8}e[+]09 instructions"))) << tight;
}

TEST(Compare, ExitCodesForBuilds) {
  const report::Samples samples = lab_samples(3, {.links = 10});
  const auto exit_code = [&](const std::string& factor, const std::string& a, const std::string& b) {
    return commands::run_verdict(samples, {.factor = factor, .level_a = a, .level_b = b}).exit_code;
  };
  EXPECT_EQ(exit_code("heap", "base", "page"), 0) << "3 % faster";
  EXPECT_EQ(exit_code("heap", "page", "base"), 1) << "3 % slower";
  EXPECT_EQ(exit_code("stack", "zero", "on"), 0) << "the same within the margin";
  EXPECT_EQ(exit_code("heap", "base", "nowhere"), 2);
  EXPECT_EQ(exit_code("nothing", "base", "page"), 2);
  const report::Samples noisy = lab_samples(3, {.replicates = 3, .links = 3, .noise = 0.05});
  EXPECT_EQ(commands::run_verdict(noisy, {.factor = "stack", .level_a = "zero", .level_b = "on"}).exit_code, 3);
}

// Two nights are confounded with two builds, however clear the numbers are.
TEST(Compare, TwoExperimentsAreUnsure) {
  report::Samples later = lab_samples(3, {.links = 10});
  for (report::Trial& trial : later.trials) *trial.values[0] *= 1.5;
  const commands::CommandOutput output = commands::run_verdict(lab_samples(2, {.links = 10}), later, {});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.out, HasSubstr("night"));
  EXPECT_THAT(output.out, HasSubstr("+5"));
  later.workloads[0] = "another";
  EXPECT_EQ(commands::run_verdict(lab_samples(2), later, {}).exit_code, 2);
}

TEST(Report, ColourOnlyWhenAsked) {
  const auto report = report::analyse(lab_samples(1));
  ASSERT_TRUE(report);
  EXPECT_THAT(report::render_terminal(*report, 100, false), Not(HasSubstr("\033")));
  EXPECT_THAT(report::render_terminal(*report, 100, true), HasSubstr("\033[31m"));
}

TEST(Report, NeverNanOrInfinite) {
  report::Samples constant = lab_samples(3, {.programs = 2, .replicates = 3});
  for (report::Trial& trial : constant.trials) trial.values[0] = 0.5;
  for (const report::Samples& samples : {constant, lab_samples(4, {.programs = 1, .replicates = 1}), lab_samples(5)}) {
    const auto report = report::analyse(samples);
    ASSERT_TRUE(report) << report.error().message;
    for (const std::string& text : {report::to_json(*report), report::render_terminal(*report)}) {
      EXPECT_THAT(text, Not(HasSubstr("nan")));
      EXPECT_THAT(text, Not(HasSubstr("inf,")));
      EXPECT_THAT(text, Not(HasSubstr("-inf")));
    }
  }
}

TEST(Report, ConstantValuesAreRefusedInWords) {
  report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 3});
  for (report::Trial& trial : samples.trials) trial.values[0] = 0.5;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  EXPECT_THAT(find(*report, "code", "fib").refused, HasSubstr("constant"));
  EXPECT_EQ(find(*report, "code", "fib").verdict, report::Verdict::kWithheld);
  EXPECT_THAT(report->anovas.at(0).refused, HasSubstr("don't vary"));
}

TEST(Report, BadValuesNameTrialAndCell) {
  report::Samples samples = lab_samples(3);
  samples.trials[7].values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(report::analyse(samples).error().message, HasSubstr("trial 7 (fib, code="));
  samples.trials[7].values[0] = 0;
  EXPECT_THAT(report::analyse(samples).error().message, HasSubstr("has no logarithm"));
  samples.trials[7].excluded = "declared: zero time";
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->excluded, 1u);
}

TEST(Report, VerdictsWaitForTheDeclaredLook) {
  report::Samples samples = lab_samples(1);
  samples.incomplete = true;
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  for (const report::Contrast& contrast : report->contrasts) EXPECT_EQ(contrast.verdict, report::Verdict::kWithheld);
  EXPECT_THAT(report::render_terminal(*report), HasSubstr("not finished"));
}

// A treatment in cells with one layout each can't be judged: luck of the linker.
TEST(Report, TreatmentNeedsMoreThanOneLayout) {
  report::Samples samples = lab_samples(1);
  for (report::Factor& factor : samples.factors)
    if (factor.name == "heap") factor = {"opt", {"-O2", "-O3"}, false, 0};
  samples = with_layouts(std::move(samples));
  const auto with_shuffled = report::analyse(samples);
  ASSERT_TRUE(with_shuffled);
  const report::Contrast& mixed = find(*with_shuffled, "opt", "fib");
  EXPECT_TRUE(mixed.refused.empty()) << mixed.refused;
  EXPECT_FALSE(mixed.one_layout_a_side) << "cells with one layout take no part";

  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1) trial.excluded = "declared: only off-cells";
  const auto off_only = report::analyse(samples);
  ASSERT_TRUE(off_only);
  EXPECT_THAT(find(*off_only, "opt", "fib").refused, HasSubstr("one layout a side"));

  // Binaries as they are linked are another question.
  for (report::Factor& factor : samples.factors) factor.of_binaries = factor.name == "opt";
  const auto of_binaries = report::analyse(samples);
  ASSERT_TRUE(of_binaries);
  EXPECT_EQ(find(*of_binaries, "opt", "fib").refused, "");
  EXPECT_TRUE(find(*of_binaries, "opt", "fib").one_layout_a_side);

  // What to do about it is not to draw links, which such a plan may not do.
  const auto cure_of = [](const report::Report& report) {
    for (const report::Caveat& caveat : report.caveats)
      if (caveat.code == report::CaveatCode::kOneLayout) return caveat.hint;
    return std::string();
  };
  EXPECT_THAT(cure_of(*off_only), HasSubstr("link = { seeds = 10 }"));
  EXPECT_THAT(cure_of(*of_binaries), HasSubstr("as about = \"binaries\" asks"));
}

TEST(Caveats, BuildsThatAreOneFileAreSaid) {
  report::Samples samples = lab_samples(1);
  const auto messages = [&] {
    std::string out;
    const auto report = report::analyse(samples);
    for (const report::Caveat& caveat : report->caveats)
      if (caveat.code == report::CaveatCode::kSameBuild) out += caveat.message + "\n";
    return out;
  };
  EXPECT_EQ(messages(), "");
  samples.equal_builds = {"'bench opt=-O2' and 'bench opt=-O3'"};
  EXPECT_EQ(messages(), "the builds 'bench opt=-O2' and 'bench opt=-O3' are the same file, byte for byte: if what it reads is "
                        "the same, too, a difference is chance\n");
  samples.equal_builds.push_back("'lua opt=-O2' and 'lua opt=-O3'");
  EXPECT_THAT(messages(), HasSubstr("'bench opt=-O3', and of 1 more pair both, are the same file"));
  EXPECT_EQ(report::analyse(samples)->caveats.front().code, report::CaveatCode::kSameBuild);
}

// A machine that is slower for whole blocks blurs the cells, not what is compared within blocks.
TEST(Report, BlocksCancelWhatHappensToAllCells) {
  report::Samples samples = lab_samples(6, {.links = 10});
  const auto calm = report::analyse(samples);
  for (report::Trial& trial : samples.trials) *trial.values[0] *= 1 + 0.5 * (trial.block % 7);
  const auto restless = report::analyse(samples);
  ASSERT_TRUE(calm && restless);
  for (const char* factor : {"code", "stack", "heap"}) {
    const report::Contrast& before = find(*calm, factor, "fib");
    const report::Contrast& after = find(*restless, factor, "fib");
    EXPECT_TRUE(before.blocked);
    EXPECT_NEAR(after.interval.estimate, before.interval.estimate, 1e-12);
    EXPECT_NEAR(after.standard_error, before.standard_error, 1e-12);
    EXPECT_DOUBLE_EQ(before.df, 9) << "ten links are ten draws, whatever the blocks";
  }
  samples = lab_samples(6, {.links = 10});
  for (report::Trial& trial : samples.trials) trial.block = trial.order;  // no block holds two cells
  EXPECT_FALSE(find(*report::analyse(samples), "code", "fib").blocked) << "Welch, where there are no blocks";
}

// The lab's own schedule: cells of a block run different links. The cost of code is then known no better than ten
// draws allow; what compares cells of the same links is sharper; blocks still cancel.
TEST(Report, LinksCrossedWithBlocks) {
  report::Samples samples = lab_samples(6, {.links = 10, .crossed_links = true, .layout_sd = 0.03});
  const auto calm = report::analyse(samples);
  for (report::Trial& trial : samples.trials) *trial.values[0] *= 1 + 0.5 * (trial.block % 7);
  const auto restless = report::analyse(samples);
  ASSERT_TRUE(calm && restless);
  const report::Contrast& code = find(*calm, "code", "fib");
  EXPECT_LT(code.df, 20);
  EXPECT_GT(code.standard_error, 0.005) << "sd 3 % over ten links is 0.0095";
  EXPECT_LT(find(*calm, "stack", "fib").standard_error, 0.6 * code.standard_error);
  for (const char* factor : {"code", "stack", "heap"}) {
    EXPECT_NEAR(find(*restless, factor, "fib").interval.estimate, find(*calm, factor, "fib").interval.estimate, 1e-9);
    EXPECT_NEAR(find(*restless, factor, "fib").standard_error, find(*calm, factor, "fib").standard_error, 1e-9);
  }
}

// Trials that repeat a layout are averaged before they count as replicates.
TEST(Report, LinksAreTheUnitWhereCodeIsOff) {
  const auto report = report::analyse(lab_samples(2, {.replicates = 40, .links = 10, .layout_sd = 0.03}));
  ASSERT_TRUE(report);
  const report::Contrast& code = find(*report, "code", "fib");
  EXPECT_LT(code.df, 60) << "40 runs of 10 links are 10 layouts, not 40";
  EXPECT_GT(code.interval.high / code.interval.low, 1.015);
}

}  // namespace
}  // namespace stab::analysis
