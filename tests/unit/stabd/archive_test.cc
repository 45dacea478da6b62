// What replay depends on: a binary that was archived is there, unchanged, whatever became of the original, or it is said
// to be damaged; and no name leads out of the archive.
#include "stabd/archive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "stabd/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

class ArchiveTest : public testing::Test {
 protected:
  Status put(const std::string& path, const std::string& hash) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return archive_.put(fd.get(), hash);
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

TEST_F(ArchiveTest, DamageIsNoticed) {
  ASSERT_TRUE(put(program_, hash_).ok());
  const std::string path = directory_.path() + "/archive/" + hash_;
  ::chmod(path.c_str(), 0755);
  directory_.write("archive/" + hash_, "damaged");
  EXPECT_EQ(archive_.find(hash_).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stab::engine
