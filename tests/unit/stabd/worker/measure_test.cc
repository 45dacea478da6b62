// What a directory takes, and that nothing hides in it unsaid.
#include "stabd/worker/measure.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/temporary_directory.h"

namespace stab::worker {
namespace {

TEST(Measure, BlocksAreCountedAndLinksNotFollowed) {
  const TemporaryDirectory directory;
  directory.write("outside", std::string(8 << 20, 'x'));
  directory.write("inside/deep/er/file", std::string(1 << 20, 'x'));
  const std::string sparse = directory.write("inside/sparse", "");
  ASSERT_EQ(::truncate(sparse.c_str(), off_t{1} << 40), 0);
  ASSERT_EQ(::symlink("../outside", (directory.path() + "/inside/link").c_str()), 0);
  ASSERT_EQ(::symlink("..", (directory.path() + "/inside/circle").c_str()), 0);
  const auto seen = measure(directory.path() + "/inside", 100);
  ASSERT_TRUE(seen.ok()) << seen.error().text();
  EXPECT_GE(seen->bytes, (uint64_t{1} << 20) - 4096);
  EXPECT_LT(seen->bytes, uint64_t{2} << 20);
  EXPECT_EQ(seen->files, 7u) << "itself, two directories, two files, two links";
  EXPECT_TRUE(seen->whole);
  EXPECT_FALSE(measure(directory.path() + "/inside/circle", 100).ok()) << "a link is no directory";
  EXPECT_EQ(measure(directory.path() + "/absent", 100).error().code, ErrorCode::kNotFound);
}

TEST(Measure, MoreFilesThanAllowedAreNotWhole) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 30; ++i) directory.write("d" + std::to_string(i % 3) + "/" + std::to_string(i), "text");
  const auto all = measure(directory.path(), 34);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->files, 34u);
  EXPECT_TRUE(all->whole);
  const auto some = measure(directory.path(), 20);
  ASSERT_TRUE(some.ok());
  EXPECT_FALSE(some->whole);
  EXPECT_EQ(some->files, 21u);
}

TEST(Measure, WhatItsOwnerMayNotLookIntoIsNotWhole) {
  if (::geteuid() == 0) GTEST_SKIP() << "root looks into everything";
  const TemporaryDirectory directory;
  directory.write("closed/file", "text");
  ASSERT_EQ(::chmod((directory.path() + "/closed").c_str(), 0), 0);
  const auto seen = measure(directory.path(), 100);
  ASSERT_TRUE(seen.ok());
  EXPECT_FALSE(seen->whole);
  ::chmod((directory.path() + "/closed").c_str(), 0700);
}

}  // namespace
}  // namespace stab::worker
