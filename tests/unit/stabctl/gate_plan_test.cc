// The ways in which TOML lets somebody write [gate]: each gives the same plan, on the lines of the file.
#include "stabctl/revisions/gate_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/parse.h"

namespace stab::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = R"([[program]]
name = "parser"
source = { git = ".", revision = "{revision}" }
build = ["make", "parser"]
run = ["./parser"]
)";

GatePlan gate_of(const std::string& text) {
  return gate_plan(text, "stab-gate.toml", std::string(40, 'a'), std::string(40, 'b'));
}

plan::Plan plan_of(const std::string& text) {
  const GatePlan gate = gate_of(text);
  EXPECT_EQ(toml::render(gate.faults), "") << text;
  plan::Parsed parsed = plan::parse_plan(gate.text, "stab-gate.toml", {});
  EXPECT_TRUE(parsed.plan) << toml::render(parsed.errors) << gate.text;
  return parsed.plan ? *std::move(parsed.plan) : plan::Plan();
}

TEST(GatePlan, IsFoundHoweverItIsWritten) {
  const std::string program = kProgram;
  const std::string more = "[limits]\nmemory = \"1GiB\"\n";
  for (const std::string& text :
       {"[gate]\nmargin = \"3%\"\nlooks = [5, 9]\n" + program,
        program + "[gate]\nmargin = \"3%\"\nlooks = [5, 9]\n",
        program + "\n [ \"gate\" ]  # what matters\nmargin = \"3%\"\nlooks = [\n 5,\n 9,\n]\n[machine]\ncpus = \"auto\"\n",
        "['gate']\nmargin = '3%'\nlooks = [5, 9]\n" + program,
        "gate = { margin = \"3%\", looks = [5, 9] }\n" + program,
        "gate = { margin = \"3%\", looks = [\n5,\n9 ] }\n" + program,
        "\"gate\" = { margin = \"3%\", looks = [5, 9] }\n" + program,
        "gate.margin = \"3%\"\ngate.looks = [5, 9]\n" + program,
        "\xef\xbb\xbf[gate]\nmargin = \"3%\"\nlooks = [5, 9]\n" + program,
        "\xef\xbb\xbf" + program + "[gate]\nmargin = \"3%\"\nlooks = [5, 9]",
        "[gate]\r\nmargin = \"3%\"\r\nlooks = [5, 9]\r\n" + program,
        "[gate]\nmargin = \"\"\"\n3%\"\"\"\nlooks = [5, 9]\n" + program}) {
    const plan::Plan plan = plan_of(text);
    EXPECT_EQ(plan.experiment.margin, 0.03) << text;
    EXPECT_EQ(plan.experiment.replicates, 9) << text;
    ASSERT_EQ(plan.programs.size(), 1u) << text;
    EXPECT_EQ(plan.programs[0].name, "parser");
  }
  EXPECT_EQ(plan_of("[gate]\n" + program + "[[program.workload]]\nname = \"a\"\nrun = [\"./parser\", \"a\"]\n")
                .programs[0]
                .workloads.size(),
            1u);
}

TEST(GatePlan, SlicedBlocksJudgeCpuTime) {
  const std::string program = kProgram;
  const plan::Plan plan = plan_of("[gate]\nblocks = \"sliced\"\n" + program);
  EXPECT_EQ(plan.experiment.blocks, plan::BlockMode::kSliced);
  EXPECT_EQ(plan.experiment.responses[0].name, "cpu_time");
  EXPECT_EQ(plan_of("[gate]\nblocks = \"in turn\"\n" + program).experiment.responses[0].name, "wall_time");
  EXPECT_EQ(plan_of("[gate]\n" + program).experiment.blocks, plan::BlockMode::kInTurn);
  const GatePlan wall = gate_of("[gate]\nblocks = \"sliced\"\nresponse = \"wall_time\"\n" + program);
  EXPECT_THAT(toml::render(plan::parse_plan(wall.text, "stab-gate.toml", {}).errors), HasSubstr("use cpu_time"));
}

