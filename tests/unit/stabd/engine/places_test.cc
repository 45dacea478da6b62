// The trial's directory is fresh each time, whatever the trial before did to it.
#include "stabd/engine/separation/places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "stabd/engine/build/temporary_places.h"
#include "stabd/worker/empty_directory.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

constexpr unsigned kNobody = unsigned(-1);

class Scratch : public testing::Test {
 protected:
  Scratch() {
    auto made = ScratchDirectory::create([](const std::string& path) { return worker::empty_directory(path); });
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
TEST_F(Scratch, ItIsHeld) {
  const std::string path = fresh();
  const int other = ::open((path + "/..").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0);
  std::filesystem::remove_all(path + "/..");
  ::close(other);
  const int again = ::open((fresh() + "/..").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_NE(::flock(again, LOCK_EX | LOCK_NB), 0) << "and held when it was made again";
  ::close(again);
}

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
  EXPECT_NE(refused.error().message.find("belongs to another user now"), std::string::npos) << refused.error().message;
  std::filesystem::remove(root);
}

TEST_F(Scratch, ADirectoryThatWasReplacedIsNotOurs) {
  const std::string path = fresh();
  ASSERT_EQ(::rename(path.c_str(), (path + "-old").c_str()), 0);
  ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);
  fresh();
}

// A service's directories for trials of somebody else, who alone can go into them; `Rights` is what its broker does for it.
class TemporaryOfTwo : public testing::Test {
 protected:
  static constexpr unsigned kService = 64901, kUser = 64902;
  class Rights {
   public:
    Rights() { EXPECT_EQ(::seteuid(0), 0); }
    ~Rights() { EXPECT_EQ(::seteuid(kService), 0); }
  };
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two others";
    ASSERT_EQ(::seteuid(kService), 0);
    auto made = TemporaryPlaces::create(
        {"kept"}, kUser, kUser,
        [](const std::string& path) {
          const Rights rights;
          return worker::empty_directory(path);
        },
        [](const std::string& path, unsigned uid, unsigned gid) {
          const Rights rights;
          return chown_to(path, uid, gid);
        });
    ASSERT_TRUE(made.ok()) << made.error().text();
    places_.emplace(std::move(*made));
    closed_ = "/tmp/" + places_->names().tmp + "/private";
  }
  void TearDown() override {
    places_.reset();
    if (::getuid() == 0) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  static void remove(const std::string& path) {
    const Rights rights;
    EXPECT_GT(std::filesystem::remove_all(path), 0u) << path;
  }
  std::optional<TemporaryPlaces> places_;
  std::string closed_;
  std::error_code error_;
};

TEST_F(TemporaryOfTwo, AreThereThoughTheServiceMayNotGoThere) {
  ASSERT_FALSE(std::filesystem::exists(closed_ + "/tmp/kept", error_));
  ASSERT_TRUE(error_) << "the service can look for itself";
  EXPECT_TRUE(places_->are_there());
  ASSERT_TRUE(places_->fresh().ok());
  EXPECT_TRUE(places_->are_there());
}

TEST_F(TemporaryOfTwo, WhatIsGoneIsMissed) {
  for (const char* gone : {"/tmp/kept", "/tmp", ""}) {
    remove(closed_ + gone);
    EXPECT_FALSE(places_->are_there()) << gone;
    ASSERT_TRUE(places_->fresh().ok()) << gone;
    EXPECT_TRUE(places_->are_there()) << gone;
  }
}

// An engine in another PID namespace tells by the lock alone that they are in use.
TEST(Temporary, TheirRootsAreHeld) {
  auto made =
      TemporaryPlaces::create({}, kNobody, kNobody, [](const std::string& path) { return worker::empty_directory(path); });
  ASSERT_TRUE(made.ok()) << made.error().text();
  std::vector<std::string> roots{"/tmp/" + made->names().tmp};
  if (!made->names().var_tmp.empty()) roots.push_back("/var/tmp/" + made->names().var_tmp);
  for (const std::string& root : roots) {
    EXPECT_FALSE(hold_scratch(root)) << root;
    std::filesystem::create_directory(root + "/private/tmp/touched");
    ASSERT_TRUE(made->fresh().ok());
    EXPECT_FALSE(hold_scratch(root)) << root << " with something new in it";
    std::filesystem::remove_all(root);
    ASSERT_TRUE(made->fresh().ok());
    EXPECT_FALSE(hold_scratch(root)) << root << " made again";
    EXPECT_TRUE(made->are_there());
  }
  // What is there now in its place may be anybody's.
  std::filesystem::remove_all(roots.front());
  ASSERT_TRUE(std::filesystem::create_directory(roots.front()));
  const Status refused = made->fresh();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("belongs to another user now"), std::string::npos) << refused.error().message;
  std::filesystem::remove(roots.front());
}

