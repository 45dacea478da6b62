// Bad input to every method: a refusal in words with exit code 2, never NaN and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/commands/stats/analyze_command.h"
#include "analysis/commands/stats/stats_command.h"
#include "analysis/commands/stats/stats_methods.h"
#include "base/rng.h"
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
    const commands::CommandOutput output = commands::run_stats(args);
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
  EXPECT_THAT(stats({"welch", data, "--group", "g", "--conf", "1e-17"}), HasSubstr("an interval is a point"));
  EXPECT_THAT(stats({"welch", data, "--group", "g", "--levels", "a,c"}), HasSubstr("no level 'c'; --levels names those that"));
  EXPECT_THAT(stats({"dunnett", data, "--group", "g", "--control", "c"}), HasSubstr("no level"));
  EXPECT_THAT(stats({"anova", data, "--group", "g", "--model", "g+h"}), HasSubstr("names 'h'"));
  EXPECT_THAT(stats({"welch"}), HasSubstr("takes one CSV file"));
}

// Each value would be a group of its own.
TEST_F(Refusal, AResponseThatIsItsOwnGroup) {
  const std::string data = file("y,g\n1,a\n2,b\n3,a\n4,b\n");
  for (const char* flag : {"--factors", "--block", "--cluster", "--within"}) {
    std::vector<std::string> words{data, "--response", "y", flag, "y"};
    if (flag != std::string("--factors")) words.insert(words.end(), {"--factors", "g"});
    const commands::CommandOutput output = commands::run_analyze(words);
    EXPECT_EQ(output.exit_code, 2) << flag;
    EXPECT_THAT(output.err, HasSubstr("column 'y' is the response, and can't be what values are grouped by as well")) << flag;
  }
  EXPECT_THAT(stats({"kruskal", data, "--response", "y", "--group", "y"}), HasSubstr("column 'y' is the response, and can't be"));
}

// exp() of the interval of the logarithms, 110 +- 77,000, is beyond a double; all else of the column is not.
TEST_F(Refusal, OneIntervalBeyondADoubleIsNullAlone) {
  const std::string data = file("x\n0.00001\n3e100\n");
  const commands::CommandOutput output = commands::run_stats({"describe", data, "--conf", "0.999", "--json"});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\"geometric_conf_low\": null"));
  EXPECT_THAT(output.out, HasSubstr("\"geometric_conf_high\": null"));
  EXPECT_THAT(output.out, HasSubstr("\"mean\": 1.5"));
}

TEST_F(Refusal, ACellOfOneValueIsNamed) {
  const auto said = [&](const std::string& rows, const std::string& factors) {
    return commands::run_analyze({file("version,input,time\n" + rows), "--response", "time", "--factors", factors}, 200).out;
  };
  const std::string rows = "old,a,1.0\nold,a,1.1\nold,a,1.05\nold,b,2.0\nold,b,2.1\nnew,b,2.3\nnew,b,2.2\nnew,a,1.2\n";
  EXPECT_THAT(said(rows, "version,input"),
              HasSubstr("version=new against old: no answer, version=new, input=a has one value, and no spread of its own; add "
                        "another row"));
  EXPECT_THAT(said("old,a,1\nold,a,2\nnew,a,3\n", "version"), HasSubstr("no answer, version=new has one value, and no spread"));
  EXPECT_THAT(said("old,a,1\nnew,a,3\n", "version"),
              HasSubstr("version=new and 1 more cell have one value each, and no spread of their own; add"));
}

TEST_F(Refusal, TooManyGroups) {
  std::string text = "y,g\n";
  for (int i = 0; i < 6000; ++i) text += std::to_string(i % 7) + "," + std::to_string(i / 2) + "\n";
  EXPECT_THAT(stats({"tukey", file(text), "--response", "y", "--group", "g"}), HasSubstr("compares at most "));
}

