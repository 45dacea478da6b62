// Bad input to every method: a refusal in words with exit code 2, never NaN and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/commands.h"
#include "analysis/stats_methods.h"
#include "tests/unit/temporary_directory.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Refusal : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    return directory_.write(std::to_string(++files_) + ".csv", text);
  }
  // What the method says to stderr; "accepted" if it found something.
  std::string stats(std::vector<std::string> args) {
    args.push_back("--json");
    const CommandOutput output = run_stats(args);
    EXPECT_THAT(output.out, Not(HasSubstr("nan")));
    EXPECT_THAT(output.out, Not(HasSubstr("inf")));
    if (output.exit_code == 0) return "accepted";
    EXPECT_EQ(output.exit_code, 2);
    EXPECT_TRUE(output.out.empty());
    return output.err;
  }
  TemporaryDirectory directory_;
  int files_ = 0;
};

TEST_F(Refusal, UnknownMethodFlagColumnAndLevel) {
  const std::string data = file("y,g\n1,a\n2,b\n3,a\n4,b\n");
  EXPECT_THAT(stats({"shapiro-wilks", data}), HasSubstr("did you mean 'shapiro-wilk'?"));
  EXPECT_THAT(stats({"welch", data, "--responce", "y"}), HasSubstr("did you mean 'response'?"));
  EXPECT_THAT(stats({"welch", data, "--response", "yy", "--group", "g"}), HasSubstr("no column 'yy'"));
  EXPECT_THAT(stats({"welch", data, "--group"}), HasSubstr("--group needs a value"));
  EXPECT_THAT(stats({"welch", data, "--group", "g", "--alternative", "lower"}), HasSubstr("two.sided, less or greater"));
  EXPECT_THAT(stats({"welch", data, "--group", "g", "--conf", "95"}), HasSubstr("between 0 and 1"));
  EXPECT_THAT(stats({"welch", data, "--group", "g", "--levels", "a,c"}), HasSubstr("no level 'c'"));
  EXPECT_THAT(stats({"dunnett", data, "--group", "g", "--control", "c"}), HasSubstr("no level"));
  EXPECT_THAT(stats({"anova", data, "--group", "g", "--model", "g+h"}), HasSubstr("names 'h'"));
  EXPECT_THAT(stats({"welch"}), HasSubstr("takes one CSV file"));
}

TEST_F(Refusal, TooFewGroupsAndValues) {
  const std::string one_level = file("y,g\n1,a\n2,a\n3,a\n"), three = file("y,g\n1,a\n2,b\n3,c\n4,a\n");
  EXPECT_THAT(stats({"welch", one_level, "--group", "g"}), HasSubstr("has 1 level"));
  EXPECT_THAT(stats({"welch", three, "--group", "g"}), HasSubstr("compares 2 groups"));
  EXPECT_THAT(stats({"anova", one_level, "--group", "g"}), HasSubstr("has one level"));
  const std::string two = file("y\n1\n2\n");
  EXPECT_THAT(stats({"shapiro-wilk", two}), HasSubstr("at least 3 values, got 2"));
  EXPECT_THAT(stats({"anderson-darling", two}), HasSubstr("at least 8"));
  const std::string single = file("y,g\n1,a\n2,b\n");
  EXPECT_THAT(stats({"welch", single, "--group", "g"}), HasSubstr("at least 2 values in each group"));
  EXPECT_THAT(stats({"anova", single, "--group", "g"}), HasSubstr("no degrees of freedom"));
}

