// What belongs together counts once: --block and --cluster of `stabctl analyze`, and the contrast behind them.
#include "analysis/report/experiment/clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/commands/stats/analyze_command.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "tests/unit/temporary_directory.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;

report::CellUnits cell_of(std::vector<double> values, std::vector<uint32_t> clusters) {
  report::CellUnits cell;
  cell.values = std::move(values);
  cell.clusters = std::move(clusters);
  cell.moments = statistics::moments(cell.values);
  return cell;
}

TEST(Clusters, InAllCellsIsThePairedTest) {
  const report::CellUnits a = cell_of({5, 7, 6, 9}, {0, 1, 2, 3}), b = cell_of({4, 8, 3, 5}, {0, 1, 2, 3});
  const auto ours = report::cluster_contrast({{&a, 1}, {&b, -1}}, 0.05);
  ASSERT_TRUE(ours && *ours);
  const auto paired = statistics::paired_t(a.values, b.values, 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_TRUE((*ours)->crossed);
  EXPECT_NEAR((*ours)->test.p_value, paired->p_value, 1e-12);
  EXPECT_NEAR(*(*ours)->test.conf_low, *paired->conf_low, 1e-12);
  EXPECT_EQ((*ours)->test.df, 3);
}

TEST(Clusters, InOneCellEachIsWelch) {
  const report::CellUnits a = cell_of({5, 7, 6, 9}, {0, 1, 2, 3}), b = cell_of({4, 8, 3}, {4, 5, 6});
  const auto ours = report::cluster_contrast({{&a, 1}, {&b, -1}}, 0.05);
  ASSERT_TRUE(ours && *ours);
  const auto welch = statistics::welch_t(a.moments, b.moments, 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_TRUE((*ours)->nested);
  EXPECT_NEAR((*ours)->test.p_value, welch->p_value, 1e-12);
  EXPECT_NEAR((*ours)->test.df, welch->df, 1e-10);
  EXPECT_EQ((*ours)->clusters, 3u);
}

// Builds are between links, a flag is within them: the build is judged by the links' means, whatever the flag's cells share.
TEST(Clusters, BetweenSomeCellsAndWithinOthers) {
  const report::CellUnits a0 = cell_of({5, 7, 6}, {0, 1, 2}), a1 = cell_of({5.1, 7.2, 6.1}, {0, 1, 2});
  const report::CellUnits b0 = cell_of({8, 6, 9}, {3, 4, 5}), b1 = cell_of({8.3, 6.1, 9.1}, {3, 4, 5});
  const auto ours = report::cluster_contrast({{&a0, 0.5}, {&a1, 0.5}, {&b0, -0.5}, {&b1, -0.5}}, 0.05);
  ASSERT_TRUE(ours && *ours);
  const std::vector<double> a{5.05, 7.1, 6.05}, b{8.15, 6.05, 9.05};
  const auto welch =
      statistics::welch_t(statistics::moments(a), statistics::moments(b), 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR((*ours)->test.p_value, welch->p_value, 1e-12);
  EXPECT_FALSE((*ours)->crossed || (*ours)->nested);
}

// Numbers of clubSandwich 0.5.8: linear_contrast(lm(y ~ 0 + cell), "CR2", cluster, test = "Satterthwaite"). All cells have the
// same variance, as its degrees of freedom take for granted.
TEST(Clusters, SomeInSeveralCellsAndAloneInThatAreCr2) {
  const report::CellUnits a = cell_of({5, 7, 6, 9, 4, 8}, {0, 1, 2, 3, 4, 5});
  const report::CellUnits b = cell_of({8, 6, 10, 7, 9, 5}, {5, 6, 7, 8, 9, 10});
  const auto two = report::cluster_contrast({{&a, 1}, {&b, -1}}, 0.05);
  ASSERT_TRUE(two && *two);
  EXPECT_NEAR((*two)->test.standard_error, 1.0567244989431572, 1e-12);
  EXPECT_NEAR((*two)->test.df, 8.7804878048780477, 1e-9);
  EXPECT_NEAR((*two)->test.p_value, 0.3692976477751365, 1e-9);
  const double e = std::sqrt(0.6);
  const report::CellUnits c = cell_of({5 - 1.5 * e, 5 - 0.5 * e, 5 + 0.5 * e, 5 + 1.5 * e}, {0, 1, 2, 3});
  const report::CellUnits d = cell_of({4, 3, 5}, {2, 3, 4});
  const report::CellUnits f = cell_of({7 + 0.5 * e, 7 - 1.5 * e, 7 + 1.5 * e, 7 - 0.5 * e}, {3, 4, 5, 6});
  const auto three = report::cluster_contrast({{&c, 1}, {&d, -0.5}, {&f, -0.5}}, 0.05);
  ASSERT_TRUE(three && *three);
  EXPECT_NEAR((*three)->test.standard_error, 0.6355917556042535, 1e-12);
  EXPECT_NEAR((*three)->test.df, 4.1573896353166990, 1e-9);
  EXPECT_NEAR((*three)->test.p_value, 0.4739008787543418, 1e-9);
}

// Two clusters that happen to be alike, against twelve: Welch's 8.6 degrees of freedom are those of the twelve, which tell
// little of how far the two are from theirs. Numbers of clubSandwich, as above.
TEST(Clusters, FewInOneCellHaveNoMoreDegreesOfFreedomThanTheArrangementGives) {
  const report::CellUnits a = cell_of({5, 5.5}, {0, 1});
  const report::CellUnits b =
      cell_of({5, 7, 6, 9, 4, 8, 6.5, 7.5, 5.5, 8.5, 6, 7}, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  const auto ours = report::cluster_contrast({{&a, 1}, {&b, -1}}, 0.05);
  ASSERT_TRUE(ours && *ours);
  EXPECT_TRUE((*ours)->nested);
  EXPECT_NEAR((*ours)->test.standard_error, 0.491724444473662, 1e-12);
  EXPECT_NEAR((*ours)->test.df, 1.35768261964736, 1e-9);
  EXPECT_NEAR((*ours)->test.p_value, 0.156740813214097, 1e-9);
}

TEST(Clusters, OneInACellIsRefused) {
  const report::CellUnits a = cell_of({5}, {0}), b = cell_of({4, 8, 3}, {4, 5, 6});
  const auto ours = report::cluster_contrast({{&a, 1}, {&b, -1}}, 0.05);
  ASSERT_TRUE(ours);
  EXPECT_FALSE(*ours);
}

class Analyze : public ::testing::Test {
 protected:
  std::string file(const std::string& text) { return directory_.write("data.csv", text); }
  // A number of the first contrast.
  double field(const commands::CommandOutput& output, const std::string& name) {
    EXPECT_EQ(output.exit_code, 0) << output.err;
    const size_t contrasts = output.out.find("\"contrasts\"");
    const size_t at = output.out.find("\"" + name + "\": ", contrasts);
    EXPECT_NE(at, std::string::npos) << name;
    return std::strtod(output.out.c_str() + at + name.size() + 4, nullptr);
  }
  TemporaryDirectory directory_;
};

// Three links a side, each run many times: the runs are repeats.
TEST_F(Analyze, RowsOfOneClusterAreRepeats) {
  std::string text = "y,build,link\n";
  const double links[] = {10, 12, 14, 13, 15, 17};
  for (int link = 0; link < 6; ++link)
    for (int run = 0; run < 20; ++run)
      text +=
          std::to_string(links[link] + 0.01 * (run - 9.5)) + "," + (link < 3 ? "a" : "b") + ",l" + std::to_string(link) + "\n";
  const std::string data = file(text);
  const commands::CommandOutput rows = commands::run_analyze({data, "--response", "y", "--factors", "build", "--json"});
  const commands::CommandOutput clusters =
      commands::run_analyze({data, "--response", "y", "--factors", "build", "--cluster", "link", "--json"});
  EXPECT_LT(field(rows, "p_value"), 1e-9);
  const auto welch =
      statistics::welch_t(statistics::moments(std::vector<double>{13, 15, 17}),
                          statistics::moments(std::vector<double>{10, 12, 14}), 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR(field(clusters, "p_value"), welch->p_value, 1e-9);
  EXPECT_EQ(field(clusters, "n"), 3);
  // 3 against 3: no rank test says less than 0.1.
  EXPECT_GE(field(clusters, "p_rank"), 0.1);
  EXPECT_THAT(commands::run_analyze({data, "--response", "y", "--factors", "build", "--cluster", "link"}).out,
              HasSubstr("6 link means analysed"));
}

// Days that differ by more than the builds: within each day the difference is plain.
TEST_F(Analyze, BlocksCancel) {
  std::string text = "y,build,day\n";
  std::vector<double> differences;
  for (int day = 0; day < 8; ++day) {
    const double a = 100 * day, difference = 1 + 0.1 * (day % 3);
    differences.push_back(difference);
    text += std::to_string(a) + ",a,d" + std::to_string(day) + "\n" + std::to_string(a + difference) + ",b,d" +
            std::to_string(day) + "\n";
  }
  const std::string data = file(text);
  const commands::CommandOutput blocks =
      commands::run_analyze({data, "--response", "y", "--factors", "build", "--block", "day", "--json"});
  const auto expected = statistics::one_sample_t(differences, 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR(field(blocks, "p_value"), expected->p_value, 1e-9);
  EXPECT_EQ(field(blocks, "df"), 7);
  EXPECT_THAT(blocks.out, HasSubstr("\"blocked\": true"));
  EXPECT_THAT(blocks.out, HasSubstr("\"term\": \"block\""));
  EXPECT_EQ(blocks.err, "");
  EXPECT_GT(field(commands::run_analyze({data, "--response", "y", "--factors", "build", "--json"}), "p_value"), 0.9);
}

// What a block adds stays in the other cells' means if one of its values is missing. Differences of whole blocks don't have it.
TEST_F(Analyze, ABlockThatLacksACellTakesNoPart) {
  std::string text = "y,build,day\n", balanced;
  std::vector<double> differences;
  for (int day = 0; day < 10; ++day) {
    const double a = 100 * ((day * 7) % 10), difference = 1 + 0.3 * ((day * 3) % 5);
    const std::string name = "d" + std::to_string(day) + "\n";
    text += std::to_string(a) + ",a," + name;
    if (day == 6) continue;
    differences.push_back(difference);
    text += std::to_string(a + difference) + ",b," + name;
  }
  const std::string data = file(text);
  const std::vector<std::string> args{data, "--response", "y", "--factors", "build", "--block", "day", "--json"};
  const commands::CommandOutput blocks = commands::run_analyze(args);
  const auto paired = statistics::one_sample_t(differences, 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR(field(blocks, "estimate"), paired->estimate, 1e-9);
  EXPECT_NEAR(field(blocks, "p_value"), paired->p_value, 1e-9);
  EXPECT_EQ(field(blocks, "df"), 8);
  EXPECT_EQ(field(blocks, "n"), 9);
  EXPECT_THAT(blocks.out, HasSubstr("\"blocked\": true"));
  EXPECT_THAT(blocks.out, HasSubstr("of a comparison within blocks 1 block that lacks a cell took no part"));
  // Of two cells the block's own effect takes all that its only value says: F is t squared.
  const size_t term = blocks.out.find("\"term\": \"build\"");
  ASSERT_NE(term, std::string::npos);
  const size_t p = blocks.out.find("\"p_value\": ", term);
  EXPECT_NEAR(std::strtod(blocks.out.c_str() + p + 11, nullptr), paired->p_value, 1e-9);
  const size_t robust = blocks.out.find("\"p_robust\": ", term);
  EXPECT_NEAR(std::strtod(blocks.out.c_str() + robust + 12, nullptr), paired->p_value, 1e-9) << "by whole blocks";

  // One more lacks the other side: cells are equally large, and it is said all the same.
  file(text.replace(text.find("0.000000,a,d0\n"), 14, ""));
  const commands::CommandOutput two = commands::run_analyze(args);
  EXPECT_EQ(field(two, "n"), 8);
  EXPECT_THAT(two.out, HasSubstr("blocks lack cells; of a comparison within blocks 2 blocks that lack a cell took no part"));
}

// Three of four blocks hold one side only: there are too few whole ones, and all values answer.
TEST_F(Analyze, FewWholeBlocksDontStandForAll) {
  std::string text = "y,build,day\n";
  for (int day = 0; day < 12; ++day) {
    const std::string name = ",d" + std::to_string(day) + "\n";
    if (day % 4 != 1) text += std::to_string(10 + 0.1 * ((day * 5) % 7)) + ",a" + name;
    if (day % 4 < 2) text += std::to_string(11 + 0.1 * ((day * 3) % 7)) + ",b" + name;
  }
  const commands::CommandOutput found =
      commands::run_analyze({file(text), "--response", "y", "--factors", "build", "--block", "day", "--json"});
  EXPECT_THAT(found.out, HasSubstr("\"blocked\": false"));
  EXPECT_EQ(field(found, "n"), 6);
  EXPECT_THAT(found.err, HasSubstr("too few 'day' have all cells that are compared, so nothing is compared within one"));
}

// Differences within blocks, not values that hold the block. R: shapiro.test(c(1.2, 0.7, 1.9, 1.1, 0.4, 1.5, 1.0, 2.6, 0.9, 1.3))
// has W = 0.9412266644828 and p = 0.566742004597; of the values themselves less their cells' means p is 8e-6.
TEST_F(Analyze, DiagnosticsTakeBlocksOff) {
  const double differences[] = {1.2, 0.7, 1.9, 1.1, 0.4, 1.5, 1.0, 2.6, 0.9, 1.3};
  std::string text = "y,build,day\n";
  for (int day = 0; day < 10; ++day) {
    const double a = day < 5 ? 0 : 1000;
    text += std::to_string(a) + ",a,d" + std::to_string(day) + "\n" + std::to_string(a + differences[day]) + ",b,d" +
            std::to_string(day) + "\n";
  }
  const commands::CommandOutput found =
      commands::run_analyze({file(text), "--response", "y", "--factors", "build", "--block", "day", "--json"});
  const size_t at = found.out.find("\"shapiro-wilk\"");
  ASSERT_NE(at, std::string::npos);
  const auto number = [&](const char* name) {
    return std::strtod(found.out.c_str() + found.out.find(name, at) + std::string(name).size(), nullptr);
  };
  EXPECT_NEAR(number("\"statistic\": "), 0.9412266644828, 1e-6);
  EXPECT_NEAR(number("\"p_value\": "), 0.566742004597, 1e-5);
  EXPECT_THAT(found.out, testing::Not(HasSubstr("\"not-normal\"")));
}

// A mean over three cells is sums of thirds: in blocks whose values are equal they leave 9e-16, which is no difference to rank.
// R: coin::wilcoxsign_test(c(rep(0, 15), 1, 1, -1, 2, 2) ~ rep(0, 20), zero.method = "Wilcoxon", distribution = "exact") has
// p = 0.25.
TEST_F(Analyze, EqualBlocksHaveNoRank) {
  const int steps[] = {3, 3, -3, 6, 6};  // of one cell each of the first blocks, in tenths
  for (const bool whole : {false, true}) {
    std::string text = "y,opt,threads,day\n";
    for (int day = 0; day < 20; ++day)
      for (int side = 0; side < 2; ++side)
        for (int cell = 0; cell < 3; ++cell) {
          const int tenths = 71 + 13 * cell + (side == 1 && day < 5 && cell == day % 3 ? steps[day] : 0);
          text += whole ? std::to_string(tenths) : std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
          text += std::string(side ? ",b" : ",a") + ",t" + std::to_string(cell) + ",d" + std::to_string(day) + "\n";
        }
    const std::string data = file(text);
    for (const char* scale : {"", "--log"}) {
      std::vector<std::string> args{data, "--response", "y", "--factors", "opt,threads", "--block", "day", "--json"};
      if (*scale) args.push_back(scale);
      const commands::CommandOutput found = commands::run_analyze(args);
      // On the log scale the steps of different cells are of different sizes.
      if (*scale) EXPECT_GT(field(found, "p_rank"), 0.1) << whole;
      else EXPECT_NEAR(field(found, "p_rank"), 0.25, 1e-12) << whole;
    }
  }
}

// Three against three: ranks have no p below 0.1, so they don't contradict a mean. Four against four have 0.029, and may.
TEST_F(Analyze, RanksThatCantAnswerDontDisagree) {
  const auto said = [&](const std::string& text) {
    const commands::CommandOutput found = commands::run_analyze({file(text), "--response", "y", "--factors", "g", "--json"});
    EXPECT_LT(field(found, "p_value"), 0.05);
    EXPECT_GE(field(found, "p_rank"), 0.05);
    return found.out.find("\"ranks-disagree\"") != std::string::npos;
  };
  EXPECT_FALSE(said("y,g\n10,a\n10.1,a\n10.2,a\n12,b\n12.1,b\n12.2,b\n"));
  EXPECT_TRUE(said("y,g\n10,a\n10.1,a\n10.2,a\n11.02,a\n11,b\n12.1,b\n12.2,b\n12.3,b\n"));
}

// Links that run in every block: what the block adds to all of them goes, the links are the draws.
TEST_F(Analyze, ClustersAcrossBlocks) {
  std::string text = "y,build,link,day\n";
  const double links[] = {10, 12, 14, 13, 15, 17};
  for (int link = 0; link < 6; ++link)
    for (int day = 0; day < 4; ++day)
      text += std::to_string(links[link] + 50 * day) + "," + (link < 3 ? "a" : "b") + ",l" + std::to_string(link) + ",d" +
              std::to_string(day) + "\n";
  const commands::CommandOutput both = commands::run_analyze(
      {file(text), "--response", "y", "--factors", "build", "--cluster", "link", "--block", "day", "--json"});
  const auto welch =
      statistics::welch_t(statistics::moments(std::vector<double>{13, 15, 17}),
                          statistics::moments(std::vector<double>{10, 12, 14}), 0, statistics::Alternative::kTwoSided, 0.95);
  EXPECT_NEAR(field(both, "p_value"), welch->p_value, 1e-9);
  EXPECT_EQ(field(both, "n"), 3);
}

TEST_F(Analyze, OneColumnIsNotBoth) {
  const commands::CommandOutput output = commands::run_analyze(
      {file("y,g,s\n1,a,u\n2,b,u\n"), "--response", "y", "--factors", "g", "--block", "s", "--cluster", "s"});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.err, HasSubstr("--block and --cluster name the same column"));
}

// A share of the baseline's mean is as uncertain as that mean: with 50 % margin and a noisy baseline the difference's own
// interval lies inside, t - 1.5 b doesn't.
TEST_F(Analyze, SharesOfTheBaselineAreEstimates) {
  const std::string data = file("y,g\n4,a\n10,a\n16,a\n9,a\n11,a\n10.1,b\n9.9,b\n10,b\n10.2,b\n9.8,b\n");
  const commands::CommandOutput share =
      commands::run_analyze({data, "--response", "y", "--factors", "g", "--margin", "45%", "--json"});
  const statistics::WeightedCell minus[] = {{statistics::moments(std::vector<double>{10.1, 9.9, 10, 10.2, 9.8}), 1},
                                            {statistics::moments(std::vector<double>{4, 10, 16, 9, 11}), -1.45}};
  const statistics::WeightedCell plus[] = {minus[0], {minus[1].moments, -0.55}};
  const auto high = statistics::welch_contrast(minus, 0, statistics::Alternative::kLess, 0.95),
             low = statistics::welch_contrast(plus, 0, statistics::Alternative::kGreater, 0.95);
  EXPECT_NEAR(field(share, "p_equivalence"), std::max(high->p_value, low->p_value), 1e-9);
  EXPECT_NEAR(field(share, "margin"), 4.5, 1e-9);
  const commands::CommandOutput known =
      commands::run_analyze({data, "--response", "y", "--factors", "g", "--margin", "4.5", "--json"});
  EXPECT_THAT(known.out, HasSubstr("\"verdict\": \"equivalent\""));
  EXPECT_LT(field(known, "p_equivalence"), 0.05);
  EXPECT_GT(field(share, "p_equivalence"), 0.05);
  EXPECT_THAT(share.out, HasSubstr("\"verdict\": \"unsure\""));
}

// Of ten levels that are all just equivalent on their own, Holm over the family keeps fewer.
TEST_F(Analyze, EquivalenceIsJudgedAsAFamily) {
  std::string text = "y,g\n";
  for (int level = 0; level < 10; ++level)
    for (int i = 0; i < 6; ++i) text += std::to_string(10 + (i % 2 ? 1 : -1) * 0.5) + ",g" + std::to_string(level) + "\n";
  const commands::CommandOutput ten =
      commands::run_analyze({file(text), "--response", "y", "--factors", "g", "--margin", "0.7", "--json"});
  EXPECT_LT(field(ten, "p_equivalence"), 0.05);
  EXPECT_GT(field(ten, "p_equivalence_holm"), 0.05);
  EXPECT_THAT(ten.out, testing::Not(HasSubstr("\"verdict\": \"equivalent\"")));
}

// What is said where nothing can be tested is about what was asked.
TEST(Blocks, SayWhatIsMissing) {
  const TemporaryDirectory directory;
  const auto said = [&](const std::string& rows) {
    const std::string data = directory.write("data.csv", "y,build,day\n" + rows);
    return commands::run_analyze({data, "--response", "y", "--factors", "build", "--block", "day"}, 400).out;
  };
  EXPECT_THAT(said("1,a,1\n2,a,1\n1,b,2\n3,b,2\n"), HasSubstr("a cell has values of one block or cluster only"));
  // Each day is another one, and b always takes a quarter more.
  const std::string apart = said("1,a,1\n1.25,b,1\n2,a,2\n2.25,b,2\n4,a,3\n4.25,b,3\n");
  EXPECT_THAT(apart, HasSubstr("the differences within blocks or clusters don't vary"));
  EXPECT_THAT(apart, HasSubstr("the residuals don't vary"));
  EXPECT_THAT(apart, ::testing::Not(HasSubstr("no answer, the values don't vary")));
}

}  // namespace
}  // namespace stab::analysis
