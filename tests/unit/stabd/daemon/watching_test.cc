// Which events a client is told of, and what one has missed.
#include "stabd/daemon/events/watching.h"

#include <gtest/gtest.h>

namespace stab::daemon {
namespace {

EngineEvent event_of(store::Id experiment, int64_t uid, std::string json = "{}") {
  return {experiment, std::move(json), false, uid};
}

Watching browser_of(int64_t uid) {
  Watching browser;
  browser.is_browser = true;
  browser.follows = Following{uid, false};
  return browser;
}

TEST(Watching, ShowsOnesOwnAndWhatOneWatches) {
  Watching nobody, watcher, follower, operator_;
  watcher.watches = 7;
  follower.follows = Following{1000, false};
  operator_.follows = Following{1001, true};
  EXPECT_FALSE(nobody.sees(event_of(7, 1000)));
  EXPECT_TRUE(watcher.sees(event_of(7, 1000)));
  EXPECT_FALSE(watcher.sees(event_of(8, 1000)));
  EXPECT_TRUE(follower.sees(event_of(8, 1000)));
  EXPECT_FALSE(follower.sees(event_of(8, 1001)));
  EXPECT_TRUE(operator_.sees(event_of(8, 1000)));
}

TEST(Watching, WhatWasMissedComesOnceAndInItsForm) {
  EventHistory history("1.2");
  history.add(event_of(7, 1000, "{\"n\":1}"));
  history.add(event_of(8, 1001, "{\"n\":2}"));
  history.add(event_of(7, 1000, "{\"n\":3}"));
  Watching watcher;
  watcher.watches = 7;
  EXPECT_EQ(watcher.missed(history, 1), "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"n\":3}}\n");
  EXPECT_EQ(watcher.missed(history, 3), "");
  const std::string text = browser_of(1000).missed(history, 0).value_or("");
  EXPECT_NE(text.find("\"n\":1}"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"n\":2}"), std::string::npos) << "another user's";
  EXPECT_NE(text.find("1.2-3"), std::string::npos) << "it says later what it has seen by this name";
}

TEST(Watching, WhatWasMissedSaysHowLongAgoItWas) {
  EventHistory history("1.2");
  const std::chrono::steady_clock::time_point now;
  history.add(event_of(7, 1000, "{\"n\":1}"), now - std::chrono::hours(2));
  history.add(event_of(7, 1000), now - std::chrono::milliseconds(15));
  const std::string text = browser_of(1000).missed(history, 0, now).value_or("");
  EXPECT_NE(text.find("data: {\"ago_ms\":7200000,\"n\":1}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("data: {\"ago_ms\":15}\n"), std::string::npos) << text;
}

// A line client can't be told that it has missed something; a browser looks at everything anew.
TEST(Watching, WhoHasMissedMoreThanIsKeptIsTold) {
  EventHistory history("1.2");
  for (size_t i = 0; i < EventHistory::kMostEvents + 10; ++i) history.add(event_of(7, 1000));
  Watching watcher;
  watcher.watches = 7;
  EXPECT_FALSE(watcher.missed(history, 1).has_value());
  const std::string anew = browser_of(1000).missed(history, 1).value_or("");
  EXPECT_NE(anew.find("anew"), std::string::npos) << anew;
}

// Nor is anybody sent more than is kept for one who does not read.
TEST(Watching, WhoHasMissedTooManyBytesIsTold) {
  EventHistory history("1.2");
  for (int i = 0; i < 6; ++i) history.add(event_of(7, 1000, std::string(kMostUnreadBytes / 4, 'x')));
  Watching watcher;
  watcher.watches = 7;
  EXPECT_FALSE(watcher.missed(history, 0).has_value());
  EXPECT_TRUE(watcher.missed(history, 4).has_value());
}

TEST(Watching, OnlyABrowserThatFollowsIsBehind) {
  EventHistory history("1.2");
  Watching browser = browser_of(1000), line;
  line.follows = Following{1000, false};
  EXPECT_FALSE(browser.is_behind(history));
  history.add(event_of(7, 1000));
  EXPECT_TRUE(browser.is_behind(history));
  EXPECT_FALSE(line.is_behind(history));
  browser.told = 1;
  EXPECT_FALSE(browser.is_behind(history));
}

}  // namespace
}  // namespace stab::daemon
