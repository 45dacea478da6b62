// Both directions of what watchers are told, and that docs/reference/protocol.md shows events that stabctl can read.
#include "stabd/daemon/events/watch_events.h"
#include "tests/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include <nlohmann/json.hpp>

namespace stab::daemon {
namespace {

using ::testing::HasSubstr;

WatchEvent through_the_wire(const WatchEvent& event) {
  const std::string line = to_json(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = watch_event(line);
  EXPECT_TRUE(read && *read) << line;
  EXPECT_EQ(to_json(**read), line);
  return **read;
}

TEST(WatchEvents, TextsComeBack) {
  EXPECT_EQ(std::get<PhaseNews>(through_the_wire({3, PhaseNews{"building \"lua\"\n"}}).what).text, "building \"lua\"\n");
  EXPECT_EQ(std::get<NoteNews>(through_the_wire({0, NoteNews{"a note"}}).what).text, "a note");
  EXPECT_EQ(through_the_wire({77, NoteNews{""}}).experiment, 77);
  EXPECT_EQ(to_json({1, NoteNews{"\xff"}}), "{\"experiment\":1,\"kind\":\"note\",\"text\":\"\xEF\xBF\xBD\"}") << "no UTF-8";
}

TEST(WatchEvents, EveryEndComesBack) {
  std::set<std::string_view> names;
  for (const ExperimentEnd how : {ExperimentEnd::kDone, ExperimentEnd::kFailed, ExperimentEnd::kCancelled, ExperimentEnd::kPaused,
                                  ExperimentEnd::kStopped, ExperimentEnd::kUnsettled}) {
    const EndNews read = std::get<EndNews>(through_the_wire({5, EndNews{how, "why"}}).what);
    EXPECT_EQ(read.how, how);
    EXPECT_EQ(read.text, "why");
    names.insert(name(how));
    // What the store calls over is what watchers call over.
    const auto state = store::experiment_state(name(how));
    if (!state) continue;
    EXPECT_EQ(is_over(how), is_over(*state)) << name(how);
  }
  EXPECT_EQ(names.size(), 6u);
}

TEST(WatchEvents, NewsOfATrialComeBack) {
  engine::TrialNews news;
  news.kind = store::TrialKind::kPreflight;
  news.state = store::TrialState::kTimeout;
  news.subject = "lua/fib";
  news.cell = "code=shuffle";
  news.failure = "still running at its timeout, killed";
  news.done = 17;
  news.planned = 240;
  for (const bool with : {false, true}) {
    if (with) {
      news.wall_ns = 512'000'000;
      news.layout = plan::TrialLayout{.id = uint64_t{1} << 32 | 19, .shared = true, .fixed_code = true};
    }
    const ToldTrial told = std::get<ToldTrial>(through_the_wire({3, ToldTrial{news, {}, {}}}).what);
    const engine::TrialNews& read = told.news;
    EXPECT_EQ(read.kind, news.kind);
    EXPECT_EQ(read.state, news.state);
    EXPECT_EQ(read.subject, news.subject);
    EXPECT_EQ(read.cell, news.cell);
    EXPECT_EQ(read.failure, news.failure);
    EXPECT_EQ(read.done, 17);
    EXPECT_EQ(read.planned, 240);
    EXPECT_EQ(read.wall_ns, news.wall_ns);
    EXPECT_EQ(told.for_precision().wall_ns, news.wall_ns);
    EXPECT_FALSE(told.relative_log_s || told.left_ns);
    ASSERT_EQ(read.layout.has_value(), with);
    if (!with) continue;
    EXPECT_EQ(read.layout->id, news.layout->id);
    EXPECT_TRUE(read.layout->shared && read.layout->fixed_code);
  }
}

TEST(WatchEvents, MaskedNewsComeBack) {
  engine::TrialNews news;
  news.cell = "cell 3fa92c01";
  const ToldTrial read = std::get<ToldTrial>(through_the_wire({3, ToldTrial{news, 0.5, 267'600'000'000}}).what);
  EXPECT_EQ(read.news.cell, "cell 3fa92c01");
  EXPECT_EQ(read.news.wall_ns, std::nullopt);
  EXPECT_EQ(read.relative_log_s, 0.5);
  EXPECT_EQ(read.left_ns, 267'600'000'000);
  EXPECT_EQ(read.for_precision().wall_ns, 1'648'721'271);  // exp(0.5) s
}

TEST(WatchEvents, ChangesComeBack) {
  EXPECT_EQ(std::get<ChangeNews>(through_the_wire({3, ChangeNews{"pause"}}).what).text, "pause");
}

TEST(WatchEvents, WhatATrialHasDoneComesBack) {
  const engine::ProgressNews told{"p", {{"block", 1u << 31}, {"x", 0}}};
  const engine::ProgressNews read = std::get<engine::ProgressNews>(through_the_wire({3, told}).what);
  EXPECT_EQ(read.subject, "p");
  EXPECT_EQ(read.points, told.points);
}

TEST(WatchEvents, OtherKindsArePassedOver) {
  const auto read = watch_event(R"({"experiment":3,"kind":"weather","text":"fine"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->has_value());
}

TEST(WatchEvents, WhatIsDamagedIsRefused) {
  for (const char* line :
       {"", "{", "[]", "3", R"({"kind":"note","text":"x"})", R"({"experiment":3,"kind":"note"})",
        R"({"experiment":"3","kind":"note","text":"x"})", R"({"experiment":3,"kind":"end","state":"over","text":""})",
        R"({"experiment":3,"kind":"trial","trial_kind":"main","state":"good","subject":"","cell":"","done":1,"planned":2})",
        R"({"experiment":3,"kind":"trial","trial_kind":"main","state":"recorded","subject":"","cell":"","done":1})"}) {
    const auto read = watch_event(line);
    ASSERT_FALSE(read) << line;
    EXPECT_THAT(read.error().message, HasSubstr("the daemon's event can't be read")) << line;
  }
}

TEST(WatchEvents, CellsComeBack) {
  engine::Precision precision;
  for (int i = 1; i <= 6; ++i) {
    precision.add("p", "code=off", 1'000'000'000 + 1'000'000 * i, {.id = 1, .shared = true, .fixed_code = true});
    precision.add("p", "code=shuffle", 1'000'000'000 + 2'000'000 * i,
                  {.id = static_cast<uint64_t>(i), .shared = false, .fixed_code = false});
    precision.add("q", "code=off", 1'000'000'000 + 3'000'000 * i,
                  {.id = static_cast<uint64_t>(1 + i % 3), .shared = true, .fixed_code = true});
  }
  const auto read = precision_in(cells_json(precision));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(cells_json(*read), cells_json(precision));
  ASSERT_EQ(read->cells().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->cells()[i].units().n, precision.cells()[i].units().n);
    EXPECT_EQ(read->cells()[i].half_width(), precision.cells()[i].half_width());
  }
  EXPECT_TRUE(read->cells()[0].half_width()) << "repeats of one binary, with their spread";
  EXPECT_FALSE(precision_in(R"([{"subject":"p"}])"));
  EXPECT_TRUE(precision_in("[]")->cells().empty());
}

// Each example of an event on the page, of every kind.
TEST(WatchEvents, AreAsThePageShowsThem) {
  std::ifstream file(STAB_SOURCE_DIR "/docs/reference/protocol.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::set<size_t> kinds;
  for (size_t at = page.find("\n{\"jsonrpc\": \"2.0\", \"method\": \"event\""); at != std::string::npos;
       at = page.find("\n{\"jsonrpc\": \"2.0\", \"method\": \"event\"", at + 1)) {
    const size_t end = page.find("}}", at);
    const auto example = nlohmann::json::parse(page.substr(at, page.find_first_not_of('}', end) - at), nullptr, false);
    ASSERT_FALSE(example.is_discarded()) << page.substr(at, 300);
    const auto read = watch_event(example.at("params").dump());
    ASSERT_TRUE(read && *read) << example.dump();
    EXPECT_EQ(nlohmann::json::parse(to_json(**read)), example.at("params"));
    kinds.insert((**read).what.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<decltype(WatchEvent::what)>);
}

}  // namespace
}  // namespace stab::daemon
