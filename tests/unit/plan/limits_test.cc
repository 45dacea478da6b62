// What a few hundred bytes of a plan may make us hold or walk: every bound is refused with its number, and in no time.
// Without a bound most of these end the process.
#include <gtest/gtest.h>

#include <chrono>

#include "plan/check.h"
#include "plan/limits.h"
#include "plan/size.h"
#include "plan/toml/toml_nesting.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

// A debug build under a sanitizer on a busy machine takes no longer; what is quadratic takes minutes.
constexpr std::chrono::seconds kAtOnce{20};

// The faults of a text, which must be found at once.
std::string refused(const std::string& text) {
  const auto began = std::chrono::steady_clock::now();
  const Parsed result = parse_plan(text, "t.toml");
  EXPECT_LT(std::chrono::steady_clock::now() - began, kAtOnce);
  EXPECT_FALSE(result.plan.has_value());
  const std::string shown = render(result.errors);
  EXPECT_LT(shown.size(), 100'000u) << "a fault quotes all of it";
  return shown;
}

void expect_refused(const std::string& text, const std::string& why) {
  const std::string shown = refused(text);
  EXPECT_NE(shown.find(why), std::string::npos) << shown.substr(0, 2000);
}

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// "[0, 1, 2, ...]"
std::string numbers(int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::to_string(i);
  return out + "]";
}

TEST(Limits, CrossingOfManyFactors) {
  std::string factors = "[factors]\n";
  for (int i = 0; i < 40; ++i) factors += "f" + std::to_string(i) + " = " + numbers(10) + "\n";
  expect_refused(small_plan(factors), "combinations of all levels: more than 1.8e19, at most 1000000");
}

TEST(Limits, CrossingOfTwoFactors) {
  expect_refused(small_plan("[factors]\na = " + numbers(500) + "\nb = " + numbers(500)), "the plan has more than 100000 cells");
}

TEST(Limits, TrialsOfSmallPlans) {
  const std::string factors = "[factors]\na = " + numbers(100) + "\nb = " + numbers(100);
  expect_refused(small_plan(factors, 1'000'000), "trials of the whole plan: 10000000000, at most 10000000");
  expect_refused(
      "[experiment]\nname = \"t\"\nseed = 1\nreplicates = 1000000\nruns_per_seed = 1000\n[[program]]\nname = \"p\"\nrun = \"p\"",
      "trials of the whole plan: 1000000000, at most 10000000");
}

TEST(Limits, OneBlock) {
  std::string text =
      "[experiment]\nname = \"t\"\nseed = 1\nreplicates = 1\nruns_per_seed = 1000\n[factors]\na = " + numbers(100) + "\n";
  for (int i = 0; i < 20; ++i) text += "[[program]]\nname = \"p" + std::to_string(i) + "\"\nrun = \"p\"\n";
  expect_refused(text, "trials of one block, which are cells times workloads times passes times runs: 2000000, at most 1000000");
}

TEST(Limits, BuildsOfLinks) {
  std::string text = small_plan("[factors]\na = " + numbers(1000) + "\nlink = { seeds = 1000 }");
  text += "build = \"cc {a} {link}\"\n[[program]]\nname = \"q\"\nrun = \"q\"\nbuild = \"cc\"\n";
  expect_refused(text, "programs times cells times links: 2002000, at most 1000000");
}

TEST(Limits, LevelsSubstitutedOften) {
  const std::string value(60'000, 'x');
  expect_refused(small_plan("[factors]\na = [{ name = \"long\", value = \"" + value + "\" }, \"s\"]") + "env = { A = \"" +
                     repeated("{a}", 100'000) + "\" }\n",
                 "can get as long as 6000000002, at most 131072");
}

TEST(Limits, KeyOfManyParts) {
  expect_refused(repeated("a.", 40'000) + "b = 1\n" + small_plan(""), "t.toml:1:1: error: a key has more than 16 parts");
  expect_refused("[" + repeated("a.", 40'000) + "b]\n", "a key has more than 16 parts");
  expect_refused("[[" + repeated("'a'.", 40'000) + "b]]\n", "a key has more than 16 parts");
  expect_refused("x = { " + repeated("\"a\".", 40'000) + "b = 1 }\n", "a key has more than 16 parts");
}

TEST(Limits, ValuesInValues) {
  expect_refused("x = " + repeated("[", 40'000) + "\n", "values nest deeper than 32 levels");
  expect_refused("\nx = " + repeated("{ a = ", 40'000) + "\n", "t.toml:2:1: error: values nest deeper than 32 levels");
}

TEST(Limits, NestingIsNotSeenInStrings) {
  const std::string dots = repeated(".", 100), brackets = repeated("[{", 100);
  for (const std::string& inside : {dots, brackets}) {
    EXPECT_FALSE(toml::nests_too_deep("# " + inside + "\n"));
    EXPECT_FALSE(toml::nests_too_deep("a = \"" + inside + "\"\n"));
    EXPECT_FALSE(toml::nests_too_deep("a = \"\\\"" + inside + "\"\n"));
    EXPECT_FALSE(toml::nests_too_deep("a = '" + inside + "\\'\n"));
    EXPECT_FALSE(toml::nests_too_deep("a = '''\n" + inside + "''" + inside + "'''''\n"));
    EXPECT_FALSE(toml::nests_too_deep("a = \"\"\"" + inside + "\\\"\"\"" + inside + "\"\"\"\n"));
    // What follows a string counts again.
    EXPECT_TRUE(toml::nests_too_deep("a = \"\"\n" + inside));
    EXPECT_TRUE(toml::nests_too_deep("a = ''''''\n" + inside));
    EXPECT_TRUE(toml::nests_too_deep("a = '''x'''''\n" + inside));
    EXPECT_TRUE(toml::nests_too_deep("a = \"\\\\\"\n" + inside));
    EXPECT_TRUE(toml::nests_too_deep("# '\n" + inside));
  }
}

TEST(Limits, Lists) {
  expect_refused(small_plan("[factors]\ncode = [\"off\", \"copy\"]\nexclude = [" + repeated("{ code = \"off\" },", 40'000) + "]"),
                 "'exclude' has 40000 entries, at most 1000");
  expect_refused(
      small_plan("[factors]\ncode = [\"off\", \"copy\"]\nexclude = [{ code = [" + repeated("\"off\",", 100'000) + "] }]"),
      "'code' lists 100000 levels, and has 2");
  std::string workloads;
  for (int i = 0; i < 20'000; ++i) workloads += "[[program.workload]]\nname = \"w" + std::to_string(i) + "\"\n";
  expect_refused(small_plan("") + workloads, "'workload' has 20000 entries, at most 2000");
  expect_refused(repeated("[[program]]\nname = \"p\"\nrun = \"p\"\n", 2000), "'program' has 2000 entries, at most 1000");
  std::string factors = "[factors]\n";
  for (int i = 0; i < 10'000; ++i) factors += "f" + std::to_string(i) + " = [1]\n";
  expect_refused(small_plan(factors), "more than 64 factors");
  expect_refused(small_plan("[counters]\nevents = [" + repeated("\"cycles\",", 50'000) + "]"), "50000 events are too many");
  expect_refused(small_plan("response = [" + repeated("\"wall_time\",", 50'000) + "]"),
                 "'response' has 50000 entries, at most 69");
  expect_refused("[stopping]\nrule = \"looks\"\nlooks = " + numbers(90'000) + "\n", "'looks' has 90000 entries, at most 100");
  expect_refused(small_plan("[exclusions]\nrules = [" + repeated("\"migrations > 0\",", 20'000) + "]"),
                 "'rules' has 20000 entries, at most 64");
  expect_refused(small_plan("") + "inputs = [" + repeated("\"a\",", 100'000) + "]", "'inputs' has 100000 entries, at most 1000");
  expect_refused(small_plan("[machine]\nrequire = [" + repeated("\"swap\",", 50'000) + "]"), "'require' has 50000 entries");
}

TEST(Limits, WorkloadsThatCopyTheirProgram) {
  std::string text = small_plan("") + "env = { A = \"" + std::string(100'000, 'x') + "\" }\n";
  for (int i = 0; i < 2000; ++i) text += "[[program.workload]]\nname = \"w" + std::to_string(i) + "\"\n";
  expect_refused(text, "what 2000 workloads take over from their program is");
}

TEST(Limits, ManyFaultsOfOneText) {
  std::string unknown, placeholders;
  for (int i = 0; i < 60'000; ++i) unknown += "key" + std::to_string(i) + " = 1\n";
  expect_refused(unknown + small_plan(""), "more not shown");
  const std::string factors = "[factors]\na = " + numbers(1000) + "\nb = " + numbers(2) + "\nexclude = [{ a = [" +
                              repeated("\"none such\",", 900) + "] }]\n";
  expect_refused(small_plan(factors), "is none of");
  expect_refused(small_plan("[factors]\na = [1, 2]") + "env = { A = \"" + repeated("{b}", 200'000) + "\" }\n", "more not shown");
}

TEST(Limits, WarningsAreBoundedToo) {
  const auto began = std::chrono::steady_clock::now();
  std::string words;
  for (int i = 0; i < 20'000; ++i) words += "\"{a}\",\n";
  const Parsed many = parse_plan(
      "[experiment]\nname = \"t\"\nseed = 1\nreplicates = 1\n[factors]\na = [\"x\", \"-a -b\"]\n[[program]]\nname = \"p\"\nrun = "
      "[" +
          words + "]\n",
      "t.toml");
  EXPECT_LT(std::chrono::steady_clock::now() - began, kAtOnce);
  ASSERT_TRUE(many.plan.has_value()) << render(many.errors);
  EXPECT_EQ(many.warnings.size(), 21u);
  EXPECT_NE(render(many.warnings).find("too many warnings, 19980 more not shown"), std::string::npos);
}

TEST(Limits, SizeOfTheText) {
  expect_refused(std::string(kMaxPlanBytes + 1, '#'), "larger than 1048576 bytes");
}

// The path is the client's word, and every node of the tree has a place.
TEST(Limits, PathIsNotKeptForEachNode) {
  const std::string text = "x = [" + repeated("1,", 300'000) + "]\n";
  const Parsed result = parse_plan(text, std::string(100'000, 'p'));
  EXPECT_FALSE(result.plan.has_value());
}

TEST(Limits, NumbersThatFitAreExact) {
  const Plan plan = parsed(small_plan("[factors]\na = [1, 2]\nb = [1, 2, 3]\nexclude = [{ a = \"1\", b = [\"1\", \"2\"] }]", 5));
  const auto design = make_design(plan);
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(crossing_of(plan), 6u);
  EXPECT_EQ(design->cells.size(), 4u);
  EXPECT_EQ(trials_of(plan, *design), 20u);
  EXPECT_EQ(make_schedule(plan, *design).trials.size(), 20u);
}

TEST(Limits, ProductsDoNotWrapAround) {
  EXPECT_EQ(times(1u << 31, 4), uint64_t{1} << 33);
  EXPECT_EQ(times(uint64_t{1} << 40, uint64_t{1} << 24), UINT64_MAX);
  EXPECT_EQ(times(UINT64_MAX, 0), 0u);
}

}  // namespace
}  // namespace stab::plan
