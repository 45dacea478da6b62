// machines_rate [--trials N] [--block N] [--slots N] [--folder DIR]: what a controller costs. Parts of N trials (100000), in
// blocks of N (100), of N slots (4) lie in a spool below DIR (/var/tmp, a disk that syncs); it prints what taking all of them in
// takes, and then the share of a CPU that waiting takes, with every slot's heartbeat every 5 s. Workers are files here: no
// program runs.
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "stabd/engine/build/slots.h"
#include "stabd/engine/machines/controller.h"
#include "stabd/engine/machines/run_machines.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::engine {
namespace {

int trials = 100'000, per_block = 100, slots = 4;
std::string folder = "/var/tmp";

class Machines final : public MachineEngine {
 public:
  Status start(int, int64_t, const std::string&) override { return {}; }
  Result<bool> lives(int, int64_t) override { return true; }
  void stop(int, int64_t) override {}
  std::chrono::nanoseconds patience() const override { return std::chrono::seconds(2); }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class MachinesRate : public store::StoreTest {
 protected:
  void SetUp() override {
    std::string name = folder + "/stab-rate-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/lab.db";
  }
};

// All trials are as one that was recorded in the ordinary way.
void record_all(const std::string& database) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  char* why = nullptr;
  const int code = sqlite3_exec(db, R"(
    BEGIN;
    CREATE TEMP TABLE model AS SELECT id FROM trials WHERE kind = 'main' AND state = 'recorded';
    CREATE TEMP TABLE others AS SELECT id FROM trials WHERE kind = 'main' AND state = 'planned';
    UPDATE trials SET state = 'recorded', boot_id = m.boot_id, claimed_at_ns = m.claimed_at_ns, started_at_ns = m.started_at_ns,
      finished_at_ns = m.finished_at_ns FROM (SELECT * FROM trials WHERE id = (SELECT id FROM model)) m
      WHERE trials.id IN (SELECT id FROM others);
    CREATE TEMP TABLE o AS SELECT * FROM outcomes WHERE trial = (SELECT id FROM model);
    CREATE TEMP TABLE r AS SELECT * FROM responses WHERE trial = (SELECT id FROM model);
    CREATE TEMP TABLE l AS SELECT * FROM ledger WHERE trial = (SELECT id FROM model);
    CREATE TEMP TABLE e AS SELECT * FROM epochs WHERE trial = (SELECT id FROM model);
  )", nullptr, nullptr, &why);
  ASSERT_EQ(code, SQLITE_OK) << why;
  for (const char* table : {"outcomes o", "responses r", "ledger l", "epochs e"}) {
    const std::string whole(table), name = whole.substr(0, whole.find(' ')), model = whole.substr(whole.find(' ') + 1);
    // The trial is in one column, whichever; all others are the model's.
    std::string columns, values;
    sqlite3_stmt* info = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(db, ("SELECT name FROM pragma_table_info('" + name + "')").c_str(), -1, &info, nullptr),
              SQLITE_OK);
    while (sqlite3_step(info) == SQLITE_ROW) {
      const std::string column = reinterpret_cast<const char*>(sqlite3_column_text(info, 0));
      columns += (columns.empty() ? "" : ", ") + column;
      values += (values.empty() ? "" : ", ") + (column == "trial" ? std::string("t.id") : "m." + column);
    }
    sqlite3_finalize(info);
    const std::string copy = "INSERT INTO " + name + "(" + columns + ") SELECT " + values + " FROM others t, " + model + " m";
    ASSERT_EQ(sqlite3_exec(db, copy.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
  }
  ASSERT_EQ(sqlite3_exec(db, "COMMIT", nullptr, nullptr, &why), SQLITE_OK) << why;
  sqlite3_close(db);
}

TEST_F(MachinesRate, ImportAndIdle) {
  const int blocks = trials / per_block;
  trials = blocks * per_block;
  store::Store lab = open();
  const store::Id id = *lab.add_experiment(store::new_experiment());
  store::Store::Expansion schedule = store::small_expansion(trials / 4);
  for (store::NewTrial& trial : schedule.trials) trial.block = trial.order / static_cast<uint32_t>(per_block);
  schedule.replicates = blocks;
  ASSERT_TRUE(lab.expand(id, schedule).ok());
  ASSERT_TRUE(lab.bundle(id, directory_ + "/bundle").ok());

  const std::string database = directory_ + "/worker.db";
  {
    store::Store own = *store::Store::open(database, store::Store::Access::kWrite);
    ASSERT_TRUE(own.import_experiment(directory_ + "/bundle", 1).ok());
    const store::TrialRow trial = begin_next(own, 1);
    ASSERT_TRUE(own.finish(store::recorded(trial.id), 3).ok());
    ASSERT_TRUE(own.checkpoint().ok());
  }
  record_all(database);
  if (HasFatalFailure()) return;

  Spool spool = *Spool::open(directory_ + "/spool");
  FakeClock clock;
  Machines machines;
  Controller::Setting setting;
  setting.store = &lab;
  setting.experiment = id;
  setting.machines.count = slots;
  setting.seed = 11;
  setting.blocks = blocks;
  setting.block_places = per_block;
  setting.identity = "identity";
  setting.version = "1";
  setting.clock = &clock;
  setting.spool = &spool;
  setting.engine = &machines;
  Controller controller = *Controller::open(setting);
  double began = now();
  ASSERT_TRUE(controller.round().ok());
  std::printf("%d slots started in %.2f s\n", slots, now() - began);
  for (int slot = 0; slot < slots; ++slot) {
    std::map<std::string, std::string> facts = {{"machine.name", "m" + std::to_string(slot)}, {"stab.version", "1"}};
    for (int i = 0; i < 40; ++i) facts["fact." + std::to_string(i)] = "a value of some length";
    ASSERT_TRUE(spool.put_note(slot_file(slot, 1, "facts"), facts_text(facts)).ok());
    ASSERT_TRUE(spool.put_note(slot_file(slot, 1, "taken"), "me").ok());
  }
  began = now();
  ASSERT_TRUE(controller.round().ok());
  std::printf("facts of %d slots judged in %.2f s\n", slots, now() - began);

  // Idle: 60 s by the controller's own pace, heartbeats in between.
  double cpu = 0, longest = 0;
  int rounds = 0;
  std::chrono::nanoseconds passed{0}, beat{-std::chrono::seconds(5)};
  while (passed < std::chrono::seconds(60)) {
    if (passed - beat >= std::chrono::seconds(5)) {
      beat = passed;
      for (int slot = 0; slot < slots; ++slot)
        ASSERT_TRUE(spool.put_note(slot_file(slot, 1, "heartbeat"), std::to_string(passed.count())).ok());
    }
    const std::chrono::nanoseconds before = thread_cpu_time();
    ASSERT_TRUE(controller.round().ok());
    const std::chrono::nanoseconds took = thread_cpu_time() - before;
    const auto wait = pause_after(took);
    cpu += std::chrono::duration<double>(took).count();
    longest = std::max(longest, std::chrono::duration<double>(took).count());
    ++rounds;
    clock.advance(wait);
    passed += wait;
  }
  std::printf("idle: %d rounds in 60 s, %.3f ms of CPU each (longest %.3f), %.3f %% of a CPU\n", rounds, cpu * 1e3 / rounds,
              longest * 1e3, cpu / std::chrono::duration<double>(passed).count() * 100);

  const std::vector<int> dealt = deal_blocks(11, slots, blocks);
  uint64_t bytes = 0;
  {
    store::Store own = *store::Store::open(database, store::Store::Access::kWrite);
    std::map<int, int> numbers;
    began = now();
    for (int block = 0; block < blocks; ++block) {
      const int slot = dealt[static_cast<size_t>(block)];
      const store::PartLabel label{"identity", slot, 1, numbers[slot]++, static_cast<uint32_t>(block)};
      const std::string path = directory_ + "/part";
      std::filesystem::remove(path);
      ASSERT_TRUE(own.write_part(1, label, int64_t{block} * per_block, per_block, path).ok());
      bytes += std::filesystem::file_size(path);
      const std::string sha256 = *worker::sha256_of_file(path);
      ASSERT_TRUE(spool.put_copy(slot_file(slot, 1, part_file({label.number, label.block, sha256})), path).ok());
    }
    std::printf("%d parts of %d trials, %.1f KiB each, written in %.2f s\n", blocks, per_block,
                static_cast<double>(bytes) / 1024 / blocks, now() - began);
  }
  began = now();
  const std::chrono::nanoseconds before = thread_cpu_time();
  const auto over = controller.round();
  ASSERT_TRUE(over.ok()) << over.error().message;
  const double wall = now() - began, used = std::chrono::duration<double>(thread_cpu_time() - before).count();
  EXPECT_TRUE(*over);
  std::printf("%d trials taken in within %.2f s (%.2f s of CPU): %.2f ms a part, %.0f trials/s\n", trials, wall, used,
              wall * 1e3 / blocks, trials / wall);
}

}  // namespace
}  // namespace stab::engine

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--trials") == 0) stab::engine::trials = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--block") == 0) stab::engine::per_block = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--slots") == 0) stab::engine::slots = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--folder") == 0) stab::engine::folder = argv[i + 1];
  }
  return RUN_ALL_TESTS();
}
