// What is seen at /tmp and /var/tmp in a mount namespace of a tree's own: an empty directory of the same file system, and what
// was to be kept.
#include "stabd/host/private_tmp.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "stabd/worker/empty_directory.h"

namespace stab::host {
namespace {

namespace fs = std::filesystem;

std::string made(const char* pattern) {
  std::string path = pattern;
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

std::string last_of(const std::string& path) { return fs::path(path).filename().string(); }

class PrivateTmpTest : public testing::Test {
 protected:
  PrivateTmpTest() {
    for (const std::string& root : {tmp_, var_tmp_}) {
      fs::create_directories(root + "/private/tmp");
      ::chmod((root + "/private/tmp").c_str(), 01777);
    }
    fs::create_directories(tmp_ + "/private/tmp/" + last_of(kept_));
    std::ofstream(kept_ + "/of-the-machine") << "here";
  }
  ~PrivateTmpTest() override {
    for (const std::string& path : {tmp_, var_tmp_, kept_}) (void)worker::remove_tree(path);
  }
  TemporaryNames names() const { return {last_of(tmp_), last_of(var_tmp_), {last_of(kept_)}}; }

  // In a thread that has mounts of its own, which end with it. False: there are none to be had.
  static bool inside(const std::function<void()>& does) {
    bool can = false;
    std::thread([&] {
      can = ::unshare(CLONE_NEWNS) == 0 && ::mount("x", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
      if (can) does();
    }).join();
    return can;
  }

  const std::string tmp_ = made("/tmp/stab-tmp-test-XXXXXX"), var_tmp_ = made("/var/tmp/stab-tmp-test-XXXXXX"),
                    kept_ = made("/tmp/stab-kept-test-XXXXXX");
};

#define INSIDE_OR_SKIP(does) \
  if (!inside(does)) GTEST_SKIP() << "no mount namespace to be had"

TEST_F(PrivateTmpTest, ShowsWhatIsKeptAndNothingElse) {
  const std::string others = made("/tmp/stab-other-test-XXXXXX");
  PrivateTmp places(names(), ::geteuid());
  INSIDE_OR_SKIP([&] {
    const Status mounted = places.mount();
    ASSERT_TRUE(mounted.ok()) << mounted.error().message;
    EXPECT_TRUE(fs::exists(kept_ + "/of-the-machine"));
    EXPECT_FALSE(fs::exists(others));
    std::ofstream("/tmp/written") << "in";
    std::ofstream("/var/tmp/written") << "in";
    std::ofstream(kept_ + "/written") << "in";
    struct stat info {};
    ASSERT_EQ(::stat("/tmp", &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 01777u);
    EXPECT_NE(::rmdir(kept_.c_str()), 0);
  });
  ::rmdir(others.c_str());
  EXPECT_FALSE(fs::exists("/tmp/written"));
  EXPECT_FALSE(fs::exists("/var/tmp/written"));
  EXPECT_TRUE(fs::exists(tmp_ + "/private/tmp/written"));
  EXPECT_TRUE(fs::exists(var_tmp_ + "/private/tmp/written"));
  EXPECT_TRUE(fs::exists(kept_ + "/written"));
  EXPECT_TRUE(places.is_current());
}

TEST_F(PrivateTmpTest, IsAnotherOnceADirectoryIsReplaced) {
  for (const std::string& replaced : {kept_, tmp_ + "/private/tmp", var_tmp_ + "/private"}) {
    PrivateTmp places(names(), ::geteuid());
    EXPECT_FALSE(places.is_current()) << "before it was mounted";
    INSIDE_OR_SKIP([&] { EXPECT_TRUE(places.mount().ok()); });
    EXPECT_TRUE(places.is_current());
    fs::rename(replaced, replaced + "-away");
    EXPECT_FALSE(places.is_current()) << replaced;
    fs::create_directory(replaced);
    EXPECT_FALSE(places.is_current()) << replaced;
    fs::remove(replaced);
    fs::rename(replaced + "-away", replaced);
    EXPECT_TRUE(places.is_current()) << replaced;
  }
}

TEST_F(PrivateTmpTest, FollowsNoLinkAndTakesNobodyElsesDirectory) {
  PrivateTmp theirs(names(), ::geteuid() + 1);
  INSIDE_OR_SKIP([&] {
    const Status mounted = theirs.mount();
    ASSERT_FALSE(mounted.ok());
    EXPECT_NE(mounted.error().message.find("is no directory of user"), std::string::npos) << mounted.error().message;
  });
  for (const std::string& replaced : {kept_, tmp_, tmp_ + "/private", tmp_ + "/private/tmp"}) {
    fs::rename(replaced, replaced + "-away");
    fs::create_directory_symlink(replaced + "-away", replaced);
    PrivateTmp places(names(), ::geteuid());
    INSIDE_OR_SKIP([&] { EXPECT_FALSE(places.mount().ok()) << replaced; });
    fs::remove(replaced);
    fs::rename(replaced + "-away", replaced);
  }
}

}  // namespace
}  // namespace stab::host
