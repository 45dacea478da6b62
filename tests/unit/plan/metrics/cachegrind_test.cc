#include "plan/metrics/cachegrind.h"

#include <gmock/gmock.h>

#include <string>

namespace stab::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kCachegrindFile[] =
    "desc: I1 cache:         32768 B, 64 B, 8-way associative\n"
    "cmd: ./prog\n"
    "events: Ir I1mr Bim\n"
    "fl=/src/a.c\nfn=main\n3 10 1 0\n4 20 0 2\n"
    "summary: 30 1 18446744073709551615\n";

std::string refusal_of(const std::string& text) {
  const auto read = read_cachegrind(text);
  return read ? "read" : read.error().message;
}

TEST(Cachegrind, ReadsTheSummaryByEvent) {
  const auto read = read_cachegrind(kCachegrindFile);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, UnorderedElementsAre(Pair("Ir", 30u), Pair("I1mr", 1u), Pair("Bim", 18446744073709551615u)));
  EXPECT_TRUE(read_cachegrind("events: Ir\nsummary: 7")) << "without a newline at the end";
}

TEST(Cachegrind, RefusesWhatIsNoWholeFile) {
  EXPECT_THAT(refusal_of(""), HasSubstr("no line 'events:'"));
  EXPECT_THAT(refusal_of("events: Ir\nfn=main\n3 10\n"), HasSubstr("no line 'summary:'; the simulator has not come to its end"));
  EXPECT_THAT(refusal_of(std::string(kCachegrindFile) + "summary: 1 1 1\n"), HasSubstr("two lines 'summary:'"));
  EXPECT_THAT(refusal_of("events: Ir I1mr\nsummary: 30\n"), HasSubstr("names 2 events and sums up 1"));
  EXPECT_THAT(refusal_of("events:\nsummary:\n"), HasSubstr("names 0 events"));
  EXPECT_THAT(refusal_of("events: Ir Ir\nsummary: 1 2\n"), HasSubstr("event 2 has no name of its own"));
  EXPECT_THAT(refusal_of("events: I\x01r\nsummary: 1\n"), HasSubstr("event 1 has no name"));
  EXPECT_THAT(refusal_of("events: Ir\nsummary: 1.5\n"), HasSubstr("sum of event 1 is no number"));
  EXPECT_THAT(refusal_of("events: Ir\nsummary: -1\n"), HasSubstr("is no number"));
  EXPECT_THAT(refusal_of("events: Ir\nsummary: 18446744073709551616\n"), HasSubstr("is no number"));
  std::string many = "events:", sums = "summary:";
  for (int i = 0; i < 1000; ++i) many += " e" + std::to_string(i), sums += " 1";
  EXPECT_THAT(refusal_of(many + "\n" + sums + "\n"), HasSubstr("events and sums up"));
}

}  // namespace
}  // namespace stab::metrics