// What only looks like its header is somebody else's.
TEST(GatePlan, LeavesOthersLinesAlone) {
  const plan::Plan plan = plan_of(
      "[gate]\nmargin = \"3%\"\n[[program]]\nname = \"p\"\nsource = { git = \".\", revision = \"{revision}\" }\n"
      "run = [\"./p\", \"\"\"\n[gate]\nmargin = 9\n\"\"\"]\n");
  ASSERT_EQ(plan.programs.size(), 1u);
  EXPECT_THAT(plan.programs[0].workloads[0].run.argv[1], HasSubstr("[gate]"));
}

TEST(GatePlan, FaultsHaveThePlacesOfTheFile) {
  const GatePlan gate = gate_of("gate = { margin = \"3%\" }\n\n[[program]]\nname = \"p\"\nrum = [\"{revision}\"]\n");
  ASSERT_TRUE(gate.faults.empty()) << toml::render(gate.faults);
  const plan::Parsed parsed = plan::parse_plan(gate.text, "stab-gate.toml", {});
  EXPECT_FALSE(parsed.plan);
  EXPECT_THAT(toml::render(parsed.errors), HasSubstr("stab-gate.toml:5:1"));
  EXPECT_THAT(toml::render(gate_of("gate = 3\n" + std::string(kProgram)).faults), HasSubstr("gate"));
  EXPECT_THAT(toml::render(gate_of("[gate]\nmarginn = 1\n" + std::string(kProgram)).faults), HasSubstr("did you mean 'margin'"));
}

TEST(GatePlan, NamesALogbookAndAStream) {
  const GatePlan none = gate_of(std::string("[gate]\n") + kProgram);
  EXPECT_EQ(none.sessions.logbook, "");
  EXPECT_FALSE(none.sessions.stream);
  const GatePlan named =
      gate_of(std::string("[gate]\nlogbook = \"nights/gates.logbook\"\nstream = { name = \"pull-requests\" }\n") + kProgram);
  EXPECT_EQ(toml::render(named.faults), "");
  EXPECT_EQ(named.sessions.logbook, "nights/gates.logbook");
  ASSERT_TRUE(named.sessions.stream);
  EXPECT_EQ(named.sessions.stream->name, "pull-requests");
  EXPECT_EQ(named.sessions.stream->rate, 0.05);
  EXPECT_EQ(named.sessions.stream->tests, 500);
  const GatePlan all = gate_of(std::string("[gate]\n") + kProgram + "[gate.stream]\nname = \"a\"\nfdr = \"1%\"\ntests = 10\n");
  ASSERT_TRUE(all.sessions.stream) << toml::render(all.faults);
  EXPECT_EQ(all.sessions.stream->rate, 0.01);
  EXPECT_EQ(all.sessions.stream->tests, 10);
  EXPECT_EQ(all.text.find("stream"), std::string::npos);
}

TEST(GatePlan, AStreamNeedsANameAndKnownKeys) {
  const auto faults = [](const std::string& stream) {
    return toml::render(gate_of("[gate]\nstream = " + stream + "\n" + kProgram).faults);
  };
  EXPECT_THAT(faults("{ fdr = 0.05 }"), HasSubstr("a stream has a name"));
  EXPECT_THAT(faults("{ name = \"\" }"), HasSubstr("a stream has a name"));
  EXPECT_THAT(faults("{ name = \"a\", fdr = 0.9 }"), HasSubstr("fdr"));
  EXPECT_THAT(faults("{ name = \"a\", tests = 0 }"), HasSubstr("tests"));
  EXPECT_THAT(faults("{ name = \"a\", rate = 0.1 }"), HasSubstr("rate"));
  EXPECT_THAT(faults("\"pull-requests\""), HasSubstr("stream"));
}

