// Where the pilot of a plan with the factor load says that tasks come in, and what it says where they don't.
#include "stabd/engine/experiment/pilot_arrivals.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

CausalRecord::Point point(const char* name, progress::Kind kind) { return {1, name, static_cast<uint32_t>(kind)}; }

TEST(LoadArrivals, AreArrivalPointsOrElseBegins) {
  const auto arrival = point("task", progress::Kind::kArrival), begin = point("task", progress::Kind::kBegin),
             progress = point("served", progress::Kind::kProgress);
  plan::Causal plan;
  EXPECT_EQ(arrivals_of(plan, {progress, begin, arrival}).why_not, "");
  EXPECT_FALSE(arrivals_of(plan, {progress, begin, arrival}).begins_arrive);
  EXPECT_EQ(arrivals_of(plan, {progress, begin}).why_not, "");
  EXPECT_TRUE(arrivals_of(plan, {progress, begin}).begins_arrive);
  plan.arrival = "task";
  EXPECT_EQ(arrivals_of(plan, {progress, begin, arrival}).why_not, "");
}

TEST(LoadArrivals, SayWhatWasVisitedInstead) {
  const auto begin = point("task", progress::Kind::kBegin), served = point("served", progress::Kind::kProgress);
  plan::Causal plan;
  EXPECT_NE(arrivals_of(plan, {served}).why_not.find("no arrival point, only 'served': write STAB_ARRIVAL"), std::string::npos);
  EXPECT_NE(arrivals_of(plan, {}).why_not.find("no arrival point: write"), std::string::npos);
  plan.arrival = "job";
  EXPECT_NE(arrivals_of(plan, {begin}).why_not.find("never visited the arrival point 'job', only 'task'"), std::string::npos);
}

}  // namespace
}  // namespace stab::engine
