// Epochs from the helper's bytes to the store's and back: nothing is lost, and nothing is believed that can't be.
#include "engine/trial/epoch_series.h"

#include <gtest/gtest.h>

#include <cstring>

namespace stab::engine {
namespace {

using helper::EpochHeader;
using helper::EpochRecord;

EpochRecord record(uint32_t epoch, uint64_t start_ns, uint8_t flags = 0) {
  EpochRecord out{};
  out.epoch = epoch;
  out.start_ns = start_ns;
  out.cpu_ns = start_ns / 2;
  out.visits[0] = 10 * epoch;
  out.image = epoch - 1;
  out.refill = helper::kNoImage;
  out.slot = static_cast<uint8_t>(epoch % 8);
  out.flags = flags;
  return out;
}

std::vector<EpochRecord> three() {
  return {record(1, 0), record(2, 1000, helper::kEpochOrdered), record(2, 1700, helper::kEpochEnd)};
}

std::string bytes_of(const std::vector<EpochRecord>& records, const std::vector<std::string>& points = {"blocks"}) {
  EpochHeader header{};
  std::memcpy(header.magic, helper::kEpochMagic, sizeof header.magic);
  header.record_bytes = sizeof(EpochRecord);
  header.count = static_cast<uint32_t>(records.size());
  header.unrecorded = 3;
  for (size_t i = 0; i < points.size(); ++i) points[i].copy(header.points[i], helper::kEpochNameBytes - 1);
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  return out.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(EpochRecord));
}

TEST(EpochSeries, GoesIntoTheStoreAndComesBack) {
  const auto parsed = parse_epochs(bytes_of(three()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const std::string stored = encode_epochs(*parsed);
  const auto back = decode_epochs(stored);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->points, std::vector<std::string>{"blocks"});
  EXPECT_EQ(back->unrecorded, 3u);
  ASSERT_EQ(back->records.size(), 3u);
  EXPECT_EQ(std::memcmp(back->records.data(), three().data(), 3 * sizeof(EpochRecord)), 0);
}

TEST(EpochSeries, AThousandEpochsTakeFewBytes) {
  std::vector<EpochRecord> records;
  for (uint32_t i = 1; i <= 1000; ++i) records.push_back(record(i, uint64_t{i} * 10'000'000));
  records.push_back(record(1000, 10'010'000'000, helper::kEpochEnd));
  const auto parsed = parse_epochs(bytes_of(records));
  ASSERT_TRUE(parsed);
  EXPECT_LT(encode_epochs(*parsed).size(), 20'000u);
  EXPECT_EQ(decode_epochs(encode_epochs(*parsed))->records.size(), 1001u);
}

TEST(EpochSeries, ExtremesSurvive) {
  EpochRecord high = record(1, 5);
  high.cpu_ns = ~uint64_t{0};
  for (uint64_t& visits : high.visits) visits = ~uint64_t{0};
  high.image = high.refill = ~0u;
  high.slot = 255;
  EpochRecord low = record(~0u, ~uint64_t{0}, helper::kEpochEnd);
  const auto parsed = parse_epochs(bytes_of({high, low}));
  ASSERT_TRUE(parsed);
  const auto back = decode_epochs(encode_epochs(*parsed));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::memcmp(&back->records[0], &high, sizeof high), 0);
  EXPECT_EQ(std::memcmp(&back->records[1], &low, sizeof low), 0);
}

TEST(EpochSeries, EpochsAreDifferences) {
  const std::vector<Epoch> epochs = epochs_of(*parse_epochs(bytes_of(three())));
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].number, 1u);
  EXPECT_EQ(epochs[0].wall_ns, 1000u);
  EXPECT_EQ(epochs[0].cpu_ns, 500u);
  EXPECT_TRUE(epochs[0].cpu_known);
  EXPECT_EQ(epochs[0].visits[0], 10u);
  EXPECT_EQ(epochs[1].wall_ns, 700u);
  EXPECT_EQ(epochs[1].visits[0], 0u);
  EXPECT_EQ(flag_words(epochs[1].flags), "ordered");
  EXPECT_EQ(flag_words(helper::kEpochHeld | helper::kEpochUnentered | helper::kEpochEnd), "held,unentered");
}

TEST(EpochSeries, ACpuClockThatWasNotReadIsNoZero) {
  std::vector<EpochRecord> records = three();
  records[2].cpu_ns = 0;
  records[2].flags |= helper::kEpochCpuUnknown;
  const std::vector<Epoch> epochs = epochs_of(*parse_epochs(bytes_of(records)));
  EXPECT_TRUE(epochs[0].cpu_known);
  EXPECT_FALSE(epochs[1].cpu_known);
}

TEST(EpochSeries, WhatNoHelperWritesIsRefused) {
  const std::string good = bytes_of(three());
  ASSERT_TRUE(parse_epochs(good));
  const auto refused = [](const std::string& bytes, const char* why) {
    const auto parsed = parse_epochs(bytes);
    ASSERT_FALSE(parsed) << why;
    EXPECT_NE(parsed.error().message.find(why), std::string::npos) << parsed.error().message;
  };
  refused("", "too short");
  refused(good.substr(0, 100), "too short");
  refused(good.substr(0, good.size() - 1), "another number");
  refused(good + "x", "another number");
  refused("X" + good.substr(1), "another version");
  auto broken = three();
  broken[1].start_ns = 5000;
  refused(bytes_of(broken), "time runs backwards");
  broken = three();
  broken[0].epoch = 9;
  refused(bytes_of(broken), "epochs run backwards");
  broken = three();
  broken[1].flags = 0x80;
  refused(bytes_of(broken), "unknown flags");
  broken = three();
  broken[1].flags = helper::kEpochEnd;
  refused(bytes_of(broken), "the end is not the last");
  broken.pop_back();
  broken[1].flags = 0;
  refused(bytes_of(broken), "the end is not the last");
  refused(bytes_of(three(), {"a\nb"}), "a point without a name");
}

TEST(EpochSeries, WhatNoStoreHoldsIsRefused) {
  const std::string good = encode_epochs(*parse_epochs(bytes_of(three())));
  ASSERT_TRUE(decode_epochs(good));
  for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(decode_epochs(good.substr(0, cut))) << cut;
  EXPECT_FALSE(decode_epochs(good + '\0'));
  EXPECT_FALSE(decode_epochs('\x02' + good.substr(1)));
  EXPECT_FALSE(decode_epochs(std::string("\x01\x05", 2)));
}

}  // namespace
}  // namespace stab::engine