TEST(GatePlan, MayBeAboutBinariesAsTheyAreLinked) {
  const plan::Plan plan = plan_of(std::string("[gate]\nabout = \"binaries\"\nheap = \"off\"\n") + kProgram);
  EXPECT_EQ(plan.experiment.about, plan::About::kBinaries);
  for (const plan::Factor& factor : plan.factors)
    EXPECT_TRUE(factor.name == "revision" || factor.levels[0].name == "off") << factor.name;
  EXPECT_FALSE(gate_of(std::string("[gate]\nabout = \"binaries\"\n") + kProgram).moves_code);
  EXPECT_EQ(plan_of(std::string("[gate]\nabout = \"programs\"\n") + kProgram).experiment.about, plan::About::kPrograms);
  for (const char* more : {"code = \"shuffle\"", "epoch = \"20ms\"", "links = 10", "stack = \"on\""})
    EXPECT_THAT(toml::render(gate_of("[gate]\nabout = \"binaries\"\n" + std::string(more) + "\n" + kProgram).faults),
                HasSubstr("other keys draw layouts"))
        << more;
}

TEST(GatePlan, AsksAboutPlacesByOneOfThreeRules) {
  const auto with = [](const std::string& line) { return gate_of("[gate]\n" + line + "\n" + kProgram); };
  EXPECT_FALSE(with("").place);
  EXPECT_EQ(with("place = \"pass\"").place, commands::PlaceRule::kPass);
  EXPECT_EQ(with("place = \"unsure\"").place, commands::PlaceRule::kUnsure);
  EXPECT_EQ(with("place = \"fail\"").place, commands::PlaceRule::kFail);
  EXPECT_THAT(toml::render(with("place = \"fails\"").faults), HasSubstr("did you mean 'fail'"));
  EXPECT_THAT(toml::render(with("place = true").faults), HasSubstr("place"));
}

// A comparison of a search ends where the search says. A gate that may end after each block does so here, too.
TEST(GatePlan, AComparisonOfASearchHasItsOwnLooks) {
  const auto of_search = [](const std::string& keys, uint32_t blocks, bool slice) {
    return gate_plan("[gate]\n" + keys + kProgram, "stab-gate.toml", std::string(40, 'a'), std::string(40, 'b'),
                     {.blocks = blocks, .slice = slice})
        .text;
  };
  const std::string decides = of_search("looks = [10, 20, 40]\n", 0, true);
  EXPECT_THAT(decides, HasSubstr("replicates = 1280\n"));
  EXPECT_THAT(decides, HasSubstr("looks = [10, 20, 40, 80, 160, 320, 640, 1280]\n"));
  EXPECT_THAT(decides, HasSubstr("spending = \"pocock\"\n"));
  EXPECT_THAT(decides, HasSubstr("alone = \"0%\"\n"));
  EXPECT_THAT(of_search("", 0, false), HasSubstr("looks = [10, 20, 40, 80, 160, 320, 640, 1280]\n"));
  EXPECT_THAT(of_search("looks = [20, 2000]\n", 0, false), HasSubstr("looks = [20, 2000]\n"));
  EXPECT_THAT(of_search("", 80, false), HasSubstr("looks = [20, 40, 80]\n"));
  const std::string short_one = of_search("", 12, false);
  EXPECT_THAT(short_one, HasSubstr("replicates = 12\n"));
  EXPECT_THAT(short_one, Not(HasSubstr("[stopping]")));
  EXPECT_THAT(of_search("max = 60\n", 12, false), HasSubstr("rule = \"sequence\"\nmax = 60\n"));
}

// A control looks at its end alone: what ended early had seen little.
TEST(GatePlan, AControlHasNoLooks) {
  for (const std::string rule : {"looks = [5, 9]", "max = 9\nfirst = 4"}) {
    const GatePlan gate = gate_plan("[gate]\n" + rule + "\n" + kProgram, "stab-gate.toml", std::string(40, 'a'),
                                    std::string(40, 'a'), {.control = true});
    EXPECT_EQ(toml::render(gate.faults), "");
    EXPECT_THAT(gate.text, Not(HasSubstr("[stopping]")));
    EXPECT_THAT(gate.text, HasSubstr("replicates = 9\n"));
  }
}

}  // namespace
}  // namespace stab::ctl
