// What a trial's area may say, and what of it is believed. The test writes as the program and the companion would.
#include "stabd/engine/trial/area_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <optional>

#include "stabd/engine/trial/causal_outcome.h"

namespace stab::engine {
namespace {

class AreaFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    script_.modules = {{"/b/app", "00ff10"}};
    script_.ranges = {{0x10, 0x20, 0, 1}, {0x30, 0x40, 0, 2}};
    script_.region_count = 3;
    script_.arms = {{causal::ArmKind::kBaseline, 0, 0, 0}, {causal::ArmKind::kSpeedup, 2, 500, 0}};
    script_.first_position = 40;
    script_.arms_in_block = 8;
    Result<AreaFile> made = AreaFile::create(script_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    area_.emplace(*std::move(made));
    at_ = static_cast<causal::Area*>(::mmap(nullptr, sizeof(causal::Area), PROT_READ | PROT_WRITE, MAP_SHARED, area_->fd(), 0));
    ASSERT_NE(at_, MAP_FAILED);
    at_->state.finished = causal::kFinished;
    at_->state.attached = 1;
    at_->state.pauses = causal::Pauses::kCpuTime;
    at_->state.modules_used = 1;
    at_->state.samples = 100;
    at_->state.region_samples[2] = 60;
    at_->state.first_attach_ns = 1000;
    std::strcpy(at_->points[1].name, "round");
    at_->points[1].kind = 1;
    std::strcpy(at_->points[3].name, "round");
    at_->points[3].kind = 1;
    at_->histogram[77] = {uint64_t{1} << 48 | 0x18, 9};
    at_->state.windows_used = 2;
    window(0).end_ns = 5;
    window(1) = {};
    window(1).arm = 1, window(1).kind = causal::ArmKind::kSpeedup, window(1).region = 2, window(1).speedup_permille = 500;
    window(1).start_ns = 1500, window(1).wall_ns = 250, window(1).visits[1] = 20, window(1).visits[3] = 4;
  }
  void TearDown() override { ::munmap(at_, sizeof(causal::Area)); }
  causal::WindowRecord& window(size_t i) { return at_->windows[i]; }
  bool refused() { return !area_->read(script_).ok(); }

  CausalScript script_;
  std::optional<AreaFile> area_;
  causal::Area* at_ = nullptr;
};

TEST_F(AreaFileTest, HoldsTheScript) {
  EXPECT_EQ(std::memcmp(at_->script.magic, causal::kAreaMagic, 8), 0);
  EXPECT_EQ(at_->script.version, causal::kCausalVersion);
  EXPECT_EQ(at_->script.header_bytes, sizeof(causal::Area));
  EXPECT_EQ(at_->script.range_count, 2u);
  EXPECT_EQ(at_->ranges[1].start, 0x30u);
  EXPECT_EQ(at_->arms[1].speedup_permille, 500u);
  EXPECT_STREQ(at_->modules[0].path, "/b/app");
  EXPECT_EQ(at_->modules[0].build_id_bytes, 3u);
  EXPECT_EQ(at_->modules[0].build_id[2], 0x10);
  // Nobody can shorten it under the lab's eyes.
  EXPECT_NE(::ftruncate(area_->fd(), 4096), 0);
}

TEST_F(AreaFileTest, BecomesRowsOfTheStore) {
  const auto record = area_->read(script_);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(why_not_causal(*record), "");
  ASSERT_EQ(record->histogram.size(), 1u);
  EXPECT_EQ(record->histogram[0].address, 0x18u);
  EXPECT_EQ(record->modules[0].build_id, "00ff10");
  const store::CausalRun run = run_of(*record, script_);
  EXPECT_EQ(run.pauses, "cpu-time");
  ASSERT_EQ(run.points.size(), 1u);  // two numbers of one point
  ASSERT_EQ(run.windows.size(), 2u);
  EXPECT_EQ(run.windows[1].position, 41);
  EXPECT_EQ(run.windows[1].block, 5);
  EXPECT_EQ(run.windows[1].start_ns, 500);
  ASSERT_EQ(run.windows[1].counts.size(), 1u);
  EXPECT_EQ(run.windows[1].counts[0].visits, 24);
  ASSERT_EQ(run.region_samples.size(), 1u);
  EXPECT_EQ(run.region_samples[0].region, 2u);
}

TEST_F(AreaFileTest, ALatencyOfTwoNumbersIsInsideOnce) {
  for (const size_t number : {1, 3}) {
    at_->points[number].kind = static_cast<uint32_t>(progress::Kind::kEnd);
    window(1).inside_ns[number] = 700;  // summed up by name, for each of them
  }
  const auto record = area_->read(script_);
  ASSERT_TRUE(record.ok()) << record.error().message;
  const store::CausalRun run = run_of(*record, script_);
  ASSERT_EQ(run.windows[1].counts.size(), 1u);
  EXPECT_EQ(run.windows[1].counts[0].visits, 24);
  EXPECT_EQ(run.windows[1].counts[0].inside_ns, 700);
}

TEST_F(AreaFileTest, IsNotBelievedBeyondWhatTheScriptAllows) {
  EXPECT_FALSE(refused());
  window(1).arm = 2;
  EXPECT_TRUE(refused());
  window(1).arm = 1, window(1).region = 1;
  EXPECT_TRUE(refused());
  window(1).region = 2, window(1).visits[9] = ~uint64_t{0};
  EXPECT_TRUE(refused());
  window(1).visits[9] = 0, at_->state.windows_used = causal::kMaxWindows + 1;
  EXPECT_TRUE(refused());
  at_->state.windows_used = 2, at_->state.finished = 9;
  EXPECT_TRUE(refused());
  at_->state.finished = causal::kFinished, at_->histogram[78] = {uint64_t{5} << 48 | 1, 1};
  EXPECT_TRUE(refused());
  at_->histogram[78] = {}, at_->state.region_ns[1] = uint64_t{1} << 63;
  EXPECT_TRUE(refused());
  at_->state.region_ns[1] = 0;
  EXPECT_FALSE(refused());
}

TEST_F(AreaFileTest, SaysWhatIsMissing) {
  at_->state.finished = causal::kNobodyCame, at_->state.attached = 0;
  EXPECT_NE(why_not_causal(*area_->read(script_)).find("statically"), std::string::npos);
  at_->state.finished = causal::kFinished, at_->state.attached = 1;
  at_->state.cpus = 1;
  EXPECT_EQ(why_not_causal(*area_->read(script_)), "");
  at_->state.cpus = 2;
  EXPECT_NE(why_not_causal(*area_->read(script_)).find("pauses = 'cpu-time' is for one CPU"), std::string::npos);
  at_->state.degradations = 1u << static_cast<uint32_t>(causal::Degraded::kNoSamples);
  EXPECT_NE(why_not_causal(*area_->read(script_)).find("perf_event_paranoid"), std::string::npos);
}

}  // namespace
}  // namespace stab::engine
