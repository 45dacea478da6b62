// What a worker does with files that are not what they seem: huge and empty, waiting for a writer, a circle, a device.
#include "stabd/worker/answers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>

#include "stabd/worker/copy.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::worker {
namespace {

using testing::HasSubstr;

constexpr uint64_t kTera = uint64_t{1} << 40;

class Answers : public testing::Test {
 protected:
  std::string sparse(const std::string& name, uint64_t bytes) {
    const std::string path = directory_.write(name, "head");
    EXPECT_EQ(::truncate(path.c_str(), static_cast<off_t>(bytes)), 0);
    return path;
  }
  static uint64_t on_disk(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return static_cast<uint64_t>(info.st_blocks) * 512;
  }
  TemporaryDirectory directory_;
  UniqueFd none_;
};

// Hashing it would take an hour.
TEST_F(Answers, AHugeEmptyFileIsRefusedAtOnce) {
  const std::string path = sparse("out", 4 * kTera);
  const auto hashed = answer(Hash{path, 1 << 30}, none_);
  ASSERT_FALSE(hashed.ok());
  EXPECT_THAT(hashed.error().message, HasSubstr("has 4398046511104 bytes, holes counted; at most 1 GiB"));
  const auto checked = answer(CheckFiles{directory_.path(), {{"out", sha256("x")}}, 1 << 30}, none_);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("expected file 'out'"));
  Fill fill{directory_.path(), "", {{{path}, "out", "copy"}}, {1 << 30, 10}};
  const auto filled = answer(fill, none_);
  ASSERT_FALSE(filled.ok());
  EXPECT_THAT(filled.error().message, HasSubstr("more than 1 GiB"));
  EXPECT_FALSE(answer(CopyTree{directory_.path(), directory_.path() + "-copy", {1 << 30, 10}}, none_).ok());
  std::filesystem::remove_all(directory_.path() + "-copy");
}

TEST_F(Answers, HolesStayHoles) {
  sparse("source/sparse", 200 << 20);
  std::filesystem::create_directory(directory_.path() + "/to");
  const auto copied = answer(CopyTree{directory_.path() + "/source", directory_.path() + "/to", {1 << 30, 10}}, none_);
  ASSERT_TRUE(copied.ok()) << copied.error().text();
  EXPECT_EQ(copied->bytes, uint64_t{200} << 20);
  EXPECT_LT(on_disk(directory_.path() + "/to/sparse"), 1u << 20);
  EXPECT_EQ(std::filesystem::file_size(directory_.path() + "/to/sparse"), 200u << 20);
}

