// From the store to the analysis: what a plan declares about its responses, and pilots that can't speak for a plan.
#include "stabd/engine/results/load_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "base/rng.h"
#include "plan/parse.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/pilot.h"
#include "stabd/engine/results/precision.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;

plan::Plan plan_of(const std::string& response, const std::string& rest = "") {
  const plan::Parsed parsed = plan::parse_plan(
      "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 6\nresponse = " + response + "\n" + rest +
          "\n[factors]\ncode = [\"off\", \"shuffle\"]\n[counters]\nevents = [\"page-faults\", \"cycles\"]\n"
          "[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
      "x.toml");
  EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
  return *parsed.plan;
}

class SamplesTest : public ::testing::Test {
 protected:
  SamplesTest() { store_.emplace(*store::Store::open(directory_.path() + "/samples.db", store::Store::Access::kWrite)); }

  // Every third trial counts no page fault; the machine has no cycles.
  report::Samples samples_of(plan::Plan plan) {
    return samples_of(std::move(plan), [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
      outcome.responses.push_back({"page-faults", trial.order % 3 == 0 ? 0.0 : 40.0 + trial.order, {}, {}, {}, ""});
      outcome.responses.push_back({"cycles", {}, {}, {}, {}, "not supported"});
      outcome.ledger["steal_ns"] = trial.order == 5 ? 7 : 0;
      if (trial.order == 4) outcome.excluded_by = {"load_1min > 3"};
    });
  }
  template <class Measure>
  report::Samples samples_of(plan::Plan plan, const Measure& measure) {
    const auto id = record_experiment(*store_, std::move(plan), measure);
    EXPECT_TRUE(id);
    experiment_ = *id;
    const auto samples = load_samples(*store_, *store_->experiment(*id));
    EXPECT_TRUE(samples);
    return *samples;
  }
  static std::string caveats(const report::Samples& samples) {
    std::string out;
    for (const report::Unavailable& item : samples.unavailable) out += item.what + " | " + item.cure + "\n";
    return out;
  }

  TemporaryDirectory directory_;
  std::optional<store::Store> store_;
  store::Id experiment_ = 0;
};

// What a run shows counts the observations that the report will count: the design says which trials share a layout.
TEST_F(SamplesTest, PrecisionCountsTheUnitsOfTheReport) {
  const std::pair<const char*, const char*> kShapes[] = {
      {"as linked", "[factors]\ncode = [\"off\", \"once\"]\n"},
      {"no code factor", "[factors]\nopt = [\"-O2\", \"off\"]\n"},
      {"links", "[factors]\ncode = [\"copy\", \"shuffle\"]\nopt = [\"copy\", \"off\"]\nlink = { seeds = 3 }\n"},
      {"one link", "[factors]\ncode = [\"off\", \"shuffle\"]\nlink = { seeds = 1 }\n"},
      {"runs of a seed", "runs_per_seed = 3\n[factors]\ncode = [\"off\", \"shuffle\"]\n"},
      {"passes",
       "[factors]\ncode = [\"pad\", \"shuffle\"]\n[counters]\nevents = [\"cycles\", \"branches\", \"instructions\"]\nsharing = "
       "\"passes\"\nper_pass = 1\n"}};
  for (const auto& [shape, text] : kShapes) {
    const plan::Parsed parsed = plan::parse_plan(std::string("[experiment]\nname = \"x\"\nseed = 3\nreplicates = 6\n") + text +
                                                     "[[program]]\nname = \"p\"\nbuild = [\"make\"]\nrun = [\"true\"]\n",
                                                 "x.toml");
    ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
    const auto id =
        record_experiment(*store_, *parsed.plan, [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
          outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
        });
    ASSERT_TRUE(id);
    const store::ExperimentRow row = *store_->experiment(*id);
    const auto samples = load_samples(*store_, row);
    const auto precision = precision_of(*store_, row);
    ASSERT_TRUE(samples && precision);
    const auto reported = report::units_of(*samples, 0, 0).cells;
    const auto shown = precision->cells();
    ASSERT_EQ(reported.size(), shown.size()) << shape;
    for (const report::CellUnits& cell : reported) {
      std::string name;
      for (size_t f = 0; f < samples->factors.size(); ++f)
        name += (f ? " " : "") + samples->factors[f].name + "=" + samples->factors[f].levels[cell.levels[f]];
      const auto same = std::find_if(shown.begin(), shown.end(), [&](const CellTimes& times) { return times.cell == name; });
      ASSERT_NE(same, shown.end()) << shape << ": " << name;
      EXPECT_EQ(static_cast<size_t>(same->units().n), cell.values.size()) << shape << ": " << name;
      EXPECT_NEAR(same->units().mean, cell.moments.mean, 1e-9) << shape << ": " << name;
    }
  }
}

