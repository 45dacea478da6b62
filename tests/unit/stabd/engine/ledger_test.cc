// Texts as the kernel writes them, and what is read from them; then looks at machines of files.
#include "stabd/engine/machine/ledger.h"

#include <gtest/gtest.h>

#include "stabd/engine/machine/facts.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

constexpr char kInterrupts[] =
    "           CPU0       CPU2\n"
    "  0:         10          3   IO-APIC   2-edge      timer\n"
    "  8:          0          1   IO-APIC   8-edge      rtc0\n"
    "LOC:       1000       2000   Local timer interrupts\n"
    "ERR:          5\n";

TEST(Ledger, InterruptsOfOneCpu) {
  EXPECT_EQ(interrupts_of(kInterrupts, 0), 1010);
  EXPECT_EQ(interrupts_of(kInterrupts, 2), 2004);
  EXPECT_FALSE(interrupts_of(kInterrupts, 1).has_value());
  EXPECT_FALSE(interrupts_of("", 0).has_value());
}

TEST(Ledger, StealOfOneCpu) {
  const std::string stat = "cpu  1 2 3 4 5 6 7 88\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3\n";
  EXPECT_EQ(steal_ticks_of(stat, 0), 8);
  EXPECT_FALSE(steal_ticks_of(stat, 1).has_value());
  EXPECT_FALSE(steal_ticks_of(stat, 9).has_value());
}

TEST(Ledger, PressureTotal) {
  EXPECT_EQ(pressure_total_us("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0 total=9\n"), 1234);
  EXPECT_FALSE(pressure_total_us("full avg10=0 total=9").has_value());
}

TEST(Ledger, VmstatTakesWholeNames) {
  EXPECT_EQ(vmstat_value("pswpin_x 4\npswpin 7\n", "pswpin"), 7);
  EXPECT_FALSE(vmstat_value("pswpinned 4\n", "pswpin").has_value());
}

class FakeMachine {
 public:
  FakeMachine() {
    roots.proc = directory.path() + "/proc";
    roots.sys = directory.path() + "/sys";
    roots.dev = directory.path() + "/dev";
    directory.write("proc/interrupts", kInterrupts);
    directory.write("proc/stat", "cpu0 0 0 0 0 0 0 0 1\n");
    directory.write("proc/pressure/memory", "some avg10=0 total=100\n");
    directory.write("proc/vmstat", "pswpin 1\npswpout 2\n");
    directory.write("proc/loadavg", "0.25 0.1 0.1 1/100 7\n");
    directory.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
  }
  TemporaryDirectory directory;
  host::Roots roots;
};

TEST(Ledger, DeltasBetweenTwoLooks) {
  FakeMachine machine;
  Ledger ledger(machine.roots, 0);
  const HostMoment before = ledger.look();
  machine.directory.write("proc/interrupts", "  CPU0\nLOC: 1500 x\n");
  machine.directory.write("proc/stat", "cpu0 0 0 0 0 0 0 0 4\n");
  machine.directory.write("proc/pressure/memory", "some avg10=0 total=175\n");
  machine.directory.write("proc/vmstat", "pswpin 1\npswpout 12\n");
  machine.directory.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  const auto found = Ledger::between(before, ledger.look());
  EXPECT_EQ(found.at("interrupts"), 490);
  EXPECT_EQ(found.at("steal_ns"), 30'000'000);  // 3 ticks of 1/100 s
  EXPECT_EQ(found.at("psi_memory_us"), 75);
  EXPECT_EQ(found.at("swap_in_pages"), 0);
  EXPECT_EQ(found.at("swap_out_pages"), 10);
  EXPECT_EQ(found.at("frequency_min_khz"), 1'200'000);
  EXPECT_EQ(found.at("frequency_max_khz"), 3'000'000);
  EXPECT_EQ(found.at("load_1min"), 0.25);
}

// What a machine does not tell is absent, not 0.
TEST(Ledger, AbsentFilesAreLeftOut) {
  FakeMachine machine;
  Ledger ledger(machine.roots, 0);
  const HostMoment before = ledger.look();
  const auto found = Ledger::between(before, ledger.look());
  EXPECT_EQ(found.count("psi_cpu_us"), 0u);
  EXPECT_EQ(found.count("throttle_count"), 0u);
  EXPECT_EQ(found.count("psi_memory_us"), 1u);
}

TEST(Ledger, UnpinnedTrialsHaveNoCpuFigures) {
  FakeMachine machine;
  Ledger ledger(machine.roots, -1);
  const HostMoment before = ledger.look();
  const auto found = Ledger::between(before, ledger.look());
  EXPECT_EQ(found.count("interrupts"), 0u);
  EXPECT_EQ(found.count("steal_ns"), 0u);
}

TEST(Ledger, MigrationsFromSched) {
  FakeMachine machine;
  machine.directory.write("proc/42/sched", "sh (42, #threads: 1)\n---\nse.nr_migrations     :      3\nnr_switches : 9\n");
  EXPECT_EQ(migrations_of(machine.roots, 42), 3);
  EXPECT_FALSE(migrations_of(machine.roots, 43).has_value());
}

TEST(Facts, OfTheFirstProcessorAndOnlyWhatIsTold) {
  FakeMachine machine;
  machine.directory.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: First\nprocessor\t: 1\nmodel name\t: Second\n");
  const auto facts = host_facts(machine.roots);
  EXPECT_EQ(facts.at("cpu.model"), "First");
  EXPECT_EQ(facts.count("cpu.microcode"), 0u);
  EXPECT_EQ(facts.count("cpu.governor"), 0u) << "a machine without policies of frequency";
  EXPECT_EQ(facts.count("thp"), 0u);
  EXPECT_FALSE(facts.at("kernel.release").empty());
  EXPECT_FALSE(facts.at("libc").empty());
  EXPECT_FALSE(facts.at("stab.version").empty());
}

TEST(Facts, GovernorsOfAllCpusEachOnce) {
  FakeMachine machine;
  const std::string policies = "sys/devices/system/cpu/cpufreq/";
  for (const char* cpu : {"policy0", "policy1", "policy2"}) {
    const std::string governor = std::string(cpu) == "policy1" ? "schedutil\n" : "performance\n";
    machine.directory.write(policies + cpu + "/scaling_governor", governor);
    machine.directory.write(policies + cpu + "/scaling_driver", "intel_pstate\n");
  }
  machine.directory.write(policies + "boost", "1\n");
  const auto facts = host_facts(machine.roots);
  EXPECT_EQ(facts.at("cpu.governor"), "performance schedutil");
  EXPECT_EQ(facts.at("cpu.frequency_driver"), "intel_pstate");
  EXPECT_EQ(facts.at("cpu.boost"), "1");
}

}  // namespace
}  // namespace stab::engine
