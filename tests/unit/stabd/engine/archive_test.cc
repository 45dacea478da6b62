// What replay depends on: a binary that was archived is there, unchanged, whatever became of the original, or it is said
// to be damaged; and no name leads out of the archive.
#include "stabd/engine/build/binary_archive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using worker::sha256;

class ArchiveTest : public testing::Test {
 protected:
  // As a worker would fill it.
  static UniqueFd filled(const std::string& text) {
    auto room = room_for(text.size());
    EXPECT_TRUE(room.ok()) << room.error().text();
    if (!room) return {};
    EXPECT_EQ(::pwrite(room->get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return *std::move(room);
  }
  Status put(const std::string& path, const std::string& hash) {
    const UniqueFd room = filled(directory_.read(std::filesystem::path(path).filename().string()));
    const auto bytes = archive_.put(room.get(), hash);
    return bytes ? Status() : Status(bytes.error());
  }
  TemporaryDirectory directory_;
  Archive archive_{directory_.path() + "/archive"};
  std::string program_ = directory_.write("program", "#!/bin/sh\necho measured\n", 0755);
  std::string hash_ = sha256("#!/bin/sh\necho measured\n");
};

TEST_F(ArchiveTest, WhatWasPutIsFoundAfterTheOriginalChanged) {
  ASSERT_TRUE(put(program_, hash_).ok());
  ASSERT_TRUE(put(program_, hash_).ok()) << "twice is once";
  directory_.write("program", "another");
  const auto found = archive_.find(hash_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(directory_.read("archive/" + hash_), "#!/bin/sh\necho measured\n");
  EXPECT_EQ(::access(found->c_str(), X_OK), 0);
  struct stat info;
  ASSERT_EQ(::stat((directory_.path() + "/archive").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0711u) << "nobody lists what others measure";
}

TEST_F(ArchiveTest, AWrongHashLeavesNothing) {
  EXPECT_EQ(put(program_, sha256("other")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(archive_.find(sha256("other")).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/archive"));
}

TEST_F(ArchiveTest, NamesThatAreNoHashesReachNoFile) {
  EXPECT_EQ(put(program_, "../program").error().code, ErrorCode::kBadInput);
  EXPECT_EQ(archive_.find("../program").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(archive_.find("").error().code, ErrorCode::kNotFound);
}

// The archive is one for all users: what one sends as another's binary is not stored, and can't be changed afterwards.
TEST_F(ArchiveTest, NobodyPoisonsIt) {
  const UniqueFd room = filled("another program");
  EXPECT_EQ(archive_.put(room.get(), hash_).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(archive_.has(hash_));
  EXPECT_NE(::pwrite(room.get(), "x", 1, 0), 1) << "sealed before it was hashed";

  const UniqueFd mapped = filled("#!/bin/sh\necho measured\n");
  void* writable = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.get(), 0);
  ASSERT_NE(writable, MAP_FAILED);
  const auto refused = archive_.put(mapped.get(), hash_);
  ::munmap(writable, 4096);
  ASSERT_FALSE(refused.ok()) << "somebody could write while it is hashed";
  EXPECT_NE(refused.error().message.find("another process of this user still writes"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(archive_.put(mapped.get(), hash_).ok());
}

TEST_F(ArchiveTest, WhoFillsTheRoomCantMakeItLarger) {
  const auto room = room_for(4096);
  ASSERT_TRUE(room.ok());
  EXPECT_NE(::ftruncate(room->get(), 8192), 0);
  EXPECT_NE(::pwrite(room->get(), "x", 1, 8192), 1);
  const auto refused = room_for(kMostArchivedBytes + 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("at most 512 MiB are kept"), std::string::npos) << refused.error().message;
}

TEST_F(ArchiveTest, ASparseBinaryStaysSparse) {
  constexpr uint64_t kBytes = 64 << 20;
  const auto room = room_for(kBytes);
  ASSERT_TRUE(room.ok());
  ASSERT_EQ(::pwrite(room->get(), "end", 3, kBytes - 3), 3);
  const auto hash = worker::sha256_of_fd(room->get());
  ASSERT_TRUE(hash.ok());
  const auto bytes = archive_.put(room->get(), *hash);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  EXPECT_LT(*bytes, 1u << 20);
  EXPECT_EQ(std::filesystem::file_size(*archive_.find(*hash)), kBytes);
}

TEST_F(ArchiveTest, DamageIsNoticed) {
  ASSERT_TRUE(put(program_, hash_).ok());
  const std::string path = directory_.path() + "/archive/" + hash_;
  ::chmod(path.c_str(), 0755);
  directory_.write("archive/" + hash_, "damaged");
  EXPECT_EQ(archive_.find(hash_).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stab::engine