// Two levels of 20 blocks and three declared looks, of which `trials` have run.
store::Id partly(store::Store& store, size_t trials, const std::string& rule = "rule = \"looks\"\nlooks = [8, 14, 20]") {
  const plan::Parsed parsed = plan::parse_plan(
      "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 20\n[stopping]\n" + rule + "\n"
      "[factors]\nopt = [\"-O2\", \"-O3\"]\n[[program]]\nname = \"p\"\nrun = [\"true\", \"{opt}\"]\n",
      "x.toml");
  EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
  const auto id = record_experiment(
      store, *parsed.plan,
      [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
        outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
      },
      1'700'000'000'000'000'000, trials);
  EXPECT_TRUE(id);
  return *id;
}

// Its time was over in the twelfth block: it is done, the eleven whole blocks are its data, and the last of them its last look.
TEST_F(SamplesTest, WhatEndedInTimeIsJudgedAtItsEnd) {
  const store::Id id = partly(*store_, 23);
  EXPECT_TRUE(load_samples(*store_, *store_->experiment(id))->incomplete);
  const auto ended = end_in_time(*store_, id, 6, std::chrono::nanoseconds(1));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(*ended);
  const store::ExperimentRow row = *store_->experiment(id);
  EXPECT_EQ(row.state, store::ExperimentState::kDone);
  const report::Samples samples = *load_samples(*store_, row);
  EXPECT_FALSE(samples.incomplete);
  EXPECT_EQ(samples.stopping.looks, (std::vector<uint32_t>{8, 11}));
  EXPECT_EQ(samples.trials.size(), 22u);
  EXPECT_TRUE(report::may_be_judged(samples));
  EXPECT_EQ(store_->progress(id)->count(store::TrialState::kPlanned), 0);
}

// A gate with 'max' is a sequence: what it has is its whole blocks, and they are judged.
TEST_F(SamplesTest, ASequenceThatEndedInTimeIsJudgedAtItsEnd) {
  const store::Id id = partly(*store_, 23, "rule = \"sequence\"\nfirst = 5\nmax = 20");
  const auto ended = end_in_time(*store_, id, 6, std::chrono::nanoseconds(1));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(*ended);
  const store::ExperimentRow row = *store_->experiment(id);
  EXPECT_EQ(row.state, store::ExperimentState::kDone);
  const report::Samples samples = *load_samples(*store_, row);
  EXPECT_FALSE(samples.incomplete);
  EXPECT_EQ(samples.trials.size(), 22u) << "the block that the end cut in two is no block";
  EXPECT_TRUE(report::may_be_judged(samples));
}

TEST_F(SamplesTest, OfTooFewBlocksNothingIsSaidAtTheEndOfItsTime) {
  const store::Id id = partly(*store_, 11);
  EXPECT_FALSE(*end_in_time(*store_, id, 6, std::chrono::nanoseconds(1)));
  EXPECT_EQ(store_->experiment(id)->state, store::ExperimentState::kRunning);
  EXPECT_TRUE(load_samples(*store_, *store_->experiment(id))->incomplete);
}

// Blocks that were added behind that end are beyond the last look: no verdict is given as if they had been planned.
TEST_F(SamplesTest, WhatWentOnBehindTheEndOfItsTimeIsNotJudged) {
  report::Samples samples = *load_samples(*store_, *store_->experiment(partly(*store_, 40)));
  judge_as_ended({{1, 1, kTimeEnded, "11 blocks are whole: the time was over"}}, samples);
  EXPECT_EQ(samples.stopping.looks, (std::vector<uint32_t>{8, 11}));
  EXPECT_EQ(samples.trials.size(), 40u);
  EXPECT_FALSE(report::may_be_judged(samples));
}

