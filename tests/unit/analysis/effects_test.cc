// What cells tell apart, against textbooks and R: fractions, nested factors, cells left out.
#include "analysis/statistics/models/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/report_data/report.h"
#include "tests/places.h"

namespace stab::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Factors a, b, ... with two levels each; a cell is one digit a factor.
statistics::FactorCodes cells_of(const std::vector<std::string>& cells, uint32_t levels = 2) {
  statistics::FactorCodes codes;
  codes.codes.resize(cells[0].size());
  for (size_t f = 0; f < cells[0].size(); ++f) {
    codes.names.push_back(std::string(1, static_cast<char>('a' + f)));
    codes.level_names.emplace_back();
    for (uint32_t level = 0; level < levels; ++level) codes.level_names.back().push_back(std::to_string(level));
    for (const std::string& cell : cells) codes.codes[f].push_back(static_cast<uint32_t>(cell[f] - '0'));
  }
  return codes;
}

std::map<std::string, std::vector<std::string>> names_of(const statistics::FactorCodes& cells,
                                                         const statistics::Effects& effects) {
  std::map<std::string, std::vector<std::string>> names;
  for (const statistics::EstimableTerm& term : effects.terms) names[statistics::term_name(cells, term.term)] = term.aliases;
  return names;
}

TEST(Effects, HalfOfThreeFactors) {
  const statistics::FactorCodes cells = cells_of({"001", "010", "100", "111"});
  const statistics::Effects effects = statistics::effects_of(cells, true);
  EXPECT_THAT(names_of(cells, effects), ElementsAre(Pair("a", ElementsAre("b:c")), Pair("b", ElementsAre("a:c")),
                                                    Pair("c", ElementsAre("a:b"))));
  EXPECT_THAT(effects.left_out, ElementsAre("a:b:c"));
  const auto a = statistics::main_effect(cells, 0, 1, 0);
  ASSERT_TRUE(a);
  EXPECT_THAT(a->aliases, ElementsAre("b:c"));
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(a->weights[c], cells.codes[0][c] ? 0.5 : -0.5, 1e-12);
}

TEST(Effects, TheOtherHalfHasTheOtherSign) {
  const statistics::FactorCodes cells = cells_of({"000", "011", "101", "110"});
  EXPECT_THAT(statistics::main_effect(cells, 0, 1, 0)->aliases, ElementsAre("-b:c"));
  EXPECT_THAT(names_of(cells, statistics::effects_of(cells, false)).at("c"), ElementsAre("-a:b"));
}

// Box, Hunter & Hunter, table 6.4: 2^(4-1) with d = abc.
TEST(Effects, HalfOfFourFactors) {
  const statistics::FactorCodes cells = cells_of({"0000", "1001", "0101", "1100", "0011", "1010", "0110", "1111"});
  const auto names = names_of(cells, statistics::effects_of(cells, false));
  EXPECT_EQ(names.size(), 7u);
  EXPECT_THAT(names.at("a:b"), ElementsAre("c:d"));
  EXPECT_THAT(names.at("a:d"), ElementsAre("b:c"));
  EXPECT_THAT(names.at("d"), ElementsAre("a:b:c"));
}

TEST(Effects, ACrossingHasNoAliases) {
  const statistics::Effects effects = statistics::effects_of(cells_of({"00", "01", "10", "11"}), true);
  EXPECT_TRUE(effects.crossing);
  EXPECT_EQ(effects.terms.size(), 3u);
  for (const statistics::EstimableTerm& term : effects.terms) EXPECT_THAT(term.aliases, IsEmpty());
}

TEST(Effects, ANestedFactorLosesItsInteraction) {
  const statistics::Effects effects = statistics::effects_of(cells_of({"00", "10", "11"}), true);
  EXPECT_EQ(effects.terms.size(), 2u);
  EXPECT_THAT(effects.left_out, ElementsAre("a:b"));
}

