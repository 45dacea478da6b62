// Which target a compiler says that it compiles for, and which of them Stab is for.
#include "instrumenter/driver/target.h"

#include <gtest/gtest.h>

namespace stab::driver {
namespace {

TEST(Target, IsALineOfTheAnswer) {
  EXPECT_EQ(target_of("Debian clang version 19.1.7\nTarget: x86_64-pc-linux-gnux32\nThread model: posix\n"),
            "x86_64-pc-linux-gnux32");
  EXPECT_EQ(target_of("clang-19: error: no input files\n"), "");
}

TEST(Target, OursIsLinuxOnX86WithWidePointersAndGlibc) {
  for (const char* triple : {"x86_64-pc-linux-gnu", "x86_64-unknown-linux", "amd64-unknown-linux-gnu"})
    EXPECT_TRUE(is_our_target(triple)) << triple;
  for (const char* triple : {"i386-pc-linux-gnu", "x86_64-pc-linux-gnux32", "x86_64-pc-linux-muslx32", "aarch64-linux-gnu",
                             "wasm32", "x86_64-w64-windows-gnu", "x86_64-apple-macos", "x86_64-unknown-freebsd",
                             "x86_64-unknown-none-elf"})
    EXPECT_FALSE(is_our_target(triple) || is_only_of_another_libc(triple)) << triple;
  for (const char* triple : {"x86_64-linux-musl", "x86_64-unknown-linux-android21", "x86_64-pc-linux-llvm"})
    EXPECT_TRUE(!is_our_target(triple) && is_only_of_another_libc(triple)) << triple;
  EXPECT_FALSE(is_only_of_another_libc("x86_64-pc-linux-gnu"));
}

}  // namespace
}  // namespace stab::driver