TEST_F(Answers, ATreeIsCopiedAsItIs) {
  directory_.write("source/bin/run", "#!/bin/sh\n", 0755);
  directory_.write("source/readonly/file", "text", 0444);
  ASSERT_EQ(::symlink("nowhere", (directory_.path() + "/source/link").c_str()), 0);
  ::chmod((directory_.path() + "/source/readonly").c_str(), 0555);
  std::filesystem::create_directory(directory_.path() + "/to");
  const auto copied = answer(CopyTree{directory_.path() + "/source", directory_.path() + "/to", {1 << 20, 10}}, none_);
  ASSERT_TRUE(copied.ok()) << copied.error().text();
  EXPECT_EQ(directory_.read("to/readonly/file"), "text");
  EXPECT_EQ(std::filesystem::read_symlink(directory_.path() + "/to/link"), "nowhere");
  struct stat info {};
  ASSERT_EQ(::stat((directory_.path() + "/to/bin/run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755u);
  // The same content, so the same hash; a mode more or less is another.
  const Tally most{1 << 20, 10};
  const auto one = answer(HashTree{directory_.path() + "/source", most}, none_);
  const auto same = answer(HashTree{directory_.path() + "/to", most}, none_);
  ASSERT_TRUE(one.ok() && same.ok());
  EXPECT_EQ(one->sha256, same->sha256);
  ::chmod((directory_.path() + "/to/bin/run").c_str(), 0700);
  EXPECT_NE(answer(HashTree{directory_.path() + "/to", most}, none_)->sha256, one->sha256);
}

TEST_F(Answers, AFifoAsInputIsRefusedInWords) {
  const std::string fifo = directory_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto filled = answer(Fill{directory_.path(), "", {{{fifo}, "fifo", "copy"}}, {1 << 20, 10}}, none_);
  ASSERT_FALSE(filled.ok());
  EXPECT_THAT(filled.error().message, HasSubstr("'fifo'"));
  EXPECT_THAT(filled.error().message, HasSubstr("is a FIFO, not a regular file"));
  EXPECT_EQ(answer(Fill{directory_.path(), "", {{{"/dev/zero"}, "/dev/zero", "zero"}}, {1 << 20, 10}}, none_).error().code,
            ErrorCode::kBadInput);
}

TEST_F(Answers, ACircleEnds) {
  std::filesystem::create_directory(directory_.path() + "/in");
  ASSERT_EQ(::symlink(".", (directory_.path() + "/in/again").c_str()), 0);
  const auto filled = answer(Fill{directory_.path(), "", {{{directory_.path() + "/in"}, "in", "copy"}}, {1 << 20, 1000}}, none_);
  EXPECT_FALSE(filled.ok());
  const auto into_itself = answer(CopyTree{directory_.path() + "/in", directory_.path() + "/in/below", {1 << 20, 1000}}, none_);
  EXPECT_FALSE(into_itself.ok());
}

TEST_F(Answers, InputsComeFromTheFirstPlaceThatHasThem) {
  directory_.write("build/lib", "built");
  directory_.write("trial/x", "");
  Fill fill{directory_.path() + "/trial",
            "sub/er",
            {{{directory_.path() + "/plan/lib", directory_.path() + "/build/lib"}, "lib", "lib"}},
            {100, 10}};
  const auto filled = answer(fill, none_);
  ASSERT_TRUE(filled.ok()) << filled.error().text();
  EXPECT_EQ(directory_.read("trial/lib"), "built");
  EXPECT_TRUE(std::filesystem::is_directory(directory_.path() + "/trial/sub/er"));
  fill.inputs[0].paths = {directory_.path() + "/plan/lib"};
  EXPECT_EQ(answer(fill, none_).error().message, "input 'lib' does not exist, or may not be read");
}

TEST_F(Answers, ExpectedFiles) {
  directory_.write("a", "one");
  directory_.write("b", "two");
  CheckFiles check{directory_.path(), {{"a", sha256("one")}, {"b", sha256("two")}}, 100};
  EXPECT_FALSE(answer(check, none_)->differs);
  check.files[1].sha256 = sha256("other");
  const auto differs = answer(check, none_);
  ASSERT_TRUE(differs.ok());
  EXPECT_TRUE(differs->differs);
  EXPECT_EQ(differs->index, 1u);
  EXPECT_EQ(differs->sha256, sha256("two"));
  check.max_bytes = 5;
  EXPECT_FALSE(answer(check, none_).ok()) << "of all files together";
}

TEST_F(Answers, OutputsAreReadUpToTheirSizeOnly) {
  UniqueFd output(::memfd_create("out", MFD_CLOEXEC));
  ASSERT_EQ(::write(output.get(), "total 17 ok\nmore", 16), 16);
  UniqueFd passed(::dup(output.get()));
  EXPECT_EQ(answer(HashOutput{12}, passed)->sha256, sha256("total 17 ok\n"));
  passed.reset(::dup(output.get()));
  EXPECT_TRUE(answer(Match{"ok\n$", 12}, passed)->matches);
  passed.reset(::dup(output.get()));
  EXPECT_FALSE(answer(Match{"ok\n$", 16}, passed)->matches);
  passed.reset();
  EXPECT_FALSE(answer(Match{"x", 10}, passed).ok()) << "no descriptor came with it";
}

// A suite with long names is more than a packet: the engine asks again from where the answer ended.
TEST_F(Answers, MetricsComeInAsManyPacketsAsTheyTake) {
  std::string text = "name,value\n";
  for (int i = 0; i < 2000; ++i) text += std::string(150, 'x') + std::to_string(i) + "," + std::to_string(i + 1) + "\n";
  const std::string path = directory_.write("out.csv", text);
  std::vector<ReadMetrics::Row> rows;
  int packets = 0;
  for (; rows.size() < 2000; ++packets) {
    UniqueFd passed;
    const auto begin = +[](std::chrono::seconds) {};
    const ReadMetrics request{path, "csv", static_cast<uint32_t>(rows.size())};
    const std::string packet = answer_to(encode_request(request, 1), passed, begin);
    ASSERT_LE(packet.size(), kMaxPacketBytes);
    ReadMetrics::Answer page;
    Error error;
    ASSERT_TRUE(decode_answer<ReadMetrics>(packet, 1, page, error)) << error.message;
    ASSERT_EQ(page.total, 2000u) << error.message;
    ASSERT_FALSE(page.rows.empty());
    rows.insert(rows.end(), page.rows.begin(), page.rows.end());
  }
  EXPECT_GT(packets, 1);
  EXPECT_TRUE(rows.back().name.ends_with("x1999"));
  EXPECT_EQ(std::bit_cast<double>(rows.back().seconds_bits), 2000.0);
}

TEST_F(Answers, MetricsThatAreNoFileOrTooLargeAreRefused) {
  EXPECT_THAT(answer(ReadMetrics{sparse("huge", 4 * kTera), "csv", 0}, none_).error().message, HasSubstr("at most 32 MiB"));
  const std::string fifo = directory_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(answer(ReadMetrics{fifo, "csv", 0}, none_).error().message, HasSubstr("is a FIFO"));
  EXPECT_FALSE(answer(ReadMetrics{"", "csv", 0}, none_).ok()) << "no descriptor came with it";
  EXPECT_THAT(answer(ReadMetrics{directory_.write("a", "x"), "tsv", 0}, none_).error().message, HasSubstr("no format 'tsv'"));
}

TEST_F(Answers, WhatIsNoRequestHasNoAnswer) {
  const auto begin = +[](std::chrono::seconds) {};
  UniqueFd passed;
  EXPECT_EQ(answer_to("", passed, begin), "");
  EXPECT_EQ(answer_to(std::string(100, 'x'), passed, begin), "");
  const std::string packet = encode_request(Look{directory_.path()}, 9);
  EXPECT_EQ(answer_to(packet.substr(0, packet.size() - 1), passed, begin), "");
  Look::Answer seen;
  Error error;
  ASSERT_TRUE(decode_answer<Look>(answer_to(packet, passed, begin), 9, seen, error));
  EXPECT_EQ(seen.type, static_cast<uint32_t>(FileType::kDirectory));
}

}  // namespace
}  // namespace stab::worker
