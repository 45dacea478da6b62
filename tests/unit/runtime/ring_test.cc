#include "runtime/code/ring.h"

#include <gtest/gtest.h>

#include <vector>

namespace stab::code {
namespace {

SlotSet bit(int slot) { return SlotSet{1} << slot; }

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override { ledger_.bind(rows_.data()); }
  void list(std::vector<int> threads) {
    ledger_.begin_round();
    for (int thread : threads) ASSERT_NE(ledger_.list(1, thread), nullptr);
    ledger_.end_round();
  }
  ThreadLedger::Row& row(int thread) {
    for (uint32_t i = 0; i < ledger_.size(); ++i)
      if (ledger_.row(i).thread == thread) return ledger_.row(i);
    return *ledger_.list(1, thread);
  }

  std::vector<ThreadLedger::Row> rows_{ThreadLedger::kMaxThreads};
  ThreadLedger ledger_;
};

TEST(Ring, GrowsToItsLimit) {
  Ring ring(3);
  EXPECT_EQ(ring.free_slot(), -1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ring.may_grow());
    EXPECT_EQ(ring.grow(), i);
    EXPECT_TRUE(ring.invariant());
    ring.publish(i);
    EXPECT_TRUE(ring.invariant());
  }
  EXPECT_FALSE(ring.may_grow());
  EXPECT_EQ(ring.free_slot(), -1);
  EXPECT_EQ(ring.newest(), 2);
  EXPECT_EQ(ring.retired(), bit(0) | bit(1));
}

TEST(Ring, ReleasedSlotsAreReusedAndTheNewestNeverIs) {
  Ring ring(64);
  for (int i = 0; i < 64; ++i) ring.publish(ring.grow());
  ring.release(bit(5) | bit(62));
  EXPECT_TRUE(ring.invariant());
  EXPECT_EQ(ring.free_slot(), 5);
  ring.publish(5);
  EXPECT_EQ(ring.free_slot(), 62);
  EXPECT_EQ(ring.retired() & bit(5), 0u);
  EXPECT_NE(ring.retired() & bit(63), 0u);
  EXPECT_TRUE(ring.invariant());
}

TEST_F(LedgerTest, ASlotIsFreeOnlyWhenEveryThreadIsOutOfIt) {
  list({1, 2});
  ThreadLedger::saw(row(1), bit(0) | bit(1), bit(1));
  EXPECT_EQ(ledger_.out_of_all(), 0u);
  ThreadLedger::saw(row(2), bit(0) | bit(1), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
  ThreadLedger::saw(row(1), bit(1), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0) | bit(1));
}

TEST_F(LedgerTest, NothingIsKnownOfSlotsThatWereNotRetiredWhenSeen) {
  list({1});
  ThreadLedger::saw(row(1), bit(0), 0);
  EXPECT_EQ(ledger_.out_of_all() & bit(1), 0u);
}

TEST_F(LedgerTest, TheNumberOfAThreadThatIsGoneMayBeUsedAgain) {
  list({1, 2});
  ThreadLedger::saw_gone(row(1));
  ThreadLedger::saw(row(2), bit(0), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
  list({1, 2});
  EXPECT_EQ(ledger_.size(), 2u);
  EXPECT_EQ(ledger_.out_of_all(), 0u);
}

TEST_F(LedgerTest, AReusedSlotIsForgotten) {
  list({1});
  ThreadLedger::saw(row(1), bit(0) | bit(1), 0);
  ledger_.forget(bit(0));
  EXPECT_EQ(ledger_.out_of_all(), bit(1));
}

TEST_F(LedgerTest, NewThreadsAreUnknownAndEndedOnesAreDropped) {
  list({1});
  ThreadLedger::saw(row(1), bit(0), 0);
  list({1, 2});
  EXPECT_EQ(ledger_.out_of_all(), 0u);
  list({1});
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
  EXPECT_EQ(ledger_.size(), 1u);
}

TEST_F(LedgerTest, ALookAtARunningStackNeedsASecondThatAgrees) {
  list({1});
  ThreadLedger::saw_running(row(1), bit(0) | bit(1), bit(1));
  EXPECT_EQ(ledger_.out_of_all(), 0u);
  ThreadLedger::saw_running(row(1), bit(0) | bit(1), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
  ThreadLedger::saw_running(row(1), bit(1), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0) | bit(1));
}

TEST_F(LedgerTest, TooManyThreadsIsSaid) {
  ledger_.begin_round();
  for (uint32_t i = 0; i < ThreadLedger::kMaxThreads; ++i) ASSERT_NE(ledger_.list(1, static_cast<int>(i) + 1), nullptr);
  EXPECT_EQ(ledger_.list(1, 999'999), nullptr);
}

TEST_F(LedgerTest, WhatIsDoubtedIsToBeSeenAgain) {
  list({1, 2});
  ThreadLedger::saw(row(1), bit(0), 0);
  ThreadLedger::saw(row(2), bit(0), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
  ledger_.doubt();
  EXPECT_EQ(ledger_.out_of_all(), 0u);
  // Two looks at a running stack still make one: the first is not forgotten.
  ThreadLedger::saw_running(row(1), bit(0), 0);
  ledger_.doubt();
  ThreadLedger::saw_running(row(1), bit(0), 0);
  ThreadLedger::saw(row(2), bit(0), 0);
  EXPECT_EQ(ledger_.out_of_all(), bit(0));
}

TEST(CleanRounds, ASlotIsLeftAfterSoManyInARow) {
  CleanRounds rounds;
  for (int i = 1; i < CleanRounds::kNeeded; ++i) EXPECT_EQ(rounds.count(bit(0) | bit(1), 0), 0u);
  // Of slot 1 nothing was learnt in this round.
  EXPECT_EQ(rounds.count(bit(0), 0), bit(0));
  EXPECT_EQ(rounds.count(bit(1), 0), bit(1));
}

TEST(CleanRounds, WhatIsInUseFirstIsNoProof) {
  CleanRounds rounds;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rounds.count(bit(2), bit(2)), 0u);
  for (int i = 1; i < CleanRounds::kNeeded; ++i) EXPECT_EQ(rounds.count(bit(2), 0), 0u);
  EXPECT_EQ(rounds.count(bit(2), 0), bit(2));
  EXPECT_EQ(rounds.came_back(), 0u);
  rounds.forget(bit(2));
  for (int i = 1; i < CleanRounds::kNeeded; ++i) EXPECT_EQ(rounds.count(bit(2), 0), 0u);
  EXPECT_EQ(rounds.count(bit(2), 0), bit(2));
}

TEST(CleanRounds, WhatComesBackIsKept) {
  CleanRounds rounds;
  const SlotSet three = bit(3) | bit(4) | bit(5);
  for (int slot = 3; slot <= 5; ++slot) {
    EXPECT_FALSE(rounds.proves_switches());
    EXPECT_EQ(rounds.count(bit(slot), 0), 0u);
    EXPECT_EQ(rounds.count(0, bit(slot)), 0u);
  }
  EXPECT_EQ(rounds.came_back(), three);
  EXPECT_TRUE(rounds.proves_switches());
  for (int i = 0; i < 300; ++i) EXPECT_EQ(rounds.count(three, 0), 0u);
}

}  // namespace
}  // namespace stab::code
