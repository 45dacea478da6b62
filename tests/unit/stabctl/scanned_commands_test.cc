// Results of a scan of parameters, and the commands that they are of.
#include "stabctl/reports/scanned_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace stab::ctl {
namespace {

using testing::ElementsAre;

ScannedResult with_size(const std::string& text, const std::string& size) { return {text, {{"size", size}}}; }

TEST(ScannedCommands, AValueStandsWhereResultsNeedIt) {
  EXPECT_EQ(scanned_text({with_size("sort -n 8", "8"), with_size("sort -n 64", "64")}), "sort -n {size}");
  EXPECT_EQ(scanned_text({with_size("sort8 -n 8", "8"), with_size("sort8 -n 64", "64")}), "sort8 -n {size}");
  EXPECT_EQ(scanned_text({with_size("n10", "10"), with_size("n15", "15")}), "n{size}");
  EXPECT_EQ(scanned_text({with_size("a 8 b", "8"), with_size("a 80 b", "80")}), "a {size} b");
  EXPECT_EQ(scanned_text({with_size("a 8", "8")}), "a 8");
  EXPECT_EQ(scanned_text({with_size("a 8", "8"), with_size("b 64", "64")}), std::nullopt);
  EXPECT_EQ(scanned_text({with_size("a", ""), with_size("a -x", " -x")}), "a{size}");
}

TEST(ScannedCommands, ParametersOfOneValueAreToldApart) {
  std::vector<ScannedResult> results;
  for (const char* threads : {"1", "8"})
    for (const char* size : {"8", "64"})
      results.push_back({std::string("run ") + threads + " " + size, {{"size", size}, {"threads", threads}}});
  EXPECT_THAT(scanned_commands(results), testing::Each("run {threads} {size}"));
}

TEST(ScannedCommands, EachHasACombinationOnce) {
  EXPECT_THAT(scanned_commands({with_size("old 8", "8"), with_size("new 8", "8"), with_size("old 64", "64"),
                                with_size("new 64", "64")}),
              ElementsAre("old {size}", "new {size}", "old {size}", "new {size}"));
  // The values are the programs' names, too.
  EXPECT_THAT(scanned_commands({with_size("a a", "a"), with_size("b a", "a"), with_size("a b", "b"), with_size("b b", "b")}),
              ElementsAre("a {size}", "b {size}", "a {size}", "b {size}"));
  // One --command-name.
  EXPECT_THAT(scanned_commands({with_size("sort", "8"), with_size("sort", "64")}), ElementsAre("sort", "sort"));
}

TEST(ScannedCommands, WithoutParametersEachTextIsOne) {
  EXPECT_THAT(scanned_commands({{"a 8", {}}, {"a 64", {}}, with_size("a 8", "8")}), ElementsAre("a 8", "a 64", "a 8"));
}

TEST(ScannedCommands, WhatCouldTakeForeverEnds) {
  ScannedResult one{std::string(199, 'a') + "b", {}}, other{std::string(199, 'a') + "c", {}};
  for (int i = 1; i < 20; ++i) {
    one.parameters.push_back({"p" + std::to_string(i), std::string(static_cast<size_t>(i), 'a')});
    other.parameters.push_back({"p" + std::to_string(i), std::string(static_cast<size_t>(20 - i), 'a')});
  }
  EXPECT_EQ(scanned_text({one, other}), std::nullopt);
}

// Eight parameters whose values are all of one letter: each result refutes the text that those before it have.
TEST(ScannedCommands, ManyResultsTakeNoLongerThanTheyAre) {
  std::vector<ScannedResult> results;
  for (size_t i = 0; i < 2000; ++i) {
    ScannedResult one{"run ", {}};
    for (size_t p = 0; p < 8; ++p) {
      const std::string value(1 + (i >> p) % 7, 'a');
      one.parameters.push_back({"p" + std::to_string(p), value});
      one.text += value;
    }
    results.push_back(one);
  }
  const std::clock_t begin = std::clock();
  const std::vector<std::string> commands = scanned_commands(results);
  EXPECT_EQ(commands.size(), results.size());
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);
  // Twenty parameters, no text has all results, and each is its own command.
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].parameters.clear();
    for (size_t p = 1; p < 20; ++p) results[i].parameters.push_back({"p" + std::to_string(p), std::string((i + p) % 20, 'a')});
    results[i].text = std::string(149, 'a') + static_cast<char>('b' + i % 20);
  }
  const std::clock_t again = std::clock();
  EXPECT_EQ(scanned_commands(results).size(), results.size());
  EXPECT_LT((std::clock() - again) / CLOCKS_PER_SEC, 5);
}

}  // namespace
}  // namespace stab::ctl
