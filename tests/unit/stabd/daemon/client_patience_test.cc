#include "stabd/daemon/protocol/client_patience.h"

#include <gtest/gtest.h>

#include "stabd/daemon/protocol/connection_places.h"

namespace stab::daemon {
namespace {

using std::chrono::seconds;

const ClientState::Time kStart{seconds(1000)};

ClientState at_start() {
  ClientState client;
  client.connected = client.line_began = client.quiet_since = kStart;
  return client;
}

TEST(ClientPatience, OfLinesEndsWithTheFirstRequest) {
  ClientState client = at_start();
  EXPECT_EQ(due_of_lines(client, false, kStart + seconds(10)), Due::kNothing);
  EXPECT_EQ(due_of_lines(client, false, kStart + seconds(11)), Due::kEndOfSilent);
  client.asked = true;
  EXPECT_EQ(due_of_lines(client, false, kStart + seconds(100'000)), Due::kNothing) << "whoever watches may be silent";
  EXPECT_EQ(due_of_lines(client, true, kStart + seconds(30)), Due::kNothing);
  EXPECT_EQ(due_of_lines(client, true, kStart + seconds(31)), Due::kEndOfEndless);
}

TEST(ClientPatience, OfABrowserIsLongerOnceItHasAsked) {
  ClientState client = at_start();
  EXPECT_EQ(due_of_http(client, false, false, kStart + seconds(11)), Due::kEnd);
  EXPECT_EQ(due_of_http(client, false, true, kStart + seconds(11)), Due::kEndOfEndless);
  client.asked = true;
  EXPECT_EQ(due_of_http(client, false, false, kStart + seconds(60)), Due::kNothing);
  EXPECT_EQ(due_of_http(client, false, false, kStart + seconds(61)), Due::kEnd);
  EXPECT_EQ(due_of_http(client, false, true, kStart + seconds(30)), Due::kNothing);
  EXPECT_EQ(due_of_http(client, false, true, kStart + seconds(31)), Due::kEndOfEndless);
  client.under_way = true;
  EXPECT_EQ(due_of_http(client, false, true, kStart + seconds(100'000)), Due::kNothing) << "we are to answer";
}

TEST(ClientPatience, TellsWhoFollowsThatWeLive) {
  ClientState client = at_start();
  client.asked = true;
  EXPECT_EQ(due_of_http(client, true, false, kStart + seconds(24)), Due::kNothing);
  EXPECT_EQ(due_of_http(client, true, false, kStart + seconds(25)), Due::kSignOfLife);
  client.ending = true;
  EXPECT_EQ(due_of_http(client, true, false, kStart + seconds(11)), Due::kEnd);
}

TEST(ConnectionPlaces, TheLastOnesAreForThoseWhoCanHelp) {
  Connections limits;
  limits.all = Connections::kReserved + 2;
  limits.of_user = 100;
  ConnectionPlaces places;
  for (uid_t uid = 1; uid <= 2; ++uid) {
    EXPECT_EQ(places.why_none(uid, false, limits), nullptr);
    places.take(uid);
  }
  EXPECT_STREQ(places.why_none(3, false, limits), "too many clients");
  for (int i = 0; i < Connections::kReserved; ++i) {
    EXPECT_EQ(places.why_none(0, true, limits), nullptr);
    places.take(0);
  }
  EXPECT_STREQ(places.why_none(0, true, limits), "too many clients");
  places.give_back(0);
  EXPECT_EQ(places.why_none(0, true, limits), nullptr);
}

TEST(ConnectionPlaces, AUserHasSoManyAndNoMore) {
  Connections limits;
  limits.of_user = 2;
  ConnectionPlaces places;
  places.take(7);
  places.take(7);
  EXPECT_STREQ(places.why_none(7, true, limits), "too many clients of this user");
  EXPECT_EQ(places.why_none(8, false, limits), nullptr);
  places.give_back(7);
  EXPECT_EQ(places.why_none(7, false, limits), nullptr);
}

}  // namespace
}  // namespace stab::daemon
