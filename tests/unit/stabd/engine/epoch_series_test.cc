// Epochs from the helper's bytes to the store's and back: nothing is lost, and nothing is believed that can't be.
#include "stabd/engine/trial/epoch_series.h"

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
  EXPECT_LT(encode_epochs(*parsed).size(), 30'000u);
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

// What the version before this one has stored, of four points and without samples, byte by byte.
TEST(EpochSeries, TheVersionBeforeIsRead) {
  std::string old("\x01\x01\x01p\x03\x02", 6);
  const auto number = [&old](int difference) { old += static_cast<char>(difference << 1); };
  for (const int field : {5, 7, 11, 0, 0, 13, 1, 0, 2, 3, 0}) number(field);
  for (const int field : {9, 1, 4, 0, 0, 0, 0, 0, 0, 0, 1}) number(field);
  const auto back = decode_epochs(old);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->points, std::vector<std::string>{"p"});
  EXPECT_EQ(back->unrecorded, 3u);
  ASSERT_EQ(back->records.size(), 2u);
  const EpochRecord& first = back->records[0];
  const EpochRecord& last = back->records[1];
  EXPECT_EQ(first.start_ns, 5u);
  EXPECT_EQ(first.visits[0], 11u);
  EXPECT_EQ(first.visits[3], 13u);
  EXPECT_EQ(first.visits[4], 0u);
  EXPECT_EQ(first.epoch, 1u);
  EXPECT_EQ(first.refill, 2u);
  EXPECT_EQ(first.slot, 3u);
  EXPECT_EQ(last.start_ns, 14u);
  EXPECT_EQ(last.visits[0], 15u);
  EXPECT_EQ(last.flags, helper::kEpochEnd);
  EXPECT_EQ(last.samples_newest, 0u);
  EXPECT_TRUE(back->script.empty());
  EXPECT_FALSE(back->profile);
}

