// What `plan check` tells a person before hours are spent: counts, aliases, what the linker's luck will do.
#include "plan/check.h"

#include <gmock/gmock.h>

#include "base/architecture.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Check, CountsWhatWouldRun) {
  const Plan plan = parsed(
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=30\n[factors]\ncode=[\"off\",\"shuffle\"]\nlink={seeds=10}\n"
      "[[program]]\nname=\"p\"\nbuild=\"b\"\nrun=[\"./p\"]\ntimeout=\"2s\"\nwarmup=1\n");
  const Result<CheckReport> report = check_plan(plan, 500ms);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->trials, 60u);
  EXPECT_EQ(report->preflight_trials, 2u);
  EXPECT_EQ(report->warmup_trials, 1u);
  EXPECT_EQ(report->builds, 11u);
  EXPECT_EQ(*report->estimated, 31500ms);
  EXPECT_EQ(report->at_most, 126s);
  const std::string in_turn =
      "hint: blocks run in turn, and wall time is compared; if each program keeps one CPU busy, blocks = \"sliced\" below "
      "[experiment], without response, compares CPU time and is as sharp as 'stabctl compare' and 'stabctl gate'; "
      "blocks = \"in turn\" keeps what this plan does\n";
  const std::string note = kHasLayouts ? "" : "note: factor 'code' can't be had here: " + std::string(kNoLayouts) + "\n";
  EXPECT_EQ(render(*report, plan),
            "experiment t, seed 1\n"
            "responses: wall_time (log); margin 1%, alpha 5%\n"
            "stops: after all replicates\n"
            "a trial may use: the lab's limit of memory, the lab's limit of processes\n"
            "\n"
            "1 workload: p\n"
            "2 cells:\n"
            "  cell  code     link\n"
            "  1     off      1..10\n"
            "  2     shuffle  -\n"
            "aliases: none, full crossing\n" +
                in_turn + note +
            "\n"
            "11 builds, 60 trials = 30 blocks x 1 workload x 2 cells\n"
            "besides: 2 preflight trials, 1 warm-up trial\n"
            "estimated 32 s, without builds\n"
            "it would take 2 min if each trial ran into its timeout\n");
}

// Ten minutes a trial, which nobody has asked for, are no news of a plan of seconds.
TEST(Check, SaysHowLongItTakesAndNotWhenTheDefaultTimeoutWouldEndIt) {
  const Plan plan = parsed(
      "[experiment]\nname = \"t\"\nseed = 1\nreplicates = 20\n[factors]\na = [1, 2]\n[[program]]\nname = \"p\"\n"
      "run = [\"p\", \"{a}\"]\n");
  EXPECT_THAT(
      render(*check_plan(plan), plan),
      ::testing::EndsWith("\nat 1 s a trial it takes 42 s, without builds; --seconds-per-trial says what a trial takes\n"));
  EXPECT_THAT(render(*check_plan(plan, 50ms), plan), ::testing::EndsWith("\nestimated 2 s, without builds\n"));
}

TEST(Check, ShowsAliasesOfAFraction) {
  const Plan plan = parsed(small_plan("[factors]\na=[1,2]\nb=[1,2]\nc=[1,2]\nfraction=\"1/2\""));
  const std::string text = render(*check_plan(plan), plan);
  EXPECT_THAT(text, HasSubstr("fraction: resolution 3, I = a:b:c\naliases:\n  a = b:c\n  b = a:c\n  c = a:b\n"));
}

TEST(Check, SaysWhereTheLinkersLuckIsNotVaried) {
  const std::string none = small_plan("[factors]\ncode=[\"off\",\"copy\",\"shuffle\"]");
  EXPECT_THAT(render(*check_plan(parsed(none)), parsed(none)),
              HasSubstr("note: 2 cells see the one code layout that the linker made; add link = { seeds = 10 }"));
  const auto said_of = [](const std::string& text) { return render(*check_plan(parsed(text)), parsed(text)); };
  EXPECT_THAT(said_of(none), ::testing::Not(HasSubstr("no answer")));
  const std::string plain = "[factors]\nopt=[\"-O2\",\"-O3\"]";
  EXPECT_THAT(said_of(small_plan(plain)),
              HasSubstr("note: there will be no answer: 2 cells see the one code layout that the linker made, so a difference "
                        "may be link-order bias; write link = { seeds = 10 } below [factors] to vary it, or about = \"binaries\" "
                        "below [experiment] to compare builds as they are linked\n"));
  EXPECT_THAT(said_of(small_plan("about = \"binaries\"\n" + plain)),
              HasSubstr("differences are those of the builds as they are linked, where their code lies included\n"));
  EXPECT_THAT(said_of(small_plan("[factors]\nopt=[\"-O2\",\"-O3\"]\ncode=[\"off\",\"shuffle\"]")),
              ::testing::Not(HasSubstr("no answer")));
  EXPECT_THAT(said_of(small_plan("[factors]\nopt=[\"-O2\"]")), ::testing::Not(HasSubstr("no answer")));
  EXPECT_THAT(said_of(small_plan("[factors]\nbinary=[\"a\",\"b\"]")), ::testing::Not(HasSubstr("no answer")));
  const std::string moved = small_plan("[factors]\ncode=[\"shuffle\"]");
  EXPECT_THAT(render(*check_plan(parsed(moved)), parsed(moved)), ::testing::Not(HasSubstr("seeds = 10")));
}

