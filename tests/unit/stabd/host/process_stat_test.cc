#include "stabd/host/process_stat.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/temporary_directory.h"

namespace stab::host {
namespace {

struct FakeProcesses {
  TemporaryDirectory root;
  Roots roots{root.path()};

  std::optional<ProcessStat> of(const std::string& line) {
    root.write("7/stat", line);
    return read_process_stat(roots, 7);
  }
};

TEST(ProcessStat, FieldsOfALineWhoseNameHoldsAnything) {
  FakeProcesses fake;
  const auto stat = fake.of("7 (a) Z 9 (b) T 3 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 5 0 8077 1 1");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'T');
  EXPECT_EQ(stat->parent, 3);
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->start, 8077);
  EXPECT_TRUE(stat->is_stopped());
  EXPECT_FALSE(stat->has_ended());
}

TEST(ProcessStat, WhatALineLacksIsToldFromWhatItSays) {
  FakeProcesses fake;
  const auto stat = fake.of("7 (x) Z 3 7 7");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->start, -1);
  EXPECT_TRUE(stat->has_ended());
  EXPECT_FALSE(fake.of("7 (x) Z 3 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0")->has_ended());
  EXPECT_FALSE(fake.of("7 (x) S"));
  EXPECT_FALSE(fake.of("7 x S 3"));
  EXPECT_FALSE(fake.of(""));
  EXPECT_FALSE(read_process_stat(fake.roots, 8));
}

TEST(ProcessStat, OfThisProcess) {
  const auto stat = read_process_stat(Roots(), ::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GE(stat->threads, 1);
  EXPECT_GT(stat->start, 0);
}

}  // namespace
}  // namespace stab::host
