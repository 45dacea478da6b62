// A table of contradictions between what a cell asks for and what the helper reports: each would otherwise be analysed as
// if the treatment had been given. Then the reports themselves, broken ones too.
#include "stabd/engine/trial/dose.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/number_text.h"
#include "runtime/code_abi.h"
#include "runtime/modes.h"
#include "stabd/engine/trial/throughput.h"

namespace stab::engine {
namespace {

Dose full_dose() {
  Dose dose;
  dose.layouts_built = 5;
  dose.layouts_executed = 4;
  dose.functions = 100;
  dose.functions_moved = 90;
  dose.pads = 40;
  dose.refills = 5;
  dose.allocations = 1000;
  return dose;
}

Dose no_dose() {
  Dose dose;
  dose.functions = 100;
  return dose;
}

plan::Layout layout(abi::CodeMode code, abi::StackMode stack = abi::StackMode::kOff,
                    abi::HeapMode heap = abi::HeapMode::kOff) {
  plan::Layout made;
  made.code = code;
  made.stack = stack;
  made.heap = heap;
  return made;
}

using abi::CodeMode;
using abi::HeapMode;
using abi::StackMode;

TEST(Dose, EpochsAreCounted) {
  const auto dose =
      parse_dose(R"({"abi":2,"hello":true,"code":{"ticks_unentered":98},"helper":{"cpu_ns":1,"ticks":101,"ticks_late":3}})");
  ASSERT_TRUE(dose && *dose);
  EXPECT_EQ((*dose)->epochs, 101);
  EXPECT_EQ((*dose)->epochs_unentered, 98);
}

TEST(Dose, PointsAreReadWithTheirKinds) {
  const auto dose = parse_dose(
      R"({"abi":3,"hello":true,"settings":{"code":"off"},"progress":{"points":[{"name":"a","kind":"progress","visits":12},)"
      R"({"name":"b","kind":"end","visits":-1},{"visits":1e300,"name":7,"deep":{"name":"c"}},3,[{"name":"d"}]],)"
      R"("rows":1,"points_dropped":4},"other":{"points":[{"name":"e"}]},"degradations":["words"]})");
  ASSERT_TRUE(dose && *dose);
  ASSERT_EQ((*dose)->points.size(), 3u);
  EXPECT_EQ((*dose)->points[0].name, "a");
  EXPECT_EQ((*dose)->points[0].kind, "progress");
  EXPECT_EQ((*dose)->points[0].visits, 12);
  EXPECT_EQ((*dose)->points[1].visits, 0) << "a negative count is none";
  EXPECT_EQ((*dose)->points[2].name, "") << "a number is no name, and what lies deeper is nobody's";
  EXPECT_EQ((*dose)->points_dropped, 4);
  EXPECT_EQ((*dose)->code, "off");
  EXPECT_EQ((*dose)->degradations, std::vector<std::string>{"words"});
}

TEST(Dose, AScriptIsToHaveBeenFollowed) {
  const std::string script = "stab-script 1 any\ncount f\n";
  const auto of = [](const std::string& hash) {
    return *parse_dose(R"({"hello":true,"code":{"script":{"hash":")" + hash + R"(","placed":0,"counted":1}}})");
  };
  char hash[24];
  std::snprintf(hash, sizeof hash, "0x%lx", static_cast<unsigned long>(abi::hash64(script.data(), script.size())));
  EXPECT_EQ(of(hash)->script_hash, hash);
  EXPECT_EQ(script_contradiction(script, of(hash)), "");
  EXPECT_NE(script_contradiction(script, of("0x1")), "");
  EXPECT_NE(script_contradiction(script, *parse_dose(R"({"hello":true})")), "");
  EXPECT_NE(script_contradiction(script, {}), "");
  EXPECT_EQ(script_contradiction("", {}), "");
  // A library that never came.
  const std::string about_library = "stab-script 1 any\nplace libwork.so!hot mod 64 0\nplace f mod 64 0\n";
  const std::string its_hash = hex_text(abi::hash64(about_library.data(), about_library.size()));
  const auto placed = [&](const char* count) {
    return *parse_dose(R"({"hello":true,"code":{"script":{"hash":")" + its_hash + R"(","placed_in_libraries":)" + count + "}}}");
  };
  EXPECT_EQ(script_contradiction(about_library, placed("1")), "");
  EXPECT_NE(script_contradiction(about_library, placed("0")).find("places 1 functions of shared libraries, and 0 were placed"),
            std::string::npos);
}

TEST(Dose, NoMorePointsThanThereCanBe) {
  std::string text = R"({"progress":{"points":[)";
  for (int i = 0; i < 1000; ++i) text += R"({"name":"p","visits":1},)";
  const auto dose = parse_dose(text + R"({"name":"last"}]}})");
  ASSERT_TRUE(dose && *dose);
  EXPECT_EQ((*dose)->points.size(), 64u);
}

TEST(Throughput, IsVisitsByWallTime) {
  Dose dose;
  dose.points = {{"blocks", "begin", 5}, {"blocks", "progress", 300}, {"never", "progress", 0}};
  store::Outcome outcome;
  outcome.wall_ns = 2'000'000'000;
  outcome.user_ns = 400'000'000;
  outcome.system_ns = 200'000'000;
  EXPECT_EQ(points_missing({"progress:blocks", "progress_cpu:blocks"}, dose), "");
  add_throughputs({"progress:blocks", "progress_cpu:blocks"}, dose, outcome);
  ASSERT_EQ(outcome.responses.size(), 2u);
  EXPECT_EQ(outcome.responses[0].name, "progress:blocks");
  EXPECT_EQ(outcome.responses[0].value, 150.0);
  EXPECT_EQ(outcome.responses[0].raw, 300);
  EXPECT_EQ(outcome.responses[1].name, "progress_cpu:blocks");
  EXPECT_EQ(outcome.responses[1].value, 500.0);
}

TEST(Throughput, AMissingPointIsNoZero) {
  Dose dose;
  EXPECT_EQ(points_missing({}, std::nullopt), "");
  EXPECT_NE(points_missing({"progress:x"}, std::nullopt).find("built with this version of szc"), std::string::npos);
  EXPECT_NE(points_missing({"progress:x"}, dose).find("visited no point at all"), std::string::npos);
  dose.points = {{"blocks", "progress", 3}, {"x", "begin", 3}, {"never", "progress", 0}};
  EXPECT_EQ(points_missing({"progress:blocks", "progress:x"}, dose),
            "the response is progress:x, but the program never visited that point; it visited 'blocks', 'x' (begin), 'never'");
  EXPECT_NE(points_missing({"progress_cpu:never"}, dose), "");
}

TEST(Dose, WhatTheCellAsksForPasses) {
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kShuffle, StackMode::kOn, HeapMode::kPage), full_dose()), "");
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff), no_dose()), "");
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff), std::nullopt), "");
}

