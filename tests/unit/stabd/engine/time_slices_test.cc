// Which kernels accept a program's time slices, by their release, and what memory the machine says that it has.
#include "stabd/engine/machine/time_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TimeSlices : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  host::Roots roots() const {
    host::Roots roots;
    roots.proc = root_.path();
    return roots;
  }

 private:
  TemporaryDirectory root_;
};

TEST_F(TimeSlices, ArePromisedFromLinuxSixTwelveOn) {
  for (const char* release : {"6.12.0-rc1\n", "6.12.94+deb13-amd64\n", "6.18.44-fc-v782\n", "7.0\n", "10.1.2\n"}) {
    write("sys/kernel/osrelease", release);
    EXPECT_THAT(why_no_slices(roots()), IsEmpty()) << release;
  }
  for (const char* release : {"5.10.0-28-amd64", "5.19.0", "6.1.0-37-amd64", "6.11.9", "4.18.0-553.el8_10.x86_64"}) {
    write("sys/kernel/osrelease", std::string(release) + "\n");
    EXPECT_THAT(why_no_slices(roots()), HasSubstr(release));
    EXPECT_THAT(why_no_slices(roots()), HasSubstr("chooses the length of slices itself"));
  }
}

TEST_F(TimeSlices, AreNotPromisedByAKernelThatIsNotKnown) {
  EXPECT_THAT(why_no_slices(roots()), HasSubstr("unknown release"));
  write("sys/kernel/osrelease", "rolling\n");
  EXPECT_THAT(why_no_slices(roots()), HasSubstr("rolling"));
}

TEST_F(TimeSlices, AvailableMemoryIsReadOrAbsent) {
  EXPECT_EQ(available_memory_kib(roots()), std::nullopt);
  write("meminfo", "MemTotal:       24572316 kB\nMemFree:        22012345 kB\nMemAvailable:   23123456 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(available_memory_kib(roots()), 23123456);
  write("meminfo", "MemTotal:       24572316 kB\nMemAvailable: kB\n");
  EXPECT_EQ(available_memory_kib(roots()), std::nullopt);
}

}  // namespace
}  // namespace stab::engine