// Without changes nothing is pruned: a million values would take more than an hour.
TEST_F(Refusal, ChangePointsThatTakeTooLong) {
  std::string text = "y\n";
  Rng rng = Rng::stream(1, "long");
  for (int i = 0; i < 100'001; ++i) text += std::to_string(rng.below(1000)) + "\n";
  EXPECT_THAT(stats({"change-points", file(text)}), HasSubstr("in at most 100000 values, got 100001: "));
}

TEST_F(Refusal, TooFewGroupsAndValues) {
  const std::string one_level = file("y,g\n1,a\n2,a\n3,a\n"), three = file("y,g\n1,a\n2,b\n3,c\n4,a\n");
  EXPECT_THAT(stats({"welch", one_level, "--group", "g"}), HasSubstr("has 1 level"));
  EXPECT_THAT(stats({"welch", three, "--group", "g"}), HasSubstr("compares 2 groups"));
  EXPECT_THAT(stats({"anova", one_level, "--group", "g"}), HasSubstr("has one level"));
  const std::string two = file("y\n1\n2\n");
  EXPECT_THAT(stats({"shapiro-wilk", two}), HasSubstr("at least 3 values, got 2"));
  EXPECT_THAT(stats({"anderson-darling", two}), HasSubstr("at least 8"));
  EXPECT_THAT(stats({"shapiro-wilk", file("g,y\na,1\na,2\na,4\nb,5\nb,5\nb,5\n"), "--response", "y", "--group", "g"}),
              HasSubstr("group 'b': all values are equal"));
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
  for (const auto family : {commands::sample_methods(), commands::group_methods()}) {
    for (const commands::StatsMethod& method : family) {
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

// The third row of one would be paired with the second of the other.
TEST_F(Refusal, PairsByRowOrderHaveAllTheirRows) {
  const std::string rows = "y,g\n1,a\nNA,a\n3,a\n1.5,b\n2.5,b\n";
  const std::string data = file(rows + "NA,b\n");
  for (const char* method : {"paired-t", "wilcoxon"})
    EXPECT_THAT(stats({method, data, "--response", "y", "--group", "g"}), HasSubstr("2 rows lack a value, and by row order"));
  EXPECT_THAT(stats({"paired-t", file("x,y\n1,1.5\nNA,2\n3,3.1\n4,4.7\n"), "--response", "x,y"}), "accepted");
  EXPECT_THAT(stats({"paired-t", file("y,g\n1,a\n2,a\n,\n1.5,b\n2.2,b\n,\n"), "--response", "y", "--group", "g"}), "accepted")
      << "rows of a spreadsheet that are blank are none";
}

TEST_F(Refusal, RowsAreThoseOfTheFile) {
  const std::string zero = file("y,g\n1,a\nNA,b\n2,a\n0,b\n3,b\n");
  EXPECT_THAT(commands::run_analyze({zero, "--response", "y", "--factors", "g", "--log"}).err, HasSubstr("row 4, column 'y'"));
  EXPECT_THAT(stats({"welch", zero, "--response", "y", "--group", "g", "--log"}), HasSubstr("row 4, column 'y'"));
  EXPECT_THAT(stats({"holm", file("p,q\n0.5,1\nNA,1\n,\n1.5,1\n"), "--response", "p"}), HasSubstr("row 4: 1.5 is no p-value"));
  std::string steps = "y\nNA\n";
  for (int row = 0; row < 40; ++row) steps += (row < 20 ? "5." : "9.") + std::to_string(row % 7) + "\n";
  for (const char* method : {"change-points", "e-divisive"}) {
    const std::string out = commands::run_stats({method, file(steps), "--json"}).out;
    EXPECT_THAT(out, HasSubstr("\"change_points\": [\n    21\n  ]")) << method;
    EXPECT_THAT(out, HasSubstr("\"first_row\": 22")) << method;
    EXPECT_THAT(out, HasSubstr("\"last_row\": 41")) << method;
  }
}

TEST_F(Refusal, LogarithmOfZeroNamesTheRow) {
  const std::string data = file("y,g\n1,a\n0,b\n3,a\n4,b\n");
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--group", "g", "--log"}), HasSubstr("row 2, column 'y'"));
  const commands::CommandOutput report = commands::run_analyze({data, "--response", "y", "--factors", "g", "--log"});
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_THAT(report.err, HasSubstr("row 2"));
}

TEST_F(Refusal, PowerNeedsTwoOfThree) {
  EXPECT_THAT(stats({"power-t", "--n", "10"}), HasSubstr("two of --n, --delta, --power"));
  EXPECT_THAT(stats({"power-t", "--delta", "0", "--power", "0.9"}), HasSubstr("difference of 0"));
  EXPECT_THAT(stats({"power-t", "--n", "10", "--delta", "1", "--sd", "0"}), HasSubstr("--sd takes a number > 0"));
  EXPECT_THAT(stats({"alpha-spending", "--fractions", "0.5,0.4,1"}), HasSubstr("ascending"));
}

TEST_F(Refusal, MarksOfMissingValuesAreNoLevels) {
  for (const char* mark : {"NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A"}) {
    const std::string data = file("y,g\n1,a\n2,a\n3," + std::string(mark) + "\n4,b\n");
    const commands::CommandOutput left = commands::run_stats({"describe", data, "--response", "y", "--group", "g", "--json"});
    EXPECT_EQ(left.exit_code, 0) << left.err;
    EXPECT_THAT(left.err, HasSubstr("1 of 4 rows lack a value and are left out (row 3)")) << mark;
    EXPECT_THAT(left.out, Not(HasSubstr("\"group\": \"" + std::string(mark))));
    EXPECT_THAT(commands::run_analyze({data, "--response", "y", "--factors", "g"}).err, HasSubstr("left out (row 3)")) << mark;
  }
  // Who means the word quotes it; words that only look like it are levels.
  EXPECT_EQ(stats({"welch", file("y,g\n1,a\n2,a\n3,\"NA\"\n4,\"NA\"\n"), "--response", "y", "--group", "g"}), "accepted");
  EXPECT_EQ(stats({"welch", file("y,g\n1,none\n2,none\n3,nap\n4,nap\n"), "--response", "y", "--group", "g"}), "accepted");
  // A byte order mark and CRLF change nothing.
  EXPECT_EQ(stats({"welch", file("\xef\xbb\xbf\"y\",g\r\n1,a\r\n2,a\r\n3,b\r\n4,b\r\n"), "--response", "y", "--group", "g"}),
            "accepted");
  EXPECT_THAT(stats({"welch", file("y,g,g\n1,a,a\n2,b,b\n"), "--response", "y", "--group", "g"}),
              HasSubstr(":1:5: column 'g' is there twice"));
}

TEST_F(Refusal, BaselinesAreLevelsOfOneFactor) {
  const std::string data = file("y,g,h\n1,new,x\n2,old,x\n3,new,z\n4,old,z\n2,new,x\n3,old,x\n3,new,z\n5,old,z\n");
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--group", "g", "--baseline", "odl"}),
              HasSubstr("has no level 'odl' to be the baseline; did you mean 'old'?"));
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--baseline", "old"}), HasSubstr("--baseline is a level of --group"));
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--group", "g", "--baseline", "old", "--levels", "old,new"}),
              HasSubstr("leave --baseline out"));
  EXPECT_THAT(stats({"welch", data, "--response", "y", "--group", "g", "--decimal", "dot"}),
              HasSubstr("--decimal takes point or comma"));
  EXPECT_THAT(commands::run_analyze({data, "--response", "y", "--factors", "g,h", "--baseline", "w"}).err,
              HasSubstr("--baseline 'w' is a level of no factor; write FACTOR=LEVEL"));
  const auto mean_difference = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"welch", data, "--response", "y", "--group", "g", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return commands::run_stats(words).out;
  };
  EXPECT_THAT(mean_difference({"--baseline", "new"}), HasSubstr("\"groups\": [\n    \"old\",\n    \"new\""));
  EXPECT_THAT(mean_difference({"--baseline", "old"}), HasSubstr("\"groups\": [\n    \"new\",\n    \"old\""));
  // The file's first row has the baseline, unless one is named.
  const auto report = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{data, "--response", "y", "--factors", "g,h", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return commands::run_analyze(words).out;
  };
  EXPECT_THAT(report({}), HasSubstr("\"baseline\": \"new\""));
  const std::string named = report({"--baseline", "g=old,z"});
  EXPECT_THAT(named, testing::AllOf(HasSubstr("\"baseline\": \"old\""), HasSubstr("\"baseline\": \"z\"")));
}

TEST_F(Refusal, ModelsTooLargeToFit) {
  std::string header = "y", many = "f0";
  for (int f = 0; f < 40; ++f) header += ",f" + std::to_string(f);
  std::string rows;
  Rng rng(5);
  for (uint64_t row = 0; row < 80; ++row) {
    rows += std::to_string(row * row % 17);
    for (int f = 0; f < 40; ++f) rows += rng.below(2) ? ",a" : ",b";
    rows += "\n";
  }
  const std::string data = file(header + "\n" + rows);
  const auto first = [](int count) {
    std::string list = "f0";
    for (int f = 1; f < count; ++f) list += ",f" + std::to_string(f);
    return list;
  };
  EXPECT_EQ(stats({"anova", data, "--response", "y", "--additive", "--group", first(25)}), "accepted");
  EXPECT_THAT(stats({"anova", data, "--response", "y", "--additive", "--group", first(33)}),
              HasSubstr("at most 31 factors, got 33"));
  EXPECT_THAT(stats({"anova", data, "--response", "y", "--group", first(25)}),
              HasSubstr("makes 2^25 terms; at most 10 are crossed"));
  EXPECT_THAT(stats({"anova-within", data, "--response", "y", "--pair", "f39", "--group", first(33)}),
              HasSubstr("at most 10 are crossed"));
  EXPECT_THAT(stats({"anova-error", data, "--response", "y", "--pair", "f39", "--group", first(33)}),
              HasSubstr("at most 30 factors"));
  EXPECT_THAT(stats({"anova", data, "--response", "y", "--group", first(25), "--model", "f0*f1*f2*f3*f4*f5*f6*f7*f8*f9*f10*f11"}),
              HasSubstr("cross at most 10 factors"));
  std::string crossed = "y,a,b,c\n";
  for (int row = 0; row < 1000; ++row)
    crossed += std::to_string(row % 7) + ",a" + std::to_string(row) + ",b" + std::to_string(row % 500) + ",c" +
               std::to_string(row % 7) + "\n";
  const std::string wide = file(crossed);
  EXPECT_THAT(stats({"anova", wide, "--response", "y", "--group", "a,b"}), HasSubstr("can't be told apart"));
  EXPECT_THAT(stats({"anova-within", wide, "--response", "y", "--group", "a", "--pair", "b"}), HasSubstr("has 0 values in cell"));
  EXPECT_THAT(stats({"anova-within", wide, "--response", "y", "--group", "a,b", "--pair", "c"}), HasSubstr("at most 1024 cells"));
  EXPECT_THAT(stats({"bootstrap", wide, "--response", "y", "--resamples", "1e14"}),
              HasSubstr("--resamples takes at most 10000000"));
}

TEST_F(Refusal, ExtremeRatiosHaveAPower) {
  for (const auto& words : {std::vector<std::string>{"power-t", "--delta", "5000000", "--power", "0.8"},
                            {"power-t", "--n", "5", "--delta", "2e6"},
                            {"power-t", "--n", "10", "--delta", "1", "--alpha", "1e-18"},
                            {"power-layouts", "--layout-sd", "1e-9", "--run-sd", "1e-9", "--delta", "1"},
                            {"power-layouts", "--layout-sd", "1e-200", "--run-sd", "0", "--delta", "1e-200"},
                            {"power-anova", "--groups", "3", "--between-var", "1e14", "--power", "0.9"},
                            {"power-anova", "--groups", "3", "--between-var", "1e300", "--within-var", "1e-300", "--n", "4"}})
    EXPECT_EQ(stats(words), "accepted") << words[0] << " " << words[2];
  EXPECT_THAT(commands::run_stats({"power-t", "--delta", "5000000", "--power", "0.8", "--json"}).out, HasSubstr("\"power\": 1"));
  EXPECT_THAT(stats({"power-t", "--n", "10", "--power", "0.02"}), HasSubstr("the power must be above 0.025"));
  EXPECT_THAT(stats({"power-layouts", "--layout-sd", "1", "--run-sd", "1", "--delta", "1", "--runs", "1e15"}),
              HasSubstr("--runs takes at most"));
}

// Spread is what the values have, not what is left of it beside their mean.
TEST_F(Refusal, SmallSpreadIsNotNone) {
  EXPECT_EQ(stats({"one-sample-t", file("y\n1000000000000003\n999999999999997\n1000000000000001\n")}), "accepted");
  EXPECT_EQ(stats({"welch", file("y,g\n1000000000000003,a\n999999999999997,a\n1000000000000001,b\n1000000000000002,b\n"),
                   "--group", "g"}),
            "accepted");
  EXPECT_EQ(stats({"anova", file("y,g\n3,a\n-3,a\n1000000000000001,b\n1000000000000002,b\n"), "--group", "g"}), "accepted");
  const std::string tiny = file("y\n1e-200\n2e-200\n3e-200\n");
  for (const char* method : {"one-sample-t", "describe", "variance", "change-points"})
    EXPECT_THAT(stats({method, tiny}), HasSubstr("the values differ by no more than 2e-200, whose square underflows; rescale"))
        << method;
  EXPECT_EQ(stats({"wilcoxon", tiny}), "accepted") << "ranks need no squares";
  EXPECT_THAT(stats({"one-sample-t", file("y\n5\n5\n5\n")}), HasSubstr("the values are constant"));
  // Equal differences of decimals differ by their rounding.
  EXPECT_THAT(stats({"paired-t", file("a,b\n0.3,0.1\n0.5,0.3\n0.7,0.5\n"), "--response", "a,b"}),
              HasSubstr("constant up to the rounding"));
  EXPECT_THAT(stats({"brown-forsythe", file("y,g\n0.1,a\n0.4,a\n0.2,b\n0.9,b\n"), "--group", "g"}),
              HasSubstr("equally far from its centre"));
}

TEST_F(Refusal, ChangePointsOfACoarseClock) {
  std::string steps = "y\n";
  for (int i = 0; i < 60; ++i) steps += i < 30 ? "10\n" : "20\n";
  EXPECT_THAT(commands::run_stats({"change-points", file(steps), "--json"}).out, HasSubstr("\"change_points\": [\n    30\n  ]"));
  // A counter that mostly says the same has no change where it says another thing now and then.
  std::string ticks = "y\n";
  for (int i = 0; i < 60; ++i) ticks += i % 9 == 4 ? "11\n" : "10\n";
  EXPECT_THAT(commands::run_stats({"change-points", file(ticks), "--json"}).out, HasSubstr("\"change_points\": []"));
  EXPECT_THAT(stats({"change-points", file("y\n5\n5\n5\n5\n")}), HasSubstr("all values are equal"));
  EXPECT_THAT(stats({"change-points", file("y\n5\n6\n")}), HasSubstr("at least 3 values"));
}

// A file in another encoding: the answer stays UTF-8, as JSON must be.
TEST_F(Refusal, LevelsThatAreNoUtf8) {
  const commands::CommandOutput output = commands::run_stats(
      {"welch", file("y,g\n1,caf\xe9\n2,caf\xe9\n3,\xc3\xa9t\xc3\xa9\n4,\xc3\xa9t\xc3\xa9\n"), "--group", "g", "--json"});
  EXPECT_THAT(output.out, HasSubstr("\"caf\xef\xbf\xbd\""));
  EXPECT_THAT(output.out, HasSubstr("\"\xc3\xa9t\xc3\xa9\""));
}

// Found by fuzzing: numbers at the ends of a double's range, and levels whose residual is rounding.
TEST_F(Refusal, EndsOfTheRange) {
  EXPECT_THAT(stats({"power-anova", "--groups", "20", "--between-var", "1e100", "--n", "1e300"}),
              HasSubstr("--n takes a number from 2 to"));
  EXPECT_THAT(
      stats({"variance-components", file("y,g\n1000000000000000,a\n1000000000000000,a\n999999999999997,b\n0.5,c\n0.6,c\n"),
             "--group", "g", "--response", "y"}),
      HasSubstr("can't be told from rounding"));
  // The fourth powers in Satterthwaite's degrees of freedom would overflow, or come out as 0.
  for (const char* scale : {"e148", "e-100"}) {
    const std::string far = file("y,g\n1" + std::string(scale) + ",a\n2" + scale + ",a\n3" + scale + ",b\n5" + scale + ",b\n");
    EXPECT_EQ(stats({"welch", far, "--group", "g"}), "accepted");
    const commands::CommandOutput report = commands::run_analyze({far, "--response", "y", "--factors", "g", "--json"});
    EXPECT_THAT(report.out, HasSubstr("\"df\": 1.4705882352941"));
  }
}

TEST_F(Refusal, HedgesGOfEqualMeansHasAnInterval) {
  const std::string out =
      commands::run_stats({"hedges-g", file("y,g\n1,a\n2,a\n3,a\n1,b\n2,b\n3,b\n"), "--group", "g", "--json"}).out;
  EXPECT_THAT(out, HasSubstr("\"conf_low\": -1.27685"));
  EXPECT_THAT(out, HasSubstr("\"conf_high\": 1.27685"));
}

TEST_F(Refusal, RatioNeedsADenominatorAwayFromZero) {
  EXPECT_THAT(stats({"fieller", file("y,g\n1,a\n2,a\n3,a\n-1,b\n0,b\n2,b\n"), "--group", "g"}), HasSubstr("isn't told from 0"));
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
