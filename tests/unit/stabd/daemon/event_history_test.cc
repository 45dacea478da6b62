#include "stabd/daemon/events/event_history.h"

#include <gtest/gtest.h>

#include <vector>

namespace stab::daemon {
namespace {

EngineEvent event_of(size_t bytes) { return {1, std::string(bytes, 'x'), false, 0}; }

std::vector<uint64_t> numbers_since(const EventHistory& history, uint64_t number) {
  std::vector<uint64_t> numbers;
  history.look_since(number, [&](const NumberedEvent& one) { numbers.push_back(one.number); });
  return numbers;
}

TEST(EventHistory, TellsWhatCameAfterANumber) {
  EventHistory history("1.2");
  EXPECT_TRUE(history.remembers_since(0));
  EXPECT_FALSE(history.remembers_since(1)) << "of another daemon";
  for (int i = 0; i < 5; ++i) history.add(event_of(10));
  EXPECT_EQ(history.newest(), 5u);
  EXPECT_EQ(numbers_since(history, 3), (std::vector<uint64_t>{4, 5}));
  EXPECT_TRUE(history.remembers_since(5));
  EXPECT_TRUE(history.remembers_since(0));
  EXPECT_FALSE(history.remembers_since(6));
}

TEST(EventHistory, IsBoundedInNumber) {
  EventHistory history("1.2");
  for (size_t i = 0; i < EventHistory::kMostEvents + 100; ++i) history.add(event_of(1));
  EXPECT_EQ(history.size(), EventHistory::kMostEvents);
  EXPECT_FALSE(history.remembers_since(99));
  EXPECT_TRUE(history.remembers_since(100));
}

// A name in a plan may be as long as a plan, and is in each event of its trials.
TEST(EventHistory, IsBoundedInBytes) {
  EventHistory history("1.2");
  const size_t large = EventHistory::kMostBytes / 4;
  for (int i = 0; i < 100; ++i) history.add(event_of(large));
  EXPECT_EQ(history.size(), 4u);
  EXPECT_EQ(numbers_since(history, 0), (std::vector<uint64_t>{97, 98, 99, 100}));
  EXPECT_FALSE(history.remembers_since(95));
  history.add(event_of(2 * EventHistory::kMostBytes));
  EXPECT_EQ(numbers_since(history, 0), (std::vector<uint64_t>{101})) << "the newest is always there";
  for (int i = 0; i < 10; ++i) history.add(event_of(1));
  EXPECT_EQ(history.size(), 10u) << "the bytes of those that are forgotten are, too";
}

TEST(EventHistory, KnowsItsOwnNamesAlone) {
  const EventHistory history("1.2");
  EXPECT_EQ(history.number_of(history.name(17)), 17u);
  for (const char* name : {"", "1.2", "1.2-", "1.3-4", "1.2-4x", "1.2--4", "1.2-99999999999999999999"})
    EXPECT_EQ(history.number_of(name), std::nullopt) << name;
}

}  // namespace
}  // namespace stab::daemon
