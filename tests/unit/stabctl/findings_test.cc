// doctor's screen: what is wrong comes first and at length, what a machine doesn't have last and in one line.
#include "stabctl/machine/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace stab::ctl {
namespace {

// A plain virtual machine, in the order in which doctor looks.
std::vector<Finding> virtual_machine() {
  return {
      {"installation", "/opt/stab/libexec/stab/stab-launcher", "complete", "it measures", "build all of stab", Weight::kWell},
      {"cpus", "trials and everything else on cpu 0", "two cores", "helper and engine must not run on the trial's core",
       "use a machine with more cores", Weight::kWrong},
      {"counter cycles", "unavailable", "available", "counters say why", "no PMU", Weight::kAbsent},
      {"counter instructions", "unavailable", "available", "counters say why", "no PMU", Weight::kAbsent},
      {"cpuset", "on: anybody may run there", "off", "other programs stay off the trial's CPU",
       "[machine.knobs] cpuset = \"off\", or stabctl machine tune", Weight::kImprove},
      {"governor", "absent", "performance", "a clock that follows the load", "no such file", Weight::kAbsent},
      {"frequency", "absent", "base", "a fixed clock", "no such file", Weight::kAbsent},
      {"aslr", "2", "on", "addresses differ", "", Weight::kWell},
      {"swap", "60", "off", "a page read back from disk costs milliseconds", "[machine.knobs] swap = \"off\"", Weight::kImprove},
  };
}

TEST(Findings, WhatIsWrongComesFirst) {
  std::vector<Finding> findings = virtual_machine();
  sort_findings(findings);
  EXPECT_EQ(findings_text(findings),
            "1 thing is wrong; 2 settings would make trials quieter; 4 things this machine doesn't have\n"
            "\n"
            "Wrong: trials don't start, or are biased\n"
            "!! cpus                 trials and everything else on cpu 0\n"
            "      wanted: two cores, because helper and engine must not run on the trial's core\n"
            "      how: use a machine with more cores\n"
            "\n"
            "To improve: what can be changed here, for quieter trials\n"
            "!  cpuset               on: anybody may run there\n"
            "      wanted: off, because other programs stay off the trial's CPU\n"
            "      how: [machine.knobs] cpuset = \"off\", or stabctl machine tune\n"
            "!  swap                 60\n"
            "      wanted: off, because a page read back from disk costs milliseconds\n"
            "      how: [machine.knobs] swap = \"off\"\n"
            "\n"
            "Not in this machine, and nothing to do about it here ('--json' has each reason)\n"
            "   counter cycles, counter instructions, governor, frequency\n"
            "\n"
            "Well\n"
            "   installation         /opt/stab/libexec/stab/stab-launcher\n"
            "   aslr                 2\n");
}

TEST(Findings, NothingWrongIsSaid) {
  std::vector<Finding> findings = virtual_machine();
  findings[1].weight = Weight::kWell;
  sort_findings(findings);
  EXPECT_THAT(findings_text(findings), ::testing::StartsWith("nothing keeps trials from being run and compared; 2 settings"));
  EXPECT_THAT(findings_text(findings), ::testing::Not(::testing::HasSubstr("Wrong")));
}

TEST(Findings, AbsentNamesWrap) {
  std::vector<Finding> findings;
  for (int i = 0; i < 12; ++i) findings.push_back({"counter number " + std::to_string(i), "absent", "", "", "", Weight::kAbsent});
  std::istringstream lines(findings_text(findings));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Findings, JsonHasEveryReason) {
  std::vector<Finding> findings = virtual_machine();
  sort_findings(findings);
  const auto list = nlohmann::json::parse(findings_json(findings));
  ASSERT_EQ(list.size(), 9u);
  EXPECT_EQ(list[0]["what"], "cpus");
  EXPECT_EQ(list[0]["weight"], "wrong");
  EXPECT_EQ(list[0]["well"], false);
  EXPECT_EQ(list[3]["weight"], "absent");
  EXPECT_EQ(list[3]["cure"], "no PMU");
  EXPECT_EQ(list[8]["well"], true);
}

}  // namespace
}  // namespace stab::ctl
