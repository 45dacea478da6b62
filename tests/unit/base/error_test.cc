#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace stab {
namespace {

TEST(Error, PrintsTheSpotBeforeTheMessage) {
  const Error error = bad_input("unknown key 'sead'", {"a.toml", 3, 7});
  EXPECT_EQ(error.text(), "a.toml:3:7: unknown key 'sead'");
}

TEST(Error, WithoutASpotIsTheMessageAlone) { EXPECT_EQ(bad_input("no plan given").text(), "no plan given"); }

TEST(SystemError, DerivesItsCodeFromErrno) {
  EXPECT_EQ(system_error("open 'x'", ENOENT).code, ErrorCode::kNotFound);
  EXPECT_EQ(system_error("open 'x'", EACCES).code, ErrorCode::kDenied);
  EXPECT_EQ(system_error("open 'x'", EIO).code, ErrorCode::kSystem);
  EXPECT_TRUE(system_error("open 'x'", EMFILE).message.starts_with("open 'x': Too many open files; 'ulimit -n' allows "));
  EXPECT_EQ(system_error("open 'x'", ENOENT).message, "open 'x': No such file or directory");
}

}  // namespace
}  // namespace stab
