// NIST StRD analysis of variance: certified F to 1e-12 on the lower, 1e-8 on the average sets; the higher ones have
// more digits than a double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "analysis/commands/stats/stats_command.h"
#include "analysis/statistics/diagnostics/variance_tests.h"
#include "analysis/statistics/models/anova.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::analysis {
namespace {

using Groups = std::vector<std::vector<double>>;

// Simon & Lesage (1989): nine treatments, means 1.4, 1.3, 1.5, ... above `base`, each once and then in pairs of
// mean -/+ 0.1. Decimals are read as text, as from a file.
Groups simon_lesage(const char* base, int replicates) {
  const int tenths[] = {4, 3, 5, 3, 5, 3, 5, 3, 5};
  Groups groups;
  for (int treatment : tenths) {
    groups.emplace_back();
    for (int i = 0; i < replicates; ++i) {
      const int digit = treatment + (i == 0 ? 0 : (i % 2 == 1 ? -1 : 1));
      char text[32];
      std::snprintf(text, sizeof text, "%s.%d", base, digit);
      groups.back().push_back(std::strtod(text, nullptr));
    }
  }
  return groups;
}

Groups from_file(const std::string& name) {
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/nist/" + name);
  std::map<std::string, std::vector<double>> groups;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const size_t comma = line.find(',');
    groups[line.substr(0, comma)].push_back(std::strtod(line.c_str() + comma + 1, nullptr));
  }
  Groups out;
  for (auto& [name_of_group, values] : groups) out.push_back(values);
  return out;
}

// Both ways to a one-way analysis must reach the digits.
void expect_f(const Groups& groups, double certified, double tolerance) {
  ASSERT_FALSE(groups.empty());
  const auto direct = statistics::one_way(groups);
  ASSERT_TRUE(direct) << direct.error().message;
  EXPECT_LE(std::fabs(direct->f - certified), tolerance * certified) << direct->f;

  statistics::FactorCodes factors;
  factors.names = {"treatment"};
  factors.level_names.emplace_back();
  factors.codes.emplace_back();
  std::vector<double> values;
  for (size_t g = 0; g < groups.size(); ++g) {
    factors.level_names[0].push_back(std::to_string(g));
    for (double value : groups[g]) {
      values.push_back(value - groups[0][0]);  // a common value taken off first
      factors.codes[0].push_back(static_cast<uint32_t>(g));
    }
  }
  const statistics::TermMask term[] = {1};
  for (statistics::SumsType type : {statistics::SumsType::kOne, statistics::SumsType::kTwo, statistics::SumsType::kThree}) {
    const auto rows = statistics::factorial_anova(statistics::aggregate(factors, values), term, type);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_LE(std::fabs(*(*rows)[0].f - certified), tolerance * certified) << *(*rows)[0].f;
  }
}

TEST(NistStrd, Lower) {
  expect_f(from_file("sirstv.csv"), 1.18046237440255, 1e-12);
  expect_f(simon_lesage("1", 21), 21.0, 1e-12);
  expect_f(simon_lesage("1", 201), 201.0, 1e-12);
  expect_f(simon_lesage("1", 2001), 2001.0, 1e-12);
}

TEST(NistStrd, Average) {
  expect_f(from_file("atmwtag.csv"), 15.9467335677930, 1e-8);
  expect_f(simon_lesage("1000000", 21), 21.0, 1e-8);
  expect_f(simon_lesage("1000000", 201), 201.0, 1e-8);
  expect_f(simon_lesage("1000000", 2001), 2001.0, 1e-8);
}

// At 10^12 neighbouring doubles lie 1.2e-4 apart, so the doubles nearest to the data are off by up to 6e-4 of their
// spread; the exact F of those doubles is 21.0008, 201.013 and 2001.13. R 4.2's aov() gives 21.00051, 200.60121 and
// 687.06014.
TEST(NistStrd, HigherFromDoubles) {
  expect_f(simon_lesage("1000000000000", 21), 21.00081188781877, 1e-13);
  expect_f(simon_lesage("1000000000000", 201), 201.01300409594845, 1e-13);
  expect_f(simon_lesage("1000000000000", 2001), 2001.1349262209505, 1e-13);
}

// From a file the digits beyond a double's are kept.
TEST(NistStrd, HigherFromFiles) {
  const TemporaryDirectory directory;
  for (const int replicates : {21, 201, 2001}) {
    std::string text = "y,treatment\n";
    const int tenths[] = {4, 3, 5, 3, 5, 3, 5, 3, 5};
    for (int treatment = 0; treatment < 9; ++treatment)
      for (int i = 0; i < replicates; ++i)
        text += "1000000000000." + std::to_string(tenths[treatment] + (i == 0 ? 0 : (i % 2 == 1 ? -1 : 1))) + "," +
                std::to_string(treatment) + "\n";
    const std::string path = directory.write("smls.csv", text);
    const commands::CommandOutput output =
        commands::run_stats({"anova", path, "--response", "y", "--group", "treatment", "--json"});
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const size_t at = output.out.find("\"statistic\": ");
    ASSERT_NE(at, std::string::npos);
    const double certified = replicates == 21 ? 21 : replicates == 201 ? 201 : 2001;
    EXPECT_NEAR(std::strtod(output.out.c_str() + at + 13, nullptr) / certified, 1, 1e-5);
  }
}

}  // namespace
}  // namespace stab::analysis
