// The report page without a browser: what goes into it comes out of it, bit for bit, and what it draws is right.
#include "analysis/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/page/causal_windows.h"
#include "analysis/page/columns.h"
#include "analysis/page/computed_parts.h"
#include "analysis/page/distribution.h"
#include "analysis/page/luck.h"
#include "analysis/page/page_parts.h"
#include "analysis/page/sample_columns.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/alpha_spending.h"
#include "analysis/text/valid_text.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_sliced.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An experiment that uses every field of Samples.
report::Samples everything() {
  report::Samples samples = lab_samples(3, {.programs = 3, .replicates = 8, .links = 4});
  samples.programs = {"lua", "lua", "perl"};
  samples.workload_word = "workload";
  samples.alpha = 0.1;
  samples.planned = 200;
  samples.failed = 3;
  samples.incomplete = true;
  samples.stopping = {report::StoppingRule::kLooks, statistics::Spending::kPocock, {4, 8}, 0, 0, 9};
  samples.planned_replicates = 8;
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann, 0.5}, {report::Estimator::Kind::kQuantile, 0.9}};
  samples.shift_quantiles = {0.25, 0.75};
  samples.unavailable = {{"cycles: no PMU counts it", "stabctl doctor"}};
  samples.row_word = "draw";
  samples.simulated = {"simulated cost = instructions, by <cachegrind>"};
  samples.early_looks = {"user 1000 looked at the cells by name after 12 of 200 trials"};
  samples.environment_facts_compared = 17;
  samples.environment_facts = {"kernel.release", "boot_id"};
  samples.environments = {{true, {"6.1", "a"}}, {true, {"6.8", "b"}}, {false, {"", "c"}}};
  samples.layout_outputs = {"lua, code=shuffle: the program's output depends on its layout"};
  samples.equal_builds = {"'lua opt=-O2' and 'lua opt=-O3'"};
  samples.factors.back().of_binaries = true;
  samples.responses.push_back({.name = "faults",
                               .unit = "",
                               .scale = report::Scale::kLinear,
                               .margin = 0.02,
                               .margin_is_share = true,
                               .declared = false});
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    report::Trial& trial = samples.trials[i];
    trial.values.push_back(i % 5 ? std::optional<double>(300.25 + static_cast<double>(i % 7)) : std::nullopt);
    trial.seed = ~0ull - i;
    trial.environment = static_cast<uint32_t>(i % 3);
    if (i % 11 == 0) trial.excluded = "load_1min > 1";
    if (i % 13 == 0) trial.disturbances = report::bit(report::Disturbance::kSteal) | report::bit(report::Disturbance::kSuspended);
    if (i % 3 == 0) trial.dose->degradations = {"a", "b, c"};
    trial.dose->epochs = 40 + i % 3;
    trial.dose->epochs_unentered = i % 3;
    if (i % 4 == 0) trial.dose->heap_layouts = i, trial.dose->heap_bytes_share = 0.5;
    if (i % 17 == 0) trial.dose.reset();
  }
  return samples;
}

