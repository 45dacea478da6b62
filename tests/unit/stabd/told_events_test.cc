// What clients that come late or come back are told.
#include "stabd/told_events.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

EngineEvent event_of(store::Id experiment) {
  return {experiment, "{\"experiment\":" + std::to_string(experiment) + "}", false, 7};
}

const ToldEvents::Wanted kAll = [](const EngineEvent&) { return true; };

TEST(ToldEvents, WhatCameSinceIsToldOnceAndInOrder) {
  ToldEvents events("1.2");
  for (const store::Id id : {1, 2, 3}) events.add(event_of(id));
  EXPECT_EQ(events.last(), 3U);
  const std::string since = events.lines_since(1, kAll);
  EXPECT_EQ(since, events.lines_since(1, [](const EngineEvent& one) { return one.experiment > 1; }));
  EXPECT_LT(since.find("\"experiment\":2"), since.find("\"experiment\":3"));
  EXPECT_EQ(since.find("\"experiment\":1"), std::string::npos);
  EXPECT_EQ(events.lines_since(3, kAll), "");
  EXPECT_EQ(events.lines_since(0, [](const EngineEvent& one) { return one.experiment == 9; }), "");
}

TEST(ToldEvents, NamesAreOfThisDaemonAlone) {
  const ToldEvents events("1.2");
  EXPECT_EQ(events.number_of(events.name(42)), 42U);
  for (const char* other : {"", "1.2", "1.2-", "1.2-x", "1.2-4x", "1.3-42", "1.2-99999999999999999999"})
    EXPECT_FALSE(events.number_of(other)) << other;
}

TEST(ToldEvents, ABrowserThatWasAwayTooLongLooksAnew) {
  ToldEvents events("1.2");
  EXPECT_NE(events.for_browser_since({}, kAll).find("event: anew"), std::string::npos);
  EXPECT_EQ(events.for_browser_since(0, kAll), "");
  for (store::Id id = 1; id <= 10'000; ++id) events.add(event_of(id));
  EXPECT_NE(events.for_browser_since(5, kAll).find("event: anew"), std::string::npos) << "forgotten";
  EXPECT_NE(events.for_browser_since(10'001, kAll).find("event: anew"), std::string::npos) << "not yet happened";
  EXPECT_EQ(events.for_browser_since(9'999, kAll).find("event: anew"), std::string::npos);
  EXPECT_NE(events.for_browser_since(9'999, kAll).find("id: 1.2-10000"), std::string::npos);
}

}  // namespace
}  // namespace stab::engine