TEST(Effects, AMissingCellTakesOneDegreeOfFreedom) {
  statistics::FactorCodes cells = cells_of({"00", "01", "02", "10", "11", "12", "20", "21"}, 3);
  const statistics::Effects effects = statistics::effects_of(cells, true);
  ASSERT_EQ(effects.terms.size(), 3u);
  EXPECT_FALSE(effects.terms[2].whole);
  EXPECT_EQ(effects.terms[2].directions.size(), 3u);
}

TEST(Effects, FactorsThatChangeTogetherAreNamed) {
  const auto effect = statistics::main_effect(cells_of({"00", "11"}), 0, 1, 0);
  ASSERT_FALSE(effect);
  EXPECT_THAT(effect.error().message, HasSubstr("can't tell a from b: they change together"));
}

TEST(Effects, AllOfSeveralFactorsThatChangeTogetherAreNamed) {
  const auto of_three = statistics::main_effect(cells_of({"000", "111"}), 0, 1, 0);
  ASSERT_FALSE(of_three);
  EXPECT_THAT(of_three.error().message, HasSubstr("can't tell a from b, c: they change together"));
  // The fourth goes its own way.
  const auto of_four = statistics::main_effect(cells_of({"0000", "1110", "0001", "1111"}), 1, 1, 0);
  ASSERT_FALSE(of_four);
  EXPECT_THAT(of_four.error().message, HasSubstr("can't tell b from a, c: they change together"));
}

// Weights: 1 in sum for the level, -1 for the baseline, and nothing of any other factor, whatever cells there are.
TEST(Effects, WeightsTakeNothingOfOtherFactors) {
  const statistics::FactorCodes cells = cells_of({"0012", "0121", "0200", "1020", "1102", "1211", "2001", "2110", "2222"}, 3);
  for (size_t factor = 0; factor < 4; ++factor) {
    const auto effect = statistics::main_effect(cells, factor, 2, 0);
    ASSERT_TRUE(effect) << factor;
    for (size_t f = 0; f < 4; ++f)
      for (uint32_t level = 0; level < 3; ++level) {
        double sum = 0;
        for (size_t c = 0; c < cells.rows(); ++c) sum += cells.codes[f][c] == level ? effect->weights[c] : 0;
        EXPECT_NEAR(sum, f != factor ? 0.0 : level == 2 ? 1.0 : level == 0 ? -1.0 : 0.0, 1e-12);
      }
  }
}

// Cells with different numbers of values and spreads, without blocks.
TEST(Effects, FractionAsInR) {
  report::Samples samples;
  samples.unit = report::Unit::kRow;
  samples.workloads = {"p"};
  for (const char* name : {"a", "b", "c", "d"}) samples.factors.push_back({name, {"0", "1"}, false, 0});
  samples.responses = {{.name = "y", .unit = "", .scale = report::Scale::kLinear, .margin = 0.1}};
  std::map<std::string, std::vector<double>> contrasts;
  std::map<std::string, double> squares, robust;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/fraction.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "row") {
      report::Trial trial;
      for (int f = 0; f < 4; ++f) {
        uint16_t level = 0;
        words >> level;
        trial.levels.push_back(level);
      }
      double y = 0;
      words >> y;
      trial.values = {y};
      trial.order = static_cast<uint32_t>(samples.trials.size());
      samples.trials.push_back(std::move(trial));
      continue;
    }
    words >> name;
    for (double value = 0; words >> value;) {
      if (kind == "contrast") contrasts[name].push_back(value);
      if (kind == "squares") squares[name] = value;
      if (kind == "robust") robust[name] = value;
    }
  }
  ASSERT_EQ(contrasts.size(), 4u);
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->contrasts.size(), 4u);
  for (const report::Contrast& contrast : report->contrasts) {
    const std::vector<double>& r = contrasts.at(contrast.factor);
    EXPECT_NEAR(contrast.interval.estimate, r[0], 1e-9) << contrast.factor;
    EXPECT_NEAR(contrast.standard_error, r[1], 1e-9) << contrast.factor;
    EXPECT_NEAR(contrast.df, r[2], 1e-8) << contrast.factor;
    EXPECT_NEAR(contrast.p_value, r[3], 1e-9) << contrast.factor;
    EXPECT_EQ(contrast.aliases.size(), 1u);
  }
  ASSERT_EQ(report->anovas[0].refused, "");
  ASSERT_EQ(report->anovas[0].rows.size(), 8u);
  for (const statistics::AnovaRow& row : report->anovas[0].rows)
    EXPECT_NEAR(row.sum_squares, squares.at(row.term), 1e-9) << row.term;
  EXPECT_EQ(report->anovas[0].robust_method, "HC3");
  EXPECT_EQ(report->anovas[0].type, 3);
  ASSERT_EQ(robust.size(), 7u);
  for (size_t t = 0; t < robust.size(); ++t)
    EXPECT_NEAR(report->anovas[0].p_robust[t].value(), robust.at(report->anovas[0].rows[t].term), 1e-9);
}

