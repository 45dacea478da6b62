// The caches of a machine, from a sysfs of our own, and the command that simulates with them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stabd/engine/trial/simulated.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MachineCaches : public ::testing::Test {
 protected:
  void cache(int index, const char* level, const char* type, const char* size, const char* ways, const char* line = "64") {
    const fs::path at = fs::path(directory_.path()) / "devices/system/cpu/cpu0/cache" / ("index" + std::to_string(index));
    fs::create_directories(at);
    std::ofstream(at / "level") << level << "\n";
    std::ofstream(at / "type") << type << "\n";
    std::ofstream(at / "size") << size << "\n";
    std::ofstream(at / "ways_of_associativity") << ways << "\n";
    std::ofstream(at / "coherency_line_size") << line << "\n";
  }
  host::Roots roots() const {
    host::Roots roots;
    roots.sys = directory_.path();
    return roots;
  }
  static plan::Simulation asked() {
    plan::Simulation simulation;
    simulation.simulator = plan::Simulator::kCachegrind;
    return simulation;
  }
  const TemporaryDirectory directory_;
};

TEST_F(MachineCaches, AreFirstLevelAndLast) {
  cache(0, "1", "Data", "48K", "12");
  cache(1, "1", "Instruction", "32K", "8");
  cache(2, "2", "Unified", "2048K", "16");
  cache(3, "3", "Unified", "36608K", "11");
  const auto found = with_caches_of_machine(asked(), roots());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->i1, (plan::CacheShape{32u << 10, 8, 64}));
  EXPECT_EQ(found->d1, (plan::CacheShape{48u << 10, 12, 64}));
  // 53,248 sets are no power of two: 32,768 are the most below.
  EXPECT_EQ(found->ll, (plan::CacheShape{32768u * 11 * 64, 11, 64}));
}

TEST_F(MachineCaches, DeclaredOnesStay) {
  cache(0, "1", "Unified", "16K", "4");
  plan::Simulation simulation = asked();
  simulation.ll = {1u << 20, 16, 64};
  const auto found = with_caches_of_machine(simulation, roots());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->i1, (plan::CacheShape{16u << 10, 4, 64}));
  EXPECT_EQ(found->d1, found->i1) << "one cache for both";
  EXPECT_EQ(found->ll, simulation.ll);
}

TEST_F(MachineCaches, AreRefusedWhereTheMachineIsSilent) {
  cache(0, "1", "Data", "48K", "12");
  const auto found = with_caches_of_machine(asked(), roots());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(found.error().message, HasSubstr("doesn't say what its cache I1 is; declare it below simulate = \"cachegrind\": "
                                               "[counters.cache] I1 ="));
}

TEST(PutUnderCachegrind, KeepsTheProgramAndItsWords) {
  plan::Simulation simulation;
  simulation.i1 = simulation.d1 = {4096, 1, 64};
  simulation.ll = {1u << 20, 16, 64};
  host::LaunchRequest launch;
  launch.exec_path = "/lab/build/lua";
  launch.argv = {"./lua", "--", "a b.lua"};
  put_under_cachegrind(simulation, "/usr/bin/valgrind.bin", "/tmp/trial", "/tmp/program-000000/lua", launch);
  EXPECT_EQ(launch.exec_path, "/usr/bin/valgrind.bin");
  EXPECT_EQ(launch.program_path, "/lab/build/lua") << "whose identity is checked";
  EXPECT_FALSE(launch.aslr);
  EXPECT_THAT(launch.argv, Contains("--I1=4096,1,64"));
  EXPECT_THAT(launch.argv, Contains("--LL=1048576,16,64"));
  EXPECT_THAT(launch.argv, Contains("--cachegrind-out-file=/tmp/trial/stab-simulated.%p"));
  const std::vector<std::string> end(launch.argv.end() - 4, launch.argv.end());
  EXPECT_THAT(end, ElementsAre("--", "/tmp/program-000000/lua", "--", "a b.lua"));
}

TEST(PathOfConstantLength, IsAsLongWhereverTheProgramLies) {
  const TemporaryDirectory root;
  const std::string trial = root.path() + "/trial";
  root.write("a/tool", "first");
  root.write("some/where/deeper/0a1b2c3d", "second");
  const auto first = path_of_constant_length(trial, 0, "./tool", root.path() + "/a/tool");
  const auto second = path_of_constant_length(trial, 1, "bin/tool", root.path() + "/some/where/deeper/0a1b2c3d");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size(), second->size());
  EXPECT_NE(*first, *second);
  EXPECT_TRUE(first->ends_with("/tool")) << "programs look at their own name";
  EXPECT_EQ(root.read("program-000001/tool"), "second");
  EXPECT_EQ(*path_of_constant_length(trial, 0, "./tool", root.path() + "/a/tool"), *first) << "again, or after somebody took it";
  fs::remove_all(root.path() + "/program-000000");
  ASSERT_TRUE(path_of_constant_length(trial, 0, "./tool", root.path() + "/a/tool"));
  EXPECT_EQ(root.read("program-000000/tool"), "first");
}

}  // namespace
}  // namespace stab::engine