// Each method with data on values that are all equal, all methods on what they need.
TEST_F(Refusal, ConstantValuesNeverGiveANumberThatIsNone) {
  std::string text = "y,g,h,s\n";
  for (int subject = 0; subject < 12; ++subject)
    for (const char* g : {"a", "b"})
      for (const char* h : {"u", "v"}) text += "5," + std::string(g) + "," + h + ",s" + std::to_string(subject) + "\n";
  const std::string data = file(text);
  for (const auto family : {sample_methods(), group_methods()}) {
    for (const StatsMethod& method : family) {
      std::vector<std::string> args{std::string(method.name), data, "--response", "y"};
      const std::string flags = " " + std::string(method.flags) + " ";
      if (flags.find(" group ") != std::string::npos) args.insert(args.end(), {"--group", "g"});
      if (flags.find(" pair ") != std::string::npos) args.insert(args.end(), {"--pair", "s"});
      if (flags.find(" delta ") != std::string::npos) args.insert(args.end(), {"--delta", "1"});
      const std::string said = stats(args);
      const bool describes = method.name == "describe" || method.name == "quantile" || method.name == "qq";
      EXPECT_TRUE(describes || said != "accepted") << method.name;
    }
  }
}

TEST_F(Refusal, EmptyCellsAndCollinearFactors) {
  const std::string hole = file("y,a,b\n1,p,u\n2,p,u\n3,p,v\n4,p,v\n5,q,u\n6,q,u\n");
  EXPECT_THAT(stats({"anova", hole, "--response", "y", "--group", "a,b"}), HasSubstr("cell a=q, b=v has no values"));
  EXPECT_EQ(stats({"anova", hole, "--response", "y", "--group", "a,b", "--additive"}), "accepted");
  const std::string twins = file("y,a,b\n1,p,u\n2,p,u\n3,q,v\n4,q,v\n5,q,v\n");
  EXPECT_THAT(stats({"anova", twins, "--response", "y", "--group", "a,b", "--additive"}), HasSubstr("collinear"));
}

TEST_F(Refusal, PairsMustBeComplete) {
  const std::string data = file("y,g,s\n1,a,s1\n2,b,s1\n3,a,s2\n4,b,s3\n");
  EXPECT_THAT(stats({"paired-t", data, "--response", "y", "--group", "g", "--pair", "s"}),
              HasSubstr("s 's2' has 0 values of 'b'; each needs exactly one"));
  const std::string uneven = file("y,g\n1,a\n2,b\n3,a\n");
  EXPECT_THAT(stats({"paired-t", uneven, "--response", "y", "--group", "g"}), HasSubstr("can't be paired by row"));
}

TEST_F(Refusal, LogarithmOfZeroNamesTheRow) {
  const std::string data = file("y,g\n1,a\n0,b\n3,a\n4,b\n");
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--group", "g", "--log"}), HasSubstr("row 2, column 'y'"));
  const CommandOutput report = run_analyze({data, "--response", "y", "--factors", "g", "--log"});
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_THAT(report.err, HasSubstr("row 2"));
}

TEST_F(Refusal, PowerNeedsTwoOfThree) {
  EXPECT_THAT(stats({"power-t", "--n", "10"}), HasSubstr("two of --n, --delta, --power"));
  EXPECT_THAT(stats({"power-t", "--delta", "0", "--power", "0.9"}), HasSubstr("difference of 0"));
  EXPECT_THAT(stats({"power-t", "--n", "10", "--delta", "1", "--sd", "0"}), HasSubstr("--sd takes a number > 0"));
  EXPECT_THAT(stats({"alpha-spending", "--fractions", "0.5,0.4,1"}), HasSubstr("ascending"));
}

TEST_F(Refusal, ProportionsAreCountsOfSomething) {
  EXPECT_THAT(stats({"binomial", "--trials", "10"}), HasSubstr("binomial needs --successes and --trials"));
  EXPECT_THAT(stats({"binomial", "--successes", "11", "--trials", "10"}), HasSubstr("11 successes in 10 trials"));
  EXPECT_THAT(stats({"binomial", "--successes", "0", "--trials", "0"}), HasSubstr("trials"));
  EXPECT_THAT(stats({"binomial", "--successes", "1", "--trials", "10", "--p", "5"}), HasSubstr("between 0 and 1"));
  // Both ends and both tails: limits, not infinities.
  for (const char* successes : {"0", "10"})
    for (const char* p : {"0", "1", "0.5"})
      EXPECT_EQ(stats({"binomial", "--successes", successes, "--trials", "10", "--p", p}), "accepted") << successes << " " << p;
}

}  // namespace
}  // namespace stab::analysis
