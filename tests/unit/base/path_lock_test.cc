// Who has a lock, and on what.
#include "base/path_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace stab {
namespace {

class PathLock : public testing::Test {
 protected:
  PathLock() { EXPECT_GE(::close(::mkstemp(path_.data())), 0); }
  ~PathLock() override { ::unlink(path_.c_str()); }
  UniqueFd open() const { return UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }
  std::string path_ = testing::TempDir() + "path_lock_XXXXXX";
};

TEST_F(PathLock, IsOnesUntilItIsClosed) {
  UniqueFd mine = open();
  const UniqueFd other = open();
  EXPECT_TRUE(lock_path(mine.get(), path_));
  EXPECT_FALSE(lock_path(other.get(), path_));
  EXPECT_EQ(errno, EWOULDBLOCK);
  mine.reset();
  EXPECT_TRUE(lock_path(other.get(), path_));
}

TEST_F(PathLock, OfWhatIsThereNoMoreIsNone) {
  const UniqueFd removed = open();
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_FALSE(lock_path(removed.get(), path_));
  EXPECT_EQ(errno, ENOENT);
  const UniqueFd next = open();
  EXPECT_FALSE(lock_path(removed.get(), path_)) << "another has its name";
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(lock_path(next.get(), path_));
}

}  // namespace
}  // namespace stab
