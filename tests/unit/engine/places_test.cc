// The trial's directory is fresh each time, whatever the trial before did to it.
#include "engine/experiment/places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "worker/empty_directory.h"

namespace stab::engine {
namespace {

constexpr unsigned kNobody = unsigned(-1);

class Scratch : public testing::Test {
 protected:
  Scratch() {
    auto made = ScratchDirectory::create(worker::empty_directory);
    EXPECT_TRUE(made.ok());
    scratch_.emplace(std::move(*made));
  }
  std::string fresh() {
    const auto path = scratch_->fresh(kNobody, kNobody);
    EXPECT_TRUE(path.ok()) << path.error().text();
    struct stat info {};
    EXPECT_EQ(::stat(path->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
    EXPECT_TRUE(std::filesystem::is_empty(*path));
    return *path;
  }
  static ino_t inode(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }
  std::optional<ScratchDirectory> scratch_;
};

TEST_F(Scratch, WhatATrialLeftIsGone) {
  const std::string path = fresh();
  std::filesystem::create_directories(path + "/deep/er");
  std::ofstream(path + "/file") << "text";
  ASSERT_EQ(::symlink("/etc", (path + "/link").c_str()), 0);
  EXPECT_EQ(fresh(), path);
  EXPECT_TRUE(std::filesystem::exists("/etc"));
}

TEST_F(Scratch, AnUntouchedOneIsAsGoodAsNew) {
  const std::string path = fresh();
  const ino_t before = inode(path);
  const int holder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // keeps the number from being used again
  fresh();
  EXPECT_EQ(inode(path), before);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  fresh();
  EXPECT_NE(inode(path), before);
  ::close(holder);
}

// As a cleaner of /tmp does, or a user by hand.
TEST_F(Scratch, WhatSomebodyRemovedIsMadeAgain) {
  const std::string path = fresh(), root = std::filesystem::path(path).parent_path();
  EXPECT_TRUE(scratch_->is_there());
  std::filesystem::remove_all(root);
  EXPECT_FALSE(scratch_->is_there());
  EXPECT_EQ(fresh(), path);
  EXPECT_TRUE(scratch_->is_there());
  struct stat info {};
  ASSERT_EQ(::stat(root.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0711u);
  // What is there now in its place may be anybody's.
  std::filesystem::remove_all(root);
  ASSERT_EQ(::symlink("/var", root.c_str()), 0);
  const auto refused = scratch_->fresh(kNobody, kNobody);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("is somebody else's now"), std::string::npos) << refused.error().message;
  std::filesystem::remove(root);
}

TEST_F(Scratch, ADirectoryThatWasReplacedIsNotOurs) {
  const std::string path = fresh();
  ASSERT_EQ(::rename(path.c_str(), (path + "-old").c_str()), 0);
  ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);
  fresh();
}

}  // namespace
}  // namespace stab::engine
