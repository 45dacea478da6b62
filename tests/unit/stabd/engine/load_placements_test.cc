// How a script names the functions whose calls a pilot counts, and what of an experiment is no material for a map.
#include "stabd/engine/results/load_placements.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/parse.h"
#include "plan/plan.h"
#include "store/sqlite.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

std::string named(const std::string& name, size_t same = 1) {
  layout_report::PlacementData::Function function;
  function.name = name;
  function.linked = 0x401130;
  return name_in_script(function, same);
}

TEST(LoadPlacements, AScriptNamesFunctionsSoThatItIsNotRefused) {
  EXPECT_EQ(named("luaV_execute"), "luaV_execute");
  EXPECT_EQ(named("helper", 2), "0x401130") << "a name that is two functions' names none";
  EXPECT_EQ(named(std::string(102, 'n')), std::string(102, 'n'));
  EXPECT_EQ(named(std::string(103, 'n')), "0x401130") << "a template's name is longer than a point's";
  EXPECT_EQ(named("fn_401130"), "0x401130") << "a stripped program has no such name";
  EXPECT_EQ(named("fn_401140"), "fn_401140");
  EXPECT_EQ(named("gr??e"), "0x401130") << "stab-layout has printed '?' for other bytes";
  EXPECT_EQ(named("so!what"), "0x401130") << "in a script that is a function of a library 'so'";
}

// Records of epochs of 1 ms: every second one has the image of the one before, and all have pads of their own.
EpochSeries series_of(uint32_t epochs, uint8_t flags) {
  EpochSeries out;
  out.points = {"block"};
  for (uint32_t i = 0; i <= epochs; ++i) {
    helper::EpochRecord record{};
    record.start_ns = record.cpu_ns = i * 1'000'000;
    record.visits[0] = i * (100 + i % 3);
    record.epoch = i + 1;
    record.image = i / 2;
    record.refill = i;
    record.flags = i == epochs ? helper::kEpochEnd : i % 2 == 1 ? flags : uint8_t{0};
    out.records.push_back(record);
  }
  return out;
}

TEST(LoadPlacements, WhatIsSoOfTwoBuildsIsSaidOnce) {
  EXPECT_EQ(reasons_of({{"parse", "it waits"}, {"parse", "it waits"}, {"sort", "it is gone"}}), "it waits; it is gone");
}

TEST(LoadPlacements, AnImageThatNobodyEnteredIsOneEpochWithTheNext) {
  EXPECT_NE(steadiest_point(series_of(100, helper::kEpochUnentered)).figures.find("of 50 epochs"), std::string::npos)
      << steadiest_point(series_of(100, helper::kEpochUnentered)).figures;
  // Where there was no slot functions were called, with pads of their own.
  EXPECT_NE(steadiest_point(series_of(100, helper::kEpochHeld)).figures.find("of 100 epochs"), std::string::npos);
}

TEST(LoadPlacements, ATrialOfAWorkloadThatThePlanDoesNotMakeIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/lab.db";
  const plan::Parsed parsed = plan::parse_plan(
      "[experiment]\nname = \"strange\"\nreplicates = 2\npreflight = false\n[factors]\ncode = [\"shuffle\"]\n"
      "[[program]]\nname = \"p\"\nrun = [\"/bin/true\"]\n",
      "plan.toml");
  ASSERT_TRUE(parsed.plan) << toml::render(parsed.errors);
  auto store = store::Store::open(path, store::Store::Access::kWrite);
  ASSERT_TRUE(store.ok()) << store.error().text();
  const auto id = record_experiment(*store, *parsed.plan, [](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
    outcome.state = store::TrialState::kVerified;
    outcome.wall_ns = 1'000'000;
  });
  ASSERT_TRUE(id.ok()) << id.error().text();
  const auto why = [&] {
    return load_placements(*store, *store->experiment(*id), *parsed.plan, plan::subjects(*parsed.plan), {}, {},
                           Archive(directory.path()))
        .error();
  };
  EXPECT_EQ(why().code, ErrorCode::kBadInput) << why().message;
  auto by_hand = store::Database::open(path, store::Database::Mode::kCreate, nullptr);
  ASSERT_TRUE(by_hand.ok() && by_hand->execute("UPDATE trials SET subject = 7 WHERE position = 1").ok());
  EXPECT_EQ(why().code, ErrorCode::kCorrupt);
  EXPECT_NE(why().message.find("is of a workload that the plan doesn't make"), std::string::npos) << why().message;
}

}  // namespace
}  // namespace stab::engine