std::string end_of_files() {
  helper::LibraryHeader header{};
  std::memcpy(header.magic, helper::kLibraryMagic, sizeof header.magic);
  header.record_bytes = sizeof(helper::LibraryFunction);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

// `libraries`: what comes behind it, with its end.
std::string profile_of(uint32_t functions, const std::vector<helper::FunctionSamples>& sampled,
                       const std::vector<helper::StayedFunction>& stayed, const std::string& libraries = end_of_files()) {
  helper::SampleHeader header{};
  std::memcpy(header.magic, helper::kSampleMagic, sizeof header.magic);
  header.record_bytes = sizeof(helper::FunctionSamples);
  header.count = static_cast<uint32_t>(sampled.size());
  header.stayed_bytes = sizeof(helper::StayedFunction);
  header.stayed_count = static_cast<uint32_t>(stayed.size());
  header.function_count = functions;
  header.looks = 17;
  header.text_hash = 0xfedcba9876543210;
  header.period_ns = helper::kSamplePeriodNs;
  header.newest = 101;
  header.kernel = 5;
  header.lost = ~uint64_t{0};
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(reinterpret_cast<const char*>(sampled.data()), sampled.size() * sizeof sampled[0]);
  return out.append(reinterpret_cast<const char*>(stayed.data()), stayed.size() * sizeof stayed[0]) + libraries;
}

TEST(EpochSeries, SamplesAndTheScriptComeBack) {
  std::vector<EpochRecord> records = three();
  records[1].samples_newest = 40;
  records[2].samples_newest = 90;
  records[2].samples_older = 3;
  records[2].samples_elsewhere = ~0u;
  auto parsed = parse_epochs(bytes_of(records) + profile_of(1000, {{3, 9, 0, 1}, {998, ~0u, 4, 0}}, {{7, 2, 1, 90}}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  parsed->script = "stab-script 1 any\ncount f\n";
  const auto back = decode_epochs(encode_epochs(*parsed));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->script, parsed->script);
  ASSERT_TRUE(back->profile);
  EXPECT_EQ(back->profile->totals.text_hash, 0xfedcba9876543210);
  EXPECT_EQ(back->profile->totals.looks, 17u);
  EXPECT_EQ(back->profile->totals.newest, 101u);
  EXPECT_EQ(back->profile->totals.lost, ~uint64_t{0});
  ASSERT_EQ(back->profile->functions.size(), 2u);
  EXPECT_EQ(back->profile->functions[1].function, 998u);
  EXPECT_EQ(back->profile->functions[1].newest, ~0u);
  EXPECT_EQ(back->profile->functions[0].original, 1u);
  ASSERT_EQ(back->profile->stayed.size(), 1u);
  EXPECT_EQ(back->profile->stayed[0].to_epoch, 90u);
  const std::vector<Epoch> epochs = epochs_of(*back);
  EXPECT_EQ(epochs[0].samples_newest, 40u);
  EXPECT_EQ(epochs[1].samples_newest, 50u);
  EXPECT_EQ(epochs[1].samples_older, 3u);
  // Without epochs, as where only samples are asked for.
  const auto alone = parse_epochs(profile_of(4, {}, {}));
  ASSERT_TRUE(alone);
  EXPECT_TRUE(decode_epochs(encode_epochs(*alone))->profile);
}

struct OfLibrary {
  std::string name;
  uint64_t linked;
  uint32_t newest;
};

// A library's part; `names_cut` bytes of its names are missing, and the header knows.
std::string library_of(const char* file, const std::vector<OfLibrary>& functions, size_t names_cut = 0,
                       const char* path = "/opt/lib/libwork.so.1.2") {
  helper::LibraryHeader header{};
  std::memcpy(header.magic, helper::kLibraryMagic, sizeof header.magic);
  header.record_bytes = sizeof(helper::LibraryFunction);
  header.count = static_cast<uint32_t>(functions.size());
  header.flags = helper::kLibraryMoved;
  header.text_hash = ~uint64_t{0};
  header.newest = 70;
  header.original = uint64_t{1} << 40;
  header.drawn_by = 0xcbf29ce484222325;
  std::strcpy(header.file, file);
  std::strcpy(header.path, path);
  std::string rows, names;
  for (const OfLibrary& one : functions) {
    const helper::LibraryFunction row{one.linked, 64, one.newest, 2, 3, static_cast<uint32_t>(names.size()), 0};
    rows.append(reinterpret_cast<const char*>(&row), sizeof row);
    names += one.name + '\0';
  }
  names.resize(names.size() - names_cut);
  header.name_bytes = static_cast<uint32_t>(names.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + rows + names;
}

TEST(EpochSeries, SamplesOfLibrariesComeBackByName) {
  const auto parsed = parse_epochs(profile_of(
      9, {}, {},
      library_of("libwork.so.1", {{"inflate", 0x1230, 9}, {"", 0x4560, ~0u}}) + library_of("libc.so.6", {}) + end_of_files()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto back = decode_epochs(encode_epochs(*parsed));
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->profile->files.size(), 2u);
  const SampledFile& library = back->profile->files[0];
  EXPECT_TRUE(library.moved);
  EXPECT_EQ(library.text_hash, ~uint64_t{0});
  EXPECT_EQ(library.path, "/opt/lib/libwork.so.1.2");
  EXPECT_EQ(library.drawn_by, 0xcbf29ce484222325u);
  EXPECT_EQ(library.samples(), 70 + (uint64_t{1} << 40));
  ASSERT_EQ(library.functions.size(), 2u);
  EXPECT_EQ(name_in_file(library, library.functions[0]), "libwork.so.1!inflate");
  EXPECT_EQ(name_in_file(library, library.functions[1]), "libwork.so.1!0x4560");
  EXPECT_EQ(library.functions[0].samples(), 14u);
  EXPECT_EQ(library.functions[1].newest, ~0u);
  EXPECT_EQ(back->profile->files[1].file, "libc.so.6");
}

TEST(EpochSeries, OddBytesOfALibrarysNamesAreShown) {
  const auto parsed = parse_epochs(profile_of(9, {}, {}, library_of("lib\x1b[2J.so", {{"a\nb", 0x10, 1}}) + end_of_files()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->profile->files[0].file, "lib?[2J.so");
  EXPECT_EQ(parsed->profile->files[0].functions[0].name, "a?b");
}

TEST(EpochSeries, APathOfOddBytesIsNone) {
  const auto parsed = parse_epochs(profile_of(9, {}, {}, library_of("libwork.so.1", {}, 0, "/a\nb.so") + end_of_files()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->profile->files[0].path, "");
}

// What the version before wrote had no paths.
TEST(EpochSeries, FilesFromBeforeTheirPathsWereToldAreRead) {
  const std::string library = library_of("libwork.so.1", {{"inflate", 0x1230, 9}}, 0, "");
  const auto parsed = parse_epochs(profile_of(9, {}, {}, library + end_of_files()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  std::string stored = encode_epochs(*parsed);
  const std::string drawn_by = "\xa5\xc6\x88\xa1\xc8\x9c\xa7\xf9\xcb\x01";  // as a varint, behind an empty path
  const size_t at = stored.find(std::string(1, '\0') + drawn_by);
  ASSERT_NE(at, std::string::npos);
  stored.erase(at, 1 + drawn_by.size());
  stored.front() = 3;
  const auto back = decode_epochs(stored);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->profile->files.size(), 1u);
  EXPECT_EQ(back->profile->files[0].functions[0].name, "inflate");
  EXPECT_EQ(back->profile->files[0].drawn_by, 0u);
}

// What the version of before that wrote ends where samples by file begin.
TEST(EpochSeries, AProfileFromBeforeLibrariesWereToldIsRead) {
  const auto parsed = parse_epochs(profile_of(9, {{3, 1, 2, 3}}, {}));
  ASSERT_TRUE(parsed);
  std::string stored = encode_epochs(*parsed);
  ASSERT_EQ(stored.front(), 4);
  ASSERT_EQ(stored.back(), 0) << "no files";
  stored.front() = 2;
  stored.pop_back();
  const auto back = decode_epochs(stored);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->profile->functions[0].original, 3u);
  EXPECT_TRUE(back->profile->files.empty());
}

TEST(EpochSeries, SamplesOfLibrariesThatCannotBeAreRefused) {
  const auto refused = [](const std::string& behind, const char* why) {
    const auto parsed = parse_epochs(profile_of(9, {}, {}, behind));
    ASSERT_FALSE(parsed) << why;
    EXPECT_NE(parsed.error().message.find(why), std::string::npos) << parsed.error().message;
  };
  const std::string good = library_of("libwork.so", {{"inflate", 0x1230, 9}});
  refused(good.substr(0, good.size() - 1), "another number of a library's functions");
  refused(library_of("libwork.so", {{"inflate", 0x1230, 9}}, 1), "another number of a library's functions");
  refused(library_of("", {{"inflate", 0x1230, 9}}) + end_of_files(), "a file without a name");
  refused(library_of("libwork.so", {{std::string(helper::kMostFunctionName, 'x'), 1, 1}}) + end_of_files(),
          "a name that can't be");
  refused("", "samples of files are cut off");
  refused(good, "samples of files are cut off");
  refused(end_of_files() + good, "cut off, or of another version");
  std::string many;
  for (uint32_t i = 0; i <= helper::kMostSampledFiles; ++i) many += library_of("libwork.so", {});
  refused(many, "more files than are told");
  EXPECT_FALSE(parse_epochs(good)) << "of a program without samples";
}

TEST(EpochSeries, SamplesThatCannotBeAreRefused) {
  const auto refused = [](const std::string& bytes, const char* why) {
    const auto parsed = parse_epochs(bytes);
    ASSERT_FALSE(parsed) << why;
    EXPECT_NE(parsed.error().message.find(why), std::string::npos) << parsed.error().message;
  };
  const std::string good = profile_of(9, {{1, 1, 1, 1}}, {{8, 0, 1, 1}});
  ASSERT_TRUE(parse_epochs(good));
  const std::string no_files = profile_of(9, {{1, 1, 1, 1}}, {{8, 0, 1, 1}}, "");
  refused(no_files.substr(0, no_files.size() - 1), "another number of functions");
  refused(good.substr(0, good.size() - 1), "samples of files are cut off");
  refused(good + good, "cut off, or of another version");
  refused(profile_of(9, {{9, 1, 1, 1}}, {}), "not there");
  refused(profile_of(9, {{2, 1, 1, 1}, {2, 1, 1, 1}}, {}), "out of order");
  refused(profile_of(1, {{0, 1, 1, 1}, {0, 1, 1, 1}}, {}), "more functions than there are");
  refused(profile_of(9, {}, {{9, 0, 1, 1}}), "stays nowhere");
  refused(profile_of(9, {}, {{8, 0, 2, 1}}), "stays nowhere");
  refused(profile_of(9, {}, std::vector<helper::StayedFunction>(helper::kMostStayed + 1)), "more functions that stay");
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
  refused("", "there are none");
  refused(good.substr(0, 100), "cut off");
  refused(good.substr(0, good.size() - 1), "another number");
  refused(good + "x", "cut off, or of another version");
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
  EXPECT_FALSE(decode_epochs('\x05' + good.substr(1)));
  EXPECT_FALSE(decode_epochs(std::string("\x01\x05", 2)));
}

}  // namespace
}  // namespace stab::engine
