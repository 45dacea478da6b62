// Whether the two programs of explain wait, by trials of each that ran alone.
#include "stabctl/explain/explain_tries.h"

#include <gtest/gtest.h>

#include "tests/unit/store/store_fixture.h"

namespace stab::ctl {
namespace {

constexpr char kPlan[] = R"(
[experiment]
name = "exp"
[factors]
build = ["old", "new"]
[[program]]
name = "p"
run = ["./{build}"]
)";

class ExplainTriesTest : public store::StoreTest {
 protected:
  // Both sides took a second, were on a CPU for 0.4 s of it, and gave it up so many times.
  commands::AloneFacts alone(int64_t old_gave_up, int64_t new_gave_up) {
    store::Store store = open();
    store::NewExperiment row = store::new_experiment("exp " + std::to_string(++experiments_));
    row.plan_text = kPlan;
    const store::Id id = *store.add_experiment(row);
    EXPECT_TRUE(store.expand(id, store::small_expansion(1)).ok());
    for (int trials = 0; trials < 4; ++trials) {
      const store::TrialRow trial = begin_next(store, id, store::TrialKind::kPreflight);
      store::Outcome outcome = store::recorded(trial.id, 1);
      outcome.system_ns = 0;
      outcome.voluntary_switches = trial.cell == 1 ? new_gave_up : old_gave_up;
      EXPECT_TRUE(store.finish(outcome, 1).ok());
    }
    std::optional<commands::AloneFacts> out;
    const Status added = add_tries(store, *store.experiment(id), store::TrialKind::kPreflight, out);
    EXPECT_TRUE(added.ok()) << added.error().text();
    EXPECT_TRUE(out.has_value());
    return out.value_or(commands::AloneFacts());
  }
  int experiments_ = 0;
};

TEST_F(ExplainTriesTest, WhoGaveTheCpuUpOnlyAtItsEndWaitedForNothing) {
  const commands::AloneFacts facts = alone(1, 12);
  EXPECT_FALSE(facts.old_waits);
  EXPECT_TRUE(facts.new_waits);
  EXPECT_DOUBLE_EQ(facts.old_on_cpu, 0.4);
}

}  // namespace
}  // namespace stab::ctl