TEST(Page, HoldsEveryFieldOfTheSamples) {
  const report::Samples samples = everything();
  const auto parts = page::computed_parts(samples, {});
  ASSERT_TRUE(parts) << parts.error().text();
  const auto read =
      page::read_samples(nlohmann::json::parse(page::samples_json(samples, parts->columns)), parts->columns.packed());
  ASSERT_TRUE(read) << read.error().text();
  const report::Samples& again = read->samples;
  EXPECT_EQ(again.programs, samples.programs);
  EXPECT_EQ(again.row_word, samples.row_word);
  EXPECT_EQ(again.layout_outputs, samples.layout_outputs);
  EXPECT_EQ(again.equal_builds, samples.equal_builds);
  EXPECT_FALSE(again.factors.front().of_binaries);
  EXPECT_TRUE(again.factors.back().of_binaries);
  EXPECT_EQ(again.early_looks, samples.early_looks);
  EXPECT_EQ(again.simulated, samples.simulated);
  EXPECT_EQ(again.environment_facts_compared, 17u);
  EXPECT_EQ(again.environment_facts, samples.environment_facts);
  ASSERT_EQ(again.environments.size(), 3u);
  EXPECT_EQ(again.environments[1].values, samples.environments[1].values);
  EXPECT_FALSE(again.environments[2].recorded);
  EXPECT_EQ(again.stopping.looks, samples.stopping.looks);
  EXPECT_EQ(again.stopping.max, 9u);
  ASSERT_EQ(again.estimators.size(), 2u);
  EXPECT_EQ(again.estimators[0].kind, report::Estimator::Kind::kHodgesLehmann);
  EXPECT_EQ(again.estimators[1].kind, report::Estimator::Kind::kQuantile);
  EXPECT_EQ(again.estimators[1].probability, 0.9);
  EXPECT_EQ(again.shift_quantiles, samples.shift_quantiles);
  EXPECT_EQ(again.stopping.spending, samples.stopping.spending);
  ASSERT_EQ(again.trials.size(), samples.trials.size());
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    const report::Trial &a = samples.trials[i], &b = again.trials[i];
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(a.levels, b.levels);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.environment, b.environment);
    EXPECT_EQ(a.layout, b.layout);
    EXPECT_EQ(a.fixed_code, b.fixed_code);
    EXPECT_EQ(a.excluded, b.excluded);
    EXPECT_EQ(a.disturbances, b.disturbances);
    ASSERT_EQ(a.dose.has_value(), b.dose.has_value());
    if (!a.dose) continue;
    EXPECT_EQ(a.dose->degradations, b.dose->degradations);
    EXPECT_EQ(a.dose->heap_layouts, b.dose->heap_layouts);
    EXPECT_EQ(a.dose->heap_bytes_share, b.dose->heap_bytes_share);
    EXPECT_EQ(a.dose->code_layouts_executed, b.dose->code_layouts_executed);
    EXPECT_EQ(a.dose->epochs, b.dose->epochs);
    EXPECT_EQ(a.dose->epochs_unentered, b.dose->epochs_unentered);
  }
  // Whatever else there is in them: the report is the same, to the last digit.
  const auto second = page::computed_parts(again, {});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->report, parts->report);
  EXPECT_EQ(second->figures, parts->figures);
}

// Read from a page, which may say what no plan could.
TEST(Page, LooksOfASequenceEndAtTheLargestNumber) {
  report::Samples samples = everything();
  samples.stopping.rule = report::StoppingRule::kSequence;
  samples.stopping.first = 2;
  samples.stopping.max = std::numeric_limits<uint32_t>::max();
  const auto parts = page::computed_parts(samples, {});
  ASSERT_TRUE(parts) << parts.error().text();
  const auto figures = nlohmann::json::parse(parts->figures);
  const auto replicates = figures.at("looks").at("replicates").get<std::vector<uint64_t>>();
  EXPECT_LE(replicates.size(), 121u);
  EXPECT_TRUE(std::is_sorted(replicates.begin(), replicates.end()));
}

TEST(Page, AnEnvironmentHasEachFact) {
  report::Samples samples = everything();
  samples.environments[1].values.pop_back();
  const auto parts = page::computed_parts(samples, {});
  ASSERT_FALSE(parts);
  EXPECT_NE(parts.error().text().find("an environment has "), std::string::npos) << parts.error().text();
}

TEST(Page, FactsAndEnvironmentsAreBounded) {
  report::Samples facts = everything();
  for (int i = 0; i < 1000; ++i) facts.environment_facts.push_back("fact " + std::to_string(i));
  for (report::Environment& environment : facts.environments) environment.values.resize(facts.environment_facts.size(), "x");
  report::Samples kinds = everything();
  kinds.environments.resize(2000, kinds.environments.front());
  for (const report::Samples& samples : {facts, kinds}) {
    const auto parts = page::computed_parts(samples, {});
    ASSERT_FALSE(parts);
    EXPECT_NE(parts.error().text().find("there are at most 128 of 1001"), std::string::npos) << parts.error().text();
  }
}

