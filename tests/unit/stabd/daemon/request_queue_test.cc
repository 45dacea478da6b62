// Users take turns, however much each of them asks; and how long the loop was held is counted in buckets.
#include "stabd/daemon/requests/request_queue.h"

#include <gtest/gtest.h>
#include <time.h>

#include <thread>
#include <vector>

#include "stabd/daemon/requests/latency.h"

namespace stab::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

WaitingRequest of(uid_t uid, uint64_t client, const std::string& line = "x") { return {client, {uid, 0, {}}, line}; }

std::string taken(RequestQueue& queue, Lane lane) {
  const auto request = queue.take(lane);
  return request ? std::to_string(request->peer.uid) + ":" + std::to_string(request->client) : "none";
}

TEST(RequestQueue, UsersTakeTurns) {
  RequestQueue queue;
  for (uint64_t client = 1; client <= 5; ++client) queue.add(Lane::kWork, of(1, client));
  queue.add(Lane::kWork, of(2, 6));
  queue.add(Lane::kWork, of(3, 7));
  EXPECT_EQ(taken(queue, Lane::kWork), "1:1");
  EXPECT_EQ(taken(queue, Lane::kWork), "2:6");
  queue.done(Lane::kWork, 1);
  EXPECT_EQ(taken(queue, Lane::kWork), "3:7");
  EXPECT_EQ(taken(queue, Lane::kWork), "1:2");
}

TEST(RequestQueue, AUserHasOneUnderWay) {
  RequestQueue queue;
  queue.add(Lane::kWork, of(1, 1));
  queue.add(Lane::kWork, of(1, 2));
  EXPECT_EQ(taken(queue, Lane::kWork), "1:1");
  EXPECT_EQ(taken(queue, Lane::kWork), "none");
  queue.add(Lane::kWork, of(2, 3));
  EXPECT_EQ(taken(queue, Lane::kWork), "2:3");
  queue.done(Lane::kWork, 1);
  EXPECT_EQ(taken(queue, Lane::kWork), "1:2");
  EXPECT_EQ(taken(queue, Lane::kWork), "none");
}

TEST(RequestQueue, LanesDoNotWaitForEachOther) {
  RequestQueue queue;
  queue.add(Lane::kWork, of(1, 1));
  queue.add(Lane::kLook, of(1, 2));
  EXPECT_EQ(taken(queue, Lane::kWork), "1:1");
  EXPECT_EQ(taken(queue, Lane::kLook), "1:2");
  EXPECT_EQ(taken(queue, Lane::kChange), "none");
}

TEST(RequestQueue, WhoIsGoneIsForgotten) {
  RequestQueue queue;
  queue.add(Lane::kWork, of(1, 1));
  queue.add(Lane::kWork, of(1, 2));
  queue.add(Lane::kWork, of(2, 3));
  EXPECT_EQ(taken(queue, Lane::kWork), "1:1");
  queue.forget(2);
  queue.forget(3);
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(taken(queue, Lane::kWork), "none");
  queue.done(Lane::kWork, 1);
  EXPECT_EQ(taken(queue, Lane::kWork), "none");
  queue.add(Lane::kWork, of(1, 4));
  EXPECT_EQ(taken(queue, Lane::kWork), "1:4");
}

TEST(Latency, CountsInBuckets) {
  Latency latency;
  for (int i = 0; i < 990; ++i) latency.add(Callback::kRead, microseconds(3), microseconds(1));
  for (int i = 0; i < 10; ++i) latency.add(Callback::kWake, milliseconds(5), microseconds(7));
  const LatencyFacts facts = latency.held();
  EXPECT_EQ(facts.callbacks, 1000u);
  EXPECT_EQ(facts.log2_us[2], 990u);   // 2 us to 4 us
  EXPECT_EQ(facts.log2_us[13], 10u);   // 4.1 ms to 8.2 ms
  EXPECT_EQ(facts.max_ns, 5'000'000);
  EXPECT_EQ(facts.longest, Callback::kWake);
  EXPECT_EQ(facts.p99_ns, 4000);
  EXPECT_EQ(latency.worked().max_ns, 7000);
  EXPECT_EQ(latency.worked().p99_ns, 2000);
  latency.add(Callback::kTick, milliseconds(5), microseconds(8));
  EXPECT_EQ(latency.held().p99_ns, 5'000'000);
  EXPECT_EQ(latency.held().longest, Callback::kWake);  // the first that took so long
  EXPECT_EQ(latency.worked().longest, Callback::kTick);
}

// A callback that waits has held the loop, and has not worked.
TEST(Latency, TellsWaitingFromWorking) {
  Latency latency;
  {
    const Latency::Held held(latency, Callback::kSweep);
    std::this_thread::sleep_for(milliseconds(30));
  }
  EXPECT_GE(latency.held().max_ns, 30'000'000);
  EXPECT_LT(latency.worked().max_ns, 15'000'000);
  EXPECT_EQ(latency.held().longest, Callback::kSweep);
  {
    const Latency::Held held(latency, Callback::kTick);
    timespec begin{}, now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec < 20'000'000);
  }
  EXPECT_GE(latency.worked().max_ns, 20'000'000);
  EXPECT_EQ(latency.worked().longest, Callback::kTick);
}

}  // namespace
}  // namespace stab::daemon
