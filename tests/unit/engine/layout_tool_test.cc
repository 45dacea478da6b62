#include "engine/results/layout_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::engine {
namespace {

TEST(LayoutTool, WhatHasNoEndIsEndedAndSaid) {
  const auto output = LayoutTool{"/usr/bin/yes"}.output({"/usr/bin/yes", "0\t64"}, Ran{}, "");
  ASSERT_FALSE(output.ok());
  EXPECT_THAT(output.error().message, testing::HasSubstr("more than 256 MiB; look at fewer functions with only = [...]"));
}

TEST(LayoutTool, WhatEndsWellIsReadWhole) {
  const auto output = LayoutTool{"/bin/echo"}.output({"/bin/echo", "0"}, Ran{}, "");
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(*output, "0\n");
}

}  // namespace
}  // namespace stab::engine