// A database may be anybody's.
TEST_F(SamplesTest, AnEndWithoutANumberIsNone) {
  const report::Samples samples = *load_samples(*store_, *store_->experiment(partly(*store_, 40)));
  for (const char* text : {"", "x", "-3 blocks", "1 block", "99999999999 blocks"}) {
    report::Samples same = samples;
    judge_as_ended({{1, 1, kTimeEnded, text}}, same);
    EXPECT_EQ(same.stopping.looks, samples.stopping.looks) << text;
    EXPECT_EQ(same.trials.size(), samples.trials.size()) << text;
  }
}

TEST_F(SamplesTest, CountersThatCameAlongAreExploratory) {
  const report::Samples samples = samples_of(plan_of("\"wall_time\""));
  ASSERT_EQ(samples.responses.size(), 2u) << "cycles has no value at all";
  EXPECT_TRUE(samples.responses[0].declared);
  EXPECT_EQ(samples.responses[1].name, "page-faults");
  EXPECT_FALSE(samples.responses[1].declared);
  EXPECT_EQ(samples.responses[1].scale, report::Scale::kLinear);
  EXPECT_EQ(samples.trials[3].values[1], 0.0) << "a zero is a value on the raw scale";
  EXPECT_THAT(caveats(samples), HasSubstr("cycles: not supported | stabctl doctor"));
}

TEST_F(SamplesTest, EachTrialHasItsLedgerAndItsExclusions) {
  const report::Samples samples = samples_of(plan_of("\"wall_time\""));
  ASSERT_EQ(samples.trials.size(), 12u);
  for (const report::Trial& trial : samples.trials) {
    EXPECT_EQ(trial.disturbances, trial.order == 5 ? report::bit(report::Disturbance::kSteal) : 0u);
    EXPECT_EQ(trial.excluded, trial.order == 4 ? "load_1min > 3" : "");
    EXPECT_DOUBLE_EQ(*trial.values[0], 1 + 1e-6 * trial.order);
  }
}

// The environment of a trial is the one that was found last before it was claimed, in its boot.
TEST_F(SamplesTest, EachTrialHasTheMachineAsItStood) {
  constexpr int64_t kSubmitted = 1'700'000'000'000'000'000, kSecond = 1'000'000'000;
  const auto measure = [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
    outcome.cpu = 3;
  };
  const auto id = record_experiment(*store_, plan_of("\"wall_time\""), measure, kSubmitted);
  ASSERT_TRUE(id);
  const auto load = [&] { return *load_samples(*store_, *store_->experiment(*id)); };
  EXPECT_EQ(load().environment_facts_compared, 2u) << "boot and CPU are each trial's own";
  EXPECT_EQ(load().environments.size(), 1u);
  EXPECT_FALSE(load().environments[0].recorded);

  std::map<std::string, std::string> facts{{"boot_id", "made-up"}, {"kernel.release", "6.1"}, {"libc", "2.36"}};
  ASSERT_TRUE(store_->put_host_facts(*id, facts, kSubmitted).ok());
  report::Samples same = load();
  EXPECT_EQ(same.environment_facts_compared, 4u);
  EXPECT_TRUE(same.environment_facts.empty());
  ASSERT_EQ(same.environments.size(), 1u);
  EXPECT_TRUE(same.environments[0].recorded);

  // Trials are claimed a second apart: the seventh and those behind it under another kernel.
  facts["kernel.release"] = "6.8\x1b[31m";
  ASSERT_TRUE(store_->put_host_facts(*id, facts, kSubmitted + 6 * kSecond - 1).ok());
  const report::Samples changed = load();
  EXPECT_EQ(changed.environment_facts, std::vector<std::string>{"kernel.release"});
  ASSERT_EQ(changed.environments.size(), 2u);
  EXPECT_EQ(changed.environments[1].values[0], "6.8?[31m") << "a bundle may be a stranger's";
  for (const report::Trial& trial : changed.trials) EXPECT_EQ(trial.environment, trial.order >= 6 ? 1u : 0u) << trial.order;

  // Another boot's facts are no trial's of this one, whenever they were found.
  facts["boot_id"] = "another";
  facts["kernel.release"] = "7.0";
  ASSERT_TRUE(store_->put_host_facts(*id, facts, kSubmitted + 8 * kSecond).ok());
  EXPECT_EQ(load().environments.size(), 2u);
}