// Pages of version 1 have no column of layouts.
TEST(Page, FindsTheLayoutsOfOlderPages) {
  const report::Samples samples = everything();
  const auto parts = page::computed_parts(samples, {});
  ASSERT_TRUE(parts);
  auto described = nlohmann::json::parse(page::samples_json(samples, parts->columns));
  described["version"] = 1;
  for (auto& factor : described["factors"]) factor.erase("fixed");
  const auto read = page::read_samples(described, parts->columns.packed());
  ASSERT_TRUE(read) << read.error().text();
  std::map<uint64_t, uint64_t> there, back;
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    const report::Trial &a = samples.trials[i], &b = read->samples.trials[i];
    EXPECT_EQ(a.fixed_code, b.fixed_code);
    EXPECT_EQ(there.try_emplace(a.layout, b.layout).first->second, b.layout);
    EXPECT_EQ(back.try_emplace(b.layout, a.layout).first->second, a.layout);
  }
  for (size_t f = 0; f < samples.factors.size(); ++f) EXPECT_EQ(read->samples.factors[f].fixed, samples.factors[f].fixed);
  EXPECT_EQ(page::computed_parts(read->samples, {})->report, parts->report);
  described["version"] = 3;
  EXPECT_FALSE(page::read_samples(described, parts->columns.packed()));
}

TEST(Page, EqualsTheReportAndVerifies) {
  const report::Samples samples = everything();
  const auto page = page::render_page(samples, {});
  ASSERT_TRUE(page) << page.error().text();
  const auto parts = page::take_apart(*page);
  ASSERT_TRUE(parts) << parts.error().text();
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  EXPECT_EQ(nlohmann::json::parse(parts->report), nlohmann::json::parse(report::to_json(*report)));
  const commands::CommandOutput said = page::verify_page(*page);
  EXPECT_EQ(said.exit_code, 0) << said.err;
}

TEST(Page, HoldsSlicedBlocksAndTheirControlAndVerifies) {
  Rng rng = Rng::stream(12, "page of sliced blocks");
  report::Samples samples = sliced_blocks(rng, {.blocks = 40, .alone_each = 4, .half_overlap = true, .bias = 0.2, .programs = 2});
  samples.trials[0].overlap.reset();
  const auto page = page::render_page(samples, {});
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page::verify_page(*page).exit_code, 0) << page::verify_page(*page).err;
  const auto parts = page::computed_parts(samples, {});
  ASSERT_TRUE(parts);
  const auto json = nlohmann::json::parse(page::samples_json(samples, parts->columns));
  EXPECT_EQ(json.at("version"), 7);
  const auto read = page::read_samples(json, parts->columns.packed());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->samples.is_sliced);
  for (size_t i = 0; i < samples.trials.size(); ++i) {
    EXPECT_EQ(read->samples.trials[i].ran_alone, samples.trials[i].ran_alone);
    EXPECT_EQ(read->samples.trials[i].overlap, samples.trials[i].overlap);
  }
  const auto slicing = nlohmann::json::parse(parts->report).at("slicing");
  EXPECT_EQ(slicing.at("sliced_blocks"), 30);
  EXPECT_EQ(slicing.at("alone_blocks"), 10);
  EXPECT_TRUE(slicing.at("biases").at(0).at("moves").get<bool>());
  EXPECT_TRUE(nlohmann::json::parse(parts->report).at("contrasts").at(0).at("by_alone").get<bool>());
}

// Of a program under amplified load, and of runs that are windows as a whole, what was declared is in the page, too.
TEST(Page, HoldsLoadsAndWholeRunsAndVerifiesThem) {
  for (const bool loads : {false, true}) {
    MadeProgram program;
    program.slopes = {0.4};
    program.trials = 4;
    causal_report::CausalData data = made_data(program);
    data.program = "served";
    program.controls_only = loads;
    program.nulls = loads ? 0 : 1;
    if (loads) data.factors = {"load"}, data.cells = {{{"1"}, 1}, {{"2"}, 2}, {{"3"}, 3}}, data.lines.clear();
    for (uint32_t cell = 0; cell < data.cells.size(); ++cell) program.cell = cell, add_trials(data, program, 3 + cell);
    for (causal_report::CausalTrial& trial : data.trials) {
      trial.timeouts = loads;
      if (loads) trial.run_samples.clear();
    }
    data.loads = loads, data.whole_runs = !loads;
    const auto page = page::render_page(everything(), {}, std::span(&data, 1));
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_NE(page->find(loads ? "Amplified load of served" : " runs in 4 blocks"), std::string::npos);
    const commands::CommandOutput said = page::verify_page(*page);
    EXPECT_EQ(said.exit_code, 0) << said.out << said.err;
  }
}