// Others remove whatever nobody holds, as fast as they can: what make_scratch() gives is there, and held.
TEST(HeldScratch, NobodyTakesItBetweenMakingAndHolding) {
  const TemporaryDirectory directory;
  const std::jthread others([&](const std::stop_token& over) {
    while (!over.stop_requested())
      (void)remove_held({directory.path()}, "engines", hold_scratch, remove_tree, {.most = 1'000'000'000});
  });
  for (int i = 0; i < 3000; ++i) {
    std::string path = directory.path() + "/XXXXXX";
    const auto held = make_scratch(path);
    ASSERT_TRUE(held.ok()) << held.error().text();
    struct stat mine, there;
    ASSERT_EQ(::fstat(held->get(), &mine), 0);
    ASSERT_EQ(::lstat(path.c_str(), &there), 0) << path << " was taken";
    ASSERT_EQ(mine.st_ino, there.st_ino);
    ASSERT_EQ(::rmdir(path.c_str()), 0);
  }
}

TEST(HeldScratch, OnlyADirectoryOfThisUserIs) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "text"), link = directory.path() + "/link",
                    other = directory.path() + "/other";
  ASSERT_EQ(::symlink(directory.path().c_str(), link.c_str()), 0);
  EXPECT_FALSE(hold_scratch(file));
  EXPECT_FALSE(hold_scratch(link));
  ASSERT_EQ(::mkdir(other.c_str(), 0755), 0);
  EXPECT_TRUE(hold_scratch(other));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(other.c_str(), 64901, 64901), 0);
  EXPECT_FALSE(hold_scratch(other));
}

// Directories of an engine that lives no more, each with a trial's file.
class Leftovers : public testing::Test {
 protected:
  Leftovers() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    std::snprintf(head_, sizeof head_, "stab-%07d-", child);
  }
  void leave(const std::string& end) { directory_.write(head_ + end + "/private/tmp/file", "text"); }
  bool is_there(const std::string& end) const { return std::filesystem::exists(directory_.path() + "/" + head_ + end); }
  std::string remove(const Empty& empty, LeftoverLimits limits, unsigned uid = ::geteuid()) {
    return remove_leftovers({directory_.path()}, uid, empty, limits);
  }

  char head_[32];
  const TemporaryDirectory directory_;
};

Status empty(const std::string& path) { return worker::empty_directory(path); }

TEST_F(Leftovers, OneExperimentRemovesNoMoreThanItsNumber) {
  for (const char* end : {"a", "b", "c", "d", "e"}) leave(end);
  int asked = 0;
  const auto counts = [&](const std::string& path) {
    ++asked;
    return empty(path);
  };
  const std::string stay = remove(counts, {.most = 3});
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(stay.starts_with("2 directories of engines that were killed stay for the next experiment, '")) << stay;
  EXPECT_EQ(remove(counts, {.most = 3}), "");
  EXPECT_EQ(asked, 5);
  for (const char* end : {"a", "b", "c", "d", "e"}) EXPECT_FALSE(is_there(end)) << end;
}