// Each trial's record as one look at all rows finds it: the last of its boot, or of none, that is not younger; else the first.
TEST_F(SamplesTest, RecordsOfManyBootsAreFoundAsByLookingAtAll) {
  constexpr int64_t kSubmitted = 1'700'000'000'000'000'000, kSecond = 1'000'000'000;
  for (const bool has_boot : {true, false}) {
    plan::Plan plan = plan_of("\"wall_time\"");
    plan.experiment.replicates = 40;
    plan.experiment.name = has_boot ? "with" : "without";
    const auto id = record_experiment(
        *store_, plan,
        [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
          outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
        },
        kSubmitted);
    ASSERT_TRUE(id);
    Rng rng = Rng::stream(7, "rows");
    std::vector<store::EnvironmentRow> rows;
    // Until the first of the trials' boot is younger than some of them, and the clock goes to and fro.
    for (int i = 0; i < 60; ++i) {
      store::EnvironmentRow row;
      row.facts["number"] = std::to_string(i);
      const auto boot = i < 10 ? 1 : rng.below(4);
      if (boot < 2 && has_boot) row.facts["boot_id"] = boot == 0 ? "made-up" : "another";
      if (boot == 2) row.facts["boot_id"] = "a third";
      row.since_ns = kSubmitted + (10 + static_cast<int64_t>(rng.below(80))) * kSecond;
      ASSERT_TRUE(store_->put_host_facts(*id, row.facts, row.since_ns).ok());
      rows.push_back(row);
    }
    const report::Samples samples = *load_samples(*store_, *store_->experiment(*id));
    const auto fact = std::find(samples.environment_facts.begin(), samples.environment_facts.end(), "number");
    ASSERT_NE(fact, samples.environment_facts.end());
    const auto at = static_cast<size_t>(fact - samples.environment_facts.begin());
    std::map<uint32_t, store::TrialFacts> by_order;
    const auto all = store_->trial_facts(*id, {}, [](const std::string&) {});
    EXPECT_TRUE(all.ok()) << all.error().text();
    for (const store::TrialFacts& trial : *all) by_order[trial.order] = trial;
    std::set<std::string> seen;
    for (const report::Trial& trial : samples.trials) {
      const store::TrialFacts& facts = by_order.at(trial.order);
      const store::EnvironmentRow* wanted = nullptr;
      for (const store::EnvironmentRow& row : rows) {
        const auto boot = row.facts.find("boot_id");
        if (boot != row.facts.end() && boot->second != facts.boot_id) continue;
        if (wanted == nullptr || row.since_ns <= facts.claimed_at_ns) wanted = &row;
      }
      ASSERT_NE(wanted, nullptr);
      EXPECT_EQ(samples.environments[trial.environment].values[at], wanted->facts.at("number")) << trial.order;
      seen.insert(wanted->facts.at("number"));
    }
    EXPECT_GT(seen.size(), 3u) << "nothing was to be told apart";
  }
}

TEST_F(SamplesTest, FactsAreComparedUpToABound) {
  const auto measure = [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
  };
  constexpr int64_t kSubmitted = 1'700'000'000'000'000'000, kSecond = 1'000'000'000;
  const auto id = record_experiment(*store_, plan_of("\"wall_time\""), measure, kSubmitted);
  ASSERT_TRUE(id);
  for (const char* value : {"a", "b"}) {
    std::map<std::string, std::string> facts;
    for (int i = 0; i < 300; ++i) facts["fact" + std::to_string(1000 + i)] = value;
    ASSERT_TRUE(store_->put_host_facts(*id, facts, kSubmitted + (value[0] == 'a' ? 0 : 6) * kSecond).ok());
  }
  const report::Samples samples = *load_samples(*store_, *store_->experiment(*id));
  EXPECT_EQ(samples.environment_facts_compared, 128u);
  EXPECT_LE(samples.environment_facts.size(), 128u);
  EXPECT_GT(samples.environment_facts.size(), 100u);
  EXPECT_THAT(caveats(samples), HasSubstr("of 301 facts of the machine those behind the first 128 by name are not compared"));
}

