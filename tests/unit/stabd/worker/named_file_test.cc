// Whatever a submitter calls a file, opening it comes back at once.
#include "stabd/worker/named_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "stabd/worker/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::worker {
namespace {

TEST(NamedFile, ARegularFileIsReadAsAnyOther) {
  const TemporaryDirectory directory;
  const auto fd = open_regular_file(directory.write("plain", "text"));
  ASSERT_TRUE(fd.ok()) << fd.error().text();
  EXPECT_EQ(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0) << "a program would inherit it";
  char text[8] = {};
  EXPECT_EQ(::read(fd->get(), text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
}

// Without the care for it this test hangs.
TEST(NamedFile, AFifoIsRefusedAtOnce) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(open_regular_file(fifo).error().message, "'" + fifo + "' is a FIFO, not a regular file");
  EXPECT_EQ(sha256_of_file(fifo).error().message, "'" + fifo + "' is a FIFO, not a regular file");
  const auto input = open_input(fifo);
  ASSERT_FALSE(input.ok());
  EXPECT_EQ(input.error().code, ErrorCode::kBadInput);
  EXPECT_NE(input.error().message.find("is a FIFO; stdin is a regular file"), std::string::npos) << input.error().message;
}

// Those of file systems that processes serve need root to be made: stabctl.served_file_test.
TEST(NamedFile, WhatTheKernelKeepsMayBePassedOn) {
  const TemporaryDirectory directory;
  for (const std::string& path : {directory.write("plain", "text"), std::string("/proc/self/status"), std::string("/dev/null")}) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    EXPECT_EQ(why_not_passed_on(fd.get()), "") << path;
  }
  EXPECT_NE(why_not_passed_on(-1), "");
}

TEST(NamedFile, OnlyStdinMayBeADeviceAndOnlyAnEndlessOne) {
  EXPECT_TRUE(open_input("/dev/null").ok());
  EXPECT_TRUE(open_input("/dev/zero").ok());
  const auto messages = open_input("/dev/kmsg");
  ASSERT_FALSE(messages.ok());
  if (messages.error().code == ErrorCode::kBadInput) {
    EXPECT_NE(messages.error().message.find("'/dev/kmsg' is a device; stdin is a regular file"), std::string::npos)
        << messages.error().message;
  }
  EXPECT_FALSE(is_endless_device(S_IFCHR, makedev(1, 11))) << "the kernel's messages";
  EXPECT_FALSE(is_endless_device(S_IFCHR, makedev(1, 1))) << "the machine's memory";
  EXPECT_FALSE(is_endless_device(S_IFBLK, makedev(1, 3)));
  EXPECT_FALSE(is_endless_device(S_IFCHR, makedev(5, 3)));
  EXPECT_EQ(open_regular_file("/dev/zero").error().message, "'/dev/zero' is a device, not a regular file");
}

TEST(NamedFile, DirectoriesSocketsAndNothing) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(open_regular_file(directory.path()).ok());
  EXPECT_FALSE(open_input(directory.path()).ok());
  const auto absent = open_input(directory.path() + "/absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory.path() + "/socket";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_FALSE(open_input(path).ok());
}

}  // namespace
}  // namespace stab::worker
