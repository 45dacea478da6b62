// Which experiment a word means: numbers are numbers, names are a user's own.
#include "stabd/engine/build/naming.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

class Naming : public testing::Test {
 protected:
  Naming() : store_(*store::Store::open(directory_.path() + "/d.db", store::Store::Access::kWrite)) {}
  store::Id add(const std::string& name, int64_t uid) {
    store::NewExperiment row;
    row.name = name;
    row.plan_text = "plan";
    row.plan_path = "p.toml";
    row.plan_directory = "/";
    row.submitter_uid = uid;
    return *store_.add_experiment(row);
  }
  // 0: not found
  store::Id found(const std::string& word, int64_t uid, bool sees_all = false) {
    const auto row = experiment_named(store_, word, {uid, sees_all});
    EXPECT_TRUE(row || row.error().code == ErrorCode::kNotFound);
    return row ? row->id : 0;
  }
  TemporaryDirectory directory_;
  store::Store store_;
};

TEST_F(Naming, TheNewestOfOnesOwn) {
  const store::Id first = add("quickstart", 1001), second = add("quickstart", 1001);
  const store::Id other = add("quickstart", 1002);
  EXPECT_EQ(found("quickstart", 1001), second);
  EXPECT_EQ(found("quickstart", 1002), other);
  EXPECT_EQ(found("quickstart", 1003), 0);
  EXPECT_EQ(found("quickstart", 0, true), 0) << "a name is one's own, also root's";
  EXPECT_EQ(found("", 1001), second);
  EXPECT_EQ(found("", 1003), 0);
  EXPECT_EQ(found(std::to_string(first), 1001), first);
}

TEST_F(Naming, DigitsAreANumber) {
  const store::Id mine = add("mine", 1001);
  add(std::to_string(mine), 1002);  // as an older version took it
  EXPECT_EQ(found(std::to_string(mine), 1001), mine);
  EXPECT_EQ(found(std::to_string(mine), 1002), 0) << "a name of digits hides another's number";
  EXPECT_EQ(found(std::to_string(mine), 0, true), mine);
  EXPECT_EQ(found("99", 0, true), 0);
  EXPECT_EQ(found(std::string(400, '9'), 0, true), 0);
  EXPECT_EQ(found("1x", 1001), 0);
}

TEST_F(Naming, OthersByTheirUser) {
  const store::Id theirs = add("night", 1002);
  EXPECT_EQ(found("1002/night", 0, true), theirs);
  EXPECT_EQ(found("1002/night", 1001), 0);
  EXPECT_EQ(found("1002/night", 1002), theirs);
  EXPECT_EQ(found("nobody-of-that-name/night", 0, true), 0);
  EXPECT_EQ(found("/night", 0, true), 0);
  EXPECT_EQ(found("1002/", 0, true), 0);
}

TEST_F(Naming, WhatWaitsToBeDeletedIsGone) {
  const store::Id first = add("a", 1001), second = add("a", 1001);
  ASSERT_TRUE(store_.wish(second, store::Wish::kDelete, 5).ok());
  EXPECT_EQ(found("a", 1001), first);
  EXPECT_EQ(found(std::to_string(second), 1001), 0);
  EXPECT_EQ(found("", 1001), first);
}

}  // namespace
}  // namespace stab::engine