// Where each trial says that it ran elsewhere, as a part of somebody else's may.
TEST_F(SamplesTest, EnvironmentsAreNamedUpToABound) {
  plan::Plan plan = plan_of("\"wall_time\"");
  plan.experiment.replicates = 600;
  const report::Samples samples =
      samples_of(std::move(plan), [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
        outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
        outcome.cpu = static_cast<int>(trial.order);
      });
  ASSERT_EQ(samples.trials.size(), 1200u);
  ASSERT_EQ(samples.environments.size(), 1001u);
  EXPECT_EQ(samples.environments.front().values, std::vector<std::string>{"0"});
  EXPECT_EQ(samples.environments.back().values, std::vector<std::string>{"one of 200 more"});
  EXPECT_EQ(std::count_if(samples.trials.begin(), samples.trials.end(), [](const auto& one) { return one.environment == 1000; }),
            200);
}

// Facts of the last run alone, as older versions kept them, say nothing of trials of an earlier boot.
TEST_F(SamplesTest, TrialsOfAnEarlierBootHaveNoRecord) {
  const auto id = record_experiment(*store_, plan_of("\"wall_time\""),
                                    [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
                                      outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
                                    });
  ASSERT_TRUE(id);
  ASSERT_TRUE(store_->put_host_facts(*id, {{"boot_id", "later"}, {"kernel.release", "6.8"}}, 0).ok());
  const auto report = report::analyse(*load_samples(*store_, *store_->experiment(*id)));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->environment.unrecorded_trials, 12u);
  EXPECT_TRUE(report->environment.differences.empty());
}

TEST_F(SamplesTest, ZerosUnderALogarithmRefuseTheResponse) {
  const report::Samples samples = samples_of(plan_of("[\"wall_time\", { name = \"page-faults\", scale = \"log\" }]"));
  ASSERT_EQ(samples.responses.size(), 1u);
  EXPECT_THAT(caveats(samples), HasSubstr("page-faults: 4 trials counted 0, which has no logarithm: refused"));
  EXPECT_THAT(caveats(samples), HasSubstr("zeros = \"missing\""));
}

TEST_F(SamplesTest, ZerosAreMissingWhereThePlanSaysSo) {
  const report::Samples samples =
      samples_of(plan_of("[\"wall_time\", { name = \"page-faults\", scale = \"log\", zeros = \"missing\" }]"));
  ASSERT_EQ(samples.responses.size(), 2u);
  const auto with_value =
      std::count_if(samples.trials.begin(), samples.trials.end(), [](const auto& trial) { return trial.values[1].has_value(); });
  EXPECT_EQ(with_value, 8);
  EXPECT_THAT(caveats(samples), HasSubstr("as the plan declares"));
}

TEST_F(SamplesTest, AZeroOfThePrimaryResponseRefusesTheReport) {
  const report::Samples samples = samples_of(plan_of("{ name = \"page-faults\", scale = \"log\" }"));
  const auto report = report::analyse(samples);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("trial 0 (p, code="));
  EXPECT_THAT(report.error().message, HasSubstr("scale = \"raw\""));
}

TEST_F(SamplesTest, StoppingRulesReachTheAnalysis) {
  plan::Plan plan = plan_of("\"wall_time\"", "[stopping]\nrule = \"looks\"\nlooks = [2, 6]\nspending = \"pocock\"\n");
  const report::Samples samples = samples_of(std::move(plan));
  EXPECT_EQ(samples.stopping.rule, report::StoppingRule::kLooks);
  EXPECT_EQ(samples.stopping.looks, (std::vector<uint32_t>{2, 6}));
  EXPECT_EQ(samples.stopping.spending, statistics::Spending::kPocock);
  const report::Samples sequence =
      samples_of(plan_of("\"wall_time\"", "[stopping]\nrule = \"sequence\"\nfirst = 3\nmax = 6\n"));
  EXPECT_EQ(sequence.stopping.rule, report::StoppingRule::kSequence);
  EXPECT_EQ(sequence.stopping.first, 3u);
  EXPECT_EQ(sequence.stopping.max, 6u);
}

