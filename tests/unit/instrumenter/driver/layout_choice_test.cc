// Which layout file a command obeys, and what it makes of it.
#include "instrumenter/driver/layout_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/unit/temporary_directory.h"

namespace stab::driver {
namespace {

using testing::HasSubstr;

constexpr char kFile[] = "stab-layout 1\nprogram a\ncpu Xeon\nplace f mod 64 at 16\nplace g mod 4096 at 0\norder g\norder f\n";

class LayoutChoiceTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("STAB_LINK_LAYOUT"); }
  TemporaryDirectory directory_;
};

TEST_F(LayoutChoiceTest, TheOptionComesBeforeTheEnvironment) {
  CommandLine line;
  auto none = choose_layout(line, "Xeon");
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  const std::string path = directory_.write("a.layout", kFile);
  setenv("STAB_LINK_LAYOUT", path.c_str(), 1);
  auto chosen = choose_layout(line, "Xeon");
  ASSERT_TRUE(chosen) << chosen.error().text();
  EXPECT_EQ((*chosen)->path, path);
  line.layout_file = directory_.path() + "/none.layout";
  EXPECT_THAT(choose_layout(line, "Xeon").error().message, HasSubstr("none.layout"));
}

TEST_F(LayoutChoiceTest, AnotherModelIsRefused) {
  CommandLine line;
  line.layout_file = directory_.write("a.layout", kFile);
  const auto refused = choose_layout(line, "EPYC");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("was measured on 'Xeon', and this machine is 'EPYC'"));
}

TEST_F(LayoutChoiceTest, ThePassAndTheLinkerGetTheirShare) {
  const auto file = advice::parse_layout_file(kFile, "a.layout");
  ASSERT_TRUE(file);
  EXPECT_EQ(places_text(*file), "f 64 16\ng 4096 0\n");
  auto ordering = ordering_file(*file);
  ASSERT_TRUE(ordering);
  std::ifstream read(path_of(*ordering));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}), "g\nf\n");
  advice::LayoutFile unordered = *file;
  unordered.order.clear();
  ordering = ordering_file(unordered);
  ASSERT_TRUE(ordering);
  EXPECT_FALSE(*ordering);
}

}  // namespace
}  // namespace stab::driver
