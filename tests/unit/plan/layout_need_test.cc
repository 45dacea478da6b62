// Which plans need the helper, which ones anything of szc's, and what is said of them where there is none.
#include "plan/layout_need.h"

#include <gtest/gtest.h>

#include "base/architecture.h"
#include "plan/check.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

Plan plan_of(const std::string& experiment, const std::string& factors, const std::string& program) {
  return parsed("[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n" + experiment + "[factors]\n" + factors +
                "[[program]]\nname=\"p\"\n" + program);
}

TEST(LayoutNeed, OfPlainBuildsIsNone) {
  const Plan plan = plan_of("", "flags=[\"-O2\",\"-O3\"]\n", "build=\"make CFLAGS={flags}\"\nrun=[\"./p\"]\n");
  EXPECT_EQ(what_needs_layouts(plan), "");
  EXPECT_EQ(why_not_on_this_processor(plan), "");
}

TEST(LayoutNeed, NamesWhatNeedsTheHelper) {
  const std::string runs = "run=[\"./p\"]\n";
  EXPECT_EQ(what_needs_helper(plan_of("", "code=[\"off\",\"shuffle\"]\n", runs)), "factor 'code'");
  EXPECT_EQ(what_needs_helper(plan_of("", "heap=[\"off\",\"page\"]\n", runs)), "factor 'heap'");
  EXPECT_EQ(what_needs_helper(plan_of("response=\"region_time\"\n", "flags=[1,2]\n", runs)), "response 'region_time'");
}

TEST(LayoutNeed, NamesABuildBySzc) {
  const auto need = [](const std::string& build) {
    return what_needs_layouts(plan_of("", "flags=[1,2]\n", "build=\"" + build + " {flags}\"\nrun=[\"./p\"]\n"));
  };
  for (const char* build :
       {"szc -O2 p.c", "make CC=szc", "make CXX=/usr/bin/szc++", "FC=szflang make", "CC=/opt/szc-20 make", "CXX=szc++-20 make"})
    EXPECT_EQ(need(build), "the build of program 'p'") << build;
  for (const char* build : {"make pszc", "cc szc.c", "make szc_old", "make szc-old"}) EXPECT_EQ(need(build), "") << build;
}

// The same sentence for `stabctl plan check` and for a run, and only where it holds.
TEST(LayoutNeed, IsSaidOnOtherProcessors) {
  const Plan plan = plan_of("", "code=[\"off\",\"shuffle\"]\n", "run=[\"./p\"]\n");
  EXPECT_EQ(why_not_on_this_processor(plan),
            kHasLayouts ? ""
                        : "factor 'code' can't be had here: szc and the layout runtime are for x86-64 alone so far; "
                          "comparisons of plain builds work");
  const auto report = check_plan(plan);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(render(*report, plan).find(kNoLayouts) == std::string::npos, kHasLayouts);
}

}  // namespace
}  // namespace stab::plan
