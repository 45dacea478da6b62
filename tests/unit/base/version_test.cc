// The version is the project's, and no other source spells it.
#include "base/version.h"
#include "tests/places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stab {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Version, IsWrittenInOnePlace) {
  const std::string root = STAB_SOURCE_DIR, number(version());
  EXPECT_NE(read(root + "/CMakeLists.txt").find("project(stab VERSION " + number + " "), std::string::npos) << number;
  int seen = 0;
  for (const char* folder : {"base", "plan", "store", "analysis", "counters", "stabd", "stabctl", "instrumenter", "runtime",
                             "packaging/cmake", "docs/man"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(root + "/" + folder)) {
      if (!file.is_regular_file()) continue;
      ++seen;
      EXPECT_EQ(read(file.path()).find(number), std::string::npos) << file.path() << " spells the version";
    }
  EXPECT_GT(seen, 300);
}

}  // namespace
}  // namespace stab