// Profiles are computed again from the windows in the page, and a number that was changed is found.
TEST(Page, HoldsCausalProfilesAndVerifiesThem) {
  MadeProgram program;
  program.slopes = {0.4, 0};
  program.alive = {1, 0.5};
  program.slowdowns = true;
  causal_report::CausalData data = made_windows(program, 1);
  data.program = "a <b> & \"c\"";
  data.points.push_back({"request", causal_report::PointKind::kLatency});
  for (causal_report::CausalWindow& window : data.windows) {
    window.visits.resize(2, 7);
    window.latencies.resize(2);
    window.latencies[1] = {1.5e9 + static_cast<double>(window.layout % 1000), 7};
    if (window.flags & causal_report::bit(causal_report::WindowFlag::kSkipped)) window.visits.assign(2, 0);
  }
  const auto page = page::render_page(everything(), {}, std::span(&data, 1));
  ASSERT_TRUE(page) << page.error().text();
  const commands::CommandOutput said = page::verify_page(*page);
  EXPECT_EQ(said.exit_code, 0) << said.err;
  const auto parts = page::take_apart(*page);
  ASSERT_TRUE(parts);
  const auto causal = nlohmann::json::parse(parts->causal);
  const auto read = page::read_causal(causal);
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 1u);
  const causal_report::CausalData& again = read->front();
  ASSERT_EQ(again.windows.size(), data.windows.size());
  for (size_t w = 0; w < data.windows.size(); ++w) {
    const causal_report::CausalWindow &a = data.windows[w], &b = again.windows[w];
    EXPECT_EQ(a.layout, b.layout);
    EXPECT_EQ(a.line, b.line);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.flags, b.flags);
    EXPECT_EQ(a.visits, b.visits);
    EXPECT_EQ(a.latencies[1].inside_ns, b.latencies[1].inside_ns);
    EXPECT_EQ(causal_report::effective_ns(a, causal_report::CausalClock::kWall),
              causal_report::effective_ns(b, causal_report::CausalClock::kWall));
  }
  EXPECT_EQ(again.trials[0].run_samples, data.trials[0].run_samples);
  std::string forged = *page;
  // Words of causal verdicts alone.
  const std::string worth = "\"verdict\": \"worth it\"", useless = "\"verdict\": \"no use\"";
  const bool is_worth = forged.find(worth) != std::string::npos;
  const size_t at = forged.find(is_worth ? worth : useless);
  ASSERT_NE(at, std::string::npos);
  forged.replace(at, (is_worth ? worth : useless).size(), is_worth ? useless : worth);
  const commands::CommandOutput caught = page::verify_page(forged);
  EXPECT_EQ(caught.exit_code, 1);
  EXPECT_THAT(caught.err, HasSubstr("verdict"));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

TEST(Page, NamesWhatWasChanged) {
  const auto page = page::render_page(lab_samples(3), {});
  ASSERT_TRUE(page);
  EXPECT_THAT(page::verify_page(replaced(*page, "\"verdict\": \"changed\"", "\"verdict\": \"unsure\"")).err,
              HasSubstr("verdict: the page says \"unsure\", its trials say \"changed\""));
  EXPECT_THAT(page::verify_page(replaced(*page, "\"analysed\": 720", "\"analysed\": 721")).err,
              HasSubstr("report.trials.analysed: the page says 721, its trials say 720"));
  EXPECT_THAT(page::verify_page(replaced(*page, "\"bandwidth\": ", "\"bandwidth\": 1")).err, HasSubstr("density.bandwidth"));
  EXPECT_THAT(page::verify_page(replaced(*page, "color-scheme: light dark", "color-scheme: dark")).err,
              HasSubstr("frame, style or script"));
  EXPECT_THAT(page::verify_page(replaced(*page, "\"rows\": 720", "\"rows\": 719")).err, HasSubstr("don't unpack to 719 rows"));
  EXPECT_THAT(page::verify_page(replaced(*page, "\"rows\": 720", "\"rows\": 99999999999")).err, HasSubstr("claims"));
  EXPECT_THAT(page::verify_page(replaced(*page, "\"name\": \"link\"", "\"name\": \"lonk\"")).err, HasSubstr("no column 'link'"));
  // The evidence is the page's own word; markup smuggled into it would be shown all the same.
  EXPECT_THAT(page::verify_page(replaced(*page, "\"state\": \"\"", "\"state\": \"</script><h1>p < 0.001</h1>\"")).err,
              HasSubstr("evidence holds markup"));
  EXPECT_EQ(page::verify_page(page->substr(0, page->size() / 2)).exit_code, 2);
  EXPECT_EQ(page::verify_page("").exit_code, 2);
}

