// What a worker finds of workers before it.
#include "stabd/engine/machines/held_scratch.h"

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

TEST(AbandonedScratch, GoesUnlessAWorkerHoldsItOrItIsNoneOfOurs) {
  const TemporaryDirectory directory;
  const std::string below = directory.path() + "/";
  for (const char* name : {"stab-work-killed", "stab-share-killed", "stab-work-held", "stab-spool-0-x", "aim"})
    directory.write(std::string(name) + "/build/program", "text");
  std::filesystem::create_directory_symlink(below + "aim", below + "stab-work-link");
  directory.write("stab-work-file", "text");
  const UniqueFd held(::open((below + "stab-work-held").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);

  EXPECT_EQ(remove_abandoned_scratch(directory.path()), "");
  EXPECT_FALSE(std::filesystem::exists(below + "stab-work-killed"));
  EXPECT_FALSE(std::filesystem::exists(below + "stab-share-killed"));
  for (const char* name : {"stab-work-held", "stab-spool-0-x", "aim"})
    EXPECT_TRUE(std::filesystem::exists(below + name + "/build/program")) << name;
  EXPECT_TRUE(std::filesystem::is_symlink(below + "stab-work-link"));
  EXPECT_TRUE(std::filesystem::exists(below + "stab-work-file"));
}

TEST(AbandonedScratch, NoneIsBegunBeyondTheLimits) {
  const TemporaryDirectory directory;
  for (const char* name : {"stab-work-a", "stab-share-b", "stab-work-c"}) directory.write(std::string(name) + "/program", "text");
  const std::string late = remove_abandoned_scratch(directory.path(), {.time = std::chrono::milliseconds(0)});
  EXPECT_TRUE(late.starts_with("3 directories of workers that were killed stay for the next experiment, '")) << late;
  const std::string many = remove_abandoned_scratch(directory.path(), {.most = 2});
  EXPECT_TRUE(many.starts_with("1 directories of workers")) << many;
  EXPECT_EQ(remove_abandoned_scratch(directory.path()), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(AbandonedScratch, OfAnotherUserStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nobody else to give it to";
  constexpr uid_t kOther = 64102;
  const TemporaryDirectory directory;
  const std::string file = directory.write("stab-work-other/file", "text"), folder = directory.path() + "/stab-work-other";
  ASSERT_EQ(::chown(folder.c_str(), kOther, kOther), 0);
  EXPECT_EQ(remove_abandoned_scratch(directory.path()), "");
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace stab::engine
