// Whatever a user may name is read or refused, and nothing waits for ever.
#include "base/named_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace stab {
namespace {

class NamedInput : public testing::Test {
 protected:
  NamedInput() {
    char name[] = "/tmp/named-input-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~NamedInput() override { std::filesystem::remove_all(folder_); }
  std::string in(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

std::string why(const std::string& path) {
  const auto read = read_named_input(path, 100);
  return read ? "" : read.error().message;
}

TEST_F(NamedInput, AFileIsReadToItsBound) {
  std::ofstream(in("file")) << std::string(200'000, 'x');
  EXPECT_EQ(read_named_input(in("file"), 10)->size(), 11U);
  EXPECT_EQ(read_named_input(in("file"), 200'000)->size(), 200'000U);
  EXPECT_EQ(read_named_input("/dev/zero", 1'000'000)->size(), 1'000'001U);
}

TEST_F(NamedInput, WhatIsNoFileIsNamed) {
  EXPECT_NE(why(in("absent")).find("No such file"), std::string::npos);
  EXPECT_NE(why(folder_).find("is a directory"), std::string::npos);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  in("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_NE(why(in("socket")).find("is a socket"), std::string::npos);
}

TEST_F(NamedInput, APipeThatNobodyWritesToIsRefused) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  EXPECT_NE(why(in("pipe")).find("is a pipe that nobody writes to"), std::string::npos);
}

TEST_F(NamedInput, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream out(in("pipe"));
    out << "slow" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    out << " writer";
  });
  const auto read = read_named_input(in("pipe"), 100);
  writer.join();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "slow writer");
}

}  // namespace
}  // namespace stab