TEST(Page, LetsNoNameBecomeMarkup) {
  report::Samples samples = lab_samples(3);
  samples.experiment = "</title><script>alert(1)</script>";
  samples.workloads[0] = "</script><b>\xff&";
  samples.workloads[1] = "</script <i";
  const auto page = page::render_page(samples, {});
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(*page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(*page, Not(HasSubstr("</script <i")));
  EXPECT_EQ(page::verify_page(*page).exit_code, 0) << page::verify_page(*page).err;
}

TEST(Page, RefusesWhatTheReportRefuses) {
  report::Samples samples = lab_samples(3);
  for (report::Trial& trial : samples.trials) trial.values[0].reset();
  const auto page = page::render_page(samples, {});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("no trial has a value"));
}

// Whoever has no value asks why.
TEST(Page, SaysWhyThereIsNoValue) {
  report::Samples samples = lab_samples(3);
  for (report::Trial& trial : samples.trials) trial.excluded = "steal_ns > 0";
  EXPECT_THAT(page::render_page(samples, {}).error().message, HasSubstr("exclusion rules leave out all 720"));
  samples.trials.clear();
  samples.failed = 6;
  EXPECT_THAT(page::render_page(samples, {}).error().message, HasSubstr("6 trials failed; 'stabctl logs' says why"));
  samples.failed = 0;
  samples.incomplete = true;
  EXPECT_THAT(page::render_page(samples, {}).error().message, HasSubstr("none has passed yet"));
}

// What looking costs, as it is drawn: at each look its share of alpha and the level of a single test, which are not the same.
TEST(Looks, ShowWhatEachSpendsAndTheLevelOfItsTests) {
  report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 40});
  samples.stopping = {report::StoppingRule::kLooks, statistics::Spending::kObrienFleming, {20, 40, 80}, 0, 0, 0};
  samples.planned_replicates = 80;
  const auto parts = page::computed_parts(samples, {});
  ASSERT_TRUE(parts) << parts.error().text();
  const auto looks = nlohmann::json::parse(parts->figures).at("looks");
  const double fractions[] = {0.25, 0.5, 1};
  const auto expected = statistics::alpha_spending(statistics::Spending::kObrienFleming, fractions, 0.05, false);
  ASSERT_TRUE(expected);
  EXPECT_EQ(looks.at("now"), 40);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(looks.at("replicates")[i], samples.stopping.looks[i]);
    EXPECT_NEAR(looks.at("spent")[i].get<double>(), (*expected)[i].spent, 1e-6 * (*expected)[i].spent);
    EXPECT_NEAR(looks.at("nominal")[i].get<double>(), (*expected)[i].nominal_p, 1e-6 * (*expected)[i].nominal_p);
  }
  EXPECT_NEAR(looks.at("spent")[2].get<double>(), 0.05, 1e-7);
  EXPECT_LT(looks.at("nominal")[2].get<double>(), 0.05) << "earlier looks have to be paid for";
  // Between looks the curve is the spending function's: it goes through the looks.
  const auto &at = looks.at("curve_at"), &spent = looks.at("curve_spent");
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] == 20) {
      EXPECT_NEAR(spent[i].get<double>(), (*expected)[0].spent, 1e-6 * (*expected)[0].spent);
    }
    if (i > 0) {
      EXPECT_GE(spent[i].get<double>(), spent[i - 1].get<double>());
    }
  }
  EXPECT_EQ(at.back(), 80);
}

