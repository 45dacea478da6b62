// Recursion, direct and through others, told from split-off cold parts.
#include "instrumenter/postlink/call_graph.h"

#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

class CallGraphTest : public AssembledTest {
 protected:
  bool recursive(const std::string& name) {
    return recursive_functions(Callees(*image_), analysis_->disassembly, analysis_->functions)[index(name)];
  }
};

std::string calls(const std::string& name, const std::string& callee) {
  return assembly_function(name, "push %rax\ncall " + callee + "\npop %rax\nret");
}

TEST_F(CallGraphTest, FindsCyclesOfCallsAndTailJumps) {
  analyze_assembly(calls("start", "self") + calls("self", "self") + calls("a", "b") + calls("b", "c") +
                   assembly_function("c", "mov $1, %eax\njmp a") + calls("d", "a"));
  EXPECT_FALSE(recursive("start"));
  EXPECT_TRUE(recursive("self"));
  EXPECT_TRUE(recursive("a"));
  EXPECT_TRUE(recursive("b"));
  EXPECT_TRUE(recursive("c"));
  EXPECT_FALSE(recursive("d"));
}

TEST_F(CallGraphTest, AColdPartThatJumpsBackIsNoRecursion) {
  analyze_assembly(assembly_function("start", "test %eax, %eax\n.byte 0x0f, 0x85\n.long start.cold - . - 4\nback: ret") +
                   assembly_function("start.cold", "mov $1, %eax\n.byte 0xe9\n.long back - . - 4"));
  EXPECT_FALSE(recursive("start"));
  EXPECT_FALSE(recursive("start.cold"));
}

TEST_F(CallGraphTest, CallsThroughItsOwnPltCount) {
  analyze_assembly(".globl again\n" + calls("start", "again@PLT") + calls("again", "start"), "-shared");
  EXPECT_TRUE(recursive("again"));
}

TEST_F(CallGraphTest, ChainsOfAnyLengthFit) {
  std::string program = calls("start", "f0");
  for (int i = 0; i < 20000; ++i) program += calls("f" + std::to_string(i), "f" + std::to_string((i + 1) % 20000));
  analyze_assembly(program);
  EXPECT_FALSE(recursive("start"));
  EXPECT_TRUE(recursive("f0"));
  EXPECT_TRUE(recursive("f19999"));
}

}  // namespace
}  // namespace stab::postlink