// In a container each command has the number that the one before it had, which was killed.
TEST_F(Leftovers, ThoseOfAnEngineThatHadOurNumberAreRemoved) {
  std::snprintf(head_, sizeof head_, "stab-%07d-", ::getpid());
  for (const char* end : {"dead", "ours"}) leave(end);
  {
    const UniqueFd held = hold_scratch(directory_.path() + "/" + head_ + "ours");
    ASSERT_TRUE(held);
    EXPECT_EQ(remove(empty, {}), "");
    EXPECT_FALSE(is_there("dead"));
    EXPECT_TRUE(is_there("ours"));
  }
  std::snprintf(head_, sizeof head_, "stab-%07d-", ::getppid());
  leave("living");
  EXPECT_EQ(remove(empty, {}), "");
  EXPECT_TRUE(is_there("living"));
}

TEST_F(Leftovers, NoneIsBegunWhenTheTimeIsOver) {
  leave("a");
  const std::string stay = remove([](const std::string&) -> Status { throw std::logic_error("asked"); },
                                  {.most = 3, .time = std::chrono::milliseconds(0)});
  EXPECT_TRUE(stay.starts_with("1 directories")) << stay;
  EXPECT_TRUE(is_there("a"));
}

// An engine in another PID namespace: here its pid is nobody's, and what is its own it holds.
TEST_F(Leftovers, OneThatSomebodyHoldsStays) {
  leave("a");
  const std::string held = directory_.path() + "/" + head_ + "a";
  const int holder = ::open(held.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(holder, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(remove(empty, {}), "");
  EXPECT_TRUE(is_there("a"));
  ::close(holder);
  EXPECT_EQ(remove(empty, {}), "");
  EXPECT_FALSE(is_there("a"));
}

TEST_F(Leftovers, OneIsHeldWhileItIsRemoved) {
  leave("a");
  int asked = 0;
  const auto others_look = [&](const std::string& path) {
    ++asked;
    EXPECT_FALSE(hold_scratch(std::filesystem::path(path).parent_path()));
    return empty(path);
  };
  EXPECT_EQ(remove(others_look, {}), "");
  EXPECT_EQ(asked, 1);
}

// Who was stopped, or had too much to do, would be followed by us, without an end.
TEST_F(Leftovers, WhatCouldNotBeEmptiedIsLeftAlone) {
  leave("a");
  const auto late = [](const std::string&) { return Status(Error{ErrorCode::kSystem, "too late", {}}); };
  const std::string stay = remove(late, {});
  EXPECT_TRUE(stay.starts_with("1 directories") && stay.find("' for one: too late; root can") != std::string::npos) << stay;
  EXPECT_TRUE(is_there("a"));
  // Nobody's rights were enough: what is ours we remove ourselves.
  const auto refused = [](const std::string&) { return Status(Error{ErrorCode::kDenied, "not mine", {}}); };
  EXPECT_EQ(remove(refused, {}), "");
  EXPECT_FALSE(is_there("a"));
}

TEST_F(Leftovers, WhatCannotBeRemovedHidesNothing) {
  for (const char* end : {"a", "b", "c", "d"}) leave(end);
  std::set<std::string> stuck;  // whichever come first
  const auto two_are_stuck = [&](const std::string& path) {
    if (stuck.size() == 2) return empty(path);
    stuck.insert(path);
    return Status(Error{ErrorCode::kSystem, "stuck", {}});
  };
  const std::string stay = remove(two_are_stuck, {.most = 2});
  EXPECT_TRUE(stay.starts_with("2 directories")) << stay;
  for (const char* end : {"a", "b", "c", "d"})
    EXPECT_EQ(is_there(end), stuck.contains(directory_.path() + "/" + head_ + end + "/private")) << end;
}

TEST_F(Leftovers, AnothersStayForTheirOwnExperiments) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's directory";
  leave("a");
  const std::string held = directory_.path() + "/" + head_ + "a/private";
  ASSERT_EQ(::chown(held.c_str(), 64901, 64901), 0);
  EXPECT_EQ(remove(empty, {.most = 0}, 64902), "") << "it counts for nobody else";
  EXPECT_TRUE(is_there("a"));
  EXPECT_EQ(remove(empty, {}, 64901), "");
  EXPECT_FALSE(is_there("a"));
}

}  // namespace
}  // namespace stab::engine