TEST(ValidText, KeepsUtf8AndReplacesTheRest) {
  EXPECT_EQ(text::valid_text("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n"), "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n");
  // A lone byte, an overlong slash, a surrogate, a control character.
  EXPECT_EQ(text::valid_text("\xff|\xC0\xAF|\xED\xA0\x80|\x01"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD");
}

TEST(Density, IntegratesToOneAndFindsItsModes) {
  Rng rng = Rng::stream(1, "density");
  for (const size_t n : {200u, 5000u}) {  // summed, and binned
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) values.push_back(standard_normal(rng) + (i % 2 ? 8 : 0));
    std::sort(values.begin(), values.end());
    const page::Density density = page::density_of(values);
    ASSERT_FALSE(density.height.empty());
    const double step = (density.to - density.from) / static_cast<double>(density.height.size() - 1);
    double sum = 0;
    for (const double height : density.height) sum += height * step;
    EXPECT_NEAR(sum, 1, 0.02);
    const auto at = [&](double x) { return density.height[static_cast<size_t>(std::lround((x - density.from) / step))]; };
    EXPECT_GT(at(0), 2 * at(4));
    EXPECT_GT(at(8), 2 * at(4));
  }
  EXPECT_TRUE(page::density_of(std::vector<double>{1, 1, 1, 1, 1, 1}).height.empty());
  EXPECT_TRUE(page::density_of(std::vector<double>{1, 2, 3}).height.empty());
}

TEST(NormalPairs, KeepsTheEnds) {
  std::vector<double> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(i);
  const page::NormalPairs pairs = page::normal_pairs(values, 300);
  EXPECT_LE(pairs.value.size(), 301u);
  EXPECT_EQ(pairs.value.front(), 0);
  EXPECT_EQ(pairs.value[1], 1);
  EXPECT_EQ(pairs.value.back(), 9999);
  EXPECT_NEAR(pairs.normal.front(), statistics::normal_quantile(0.5 / 10'000), 1e-12);
}

// Two links a side, all by hand: A at 0 and 2 %, B at 1 and 3 %: of four pairs one points the wrong way.
TEST(Luck, CountsPairsOfLinksThatPointTheWrongWay) {
  report::Samples samples;
  samples.experiment = "luck";
  samples.workloads = {"p"};
  samples.factors = {{"code", {"off"}, true, 0}, {"opt", {"-O1", "-O2"}, false, 0}};
  samples.responses = {{.name = "wall_time", .unit = "s"}};
  const double logs[2][2] = {{0.00, 0.02}, {0.01, 0.03}};
  for (uint16_t level = 0; level < 2; ++level)
    for (uint64_t link = 1; link <= 2; ++link)
      for (uint32_t run = 0; run < 3; ++run) {
        report::Trial trial;
        trial.levels = {0, level};
        trial.block = run;
        trial.order = static_cast<uint32_t>(samples.trials.size());
        trial.link = link;
        trial.values = {std::exp(logs[level][link - 1])};
        samples.trials.push_back(trial);
      }
  samples = with_layouts(std::move(samples));
  const auto luck = page::luck_of(samples, "p", report::units_of(samples, 0, 0), 0.005);
  ASSERT_EQ(luck.size(), 3u);  // -O1 with itself, -O2 against -O1, -O2 with itself
  const auto across =
      std::find_if(luck.begin(), luck.end(), [](const page::LuckOfLinks& one) { return one.level != one.baseline; });
  ASSERT_NE(across, luck.end());
  EXPECT_EQ(across->pairs, 4u);
  EXPECT_EQ(across->fewest_runs, 3u);
  EXPECT_NEAR(across->truth, 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(across->wrong, 0.25);
  EXPECT_DOUBLE_EQ(across->beyond_margin, 0.5);
  EXPECT_NEAR(across->differences.front(), -0.01, 1e-12);
}

}  // namespace
}  // namespace stab::analysis