TEST_F(SamplesTest, APilotSpeaksForItsOwnCellsOnly) {
  samples_of(plan_of("\"wall_time\""));
  const auto pilot = [&](plan::Plan plan) -> std::string {
    const auto found = pilot_for(*store_, *store_->experiment(experiment_), plan);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(pilot(plan_of("\"wall_time\"")), "");
  EXPECT_THAT(pilot(plan_of("\"cycles\"")), HasSubstr("didn't measure cycles"));
  plan::Plan other = plan_of("\"wall_time\"");
  other.factors[0].levels[1].name = "pad";
  EXPECT_THAT(pilot(other), HasSubstr("has no code=pad; it has off, shuffle"));
  other = plan_of("\"wall_time\"");
  other.factors.clear();
  EXPECT_THAT(pilot(other), HasSubstr("varies 'code', which the plan doesn't name"));
  other = plan_of("\"wall_time\"");
  other.programs[0].name = other.programs[0].workloads[0].name = "q";
  EXPECT_THAT(pilot(other), HasSubstr("ran none of the plan's programs; it ran p"));
}

// The plan's verdicts are one family over all responses that it declares, also those that nobody has measured yet.
TEST_F(SamplesTest, APilotCountsThePlansResponses) {
  samples_of(plan_of("\"wall_time\""));
  const auto responses = [&](const std::string& text) {
    const auto found = pilot_for(*store_, *store_->experiment(experiment_), plan_of(text));
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->responses : 0;
  };
  EXPECT_EQ(responses("\"wall_time\""), 1u);
  EXPECT_EQ(responses("[\"wall_time\", \"page-faults\"]"), 2u);
  EXPECT_EQ(responses("[\"wall_time\", { name = \"max_rss\", scale = \"raw\" }, \"cycles\"]"), 3u);
}

// A half of the cells has twice the variance in its contrasts: a pilot of all cells speaks for a fraction with its own ones.
TEST_F(SamplesTest, APilotOfAllCellsSpeaksForAFraction) {
  const auto plan_with = [](const std::string& fraction) {
    const plan::Parsed parsed = plan::parse_plan(
        "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 12\nmargin = \"1%\"\n[factors]\ncode = [\"once\", \"shuffle\"]\n"
        "stack = [\"zero\", \"on\"]\nheap = [\"base\", \"page\"]\n" +
            fraction + "\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
        "x.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    return *parsed.plan;
  };
  const plan::Plan all = plan_with(""), half = plan_with("fraction = \"1/2\"");
  const auto record = [&](const plan::Plan& plan) {
    Rng rng(5);
    const auto id = record_experiment(*store_, plan, [&](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = 1'000'000'000 + static_cast<int64_t>(rng.below(40'000'000));
    });
    EXPECT_TRUE(id);
    return *store_->experiment(*id);
  };
  const auto errors = [&](const plan::Plan& plan, const store::ExperimentRow& row) {
    const auto pilot = pilot_for(*store_, row, plan);
    EXPECT_TRUE(pilot) << pilot.error().message;
    const auto report = report::analyse(pilot->samples);
    EXPECT_TRUE(report);
    double sum = 0;
    for (const report::Contrast& contrast : report->contrasts) {
      EXPECT_EQ(contrast.refused, "");
      sum += contrast.standard_error * contrast.standard_error;
    }
    return sum;
  };
  const store::ExperimentRow pilot = record(all);
  const double ratio = errors(half, pilot) / errors(all, pilot);
  EXPECT_NEAR(ratio, 2, 0.7);
  const auto other_way = pilot_for(*store_, record(half), all);
  ASSERT_FALSE(other_way);
  EXPECT_THAT(other_way.error().message, HasSubstr("didn't run the plan's cell code="));
}

// The plan keeps some of the pilot's workloads, in another order: each stays its own program's.
TEST_F(SamplesTest, APilotOfMoreWorkloadsSpeaksForSome) {
  const auto plan_with = [](const std::string& programs) {
    const plan::Parsed parsed = plan::parse_plan(
        "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 3\nmargin = \"1%\"\n[factors]\ncode = [\"once\", \"shuffle\"]\n" +
            programs,
        "x.toml");
    EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors);
    return *parsed.plan;
  };
  const auto program = [](const std::string& name, const std::vector<std::string>& workloads) {
    std::string text = "[[program]]\nname = \"" + name + "\"\n";
    for (const std::string& workload : workloads)
      text += "[[program.workload]]\nname = \"" + workload + "\"\nrun = [\"true\"]\n";
    return text;
  };
  const plan::Plan all = plan_with(program("p", {"a", "b", "c"}) + program("q", {"a", "b"}));
  const plan::Plan some = plan_with(program("q", {"b", "a"}) + program("p", {"c"}));
  const auto id = record_experiment(*store_, all, [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000 + 1000 * (trial.order + 1);
  });
  ASSERT_TRUE(id);
  const auto pilot = pilot_for(*store_, *store_->experiment(*id), some);
  ASSERT_TRUE(pilot) << pilot.error().message;
  EXPECT_EQ(pilot->samples.workloads, (std::vector<std::string>{"q/b", "q/a", "p/c"}));
  EXPECT_EQ(pilot->samples.programs, (std::vector<std::string>{"q", "q", "p"}));
  EXPECT_TRUE(report::analyse(pilot->samples));
}

TEST_F(SamplesTest, CpuTimeStandsNextToWallTime) {
  const auto found = [&](const std::string& responses) {
    const auto measure = [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
      outcome.wall_ns = outcome.user_ns = 1'000'000'000 + 1000 * trial.order;
      outcome.system_ns = 1000;
      outcome.max_rss_kib = 9000;
    };
    const report::Samples samples = samples_of(plan_of(responses), measure);
    std::string out;
    for (const report::Response& one : samples.responses) out += one.name + (one.declared ? " " : "? ");
    return out;
  };
  EXPECT_EQ(found("\"wall_time\""), "wall_time cpu_time? ");
  EXPECT_EQ(found("[\"cpu_time\", \"wall_time\"]"), "cpu_time wall_time ");
  EXPECT_EQ(found("\"max_rss\""), "max_rss ");
  plan::Plan suite = plan_of("\"wall_time\"");
  suite.programs[0].workloads[0].metrics.emplace();
  EXPECT_EQ(samples_of(std::move(suite)).responses[1].name, "page-faults") << "its benchmarks are what is asked";
}

// Two suites with benchmarks of the same name, one that bears a response's, one that a cell lacks.
TEST_F(SamplesTest, BenchmarksAreResponsesOfTheirWorkload) {
  const plan::Parsed parsed = plan::parse_plan(
      "[experiment]\nname = \"x\"\nseed = 3\nreplicates = 6\n[factors]\ncode = [\"off\", \"shuffle\"]\n"
      "[[program]]\nname = \"p\"\nrun = [\"true\"]\nmetrics = { format = \"go\", families = { core = \"so*\" } }\n"
      "[[program]]\nname = \"q\"\nrun = [\"true\"]\nmetrics = { format = \"go\" }\n",
      "x.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  const auto samples =
      samples_of(*parsed.plan, [](const store::TrialRow& trial, const plan::Cell&, store::Outcome& outcome) {
        outcome.wall_ns = 1'000'000'000 + 1000 * trial.order;
        outcome.responses.push_back({"metric:sort", 1.0 + trial.order, {}, {}, {}, ""});
        if (trial.subject == 0 && trial.cell == 1) outcome.responses.push_back({"metric:some", 2.0, {}, {}, {}, ""});
        if (trial.subject == 1) outcome.responses.push_back({"metric:bad", {}, {}, {}, {}, "no data"});
      });
  std::map<std::string, report::Response> found;
  for (const report::Response& response : samples.responses) found[response.name] = response;
  ASSERT_EQ(found.size(), 4u);
  ASSERT_TRUE(found.count("p: sort") && found.count("q: sort") && found.count("p: some"));
  EXPECT_EQ(found["p: sort"].family, "core");
  EXPECT_TRUE(found["p: sort"].declared);
  EXPECT_EQ(found["p: sort"].only_workload, std::optional<uint32_t>(0));
  EXPECT_EQ(found["q: sort"].family, "");
  EXPECT_FALSE(found["q: sort"].declared);
  EXPECT_EQ(found["q: sort"].error_rate, report::ErrorRate::kFalseDiscovery);
  for (const report::Trial& trial : samples.trials) {
    ASSERT_EQ(trial.values.size(), samples.responses.size());
    for (size_t r = 0; r < samples.responses.size(); ++r) {
      const report::Response& response = samples.responses[r];
      if (!response.only_workload || *response.only_workload == trial.workload) continue;
      EXPECT_FALSE(trial.values[r]) << response.name;
    }
  }
  EXPECT_THAT(caveats(samples), HasSubstr("p: some: measured in code=shuffle and not in code=off"));
  EXPECT_THAT(caveats(samples), HasSubstr("bad: 12 trials have no value: no data"));
}

}  // namespace
}  // namespace stab::engine
