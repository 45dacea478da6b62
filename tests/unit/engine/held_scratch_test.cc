// What a worker finds of workers before it.
#include "engine/machines/held_scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

void make_older(const std::string& path) {
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, AT_SYMLINK_NOFOLLOW), 0) << path;
}

TEST(AbandonedScratch, GoesUnlessAWorkerHoldsItOrItIsNoneOfOurs) {
  const TemporaryDirectory directory;
  const std::string below = directory.path() + "/";
  for (const char* name :
       {"stab-work-killed", "stab-share-killed", "stab-work-held", "stab-work-young", "stab-spool-0-x", "aim"}) {
    directory.write(std::string(name) + "/build/program", "text");
    if (std::string(name) != "stab-work-young") make_older(below + name);
  }
  std::filesystem::create_directory_symlink(below + "aim", below + "stab-work-link");
  make_older(below + "stab-work-link");
  directory.write("stab-work-file", "text");
  make_older(below + "stab-work-file");
  const UniqueFd held(::open((below + "stab-work-held").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);

  remove_abandoned_scratch(directory.path());
  EXPECT_FALSE(std::filesystem::exists(below + "stab-work-killed"));
  EXPECT_FALSE(std::filesystem::exists(below + "stab-share-killed"));
  for (const char* name : {"stab-work-held", "stab-work-young", "stab-spool-0-x", "aim"})
    EXPECT_TRUE(std::filesystem::exists(below + name + "/build/program")) << name;
  EXPECT_TRUE(std::filesystem::is_symlink(below + "stab-work-link"));
  EXPECT_TRUE(std::filesystem::exists(below + "stab-work-file"));
}

TEST(AbandonedScratch, OfAnotherUserStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nobody else to give it to";
  constexpr uid_t kOther = 64102;
  const TemporaryDirectory directory;
  const std::string file = directory.write("stab-work-other/file", "text"), folder = directory.path() + "/stab-work-other";
  ASSERT_EQ(::chown(folder.c_str(), kOther, kOther), 0);
  make_older(folder);
  remove_abandoned_scratch(directory.path());
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace stab::engine
