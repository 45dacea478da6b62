// What stab-layout --bodies prints of two builds, and what they are told apart by. tests/e2e/explain_test asks of real ones.
#include "stabd/engine/results/build_bodies.h"

#include <gtest/gtest.h>

namespace stab::engine {
namespace {

BuildBodies bodies_of(const std::string& lines) {
  const auto read = read_bodies("stab-bodies 3 1f constants\n" + lines);
  EXPECT_TRUE(read) << lines;
  return read ? *read : BuildBodies{};
}

TEST(BuildBodiesTest, FunctionsAreComparedByIdentityAndNotByPlaceOrName) {
  const BuildBodies older = bodies_of("f\t1000\ta1\t77\t-\t-\tfn_1000\nf\t1010\ta2\t78\t-\t-\thot\n"
                                      "f\t1040\ta3\t79\t-\t-\tgone\n");
  const BuildBodies newer = bodies_of("f\t2000\ta2\t78\t-\t-\thot\nf\t2040\ta1\t70\t-\t-\tfn_2040\n"
                                      "f\t2080\ta4\t79\t-\t-\tmore\n");
  const BodiesOfBoth both = bodies_of_both(older, newer);
  EXPECT_EQ(both.functions, 4u);
  EXPECT_EQ(both.changed, std::vector<std::string>{"fn_2040"});
  EXPECT_EQ(both.old_alone, std::vector<std::string>{"gone"});
  EXPECT_EQ(both.new_alone, std::vector<std::string>{"more"});
}

// A name says nothing by itself: a compiler may number what it copies. Whoever compared contents knows which are one function.
TEST(BuildBodiesTest, RenamedFunctionsAreOne) {
  const BuildBodies older = bodies_of("f\t1000\ta1\t77\t-\t-\thot.llvm.1\nf\t1010\ta2\t78\t-\t-\tstep\n");
  const BuildBodies newer = bodies_of("f\t2000\ta1\t77\t-\t-\thot.llvm.2\nf\t2010\ta2\t78\t-\t-\tadvance\n");
  const BodiesOfBoth both = bodies_of_both(older, newer, {0xa2, 0xa3});
  ASSERT_EQ(both.renamed.size(), 1u);
  EXPECT_EQ(both.renamed[0], std::pair(std::string("step"), std::string("advance")));
  EXPECT_EQ(both.functions, 2u);
  EXPECT_TRUE(both.changed.empty() && both.old_alone.empty() && both.new_alone.empty());
  EXPECT_TRUE(bodies_of_both(older, newer).renamed.empty());
}

// A string may be another where no instruction is.
TEST(BuildBodiesTest, ConstantsAreComparedWhereBothAreKnown) {
  const BuildBodies older = bodies_of("f\t1000\ta1\t77\t-\t5f,0,7\thot\nf\t1010\ta2\t78\t-\t5f\tmain\n");
  const auto others = [&](const std::string& lines) { return bodies_of_both(older, bodies_of(lines)); };
  EXPECT_TRUE(others("f\t2000\ta1\t77\t-\t5f,0,7\thot\nf\t2010\ta2\t78\t-\t5f\tmain\n").constants.empty());
  const BodiesOfBoth both = others("f\t2000\ta1\t77\t-\t5f,0,8\thot\nf\t2010\ta2\t78\t-\t5f\tmain\n");
  EXPECT_EQ(both.constants, std::vector<std::string>{"hot"});
  EXPECT_TRUE(both.changed.empty());
  EXPECT_TRUE(both.knows_constants);
  EXPECT_TRUE(others("f\t2000\ta1\t77\t-\t5f,6,0\thot\n").constants.empty()) << "what is not known in one build is not compared";
  EXPECT_TRUE(others("f\t2000\ta1\t77\t-\t5f,7\thot\n").constants.empty()) << "nobody knows which is which";
  const BodiesOfBoth code = others("f\t2000\ta1\t70\t-\t5f,0,8\thot\n");
  EXPECT_EQ(code.changed, std::vector<std::string>{"hot"});
  EXPECT_TRUE(code.constants.empty()) << "named once";
  const auto aged = read_bodies("stab-bodies 3 1f -\nf\t2000\ta1\t77\t-\t0\thot\n");
  ASSERT_TRUE(aged);
  EXPECT_FALSE(bodies_of_both(older, *aged).knows_constants);
}

// Post-link is not sure of a jump table in every link.
TEST(BuildBodiesTest, JumpTablesAreComparedWhereBothAreKnown) {
  const BuildBodies older = bodies_of("f\t1000\ta1\t77\t5f,7\t-\thot\n");
  EXPECT_EQ(bodies_of_both(older, bodies_of("f\t2000\ta1\t77\t5f,8\t-\thot\n")).changed, std::vector<std::string>{"hot"});
  EXPECT_TRUE(bodies_of_both(older, bodies_of("f\t2000\ta1\t77\t5f,7\t-\thot\n")).changed.empty());
  EXPECT_TRUE(bodies_of_both(older, bodies_of("f\t2000\ta1\t77\t-\t-\thot\n")).changed.empty());
  EXPECT_TRUE(bodies_of_both(older, bodies_of("f\t2000\ta1\t77\t7\t-\thot\n")).changed.empty());
}

TEST(BuildBodiesTest, DataThatIsLongerOrLiesElsewhereInItsPageIsNamed) {
  const BuildBodies older = bodies_of("d\t6000\t1\t0\tfront\nd\t6010\t16384\t0\ttable\nd\t7000\t8\t0\tstill\nd\t1\t8\t0\ttwice\n"
                                     "d\t9\t8\t0\ttwice\n");
  const BuildBodies newer = bodies_of("d\t6000\t21\t0\tfront\nd\t6020\t16384\t0\ttable\n"
                                     "d\t9000\t8\t0\tstill\nd\t2\t8\t0\ttwice\n");
  const BodiesOfBoth both = bodies_of_both(older, newer);
  ASSERT_EQ(both.data.size(), 2u);
  EXPECT_EQ(both.data[0].name, "front");
  EXPECT_EQ(both.data[0].new_bytes, 21u);
  EXPECT_EQ(both.data[1].name, "table");
  EXPECT_EQ(both.data[1].new_linked, 0x6020u);
}

TEST(BuildBodiesTest, OtherContentsCountWhereBothAreKnownAndAsLong) {
  const BuildBodies older = bodies_of("d\t6000\t8\ta1\ttimes\nd\t6010\t8\ta2\tsame\n"
                                     "d\t6020\t8\t0\tempty\nd\t6030\t8\ta3\tlonger\n");
  const BuildBodies newer = bodies_of("d\t6000\t8\tb1\ttimes\nd\t6010\t8\ta2\tsame\n"
                                     "d\t6020\t8\tb2\tempty\nd\t6030\t16\tb3\tlonger\n");
  const BodiesOfBoth both = bodies_of_both(older, newer);
  ASSERT_EQ(both.data.size(), 2u);
  EXPECT_EQ(both.data[0].name, "times");
  EXPECT_TRUE(both.data[0].is_other);
  EXPECT_EQ(both.data[1].name, "longer");
  EXPECT_FALSE(both.data[1].is_other);
}

// Static data of several files may have one name.
TEST(BuildBodiesTest, OfSeveralWithOneNameOneMayBeAnother) {
  const BuildBodies older = bodies_of("d\t6000\t8\ta1\ttable\nd\t6010\t8\ta2\ttable\nd\t6020\t16\ta3\ttable\n");
  const auto data = [&](const std::string& lines) { return bodies_of_both(older, bodies_of(lines)).data; };
  EXPECT_TRUE(data("d\t7000\t16\ta3\ttable\nd\t7010\t8\ta2\ttable\nd\t7020\t8\ta1\ttable\n").empty()) << "in another order";
  const auto other = data("d\t7000\t8\ta2\ttable\nd\t7010\t8\tb1\ttable\nd\t7020\t16\ta3\ttable\n");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(other[0].is_other);
  EXPECT_EQ(other[0].old_linked, 0x6000u);
  EXPECT_EQ(other[0].new_linked, 0x7010u);
  EXPECT_TRUE(data("d\t7000\t8\ta2\ttable\nd\t7010\t8\t0\ttable\nd\t7020\t16\ta3\ttable\n").empty()) << "one is not known";
  EXPECT_TRUE(data("d\t7000\t8\ta2\ttable\nd\t7010\t9\tb1\ttable\nd\t7020\t16\ta3\ttable\n").empty()) << "one is longer";
  EXPECT_TRUE(data("d\t7000\t8\ta2\ttable\nd\t7010\t8\tb1\ttable\n").empty()) << "one is gone";
}

TEST(BuildBodiesTest, NamesOfALibraryBeginWithItsFiles) {
  BodiesOfBoth both = bodies_of_both(bodies_of("f\t1000\t1\t70\t-\t-\tmain\n"), bodies_of("f\t1000\t1\t71\t-\t-\tmain\n"));
  const BuildBodies older = bodies_of("f\t1000\t1\t70\t-\t-\thot\nf\t2000\t2\t70\t-\t-\tgone\nd\t7000\t8\ta1\ttable\n");
  add_library("libwork.so", bodies_of_both(older, bodies_of("f\t1000\t1\t75\t-\t-\thot\nd\t7000\t8\ta2\ttable\n")), both);
  EXPECT_EQ(both.functions, 3u);
  EXPECT_EQ(both.changed, (std::vector<std::string>{"main", "libwork.so!hot"}));
  EXPECT_EQ(both.old_alone, std::vector<std::string>{"libwork.so!gone"});
  ASSERT_EQ(both.data.size(), 1u);
  EXPECT_EQ(both.data[0].name, "libwork.so!table");
}

TEST(BuildBodiesTest, WhatAnotherVersionPrintsIsRefused) {
  for (const char* text : {"", "stab-bodies 1\n", "stab-bodies 3\n", "stab-bodies 3 x -\n", "stab-bodies 3 1f -\nf\t10\t20\n",
                           "stab-bodies 2 1f\n", "stab-bodies 3 1f -\nd\tx\t1\t0\tname\n",
                           "stab-bodies 3 1f -\nf\t10\ta1\t77\t-\t5g\thot\n",
                           "stab-bodies 3 1f -\nf\t10\ta1\t77\t-\t100000000\thot\n",
                           "stab-bodies 3 1f -\nf\t10\ta1\t77\t-\thot\n",
                           "stab-bodies 3 1f -\nq\t10\t1\tname\n"})
    EXPECT_FALSE(read_bodies(text)) << text;
}

}  // namespace
}  // namespace stab::engine