TEST(Dose, SomethingOnWithoutAnyDose) {
  for (const auto& on : {layout(CodeMode::kShuffle), layout(CodeMode::kCopy), layout(CodeMode::kOff, StackMode::kOn),
                         layout(CodeMode::kOff, StackMode::kOff, HeapMode::kBase)})
    EXPECT_NE(dose_contradiction(on, std::nullopt).find("built with this version of szc"), std::string::npos);
}

TEST(Dose, CodeOnButNothingMoved) {
  Dose dose = full_dose();
  dose.functions_moved = 0;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kShuffle), dose).find("no function was moved"), std::string::npos);
  dose = full_dose();
  dose.layouts_executed = 0;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOnce), dose).find("no layout was executed"), std::string::npos);
}

// What the runtime could not do is why a cell's wish was not met.
TEST(Dose, AContradictionHasItsCause) {
  Dose dose = full_dose();
  dose.functions_moved = 0;
  dose.degradations = {"no shared memory; raise the limit", "late"};
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kShuffle), dose),
            "not randomized as its cell wants: code is shuffle, but no function was moved; the runtime says: no shared memory; "
            "raise the limit; late");
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kShuffle, StackMode::kOn, HeapMode::kPage), full_dose()), "");
}

TEST(Dose, PadsOfAnotherRange) {
  plan::Layout wanted = layout(CodeMode::kOff, StackMode::kOn);
  wanted.stack_range_bytes = 256;
  Dose dose = no_dose();
  dose.pads = 40;
  dose.refills = 5;
  EXPECT_NE(dose_contradiction(wanted, dose).find("below 256 bytes, but the program ran with another range"), std::string::npos);
  dose.stack_range_bytes = 256;
  EXPECT_EQ(dose_contradiction(wanted, dose), "");
}

