// Identities: which names are one function's, and which are not.
#include "instrumenter/postlink/identities.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "instrumenter/postlink/lasting_name.h"
#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

TEST(LastingName, IsWithoutHashesAndNumbers) {
  for (const auto& [name, lasting] : std::vector<std::pair<std::string, std::string>>{
           {"f", "f"},
           {"f.llvm.1234567", "f"},
           {"f.__uniq.98765.cold", "f.cold"},
           {"f.17", "f"},
           {"f.17.llvm.5", "f"},
           {"f.lto_priv.0", "f"},
           {"f.part.0", "f.part.0"},
           {"f.constprop.2", "f.constprop.2"},
           {"f.cold", "f.cold"},
           {"f.cold.1", "f.cold.1"},
           {"f.12.cold", "f.cold"},
           {".omp_outlined..5", ".omp_outlined."},
           {"_ZN12_GLOBAL__N_13ownEi", "_ZN12_GLOBAL__N_13ownEi"},
           {"_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write"},
           {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.77", "_ZN4core3fmt5write"},
           {"_RNvNtCs7qp2U7fqm6G_4core3fmt5write", "_RNvNtC4core3fmt5write"},
           {"_RINvNtC4core3ptr4readNtCs_3abc1TE", "_RINvNtC4core3ptr4readNtC3abc1TE"},
           {"_RNvCs1abc_1fCs", "_RNvC1fCs"},
           {"NtCs7qp2U7fqm6G_4core", "NtCs7qp2U7fqm6G_4core"},
           {"17h0123456789abcdefE", "17h0123456789abcdefE"},
           {"", ""},
           {".", "."}})
    EXPECT_EQ(lasting_name(name), lasting) << name;
}

class IdentitiesTest : public AssembledTest {
 protected:
  // Of functions by name, in the order of the text.
  std::vector<uint64_t> of(const std::string& assembly, const std::string& options = "-pie") {
    analyze_assembly(assembly, options);
    return find_identities(*image_, analysis_->functions, analysis_->disassembly).of;
  }
  static std::string function(const std::string& name, const std::string& body) {
    return "\n.p2align 4\n.type " + name + ",@function\n" + name + ": " + body + "\n.size " + name + ", .-" + name + "\n";
  }
};

TEST_F(IdentitiesTest, LastWhereEverythingElseChanges) {
  const std::string start = ".type start,@function\nstart: nop; nop; nop; nop; ret\n.size start, .-start\n";
  const std::vector<uint64_t> one = of(start + function("f", "mov $1, %eax; ret") + function("g.llvm.11", "mov $2, %eax; ret"));
  const std::vector<uint64_t> two =
      of(start + function("g.llvm.99", "mov $2, %eax; mov $7, %ecx; ret") + function("h", "nop; nop; nop; nop; ret") +
         function("f", "mov $1, %eax; ret"));
  ASSERT_EQ(one.size(), 3u);
  ASSERT_EQ(two.size(), 4u);
  EXPECT_EQ(one[0], two[0]);
  EXPECT_EQ(one[1], two[3]);
  EXPECT_EQ(one[2], two[1]);
  EXPECT_EQ((std::set<uint64_t>(two.begin(), two.end()).size()), 4u);
}

// Two programs with functions of two files each: "own" is in the first one alone, "both" in either.
TEST_F(IdentitiesTest, FilesTellOnlyNamesakesApart) {
  const std::string start = ".type start,@function\nstart: nop; nop; nop; nop; ret\n.size start, .-start\n";
  const auto first = [&](const std::string& file) {
    return ".file \"" + file + "\"\n" + start + function("own", "mov $1, %eax; ret") + function("both", "mov $2, %eax; ret");
  };
  const std::string other = scratch_ / "other.s";
  std::ofstream(other) << ".file \"other.c\"\n.text\n" << function("both", "mov $3, %eax; ret");
  const std::vector<uint64_t> older = of(first("old.c"), "-pie " + other), newer = of(first("new.c"), "-pie " + other);
  ASSERT_EQ(older.size(), 4u);
  ASSERT_EQ(newer.size(), 4u);
  EXPECT_EQ(older[0], newer[0]) << "one of two namesakes, whose file is the same; it is linked first";
  EXPECT_EQ(older[2], newer[2]) << "of a file that was called otherwise";
  EXPECT_NE(older[3], newer[3]) << "the other one of two namesakes";
  EXPECT_EQ((std::set<uint64_t>(newer.begin(), newer.end()).size()), 4u);
}

TEST_F(IdentitiesTest, NamesakesAreToldApart) {
  const std::string start = ".type start,@function\nstart: nop; nop; nop; nop; ret\n.size start, .-start\n";
  const std::vector<uint64_t> all = of(start + function("f.1", "mov $1, %eax; ret") + function("f.2", "mov $2, %eax; ret") +
                                       function("f.part.0", "mov $3, %eax; ret"));
  EXPECT_EQ((std::set<uint64_t>(all.begin(), all.end()).size()), 4u);
}

TEST_F(IdentitiesTest, OfAliasesTheSameOneCounts) {
  const std::string start = ".type start,@function\nstart: nop; nop; nop; nop; ret\n.size start, .-start\n";
  const std::string body = function("b", "mov $1, %eax; ret");
  const std::vector<uint64_t> one = of(start + body + ".globl a\n.type a,@function\n.set a, b\n");
  const std::vector<uint64_t> two = of(start + ".globl a\n.type a,@function\n.set a, b\n" + body);
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace stab::postlink
