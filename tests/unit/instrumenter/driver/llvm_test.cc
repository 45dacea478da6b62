// Which LLVM a driver takes, in an installation that is built for several.
#include "instrumenter/driver/llvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/temporary_directory.h"

namespace stab::driver {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LlvmTest : public testing::Test {
 protected:
  LlvmTest() {
    for (const char* name : {"lib/stab/llvm-19", "lib/stab/llvm-22", "lib/stab/llvm-23.0.0git", "opt/trunk/bin", "opt/other/bin"})
      std::filesystem::create_directories(below(name));
    std::filesystem::create_symlink(below("opt/trunk/bin"), below("lib/stab/llvm-23.0.0git/bin"));
    std::filesystem::create_symlink("llvm-22", below("lib/stab/llvm"));
  }

  std::string below(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string found(const std::string& named) const {
    const Result<Llvm> llvm = Llvm::find(directory_.path(), named);
    return llvm ? llvm->version : llvm.error().text();
  }

  TemporaryDirectory directory_;
};

TEST_F(LlvmTest, TheDefaultIsWhereTheLinkLeads) {
  EXPECT_EQ(found(""), "22");
  std::filesystem::remove(below("lib/stab/llvm"));
  std::filesystem::create_symlink("llvm-19", below("lib/stab/llvm"));
  EXPECT_EQ(found(""), "19");
  std::filesystem::remove(below("lib/stab/llvm"));
  EXPECT_THAT(found(""), HasSubstr("/lib/stab/llvm' leads to no pass; build or install Stab again"));
}

TEST_F(LlvmTest, IsNamedByItsVersionOrByItsFolder) {
  EXPECT_EQ(found("19"), "19");
  EXPECT_EQ(found("23.0.0git"), "23.0.0git");
  EXPECT_EQ(found(below("opt/trunk")), "23.0.0git");
  EXPECT_EQ(found(below("opt/../opt/trunk/")), "23.0.0git");
}

TEST_F(LlvmTest, OneThatStabIsNotBuiltForIsRefusedWithTheCure) {
  EXPECT_THAT(found("2"), HasSubstr("Stab is not built for LLVM '2', but for 19, 22, 23.0.0git"));
  const std::string other = below("opt/other");
  const std::string all = "22;19;" + below("opt/trunk") + ";" + other;
  EXPECT_THAT(found(other), AllOf(HasSubstr("'" + other + "'"), HasSubstr("-DSTAB_LLVM='" + all + "'")))
      << "what there is stays, and the default is first";
  EXPECT_THAT(found("/nowhere"), HasSubstr("'/nowhere'"));
}

TEST_F(LlvmTest, WithoutAnyPassNothingIsFound) {
  std::filesystem::remove_all(below("lib"));
  EXPECT_THAT(found("19"), HasSubstr("has no pass for any LLVM"));
}

}  // namespace
}  // namespace stab::driver
