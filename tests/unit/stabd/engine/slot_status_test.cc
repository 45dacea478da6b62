// How far slots are is asked often, by everybody at once: the plan is read once, and what a bundle of somebody's says of slots
// that there are none of is left out.
#include "stabd/engine/results/slot_status.h"

#include <sqlite3.h>

#include "stabd/engine/results/log_text.h"
#include "stabd/engine/results/node_preflight.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::engine {
namespace {

constexpr char kPlan[] = R"([experiment]
name = "exp"
seed = 5
replicates = 4
[machines]
count = 2
[[program]]
name = "p"
run = ["true"]
)";

class SlotStatusTest : public store::StoreTest {
 protected:
  // With parts of the slots 0 and 7.
  store::Id with_slots(store::Store& store) {
    store::NewExperiment one = store::new_experiment();
    one.plan_text = kPlan;
    const store::Id id = *store.add_experiment(one);
    EXPECT_TRUE(store.expand(id, store::small_expansion(4)).ok());
    EXPECT_TRUE(store.grant_slot(id, 0, "host", 5).ok());
    execute("INSERT INTO parts VALUES(1, 'aa', 0, 1, 0, 0, 'recorded', '', 4, 9)");
    execute("INSERT INTO parts VALUES(1, 'bb', 700000000, 1, 0, 1, 'recorded', '', 4, 9)");
    return id;
  }
  // As another program.
  void execute(const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
};

TEST_F(SlotStatusTest, SlotsThatThereAreNoneOfAreLeftOut) {
  store::Store store = open();
  const store::Id id = with_slots(store);
  DealtBlocks dealt;
  const auto status = machines_status(store, dealt, id, {}, 10);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_TRUE(status->has_value());
  ASSERT_EQ((*status)->slots.size(), 2u);
  EXPECT_EQ((*status)->slots[0].done, 1);
  EXPECT_EQ((*status)->slots[0].sign_at_ns, 9);
  EXPECT_EQ((*status)->slots[0].blocks + (*status)->slots[1].blocks, 4);
  EXPECT_EQ((*status)->slots[1].done, 0);
}

TEST_F(SlotStatusTest, ThePlanIsReadOnce) {
  store::Store store = open();
  const store::Id id = with_slots(store);
  DealtBlocks dealt, another;
  ASSERT_TRUE(machines_status(store, dealt, id, {}, 10).ok());
  execute("UPDATE experiments SET plan_text = 'no plan'");
  EXPECT_TRUE(machines_status(store, dealt, id, {}, 10).ok()) << "read again";
  EXPECT_FALSE(machines_status(store, another, id, {}, 10).ok());
}

// Times are beside their cells' names, so they are told when it is over.
TEST_F(SlotStatusTest, TheLogTellsWhatEachMachinesPreflightGave) {
  store::Store store = open();
  const store::Id id = with_slots(store);
  store::SlotEpochRow row = store.slot_epochs(id)->front();
  row.machine = "kiwi";
  TrialNews news;
  news.subject = "lua/fib";
  news.cell = "code=off";
  news.state = store::TrialState::kVerified;
  news.wall_ns = 1'250'000'000;
  add_preflight(row.facts, news);
  news.cell = "code=shuffle";
  news.state = store::TrialState::kFailed;
  news.wall_ns.reset();
  news.failure = "exit status 3, expected 0";
  add_preflight(row.facts, news);
  ASSERT_TRUE(store.update_slot(id, row).ok());
  const std::string head =
      "slot 0, epoch 1: granted on host, machine kiwi, 1 of 2 blocks of the slot\n  preflight: 1 of 2 passed\n";
  const std::string failed = "    lua/fib, code=shuffle: failed: exit status 3, expected 0\n";
  const auto slots = [&] {
    const std::string text = *log_text(store, id);
    return text.substr(0, text.find("build "));
  };
  EXPECT_EQ(slots(), head + failed);
  execute("UPDATE experiments SET state = 'done'");
  EXPECT_EQ(slots(), head + "    lua/fib, code=off: passed in 1.250000 s\n" + failed);
}

// Why a worker has ended it says itself, and what is in an imported database anybody.
TEST_F(SlotStatusTest, NoLineOfAWorkersLooksLikeOneOfTheLog) {
  store::Store store = open();
  const store::Id id = with_slots(store);
  store::SlotEpochRow row = store.slot_epochs(id)->front();
  row.why = "no room\ntrial 7, attempt 1: forged";
  row.facts["preflight.x"] = "failed\t\tp\tall\tno\ntrial 8, attempt 1: forged";
  ASSERT_TRUE(store.update_slot(id, row).ok());
  const std::string text = *log_text(store, id);
  EXPECT_NE(text.find("blocks of the slot: no room\n    trial 7, attempt 1: forged\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    p, all: failed: no\n    trial 8, attempt 1: forged\n"), std::string::npos) << text;
}

TEST_F(SlotStatusTest, MoreBlocksThanAnyPlanHasAreNoneToDeal) {
  store::Store store = open();
  const store::Id id = with_slots(store);
  execute("UPDATE experiments SET replicates = 2000000000");
  DealtBlocks dealt;
  const auto status = machines_status(store, dealt, id, {}, 10);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stab::engine