TEST(Dose, RegionTimeNeedsARegion) {
  EXPECT_NE(region_missing(full_dose()).find("stab_region_begin"), std::string::npos);
  EXPECT_NE(region_missing(std::nullopt).find("built with this version of szc"), std::string::npos);
  EXPECT_EQ(region_missing(*parse_dose(R"({"abi":1,"region":{"regions":2,"wall_ns":9,"cpu_ns":9,"layouts":0}})")), "");
}

TEST(Dose, OffButSomethingMoved) {
  Dose built = no_dose();
  built.layouts_built = 1;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff), built).find("code is off"), std::string::npos);
  Dose drawn = no_dose();
  drawn.refills = 2;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff), drawn).find("stack is off"), std::string::npos);
  Dose served = no_dose();
  served.allocations = 3;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff), served).find("heap is off"), std::string::npos);
}

TEST(Dose, StackAndHeapOnWithoutEffect) {
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kOn), no_dose()).find("no function has a pad"),
            std::string::npos);
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kOff, HeapMode::kShuffle), no_dose())
                .find("served no call"),
            std::string::npos);
}

TEST(Dose, PadsOfLibrariesAreAsGood) {
  Dose dose = no_dose();
  dose.library_pads = 12;
  dose.refills = 5;
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff, StackMode::kOn), dose), "");
  dose.library_pads_zeroed = 12;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kOn), dose).find("recursive"), std::string::npos);
  dose.pads = 1;
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff, StackMode::kOn), dose), "");
}

// It has none to randomize, which is a fault only where the plan asks what the heap does.
TEST(Dose, AProgramThatNeverAsksForMemory) {
  const auto never = parse_dose(R"({"hello":true,"heap":{"mallocs":0,"served_by":"stab"}})");
  const auto hidden = parse_dose(R"({"hello":true,"heap":{"mallocs":0,"served_by":"libc"}})");
  ASSERT_TRUE(never && *never && hidden && *hidden);
  plan::Layout page = layout(CodeMode::kOff, StackMode::kOff, HeapMode::kPage);
  EXPECT_NE(dose_contradiction(page, *never).find("served no call"), std::string::npos);
  page.heap_varies = false;
  EXPECT_EQ(dose_contradiction(page, *never), "");
  EXPECT_NE(dose_contradiction(page, *hidden).find("served no call"), std::string::npos);
}

TEST(Dose, AHeapThatSomebodyElseServed) {
  for (const auto& [server, words] : {std::pair{"program", "a malloc of the program's own served"},
                                      {"library", "a malloc of a library's served"}}) {
    const auto dose = parse_dose(std::string(R"({"hello":true,"heap":{"mallocs":3,"served_by":")") + server + R"("}})");
    ASSERT_TRUE(dose && *dose);
    EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kOff, HeapMode::kPage), *dose).find(words), std::string::npos);
  }
  const auto ours = parse_dose(R"({"hello":true,"heap":{"mallocs":3,"served_by":"stab"}})");
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff, StackMode::kOff, HeapMode::kPage), *ours), "");
}

