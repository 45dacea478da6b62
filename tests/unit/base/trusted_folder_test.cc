#include "base/trusted_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/temporary_directory.h"

namespace stab {
namespace {

class TrustedFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::canonical(directory_.path()).string() + "/a/b/c";
    std::filesystem::create_directories(path_);
    for (const char* one : {"", "/..", "/../.."}) ASSERT_EQ(::chmod((path_ + one).c_str(), 0755), 0);
  }
  void change(const char* one, mode_t mode) { ASSERT_EQ(::chmod((path_ + one).c_str(), mode), 0); }
  void give(const char* one, uid_t uid) { ASSERT_EQ(::chown((path_ + one).c_str(), uid, static_cast<gid_t>(-1)), 0); }
  void expect_refused(const std::string& path, const std::string& because) {
    const Status trusted = check_trusted_folder(path);
    ASSERT_FALSE(trusted.ok()) << path;
    EXPECT_EQ(trusted.error().code, ErrorCode::kDenied);
    EXPECT_NE(trusted.error().message.find(because), std::string::npos) << trusted.error().message;
  }
  const TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(TrustedFolders, OnesOwnIsOpened) {
  const Result<UniqueFd> opened = open_trusted_folder(path_);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  struct stat through {}, there {};
  ASSERT_EQ(::fstat(opened->get(), &through), 0);
  ASSERT_EQ(::stat(path_.c_str(), &there), 0);
  EXPECT_EQ(through.st_ino, there.st_ino);
  EXPECT_TRUE(check_trusted_folder(path_ + "/../c/.").ok());
  EXPECT_TRUE(check_trusted_folder("/").ok());
  EXPECT_EQ(check_trusted_folder(path_ + "/none").error().code, ErrorCode::kNotFound);
}

// Whoever may rename b puts another c in its place.
TEST_F(TrustedFolders, NobodyElseMayRenameOneOnTheWay) {
  for (const char* one : {"", "/..", "/../.."})
    for (const mode_t mode : {0757, 0777}) {
      change(one, mode);
      expect_refused(path_, "others can write into '");
      change(one, mode | S_ISVTX);
      EXPECT_TRUE(check_trusted_folder(path_).ok()) << one;
      change(one, 0755);
    }
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders to others";
  for (const char* one : {"", "/..", "/../.."}) {
    give(one, 12345);
    expect_refused(path_, "belongs to user 12345");
    change(one, 01777);
    expect_refused(path_, "belongs to user 12345");
    change(one, 0755);
    EXPECT_TRUE(open_trusted_folder(path_, 12345).ok()) << "who is believed, too";
    give(one, 0);
  }
  ASSERT_EQ(::chown((path_ + "/..").c_str(), 0, 12345), 0);
  change("/..", 0775);
  expect_refused(path_, "others can write into '");
}

TEST_F(TrustedFolders, ALinkIsFollowedWhereWeOrRootHaveMadeIt) {
  const std::string link = path_ + "/../link", loop = path_ + "/loop";
  ASSERT_EQ(::symlink("c", link.c_str()), 0);
  EXPECT_TRUE(check_trusted_folder(link).ok());
  ASSERT_EQ(::symlink("loop", loop.c_str()), 0);
  EXPECT_FALSE(check_trusted_folder(loop).ok());
  // What it leads through is looked at as well.
  const std::string far = directory_.path() + "/far";
  ASSERT_EQ(::symlink(path_.c_str(), far.c_str()), 0);
  EXPECT_TRUE(check_trusted_folder(far).ok());
  change("/..", 0777);
  expect_refused(far, "others can write into '");
  change("/..", 0755);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give links to others";
  ASSERT_EQ(::lchown(link.c_str(), 12345, 12345), 0);
  expect_refused(link, "is a link of user 12345's");
}

}  // namespace
}  // namespace stab
