// A key below the wrong table: the fault says below which one it stands, and what it says follows what the tables take.
#include "plan/table_of_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::HasSubstr;

// The keys that a table of a plan knows, as the fault about an unknown one lists them.
std::set<std::string> keys_of(const std::string& table) {
  const std::string unknown = "no_such_key_at_all = 1\n", program = "[[program]]\nname = \"p\"\nrun = [\"true\"]\n";
  const std::string faults = errors_of(table.starts_with("[[") ? (table == "[[program]]" ? "" : program) + table + "\n" + unknown
                                                               : table + "\n" + unknown + program);
  const std::string start = "in " + table, list = "known are ";
  const size_t fault = faults.find(start), begin = faults.find(list, fault);
  if (fault == std::string::npos || begin == std::string::npos) return {};
  std::set<std::string> keys;
  const std::string names = faults.substr(begin + list.size(), faults.find('\n', begin) - begin - list.size());
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(", ", at), names.size());
    keys.insert(names.substr(at, end - at));
    at = end + 2;
  }
  return keys;
}

TEST(TableOfKey, FollowsWhatTheTablesTake) {
  const char* tables[] = {"[experiment]", "[stopping]",   "[counters]",          "[machine]",
                          "[limits]",     "[exclusions]", "[analysis]",          "[layout]",
                          "[machines]",   "[[program]]",  "[[program.workload]]"};
  std::set<std::string> without;
  for (const std::string table : tables) {
    const std::set<std::string> keys = keys_of(table);
    EXPECT_FALSE(keys.empty()) << table;
    for (const std::string& key : keys) {
      const std::string_view home = table_of_key(key);
      if (home.empty()) without.insert(key);
      if (home.empty() || home == "[factors]") continue;
      EXPECT_TRUE(keys_of(std::string(home)).count(key)) << key << " is not below " << home;
    }
  }
  // Of several tables, or of one that few plans have.
  EXPECT_THAT(without, ::testing::ElementsAre("cache", "command", "confirm", "cost", "count", "engine", "hosts", "name", "only",
                                              "options", "progress", "replay", "same", "spool", "stabctl"));
  EXPECT_EQ(table_of_key("name"), "");
  for (const char* none : {"", " ", " series", "series seed", "record_samples "}) EXPECT_EQ(table_of_key(none), "") << none;
  EXPECT_EQ(table_of_key("record_samples"), "[experiment]");
  EXPECT_EQ(table_of_key("look"), "") << "a part of a key is none";
}

TEST(TableOfKey, AMisplacedKeyIsToldItsTable) {
  const std::string faults = errors_of(
      "looks = [3, 5]\n[experiment]\nrandomize = true\n[factors]\nreplicates = 10\nmargins = 3\n[[program]]\nrun = [\"true\"]\n"
      "margin = \"1%\"\n");
  EXPECT_THAT(faults, HasSubstr("unknown key 'looks' in the plan"));
  EXPECT_THAT(faults, HasSubstr("hint: it stands below [stopping]"));
  EXPECT_THAT(faults, HasSubstr("hint: it stands below [factors]"));
  EXPECT_THAT(faults, HasSubstr(":5:1: error: 'replicates' stands below [experiment]"));
  EXPECT_THAT(faults, HasSubstr("'margins' is an integer, expected an array"));
  EXPECT_THAT(faults, HasSubstr("hint: it stands below [experiment]"));
}

}  // namespace
}  // namespace stab::plan
