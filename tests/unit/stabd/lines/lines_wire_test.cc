// The wire between the lab and stab-lines: what is written is read, and nothing else is.
#include "stabd/lines/wire/lines_wire.h"

#include <gtest/gtest.h>

namespace stab::lines {
namespace {

Request request() {
  Request out;
  out.scope = {"src/%"};
  out.modules = {{"/bin/a", "00ff"}, {"/lib/b.so", ""}};
  out.places = {{0, 0x1180}, {1, 0x20}};
  out.wanted = {{"a.c", 9, ""}};
  return out;
}

Answer answer() {
  Answer out;
  out.modules = {{0, "", "00ff", "", 100}, {1, "no debug information", "", "", 0}};
  out.regions = {{"/s/a.c", 9, "spin"}};
  out.found = {0, kNoRegion};
  out.ranges = {{{{0, 0x1180, 0x1183}, {0, 0x1193, 0x1195}}}};
  return out;
}

TEST(LinesWire, GoesBothWays) {
  const auto read = decode_request(encode(request()));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encode(*read), encode(request()));
  const auto answered = decode_answer(encode(answer()), request());
  ASSERT_TRUE(answered.ok()) << answered.error().message;
  EXPECT_EQ(answered->regions[0].function, "spin");
  EXPECT_EQ(answered->ranges[0].ranges[1].begin, 0x1193u);
}

TEST(LinesWire, RefusesEveryCutAndWhatIsBehind) {
  const std::string asked = encode(request()), said = encode(answer());
  for (size_t size = 0; size < asked.size(); ++size) EXPECT_FALSE(decode_request(asked.substr(0, size)).ok());
  for (size_t size = 0; size < said.size(); ++size) EXPECT_FALSE(decode_answer(said.substr(0, size), request()).ok());
  EXPECT_FALSE(decode_request(asked + "x").ok());
  EXPECT_FALSE(decode_answer(said + "x", request()).ok());
}

TEST(LinesWire, RefusesRequestsBeyondTheirBounds) {
  const auto refused = [](auto change) {
    Request asked = request();
    change(asked);
    return !decode_request(encode(asked)).ok();
  };
  EXPECT_TRUE(refused([](Request& asked) { asked.version = 2; }));
  EXPECT_TRUE(refused([](Request& asked) { asked.unit = 2; }));
  EXPECT_TRUE(refused([](Request& asked) { asked.attribution = 2; }));
  EXPECT_TRUE(refused([](Request& asked) { asked.places[0].module = 2; }));
  EXPECT_TRUE(refused([](Request& asked) { asked.scope.assign(kMostPatterns + 1, "%"); }));
  EXPECT_TRUE(refused([](Request& asked) { asked.modules[0].path.assign(kMostTextBytes + 1, '/'); }));
}

// stab-lines reads a submitter's binary with a large library: its answer is a stranger's.
TEST(LinesWire, RefusesAnswersToSomethingElseAndThoseThatContradictThemselves) {
  const auto refused = [](auto change) {
    Answer said = answer();
    change(said);
    return !decode_answer(encode(said), request()).ok();
  };
  EXPECT_TRUE(refused([](Answer& said) { said.version = 2; }));
  EXPECT_TRUE(refused([](Answer& said) { said.modules.pop_back(); }));
  EXPECT_TRUE(refused([](Answer& said) { said.found.push_back(0); }));
  EXPECT_TRUE(refused([](Answer& said) { said.found[0] = 1; }));
  EXPECT_TRUE(refused([](Answer& said) { said.ranges.clear(); }));
  EXPECT_TRUE(refused([](Answer& said) { said.ranges[0].ranges[0].module = 2; }));
  EXPECT_TRUE(refused([](Answer& said) { said.ranges[0].ranges[0].end = 0x1180; }));
  EXPECT_TRUE(refused([](Answer& said) { std::swap(said.ranges[0].ranges[0], said.ranges[0].ranges[1]); }));
  EXPECT_TRUE(refused([](Answer& said) { said.ranges[0].ranges[1].begin = 0x1182; }));  // overlap
  EXPECT_TRUE(refused([](Answer& said) { said.modules[1].why.clear(); }));
  EXPECT_TRUE(refused([](Answer& said) { said.modules[0].reading = 9; }));
}

TEST(LinesWire, GivesAFailureAsAnError) {
  Answer said;
  said.failure = "too many regions";
  const auto read = decode_answer(encode(said), request());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "too many regions");
  EXPECT_EQ(read.error().code, ErrorCode::kBadInput);
}

}  // namespace
}  // namespace stab::lines
