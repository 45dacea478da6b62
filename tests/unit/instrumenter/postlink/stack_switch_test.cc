// Switches to another stack, known by their bytes alone.
#include "runtime/arch/x86_64/stack_switch.h"

#include <gtest/gtest.h>

#include <vector>

namespace stab::arch::x86_64 {
namespace {

using Bytes = std::vector<uint8_t>;

// push rbp, rbx; mov %rsp,(%rdi); mov %rsi,%rsp; pop rbx, rbp; ret
const Bytes kSwitch = {0x55, 0x53, 0x48, 0x89, 0x27, 0x48, 0x89, 0xf4, 0x5b, 0x5d, 0xc3};

TEST(StackSwitchTest, IsSeenWhereverItLies) {
  Bytes code(1000, 0x90);
  code.insert(code.end(), kSwitch.begin(), kSwitch.end());
  EXPECT_TRUE(holds_stack_switch(code));
  code.pop_back();
  EXPECT_FALSE(holds_stack_switch(code)) << "it ends before it goes on elsewhere";
}

// It is looked for at several places at once.
TEST(StackSwitchTest, IsSeenAtEachPlaceAndUpToTheLastByte) {
  for (size_t before = 0; before < 50; ++before) {
    Bytes code(before, 0x90);
    code.insert(code.end(), kSwitch.begin(), kSwitch.end());
    EXPECT_TRUE(holds_stack_switch(code)) << before;
    code.insert(code.end(), 50 - before, 0x90);
    EXPECT_TRUE(holds_stack_switch(code)) << before;
    code.resize(before + kSwitch.size() - 1);
    EXPECT_FALSE(holds_stack_switch(code)) << before;
  }
  EXPECT_FALSE(holds_stack_switch(Bytes()));
}

TEST(StackSwitchTest, ThatExchangesTheStackPointerWithMemoryIsSeen) {
  // xchg %rsp,(%rdi); pop rbx, rbp; ret
  EXPECT_TRUE(holds_stack_switch(Bytes{0x48, 0x87, 0x27, 0x5b, 0x5d, 0xc3}));
}

TEST(StackSwitchTest, IsNoFunctionThatComesBackToItsOwnStack) {
  // push rbp, rbx; mov %rsp,%rbx; and $-64,%rsp; mov %rbx,%rsp; pop rbx, rbp; ret
  const Bytes code = {0x55, 0x53, 0x48, 0x89, 0xe3, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x89, 0xdc, 0x5b, 0x5d, 0xc3};
  EXPECT_FALSE(holds_stack_switch(code));
}

// Of libjvm: bytes in the middle of a call, in front of an epilogue, that decode as an exchange with REX.X and no index.
TEST(StackSwitchTest, IsNoMiddleOfAnInstruction) {
  const Bytes code = {0x4b, 0x87, 0x61, 0xff, 0x48, 0x83, 0xc4, 0x48, 0x5b, 0x41, 0x5c, 0x5d, 0xc3};
  EXPECT_FALSE(holds_stack_switch(code));
}

}  // namespace
}  // namespace stab::arch::x86_64