TEST(Dose, AllPadsStayZero) {
  Dose dose = full_dose();
  dose.layouts_built = 0;
  dose.allocations = 0;
  dose.pads_zeroed = dose.pads;
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kOn), dose).find("its function is recursive or the program"),
            std::string::npos);
  EXPECT_NE(dose_contradiction(layout(CodeMode::kOff, StackMode::kRecursive), dose).find("stays 0, as the program may switch"),
            std::string::npos);
  dose.pads_zeroed = 0;
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff, StackMode::kRecursive), dose), "");
}

TEST(Dose, RanWithOtherSettings) {
  Dose dose = no_dose();
  dose.heap = "page";
  EXPECT_EQ(dose_contradiction(layout(CodeMode::kOff), dose),
            "not randomized as its cell wants: heap is off, but the program ran with page");
}

TEST(Dose, ParsesTheHelpersReport) {
  const auto dose = parse_dose(
      R"({"hello": true, "code": {"layouts_built": 7, "layouts_executed": 6, "functions": 30, "functions_moved": 29},
          "stack": {"slots": 12, "refills": 7, "library_slots": 3}, "heap": {"mallocs": 5, "mallocs_mmapped": 1},
          "helper": {"cpu_ns": 1234}, "degradations": ["ring full"]})");
  ASSERT_TRUE(dose.ok());
  ASSERT_TRUE(dose->has_value());
  EXPECT_EQ((*dose)->layouts_executed, 6);
  EXPECT_EQ((*dose)->functions_moved, 29);
  EXPECT_EQ((*dose)->pads, 12);
  EXPECT_EQ((*dose)->library_pads, 3);
  EXPECT_EQ((*dose)->allocations_mmapped, 1);
  EXPECT_EQ((*dose)->helper_cpu_ns, 1234);
  EXPECT_EQ((*dose)->degradations, std::vector<std::string>{"ring full"});
}

// A conversion of them would be undefined.
TEST(Dose, NumbersThatDontFitAreAsGoodAsAbsent) {
  const auto dose = parse_dose(
      R"({"hello": true, "code": {"layouts_built": 1e300, "functions": -1e300, "functions_moved": 1.5},
          "heap": {"mallocs": 18446744073709551615}, "helper": {"cpu_ns": 1234}})");
  ASSERT_TRUE(dose.ok());
  ASSERT_TRUE(dose->has_value());
  EXPECT_EQ((*dose)->layouts_built, 0);
  EXPECT_EQ((*dose)->functions, 0);
  EXPECT_EQ((*dose)->functions_moved, 0);
  EXPECT_EQ((*dose)->allocations, 0);
  EXPECT_EQ((*dose)->helper_cpu_ns, 1234);
}

// What a program writes over its counts: the sums that are taken of them stay numbers.
TEST(Dose, NumbersThatNothingCountsAreAsGoodAsAbsent) {
  const auto dose = parse_dose(
      R"({"code": {"functions": -9223372036854775808, "functions_moved": 9223372036854775807,
                   "not_moved": {"runtime": 9223372036854775807}}, "stack": {"slots": -1}})");
  ASSERT_TRUE(dose.ok());
  ASSERT_TRUE(dose->has_value());
  EXPECT_EQ((*dose)->functions, 0);
  EXPECT_EQ((*dose)->functions_moved, 0);
  EXPECT_EQ((*dose)->pads, 0);
}

TEST(Dose, NoHelloIsNoDose) {
  const auto dose = parse_dose(R"({"hello": false})");
  ASSERT_TRUE(dose.ok());
  EXPECT_FALSE(dose->has_value());
}

TEST(Dose, NotAReport) {
  for (const char* text : {"", "{", "[]", "7", "{\"code\":"}) EXPECT_FALSE(parse_dose(text).ok()) << text;
}

}  // namespace
}  // namespace stab::engine
