// Which machine it is, by what the kernels of x86 and Arm write into /proc/cpuinfo.
#include "base/cpu_model.h"

#include <gtest/gtest.h>

namespace stab {
namespace {

TEST(CpuModel, OfX86IsTheNameOfTheFirst) {
  EXPECT_EQ(cpu_model_of("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9B14 \nstepping\t: 1\n\nmodel name\t: Other\n"),
            "AMD EPYC 9B14");
  EXPECT_EQ(cpu_model_of("model name\t: without an end"), "without an end");
}

// As a Neoverse N1 has it, with two processors of one kind.
TEST(CpuModel, OfArmIsItsNumbers) {
  const std::string one =
      "BogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
      "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n";
  EXPECT_EQ(cpu_model_of("processor\t: 0\n" + one + "processor\t: 1\n" + one),
            "implementer 0x41, part 0xd0c, variant 0x3, revision 1");
}

TEST(CpuModel, OfArmNamesEachKindOnce) {
  const auto core = [](const std::string& part) {
    return "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: " + part + "\nCPU revision\t: 4\n\n";
  };
  EXPECT_EQ(cpu_model_of(core("0xd03") + core("0xd03") + core("0xd08") + core("0xd08")),
            "implementer 0x41, part 0xd03, variant 0x0, revision 4; implementer 0x41, part 0xd08, variant 0x0, revision 4");
}

TEST(CpuModel, NoneIsEmpty) {
  EXPECT_EQ(cpu_model_of(""), "");
  EXPECT_EQ(cpu_model_of("processor\t: 0\nmodel name\t:\nCPU part: \n"), "");
}

}  // namespace
}  // namespace stab
