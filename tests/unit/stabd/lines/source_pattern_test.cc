#include "stabd/lines/wire/source_pattern.h"

#include <gtest/gtest.h>

namespace stab::lines {
namespace {

TEST(SourcePattern, MeansTheEndOfAPathFromAnyDirectoryOn) {
  EXPECT_TRUE(matches_source("src/%", "/build/project/src/a.c"));
  EXPECT_TRUE(matches_source("a.c", "/build/project/src/a.c"));
  EXPECT_TRUE(matches_source("a.c", "a.c"));
  EXPECT_FALSE(matches_source("a.c", "/build/project/src/aa.c"));
  EXPECT_FALSE(matches_source("rc/%", "/build/project/src/a.c"));
  EXPECT_FALSE(matches_source("src/%", "/build/project/lib/a.c"));
  EXPECT_FALSE(matches_source("", "/a.c"));
}

TEST(SourcePattern, FromTheRootMeansTheWholePath) {
  EXPECT_TRUE(matches_source("/build/%/a.c", "/build/project/src/a.c"));
  EXPECT_FALSE(matches_source("/project/src/a.c", "/build/project/src/a.c"));
  EXPECT_TRUE(matches_source("/%a%b%c", "/xaxbxbxc"));
  EXPECT_FALSE(matches_source("/%a%b%c", "/xbxaxc"));
}

TEST(SourcePattern, TakesTimeByPatternTimesPath) {
  std::string pattern, path = "/";
  for (int i = 0; i < 500; ++i) pattern += "%a";
  EXPECT_FALSE(matches_source("/" + pattern + "b", path + std::string(4000, 'a')));
}

TEST(SourcePattern, LeavesTheSystemsHeadersToTheirCallers) {
  EXPECT_TRUE(in_scope({"%"}, "/home/me/a.cc"));
  EXPECT_FALSE(in_scope({"%"}, "/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_TRUE(in_scope({"/usr/include/%"}, "/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_FALSE(in_scope({"stl_vector.h"}, "/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_FALSE(in_scope({}, "/home/me/a.cc"));
}

}  // namespace
}  // namespace stab::lines
