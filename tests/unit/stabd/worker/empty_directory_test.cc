// Whatever a program leaves is removed, and nothing beside it.
#include "stabd/worker/empty_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/unique_fd.h"
#include "tests/unit/temporary_directory.h"

namespace stab::worker {
namespace {

TEST(EmptyDirectory, LinksAreRemovedAndNotFollowed) {
  const TemporaryDirectory directory;
  directory.write("outside/kept", "text");
  directory.write("inside/a/b/file", "text");
  ASSERT_EQ(::symlink("../outside", (directory.path() + "/inside/link").c_str()), 0);
  ASSERT_EQ(::symlink("../../outside", (directory.path() + "/inside/a/link").c_str()), 0);
  const Status emptied = empty_directory(directory.path() + "/inside");
  EXPECT_TRUE(emptied.ok()) << emptied.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() + "/inside"));
  EXPECT_EQ(directory.read("outside/kept"), "text");
  ASSERT_EQ(::symlink("outside", (directory.path() + "/link").c_str()), 0);
  EXPECT_FALSE(empty_directory(directory.path() + "/link").ok()) << "a link is no directory";
  EXPECT_TRUE(remove_tree(directory.path() + "/link").ok());
  EXPECT_EQ(directory.read("outside/kept"), "text");
  EXPECT_TRUE(remove_tree(directory.path() + "/absent").ok());
}

// Deeper than a path is long and than there are descriptors for one a level.
TEST(EmptyDirectory, DepthHasNoBound) {
  const TemporaryDirectory directory;
  const std::string root = directory.path() + "/deep";
  ASSERT_EQ(::mkdir(root.c_str(), 0755), 0);
  UniqueFd at(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name(200, 'd');
  for (int depth = 0; depth < 1200; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0) << depth;
    const UniqueFd file(::openat(at.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    at.reset(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
  at.reset();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status removed = remove_tree(root);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(removed.ok()) << removed.error().text();
  EXPECT_FALSE(std::filesystem::exists(root));
}

// Somebody else may fill it as fast as it is emptied.
TEST(EmptyDirectory, ItEndsAtItsTimeAndSaysWhatToDo) {
  const TemporaryDirectory directory;
  directory.write("inside/a/file", "text");
  const Status late = remove_tree(directory.path() + "/inside", std::chrono::steady_clock::now());
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("stop what writes there"), std::string::npos) << late.error().message;
  EXPECT_EQ(directory.read("inside/a/file"), "text");
  EXPECT_TRUE(remove_tree(directory.path() + "/inside", std::chrono::steady_clock::now() + std::chrono::minutes(1)).ok());
}

// What root's rights would hide: asked of another user where there is one to become.
TEST(EmptyDirectory, ItsOwnerHasToAskNobody) {
  const TemporaryDirectory directory;
  const std::string root = directory.path() + "/mine";
  directory.write("mine/closed/inner/file", "text");
  directory.write("mine/.stab-0", "a name that emptying would use");
  if (::geteuid() == 0) {
    for (const char* name : {"", "/closed", "/closed/inner", "/closed/inner/file", "/.stab-0"})
      ASSERT_EQ(::lchown((root + name).c_str(), 64101, 64101), 0);
    ::chmod(directory.path().c_str(), 0755);
  }
  ::chmod((root + "/closed/inner").c_str(), 0);
  ::chmod((root + "/closed").c_str(), 0);
  ::chmod(root.c_str(), 0500);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && (::setresgid(64101, 64101, 64101) != 0 || ::setresuid(64101, 64101, 64101) != 0)) ::_exit(2);
        const Status emptied = empty_directory(root);
        if (!emptied) ::fprintf(stderr, "%s\n", emptied.error().text().c_str());
        ::_exit(emptied.ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_TRUE(std::filesystem::is_empty(root));
}

}  // namespace
}  // namespace stab::worker
