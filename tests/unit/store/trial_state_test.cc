// Every pair of states against a list of those that may follow each other.
#include "store/trial_state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace stab::store {
namespace {

using S = TrialState;
constexpr S kAll[] = {S::kPlanned, S::kClaimed, S::kStarted, S::kExited,      S::kVerified, S::kRecorded,
                      S::kFailed,  S::kTimeout, S::kLost,    S::kQuarantined, S::kCancelled};

TEST(TrialState, EveryPairIsAsTheTableSays) {
  const std::set<S> ends = {S::kRecorded, S::kFailed, S::kTimeout, S::kLost};
  std::map<S, std::set<S>> table = {
      {S::kPlanned, {S::kClaimed, S::kQuarantined, S::kCancelled}},
      {S::kClaimed, ends},
      {S::kStarted, ends},
      {S::kExited, ends},
      {S::kVerified, ends},
  };
  table[S::kClaimed].insert(S::kStarted);
  table[S::kStarted].insert(S::kExited);
  table[S::kExited].insert(S::kVerified);
  for (S from : kAll)
    for (S to : kAll)
      EXPECT_EQ(may_follow(from, to), table[from].count(to) > 0) << name(from) << " -> " << name(to);
}

TEST(TrialState, FinalStatesHaveNoSuccessor) {
  for (S from : kAll) {
    bool any = false;
    for (S to : kAll) any = any || may_follow(from, to);
    EXPECT_EQ(any, !is_final(from)) << name(from);
  }
}

TEST(TrialState, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names;
  for (S state : kAll) {
    EXPECT_EQ(trial_state(name(state)), state);
    names.insert(name(state));
  }
  EXPECT_EQ(names.size(), std::size(kAll));
  EXPECT_FALSE(trial_state("done").has_value());
}

}  // namespace
}  // namespace stab::store