// Where the plan leaves open how its blocks run, and slices can run them.
TEST(Check, NamesTheKeyThatCompareAndGateChoose) {
  const auto text_of = [](const std::string& experiment, const std::string& run, const std::string& more) {
    const Plan plan = parsed("[experiment]\nname=\"t\"\nseed=1\nreplicates=30\n" + experiment +
                             "[factors]\na=[1,2]\n[[program]]\nname=\"p\"\nbuild=\"b\"\nrun=[" + run + "]\n" + more);
    return render(*check_plan(plan), plan);
  };
  const auto hints = HasSubstr("blocks = \"sliced\" below [experiment]");
  EXPECT_THAT(text_of("", "\"./p\", \"{a}\"", ""), hints);
  EXPECT_THAT(text_of("response=\"wall_time\"\n", "\"./p\", \"{a}\"", ""), hints);
  EXPECT_THAT(text_of("blocks=\"in turn\"\n", "\"./p\", \"{a}\"", ""), ::testing::Not(hints));
  EXPECT_THAT(text_of("blocks=\"sliced\"\n", "\"./p\", \"{a}\"", ""), ::testing::Not(hints));
  EXPECT_THAT(text_of("response=[\"wall_time\",\"max_rss\"]\n", "\"./p\", \"{a}\"", ""), ::testing::Not(hints));
  // What slices refuse.
  EXPECT_THAT(text_of("order=\"random\"\n", "\"./p\", \"{a}\"", ""), ::testing::Not(hints));
  EXPECT_THAT(text_of("", "\"./p\", \"{a}\"", "metrics={file=\"o\",format=\"csv\"}\n"), ::testing::Not(hints));
  const Plan lone = parsed(small_plan("[factors]\ncode=[\"shuffle\"]"));
  EXPECT_THAT(render(*check_plan(lone), lone), ::testing::Not(hints));
}

// Both have one layout in a block, and the calls at one address lead elsewhere in each.
TEST(Check, SaysThatDirectNextToOnceIsSlowedByIt) {
  const auto text_of = [](const std::string& levels, const std::string& more) {
    const Plan plan = parsed("[experiment]\nname=\"t\"\nseed=1\nreplicates=30\nblocks=\"sliced\"\n" + more +
                             "[factors]\ncode=[" + levels + "]\n[[program]]\nname=\"p\"\nbuild=\"b\"\nrun=[\"./p\"]\n");
    return render(*check_plan(plan), plan);
  };
  const std::string matched = "layouts=\"matched\"\n";
  EXPECT_THAT(text_of("\"off\",\"once\",\"direct\"", matched),
              HasSubstr("note: code = \"direct\" next to a level of the same layout"));
  EXPECT_THAT(text_of("\"off\",\"direct\"", matched), ::testing::Not(HasSubstr("slows calls")));
  EXPECT_THAT(text_of("\"off\",\"once\",\"direct\"", "layouts=\"independent\"\n"), ::testing::Not(HasSubstr("slows calls")));
}

TEST(Check, CutsAnEndlessMatrix) {
  const Plan plan = parsed(small_plan("[factors]\na=[1,2,3,4]\nb=[1,2,3,4]"));
  EXPECT_THAT(render(*check_plan(plan), plan, 10), HasSubstr("  ... and 6 more cells\n"));
}

TEST(Check, DurationsReadAsPeopleSayThem) {
  EXPECT_EQ(duration_text(120ms), "120 ms");
  EXPECT_EQ(duration_text(35s), "35 s");
  EXPECT_EQ(duration_text(20min), "20 min");
  EXPECT_EQ(duration_text(200min), "3 h 20 min");
  EXPECT_EQ(duration_text(2h), "2 h");
  EXPECT_EQ(duration_text(73h), "3 d 1 h");
}

}  // namespace
}  // namespace stab::plan
