// The dose report from its writer, the helper in the measured program's house, to its readers in the lab: the numbers that
// decide something, the words of the modes, and the region's time, which the store reads by itself. A field that is renamed
// on one side only shows here.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "plan/parse.h"
#include "runtime/helper/dose_report.h"
#include "stabd/engine/trial/dose.h"
#include "stabd/engine/results/load_samples.h"
#include "tests/golden/record.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

// Every number that the lab takes is another one.
std::string written() {
  abi::Settings settings;
  settings.code = abi::CodeMode::kShuffle;
  settings.stack = abi::StackMode::kRecursive;
  settings.heap = abi::HeapMode::kPage;
  settings.stack_range_bytes = 2048;
  auto control = std::make_unique<Control>();
  control->code.layouts_built = 101;
  control->code.layouts_executed = 102;
  control->code.functions = 200;
  control->code.functions_moved = 103;
  control->code.not_moved[static_cast<int>(abi::Immovable::kRuntime)] = 13;
  control->code.ticks_unentered = 104;
  control->stack.slots = 105;
  control->stack.slots_zeroed = 106;
  control->stack.refills = 107;
  control->heap.mallocs = 108;
  control->heap.mallocs_mmapped = 109;
  control->heap.bytes = 110;
  control->heap.bytes_mmapped = 111;
  control->heap.layouts = 112;
  control->region.regions = 113;
  control->region.wall_ns = 114'000'000'000;
  degrade(*control, Degradation::kRingFull);
  helper::HelperUse use;
  use.cpu_ns = 115;
  use.ticks = 116;
  std::string text(helper::kReportBytes, '\0');
  text.resize(helper::write_report(settings, *control, use, helper::End::kExit, text.data()));
  return text;
}

TEST(DoseWire, TheLabReadsWhatTheHelperWrites) {
  const auto parsed = parse_dose(written());
  ASSERT_TRUE(parsed && *parsed);
  const Dose& dose = **parsed;
  EXPECT_EQ(dose.layouts_built, 101);
  EXPECT_EQ(dose.layouts_executed, 102);
  EXPECT_EQ(dose.functions, 200 - 13) << "our runtime left out";
  EXPECT_EQ(dose.functions_moved, 103);
  EXPECT_EQ(dose.epochs_unentered, 104);
  EXPECT_EQ(dose.pads, 105);
  EXPECT_EQ(dose.pads_zeroed, 106);
  EXPECT_EQ(dose.refills, 107);
  EXPECT_EQ(dose.allocations, 108);
  EXPECT_EQ(dose.allocations_mmapped, 109);
  EXPECT_EQ(dose.heap_bytes, 110);
  EXPECT_EQ(dose.heap_bytes_mmapped, 111);
  EXPECT_EQ(dose.heap_layouts, 112);
  EXPECT_EQ(dose.regions, 113);
  EXPECT_EQ(dose.helper_cpu_ns, 115);
  EXPECT_EQ(dose.epochs, 116);
  EXPECT_EQ(dose.stack_range_bytes, 2048);
  EXPECT_EQ(dose.code, "shuffle");
  EXPECT_EQ(dose.stack, "recursive");
  EXPECT_EQ(dose.heap, "page");
  ASSERT_EQ(dose.degradations.size(), 1u);
  EXPECT_EQ(dose.degradations[0], kDegradationWords[static_cast<int>(Degradation::kRingFull)]);

  std::string none(helper::kReportBytes, '\0');
  none.resize(helper::write_no_hello(none.data()));
  const auto no_hello = parse_dose(none);
  ASSERT_TRUE(no_hello);
  EXPECT_FALSE(no_hello->has_value());
}

TEST(DoseWire, TheReportKeepsWhatTheHelperWrote) {
  TemporaryDirectory directory;
  auto store = store::Store::open(directory.path() + "/dose.db", store::Store::Access::kWrite);
  ASSERT_TRUE(store);
  const plan::Parsed plan = plan::parse_plan(
      "[experiment]\nname = \"x\"\nseed = 1\nreplicates = 2\nresponse = [\"wall_time\", \"region_time\"]\n"
      "[factors]\ncode = [\"shuffle\"]\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
      "x.toml");
  ASSERT_TRUE(plan.plan) << toml::render(plan.errors);
  const auto id = record_experiment(*store, *plan.plan, [](const store::TrialRow&, const plan::Cell&, store::Outcome& outcome) {
    outcome.wall_ns = 1'000'000'000;
    outcome.dose_json = written();
  });
  ASSERT_TRUE(id);
  const auto samples = load_samples(*store, *store->experiment(*id));
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->responses.size(), 2u);
  for (const report::Trial& trial : samples->trials) {
    EXPECT_EQ(trial.values[1], 114.0) << "region_time is read by the store";
    ASSERT_TRUE(trial.dose);
    EXPECT_EQ(trial.dose->code_layouts_executed, 102u);
    EXPECT_EQ(trial.dose->functions, 187u);
    EXPECT_EQ(trial.dose->pads, 105u);
    EXPECT_EQ(trial.dose->stack_layouts, 107u);
    EXPECT_EQ(trial.dose->heap_layouts, 112u);
    EXPECT_EQ(trial.dose->epochs, 116u);
    EXPECT_EQ(trial.dose->epochs_unentered, 104u);
    EXPECT_EQ(trial.dose->helper_cpu_ns, 115u);
    EXPECT_EQ(trial.dose->degradations.size(), 1u);
  }
}

}  // namespace
}  // namespace stab::engine