report::Samples two_factors(uint32_t levels_of_b) {
  report::Samples samples;
  samples.unit = report::Unit::kRow;
  samples.workloads = {"p"};
  samples.factors = {{"a", {"0", "1"}, false, 0}, {"b", {"0", "1", "2"}, false, 0}};
  samples.factors[1].levels.resize(levels_of_b);
  samples.responses = {{.name = "y", .unit = "", .scale = report::Scale::kLinear, .margin = 0.1}};
  return samples;
}

void add_row(report::Samples& samples, uint16_t a, uint16_t b, double y) {
  report::Trial trial;
  trial.levels = {a, b};
  trial.values = {y};
  trial.order = static_cast<uint32_t>(samples.trials.size());
  samples.trials.push_back(std::move(trial));
}

// p beside p is of the same hypothesis, and both are as car has them.
TEST(Effects, TypeThreeWithHc3AsInCar) {
  report::Samples samples = two_factors(3);
  std::map<std::string, std::vector<double>> terms;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/hc3_table.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "row") {
      uint16_t a = 0, b = 0;
      double y = 0;
      words >> a >> b >> y;
      add_row(samples, a, b, y);
      continue;
    }
    words >> name;
    for (double value = 0; words >> value;) terms[name].push_back(value);
  }
  ASSERT_EQ(terms.size(), 3u);
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const report::AnovaTable& table = report->anovas[0];
  ASSERT_EQ(table.refused, "");
  EXPECT_EQ(table.robust_method, "HC3");
  EXPECT_EQ(table.type, 3);
  for (size_t t = 0; t < 3; ++t) {
    const std::vector<double>& r = terms.at(table.rows[t].term);
    EXPECT_NEAR(table.rows[t].f.value(), r[0], 1e-9 * r[0]) << table.rows[t].term;
    EXPECT_NEAR(table.rows[t].p_value.value(), r[1], 1e-9) << table.rows[t].term;
    EXPECT_NEAR(table.p_robust[t].value(), r[2], 1e-9) << table.rows[t].term;
  }
}

// Noisy cells differ by d along b, quiet ones by -d: b makes no difference, and its contrast says so.
TEST(Effects, QuietCellsDoNotDecideWithHc3) {
  report::Samples samples = two_factors(2);
  for (int i = 0; i < 20; ++i) {
    const double at = i % 2 == 0 ? 1 : -1;
    add_row(samples, 0, 0, 10 + 0.5 * at);
    add_row(samples, 0, 1, 10.2 + 0.5 * at);
    add_row(samples, 1, 0, 10 + 0.02 * at);
    add_row(samples, 1, 1, 9.8 + 0.02 * at);
  }
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  const report::AnovaTable& table = report->anovas[0];
  ASSERT_EQ(table.robust_method, "HC3");
  ASSERT_EQ(table.rows[1].term, "b");
  EXPECT_NEAR(table.rows[1].p_value.value(), 1, 1e-6);
  EXPECT_NEAR(table.p_robust[1].value(), 1, 1e-6);
}

}  // namespace
}  // namespace stab::analysis
