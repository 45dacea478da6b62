// Every shape of experiment that a plan can declare, from its TOML through expansion and recorded trials to the printed
// report. Trials are made up from a known model: each shape has one effect that must be found inside its interval, all its
// other questions have the answer zero and must not be called changed; nothing may be refused without cause, and no number may
// be NaN. The table of shapes in docs/reference/plan.md names these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "plan/check.h"
#include "plan/parse.h"
#include "plan/schedule.h"
#include "stabd/engine/results/load_samples.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Shape {
  std::string name;
  std::string experiment;       // further lines of [experiment]
  std::string factors;          // lines of [factors]
  std::string rest;             // further tables
  std::string factor;           // the one whose levels differ, each from the one before by `effect` in the logarithm
  double effect = 0.05;
  std::vector<std::string> says = {};     // in the printed report
  std::string refusal = {};     // of every contrast: the cause
  bool two_programs = false;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"single_factor", "replicates = 12", "code = [\"once\"]\nopt = [\"-O1\", \"-O2\", \"-O3\"]", "", "opt"},
      {"two_cells", "replicates = 12", "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]", "", "opt"},
      {"two_blocks", "replicates = 2", "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]", "", "opt", 0.6},
      {"three_blocks", "replicates = 3", "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]\nheap = [\"base\", \"page\"]", "", "opt",
       0.3},
      {"one_replicate",
       "replicates = 1",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"as few as 1 trial"},
       "no spread of their own"},
      {"full_crossing", "replicates = 10", "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]",
       "", "opt"},
      {"random_order",
       "replicates = 10\norder = \"random\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"p (HC3)"}},
      {"half_of_three",
       "replicates = 12",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = { of = \"1/2\", "
       "generators = [\"opt = code:stack\"] }",
       "",
       "opt",
       0.05,
       {"4 of 8 cells", "opt = code:stack", "code = stack:opt",
        "some effects cannot be separated from interactions of two factors"}},
      {"other_half_of_three",
       "replicates = 12",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = { of = \"1/2\", "
       "generators = [\"opt = -code:stack\"] }",
       "",
       "opt",
       0.05,
       {"opt = -code:stack"}},
      {"half_of_four",
       "replicates = 8",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nheap = [\"base\", \"page\"]\nopt = [\"-O2\", "
       "\"-O3\"]\nfraction = \"1/2\"",
       "",
       "opt",
       0.05,
       {"8 of 16 cells", "opt = code:stack:heap", "code:stack = heap:opt"}},
      {"quarter_of_five",
       "replicates = 8",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nheap = [\"base\", \"page\"]\nopt = [\"-O2\", \"-O3\"]\npatch "
       "= [\"no\", \"yes\"]\n"
       "fraction = { of = \"1/4\", generators = [\"opt = code:stack\", \"patch = code:heap\"] }",
       "",
       "patch",
       0.05,
       {"8 of 32 cells", "patch = code:heap"}},
      {"fraction_times_three_levels",
       "replicates = 8",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nepoch = [\"5ms\", \"20ms\", "
       "\"100ms\"]\nfraction = \"1/2\"",
       "",
       "epoch",
       0.05,
       {"12 of 24 cells", "opt = code:stack"}},
      {"fraction_with_links",
       "replicates = 20",
       "code = [\"off\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nlink = { seeds = 10 }\nfraction = "
       "\"1/2\"",
       "",
       "opt",
       0.05,
       {"4 of 8 cells", "opt = code:stack"}},
      {"fraction_of_one_link",
       "replicates = 12",
       "code = [\"off\"]\na = [1, 2]\nb = [1, 2]\nc = [1, 2]\nfraction = \"1/2\"",
       "",
       "c",
       0.05,
       {},
       "ran in one layout each"},
      {"fraction_of_two_programs",
       "replicates = 8",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = \"1/2\"",
       "",
       "opt",
       0.05,
       {"like these", "opt = code:stack"},
       "",
       true},
      {"fraction_looked_at",
       "",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = \"1/2\"",
       "[stopping]\nrule = \"looks\"\nlooks = [6, 12]\n",
       "opt",
       0.05,
       {"look 2 of 2", "opt = code:stack"}},
      {"fraction_to_a_precision",
       "",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = \"1/2\"",
       "[stopping]\nrule = \"precision\"\nfirst = 6\nmax = 14\nhalf_width = \"2%\"\n",
       "opt",
       0.05,
       {"precision:"}},
      {"nested",
       "replicates = 12",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]\nepoch = [\"5ms\", \"20ms\"]\nnested = [{ factor = \"epoch\", "
       "within = { code = [\"shuffle\"] } }]",
       "",
       "epoch",
       0.05,
       {"6 of 8 cells", "left out, the cells can't tell them from the terms above: code:epoch"}},
      {"excluded_cells",
       "replicates = 12",
       "code = [\"once\", \"shuffle\", \"pad\"]\nopt = [\"-O2\", \"-O3\"]\nexclude = [{ code = \"pad\", opt = \"-O3\" }]",
       "",
       "opt",
       0.05,
       {"5 of 6 cells"}},
      {"fraction_by_exclusion",
       "replicates = 12",
       "code = [\"shuffle\"]\na = [1, 2, 3]\nb = [1, 2, 3]\nc = [1, 2, 3]\n"
       "exclude = [{ a = 1, b = 1, c = [2, 3] }, { a = 1, b = 2, c = [1, 3] }, { a = 1, b = 3, c = [1, 2] }, "
       "{ a = 2, b = 1, c = [1, 3] }, { a = 2, b = 2, c = [1, 2] }, { a = 2, b = 3, c = [2, 3] }, "
       "{ a = 3, b = 1, c = [1, 2] }, { a = 3, b = 2, c = [2, 3] }, { a = 3, b = 3, c = [1, 3] }]",
       "",
       "c",
       0.05,
       {"9 of 27 cells", "part of a:b"}},
      {"runs_per_seed",
       "replicates = 10\nruns_per_seed = 3",
       "code = [\"once\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"Where the spread within cells comes from"}},
      {"one_link",
       "replicates = 12",
       "code = [\"off\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"one code layout each"},
       "one layout a side"},
      {"cost_against_one_link", "replicates = 12", "code = [\"off\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]", "", "opt"},
      {"links_only", "replicates = 20", "code = [\"off\"]\nopt = [\"-O2\", \"-O3\"]\nlink = { seeds = 10 }", "", "opt"},
      {"links_crossed_with_treatments", "replicates = 20",
       "code = [\"off\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]\nheap = [\"base\", \"page\"]\nlink = { seeds = 10 }", "", "opt"},
      {"fresh_links", "replicates = 12", "code = [\"copy\"]\nopt = [\"-O2\", \"-O3\"]\nlink = { seeds = 12 }", "", "opt"},
      {"several_responses",
       "replicates = 12\nresponse = [\"wall_time\", { name = \"max_rss\", scale = \"raw\" }, { name = \"instructions\", scale = "
       "\"log\" }]",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]\nheap = [\"base\", \"page\"]",
       "[counters]\nevents = [\"instructions\", \"page-faults\"]\n",
       "opt",
       0.05,
       {"Differences in max_rss", "Differences in page-faults (exploratory)"}},
      {"counter_passes",
       "replicates = 10\nresponse = [\"wall_time\", \"instructions\"]",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[counters]\nevents = [\"cycles\", \"instructions\", \"branches\", \"cache-misses\"]\nsharing = \"passes\"\nper_pass = "
       "2\n",
       "opt",
       0.05,
       {"Differences in cache-misses (exploratory)"}},
      {"programs_and_workloads",
       "replicates = 8",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"like these"},
       "",
       true},
      {"layout_factors", "replicates = 10",
       "code = [\"once\", \"shuffle\"]\nstack = [\"on\"]\nstack_range = [256, 4096]\nenv_size = [0, 1000, 4000]", "", "env_size"},
      {"fixed_number", "replicates = 12", "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"fixed\"\n", "opt"},
      {"looks",
       "",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"looks\"\nlooks = [4, 8, 12]\nspending = \"pocock\"\n",
       "opt",
       0.05,
       {"look 3 of 3"}},
      {"precision",
       "",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"precision\"\nfirst = 6\nmax = 14\nhalf_width = \"2%\"\n",
       "opt",
       0.05,
       {"precision:"}},
      {"sequence",
       "",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"sequence\"\nfirst = 6\nmax = 14\n",
       "opt",
       0.05,
       {"confidence sequence from 6 to 14 replicates, 14 replicates:"}},
      {"sliced",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced, 2 alone"}},
      {"sliced_few_blocks",
       "replicates = 5\nalone = \"0%\"\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.1,
       {"5 blocks sliced, 0 alone"}},
      {"sliced_crossing",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_three_levels",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O1\", \"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_programs",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"},
       "",
       true},
      {"sliced_runs_per_seed",
       "replicates = 20\nruns_per_seed = 2\nblocks = \"sliced\"",
       "code = [\"once\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_links",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"off\"]\nopt = [\"-O2\", \"-O3\"]\nlink = { seeds = 10 }",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_links_once",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"off\"]\nstack = [\"off\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nlink = { seeds = 20 }",
       "",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_looks",
       "blocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"looks\"\nlooks = [10, 20]\n",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_sequence",
       "blocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"sequence\"\nfirst = 10\nmax = 20\n",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_precision",
       "blocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[stopping]\nrule = \"precision\"\nfirst = 20\nmax = 20\nhalf_width = \"20%\"\n",
       "opt",
       0.05,
       {"18 blocks sliced"}},
      {"sliced_fraction",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nstack = [\"zero\", \"on\"]\nopt = [\"-O2\", \"-O3\"]\nfraction = { of = \"1/2\", "
       "generators = [\"opt = code:stack\"] }",
       "",
       "opt",
       0.05,
       {"4 of 8 cells"}},
      {"sliced_nested",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"once\", \"shuffle\"]\nopt = [\"-O2\", \"-O3\"]\nepoch = [\"5ms\", \"20ms\"]\nnested = [{ factor = \"epoch\", "
       "within = { code = [\"shuffle\"] } }]",
       "",
       "epoch",
       0.05,
       {"18 blocks sliced", "6 of 8 cells"}},
      {"sliced_excluded_cells",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"once\", \"shuffle\", \"pad\"]\nopt = [\"-O2\", \"-O3\"]\nexclude = [{ code = \"pad\", opt = \"-O3\" }]",
       "",
       "opt",
       0.05,
       {"18 blocks sliced", "5 of 6 cells"}},
      {"sliced_counter_passes",
       "replicates = 20\nresponse = [\"cpu_time\", \"instructions\"]\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "[counters]\nevents = [\"cycles\", \"instructions\", \"branches\", \"cache-misses\"]\nsharing = \"passes\"\nper_pass = "
       "2\n",
       "opt",
       0.05,
       {"blocks sliced", "Differences in cache-misses (exploratory)"}},
      {"sliced_half_alone",
       "replicates = 20\nalone = \"50%\"\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "opt",
       0.05,
       {"10 blocks sliced, 10 alone"}},
      {"sliced_layout_factors",
       "replicates = 20\nblocks = \"sliced\"",
       "code = [\"shuffle\"]\nstack = [\"zero\", \"on\"]\nheap = [\"base\", \"page\"]\nopt = [\"-O2\", \"-O3\"]",
       "",
       "heap",
       0.05,
       {"18 blocks sliced"}},
  };
  return kShapes;
}

std::string toml_of(const Shape& shape, int seed) {
  std::string text = "[experiment]\nname = \"" + shape.name + "\"\nseed = " + std::to_string(seed) + "\npreflight = false\n" +
                     shape.experiment + "\n[factors]\n" + shape.factors + "\n" + shape.rest;
  for (const char* program : {"p", "q", "r"}) {
    text += "[[program]]\nname = \"" + std::string(program) + "\"\nbuild = \"make\"\nrun = [\"true\"]\n";
    if (!shape.two_programs) break;
    for (const char* workload : {"short", "long"})
      text += "[[program.workload]]\nname = \"" + std::string(workload) + "\"\nargs = [\"" + workload + "\"]\n";
  }
  return text;
}

double standard_normal(Rng& rng) {
  return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
}

// Layouts spread by 1 %, runs by 0.4 %, blocks by 5 %: a layout is the seed's, or where code is off the binary's.
Result<report::Report> report_of(store::Store& store, const Shape& shape, int seed) {
  plan::Parsed parsed = plan::parse_plan(toml_of(shape, seed), shape.name + ".toml");
  if (!parsed.plan) return bad_input(toml::render(parsed.errors));
  const plan::Plan plan = *parsed.plan;
  const auto passes = plan::counter_passes(plan.counters);
  const int factor = plan.factor_index(shape.factor);
  const bool random_order = plan.experiment.order == plan::Order::kRandom;  // trials of a replicate are hours apart
  Rng rng = Rng::stream(static_cast<uint64_t>(seed), shape.name);
  std::map<std::vector<uint64_t>, double> layouts;
  std::map<std::pair<int, uint32_t>, double> blocks;
  const auto drawn = [&](auto& known, const auto& key, double sd) {
    const auto [at, fresh] = known.try_emplace(key, 0);
    if (fresh) at->second = sd * standard_normal(rng);
    return at->second;
  };
  STAB_TRY(const store::Id id,
           record_experiment(store, plan, [&](const store::TrialRow& trial, const plan::Cell& cell, store::Outcome& outcome) {
             std::vector<uint64_t> layout{static_cast<uint64_t>(trial.subject),
                                          cell.fixed_code ? static_cast<uint64_t>(trial.link) : trial.seed};
             for (size_t f = 0; cell.fixed_code && f < plan.factors.size(); ++f)
               if (plan.factors[f].kind == plan::FactorKind::kTreatment) layout.push_back(static_cast<uint64_t>(cell.levels[f]));
             const std::pair block(static_cast<int>(trial.subject), static_cast<uint32_t>(trial.block));
             const double log_time =
                 shape.effect * cell.levels[static_cast<size_t>(factor)] + 0.1 * trial.subject + drawn(layouts, layout, 0.01) +
                 (random_order ? 0 : drawn(blocks, block, 0.05));
             const auto noisy = [&] { return std::exp(log_time + 0.004 * standard_normal(rng)); };
             outcome.wall_ns = std::llround(1e9 * noisy());
             outcome.user_ns = *outcome.wall_ns;
             outcome.system_ns = 0;
             outcome.max_rss_kib = std::llround(1e6 * noisy());
             for (const std::string& event : passes[static_cast<size_t>(trial.pass)])
               outcome.responses.push_back({event, std::round(1e6 * noisy()), {}, {}, {}, ""});
           }));
  STAB_TRY(const store::ExperimentRow row, store.experiment(id));
  STAB_TRY(const report::Samples samples, load_samples(store, row));
  return report::analyse(samples);
}

class PlanShape : public ::testing::TestWithParam<Shape> {
 protected:
  PlanShape() { store_.emplace(*store::Store::open(directory_.path() + "/shapes.db", store::Store::Access::kWrite)); }

  TemporaryDirectory directory_;
  std::optional<store::Store> store_;
};

// Replicates of one random order are no blocks: neither are their trials compared with each other, nor is there anything that a
// block would take away.
TEST(PlanShapeOfRandomOrder, ReplicatesAreNoBlocks) {
  const TemporaryDirectory directory;
  auto store = store::Store::open(directory.path() + "/random.db", store::Store::Access::kWrite);
  const Shape shape{"random_order", "replicates = 8\nruns_per_seed = 2\norder = \"random\"",
                    "code = [\"once\"]\nopt = [\"-O2\", \"-O3\"]", "", "opt"};
  const auto report = report_of(*store, shape, 1);
  ASSERT_TRUE(report) << report.error().message;
  const auto rows = store->experiments();
  ASSERT_TRUE(rows && rows->size() == 1);
  const auto samples = load_samples(*store, rows->front());
  ASSERT_TRUE(samples);
  EXPECT_FALSE(report::has_blocks(*samples));
  EXPECT_EQ(report::replicates_of(*samples), 8u);
  ASSERT_FALSE(report->contrasts.empty());
  EXPECT_FALSE(report->contrasts[0].blocked);
  EXPECT_EQ(report->contrasts[0].n, 8u) << "runs of one layout stay together";
  EXPECT_GT(report->contrasts[0].df, 7.0);
  EXPECT_THAT(render_terminal(*report), Not(HasSubstr("extended after its end")));
}

TEST_P(PlanShape, FindsItsEffectAndNoOther) {
  const Shape& shape = GetParam();
  constexpr int kExperiments = 5;
  int asked = 0, covered = 0, found = 0, nulls = 0, alarms = 0;
  for (int seed = 1; seed <= kExperiments; ++seed) {
    const auto report = report_of(*store_, shape, seed);
    ASSERT_TRUE(report) << report.error().message;
    const std::string text = render_terminal(*report);
    for (const std::string& words : {std::string("nan"), std::string("inf ")}) EXPECT_THAT(text, Not(HasSubstr(words)));
    EXPECT_THAT(to_json(*report), Not(HasSubstr("nan")));
    // Lines are broken where the screen ends.
    std::string joined;
    for (char c : text) {
      if (c == '\n') c = ' ';
      if (c != ' ' || joined.empty() || joined.back() != ' ') joined += c;
    }
    for (const std::string& words : shape.says) EXPECT_THAT(joined, HasSubstr(words));
    ASSERT_FALSE(report->contrasts.empty());
    for (const report::Contrast& contrast : report->contrasts) {
      const std::string what = contrast.factor + "=" + contrast.level + " in " + contrast.workload +
                               std::string(name(contrast.population)) + ", " + contrast.response;
      if (!shape.refusal.empty()) {
        EXPECT_THAT(contrast.refused, HasSubstr(shape.refusal)) << what;
        continue;
      }
      EXPECT_EQ(contrast.refused, "") << what;
      if (!contrast.refused.empty() || contrast.scale != report::Scale::kLog) continue;
      size_t level = 0;
      for (const report::Factor& factor : report->factors)
        for (size_t l = 0; factor.name == contrast.factor && l < factor.levels.size(); ++l)
          if (factor.levels[l] == contrast.level) level = l;
      if (contrast.factor == shape.factor) {
        const double truth = std::exp(shape.effect * static_cast<double>(level));
        ++asked;
        covered += contrast.interval.low <= truth && truth <= contrast.interval.high;
        found += contrast.verdict == report::Verdict::kChanged;
      } else {
        ++nulls;
        alarms += contrast.verdict == report::Verdict::kChanged;
      }
    }
    for (const report::AnovaTable& table : report->anovas) {
      if (!shape.refusal.empty()) continue;
      EXPECT_EQ(table.refused, "") << table.title << " of " << table.response;
    }
  }
  if (!shape.refusal.empty()) return;
  ASSERT_GT(asked, 0);
  EXPECT_GE(covered, std::floor(0.95 * asked - 4 * std::sqrt(0.0475 * asked)))
      << covered << " intervals of " << asked << " hold the truth";
  EXPECT_EQ(found, asked) << "times the effect of " << shape.factor << " was called changed";
  EXPECT_LE(alarms, std::ceil(0.05 * nulls + 4 * std::sqrt(0.0475 * nulls))) << "of " << nulls << " questions without an effect";
}

// The design that `plan check` prints is the one that is expanded and analysed.
TEST_P(PlanShape, PlanCheckCountsTheCellsThatRun) {
  const plan::Parsed parsed = plan::parse_plan(toml_of(GetParam(), 1), "x.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  const auto check = plan::check_plan(*parsed.plan, {});
  ASSERT_TRUE(check);
  const auto report = report_of(*store_, GetParam(), 1);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cell_count, check->design.cells.size());
  EXPECT_THAT(plan::render(*check, *parsed.plan, 40), HasSubstr(std::to_string(report->cell_count) + " cells:\n"));
  EXPECT_TRUE(check->design.not_estimable.empty());
}

INSTANTIATE_TEST_SUITE_P(Plans, PlanShape, ::testing::ValuesIn(shapes()), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stab::engine
