// The controller against machines that fail in every way that we know: workers crash, nodes vanish, zombies go on, parts come
// torn, twice, late and out of order, and the controller itself dies at any step. Whatever happens, every place of the
// schedule is recorded once, and a block is of one machine.
#include "stabd/engine/machines/controller.h"
#include "stabd/engine/results/node_preflight.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "base/rng.h"
#include "dying_calls.h"
#include "stabd/engine/build/slots.h"
#include "stabd/engine/machines/worker_log.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/store/store_fixture.h"

namespace stab::engine {
namespace {

using std::chrono::seconds;
using store::Id;
using store::Store;

constexpr int64_t kPlaces = 4;  // of a block of the fixture's

class FakeMachines final : public MachineEngine {
 public:
  Status start(int slot, int64_t epoch, const std::string& host) override {
    if (refuse_to_start) return Error{ErrorCode::kUnavailable, "no route to " + host, {}};
    started.emplace_back(slot, epoch);
    living.insert({slot, epoch});
    return {};
  }
  Result<bool> lives(int slot, int64_t epoch) override { return living.contains({slot, epoch}); }
  void stop(int slot, int64_t epoch) override { stopped.insert({slot, epoch}); }
  std::chrono::nanoseconds patience() const override { return seconds(2); }

  bool refuse_to_start = false;
  std::vector<std::pair<int, int64_t>> started;
  std::set<std::pair<int, int64_t>> living;  // as the engine believes
  std::set<std::pair<int, int64_t>> stopped;
};

// A worker by hand: a store of its own, one block at a time.
struct Worker {
  int slot = 0;
  int64_t epoch = 0;
  std::vector<uint32_t> blocks;
  std::string database;
  size_t done = 0;
  bool told = false, over = false;
};

// Files that a worker has written and the spool doesn't show yet.
struct OnItsWay {
  std::string name, bytes;
};

class MachinesTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    fresh(6);
  }
  // A laboratory of so many blocks.
  void fresh(int blocks) {
    controller_.reset();
    lab_.reset();
    spool_.reset();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    lab_.emplace(open());
    blocks_ = blocks;
    id_ = ready(*lab_, blocks);
    EXPECT_TRUE(lab_->bundle(id_, directory_ + "/bundle").ok());
    {
      Result<Store> one = Store::open(directory_ + "/template", Store::Access::kWrite);
      EXPECT_TRUE(one.ok() && one->import_experiment(directory_ + "/bundle", id_).ok() && one->checkpoint().ok());
    }
    machines_ = FakeMachines();
    workers_.clear();
    on_their_way_.clear();
    notes_.clear();
    plan_.count = 2;
    plan_.hosts.clear();
    plan_.same.clear();
  }
  void open_controller() {
    if (!spool_) {
      auto spool = Spool::open(directory_ + "/spool");
      ASSERT_TRUE(spool.ok());
      spool_.emplace(*std::move(spool));
    }
    Controller::Setting setting;
    setting.store = &*lab_;
    setting.experiment = id_;
    setting.machines = plan_;
    setting.seed = 11;
    setting.blocks = blocks_;
    setting.points = points_;
    setting.looks_wait = looks_wait_;
    setting.decide = [this](int blocks) -> Result<int> {
      decided_.push_back(blocks);
      const int needed = needed_.contains(blocks) ? needed_[blocks] : blocks_;
      if (needed < blocks_) {
        EXPECT_TRUE(lab_->cancel_planned(id_, static_cast<uint32_t>(needed)).ok());
      }
      return needed;
    };
    setting.block_places = kPlaces;
    setting.most_granted = most_granted_;
    setting.identity = identity_;
    setting.version = "1";
    setting.clock = &clock_;
    setting.spool = &*spool_;
    setting.engine = &machines_;
    setting.keeps_aside = keeps_aside_;
    setting.why_no_room = [this](int64_t bytes) { return bytes > room_ ? "no room for " + std::to_string(bytes) : ""; };
    setting.note = [this](const std::string& text) { notes_ += text + "\n"; };
    auto controller = Controller::open(setting);
    ASSERT_TRUE(controller.ok()) << controller.error().message;
    controller_.emplace(*std::move(controller));
  }
  bool round() {
    const auto over = controller_->round();
    EXPECT_TRUE(over.ok()) << (over.ok() ? "" : over.error().message);
    return over.ok() && *over;
  }
  // A round in which what is recorded is of its slot's newest epoch: fenced workers don't count.
  bool fenced_round() {
    std::map<int, int64_t> newest;
    const auto epochs = *lab_->slot_epochs(id_);
    for (const store::SlotEpochRow& row : epochs) newest[row.slot] = row.epoch;
    const bool over = round();
    const auto parts = *lab_->parts(id_);
    for (const store::PartRow& part : parts) {
      if (part.fate != store::PartFate::kRecorded || !fenced_.insert(part.sha256).second) continue;
      EXPECT_EQ(part.epoch, newest[part.slot]) << "block " << part.block;
    }
    return over;
  }
  // Whoever was started since becomes a worker.
  void begin_workers() {
    for (; begun_ < machines_.started.size(); ++begun_) {
      Worker worker;
      std::tie(worker.slot, worker.epoch) = machines_.started[begun_];
      const auto grant = spool_->note(slot_file(worker.slot, worker.epoch, "grant"));
      ASSERT_TRUE(grant.ok() && grant->has_value());
      std::istringstream words((*grant)->substr((*grant)->find('\n') + 1));
      for (uint32_t block; words >> block;) worker.blocks.push_back(block);
      worker.database = directory_ + "/w" + std::to_string(workers_.size());
      std::filesystem::copy_file(directory_ + "/template", worker.database);
      workers_.push_back(worker);
    }
  }
  std::map<std::string, std::string> facts_of(const Worker& worker) const {
    return {{"machine.name", "m" + std::to_string(worker.slot) + "." + std::to_string(worker.epoch)},
            {"stab.version", "1"},
            {"cpu.model", "X"},
            {"kernel.release", worker.slot == odd_slot_ ? "other" : "6"}};
  }
  // The part of its next block, whole; it is only written.
  OnItsWay run_block(Worker& worker) {
    const uint32_t block = worker.blocks[worker.done];
    Result<Store> own = Store::open(worker.database, Store::Access::kWrite);
    EXPECT_TRUE(own.ok());
    EXPECT_TRUE(worker.done > 0 || own->keep_blocks(1, worker.blocks).ok());
    for (int64_t left = kPlaces; left > 0; --left) {
      const store::TrialRow trial = begin_next(*own, 1);
      EXPECT_EQ(trial.block, block);
      EXPECT_TRUE(own->finish(store::recorded(trial.id, 1 + worker.slot + 100.0 * static_cast<double>(worker.epoch)), 3).ok());
    }
    const std::string path = worker.database + ".part";
    const store::PartLabel label{identity_, worker.slot, worker.epoch, static_cast<int>(worker.done), block};
    EXPECT_TRUE(own->write_part(1, label, kPlaces * block, kPlaces, path).ok());
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    file.close();
    std::filesystem::remove(path);
    ++worker.done;
    return {slot_file(worker.slot, worker.epoch, part_file({label.number, block, worker::sha256(bytes)})), bytes};
  }
  void deliver(const OnItsWay& file) { EXPECT_TRUE(spool_->put(file.name, file.bytes).ok()); }
  // One step of a worker's life, whatever comes next in it; `send` takes what it writes.
  template <typename Send>
  void step(Worker& worker, Send send) {
    const auto file = [&](const char* what, const std::string& text) {
      send(OnItsWay{slot_file(worker.slot, worker.epoch, what), sealed(text)});
    };
    if (worker.over) return;
    if (!std::exchange(worker.told, true)) return file("facts", facts_text(facts_of(worker)));
    const auto verdict = spool_->note(slot_file(worker.slot, worker.epoch, "verdict"));
    if (!verdict.ok() || !verdict->has_value()) return;
    if (**verdict == "go" && worker.done < worker.blocks.size()) return send(run_block(worker));
    if (**verdict == "go") file("end", "done");
    worker.over = true;
    machines_.living.erase({worker.slot, worker.epoch});
  }
  void run_all() {
    const auto now = [&](const OnItsWay& file) { deliver(file); };
    for (int i = 0; i < 60 && !round(); ++i) {
      begin_workers();
      for (Worker& worker : workers_) step(worker, now);
      clock_.advance(seconds(1));
    }
  }
  // What must hold at the end.
  void expect_each_once() {
    const store::Progress progress = *lab_->progress(id_);
    EXPECT_EQ(progress.count(store::TrialState::kRecorded), kPlaces * blocks_);
    EXPECT_EQ(progress.attempts, kPlaces * blocks_);
    const auto samples = *lab_->samples(id_, "wall_time");
    std::map<uint32_t, std::set<double>> values;  // of a machine's epoch, by block
    std::set<uint32_t> places;
    for (const store::SampleRow& row : samples) {
      values[row.block].insert(*row.value);
      EXPECT_TRUE(places.insert(row.order).second);
    }
    EXPECT_EQ(places.size(), static_cast<size_t>(kPlaces * blocks_));
    std::map<uint32_t, const store::PartRow*> parts;
    const auto rows = *lab_->parts(id_);
    for (const store::PartRow& part : rows) {
      if (part.fate != store::PartFate::kRecorded) continue;
      EXPECT_TRUE(parts.emplace(part.block, &part).second);
    }
    const std::vector<int> dealt = deal_blocks(11, plan_.count, blocks_);
    for (const auto& [block, of_block] : values) {
      EXPECT_EQ(of_block.size(), 1u) << "block " << block << " is of several machines";
      ASSERT_TRUE(parts.contains(block));
      EXPECT_EQ(parts[block]->slot, dealt[block]);
      EXPECT_DOUBLE_EQ(*of_block.begin(), 1 + parts[block]->slot + 100.0 * static_cast<double>(parts[block]->epoch));
    }
  }

  FakeClock clock_;
  std::optional<Store> lab_;
  std::optional<Spool> spool_;
  std::optional<Controller> controller_;
  FakeMachines machines_;
  plan::Machines plan_;
  std::string identity_ = "identity";
  Id id_ = 0;
  std::vector<int> points_, decided_;
  std::map<int, int> needed_;  // what is decided at a point
  bool looks_wait_ = true, keeps_aside_ = true;
  int64_t room_ = 1 << 30;  // for the next part
  size_t most_granted_ = kMostGrantedBlocks;
  int blocks_ = 0, odd_slot_ = -1;
  size_t begun_ = 0;
  std::vector<Worker> workers_;
  std::vector<OnItsWay> on_their_way_;
  std::string notes_;
  std::set<std::string> fenced_;  // parts that fenced_round() has looked at
};

TEST_F(MachinesTest, TwoMachinesRunTheirBlocks) {
  open_controller();
  run_all();
  EXPECT_EQ(machines_.started.size(), 2u);
  expect_each_once();
  expect_sound(*lab_);
  const auto epochs = *lab_->slot_epochs(id_);
  for (const store::SlotEpochRow& row : epochs) EXPECT_EQ(row.state, store::SlotState::kDone);
  const auto names = *spool_->names();
  for (const std::string& name : names) EXPECT_FALSE(name.find(".part-") != std::string::npos) << name;
}

// What each machine's preflight gave is in the controller's store, by epoch of its slot; such a note adds nothing else.
TEST_F(MachinesTest, WhatAPreflightGaveArrivesAndIsShown) {
  open_controller();
  round();
  begin_workers();
  const auto tell = [&](const Worker& worker, const char* what, const std::map<std::string, std::string>& facts) {
    deliver({slot_file(worker.slot, worker.epoch, what), sealed(facts_text(facts))});
  };
  TrialNews news;
  news.kind = store::TrialKind::kPreflight;
  news.state = store::TrialState::kVerified;
  news.subject = "lua/words";
  news.cell = "opt=-O2";
  news.wall_ns = 1'250'000'000;
  std::map<std::string, std::string> results = {{"cpu.model", "forged"}, {"preflight.x", "nonsense"}};
  add_preflight(results, news);
  tell(workers_[0], "preflight", results);  // before its facts: it is taken in when they are judged
  for (const Worker& worker : workers_) tell(worker, "facts", facts_of(worker));
  round();
  news.cell = "opt=-O3";
  news.state = store::TrialState::kFailed;
  news.failure = "exit status 3,\nexpected 0";
  add_preflight(results, news);
  tell(workers_[1], "preflight", results);
  round();
  const auto epochs = *lab_->slot_epochs(id_);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].facts.at("cpu.model"), "X");
  EXPECT_FALSE(epochs[0].facts.contains("preflight.x"));
  const std::vector<NodePreflight> first = preflight_of(epochs[0].facts), second = preflight_of(epochs[1].facts);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(first[0].passed);
  EXPECT_EQ(first[0].subject + ": " + first[0].cell, "lua/words: opt=-O2");
  EXPECT_EQ(first[0].wall_ns, 1'250'000'000);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_FALSE(second[1].passed);
  EXPECT_EQ(second[1].failure, "exit status 3, expected 0");
  // Once: a controller that follows doesn't take it in again, nor what is written over it.
  open_controller();
  add_preflight(results, news);
  tell(workers_[0], "preflight", results);
  round();
  EXPECT_EQ(preflight_of(lab_->slot_epochs(id_)->front().facts).size(), 1u);
  expect_sound(*lab_);
}

// Once for each machine, in the experiment's log. Events that decide something are the controller's own, whoever sends them.
TEST_F(MachinesTest, WhatAWorkersEngineNotedIsLogged) {
  open_controller();
  round();
  begin_workers();
  const auto tell = [&](const Worker& worker, const std::vector<store::EventRow>& events) {
    deliver({slot_file(worker.slot, worker.epoch, "log"), sealed(log_note(events))});
  };
  const auto logged = [&](const std::string& kind) {
    std::vector<std::string> texts;
    const auto events = lab_->events(id_);
    for (const store::EventRow& event : *events)
      if (event.kind == kind) texts.push_back(event.text);
    return texts;
  };
  const store::EventRow drawn_alone{1, 1, "matched-layouts", "lua: its code is\ndrawn alone"};
  tell(workers_[0], {drawn_alone});
  round();
  EXPECT_TRUE(logged("matched-layouts").empty()) << "its machine was not judged";
  for (const Worker& worker : workers_)
    deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts_of(worker)))});
  round();
  round();
  ASSERT_EQ(workers_.size(), 2u);
  const std::string first = facts_of(workers_[0]).at("machine.name"), second = facts_of(workers_[1]).at("machine.name");
  EXPECT_EQ(logged("matched-layouts"), std::vector<std::string>{first + ": lua: its code is drawn alone"});

  const store::EventRow output{2, 1, "layout-output", "lua/words: another output (trial 17)"};
  tell(workers_[0], {drawn_alone, output, {3, 1, "look", "enough"}, {4, 1, "time-ended", "1 blocks are whole"}});
  tell(workers_[1], {drawn_alone});
  round();
  open_controller();  // which follows, and finds both notes again
  round();
  const std::vector<std::string> both = {first + ": lua: its code is drawn alone", second + ": lua: its code is drawn alone"};
  EXPECT_EQ(logged("matched-layouts"), both);
  EXPECT_EQ(logged("layout-output"), std::vector<std::string>{first + ": lua/words: another output"});
  deliver({slot_file(workers_[0].slot, workers_[0].epoch, "log"), sealed("look\tenough\nno tab\n\ntime-ended\t1\n")});
  round();
  EXPECT_TRUE(logged("look").empty());
  EXPECT_TRUE(logged("time-ended").empty());

  // No worker fills the store.
  for (int note = 0; note < 3; ++note) {
    std::string many;
    for (int i = 0; i < 300; ++i) many += "tmp\t" + std::to_string(note * 300 + i) + std::string(2000, 'x') + "\n";
    deliver({slot_file(workers_[0].slot, workers_[0].epoch, "log"), sealed(many)});
    round();
  }
  EXPECT_LE(logged("tmp").size(), kMostWorkerEvents);
  EXPECT_GE(logged("tmp").size(), 100u);
  EXPECT_LT(logged("tmp").front().size(), 1100u);
  for (int note = 3; note < 6; ++note) {  // nor who begins the controller again
    open_controller();
    std::string many;
    for (size_t i = 0; i < kMostWorkerEvents; ++i) many += "ipc\t" + std::to_string(note) + " " + std::to_string(i) + "\n";
    deliver({slot_file(workers_[0].slot, workers_[0].epoch, "log"), sealed(many)});
    round();
  }
  EXPECT_LE(logged("tmp").size() + logged("ipc").size(), 2 * kMostWorkerEvents);
  EXPECT_GE(logged("ipc").size(), 100u);
  expect_sound(*lab_);
}

// It is in the answers of each status, of whoever asks for all experiments, and in the log.
TEST_F(MachinesTest, WhatAWorkerSaysOfItselfIsShort) {
  constexpr size_t kLong = 500'000;
  open_controller();
  round();
  begin_workers();
  const Worker& worker = workers_[0];
  auto facts = facts_of(worker);
  facts["machine.name"] = std::string(4000, 'm');
  deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts))});
  deliver({slot_file(worker.slot, worker.epoch, "end"), sealed(std::string(kLong, 'e'))});
  round();
  const store::SlotEpochRow row = lab_->slot_epochs(id_)->front();
  EXPECT_EQ(row.state, store::SlotState::kRefused);
  EXPECT_EQ(row.machine, std::string(200, 'm') + " ...");
  EXPECT_EQ(row.why, std::string(4000, 'e') + " ...");
  EXPECT_LT(notes_.size(), 10'000u);
}

// They are kept for each epoch of each slot, and all of them are looked at for each status.
TEST_F(MachinesTest, AMachineThatTellsTooMuchOfItselfIsRefused) {
  std::map<std::string, std::string> many, wide, large;
  for (int i = 0; i < 1000; ++i) many["f" + std::to_string(i)] = "";
  wide[std::string(65, 'n')] = "";
  for (const char* name : {"a", "b", "c", "d", "e"}) large[name] = std::string(4000, 'v');
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {many, "it tells more than 200 facts"},
      {wide, "a fact's name has more than 64 bytes"},
      {{{"a", std::string(5000, 'v')}}, "its fact 'a' has more than 4096 bytes"},
      {large, "its facts have more than 16384 bytes"}};
  for (const auto& [more, why] : cases) {
    fresh(6);
    begun_ = 0;
    open_controller();
    round();
    begin_workers();
    const Worker worker = workers_.back();
    auto facts = facts_of(worker);
    facts.insert(more.begin(), more.end());
    deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts))});
    round();
    bool refused = false;
    const auto epochs = *lab_->slot_epochs(id_);
    for (const store::SlotEpochRow& row : epochs) {
      EXPECT_TRUE(row.facts.empty()) << why;
      refused = refused || (row.state == store::SlotState::kRefused && row.why.find(why) != std::string::npos);
    }
    EXPECT_TRUE(refused) << why;
  }
  std::map<std::string, std::string> results;
  for (int i = 0; i < 2000; ++i) results["preflight." + std::to_string(i)] = "passed\t1\tsubject\tcell\t" + std::string(400, 'x');
  EXPECT_LT(preflight_facts(results).size(), 320u);
  EXPECT_GT(preflight_facts(results).size(), 250u);
}

TEST_F(MachinesTest, AMachineThatDiffersIsRefusedWithWhatDiffers) {
  plan_.hosts = {"a", "b"};
  plan_.same = {"cpu", "kernel"};
  odd_slot_ = 1;
  open_controller();
  run_all();
  EXPECT_NE(notes_.find("kernel is 'other', the first machine's '6'"), std::string::npos) << notes_;
  EXPECT_EQ(notes_.find("cpu is"), std::string::npos);
  EXPECT_NE(controller_->stalled().find("no machine is left for slot 1"), std::string::npos) << controller_->stalled();
  EXPECT_EQ(lab_->progress(id_)->count(store::TrialState::kRecorded), kPlaces * blocks_ / 2);
  expect_sound(*lab_);
}

TEST_F(MachinesTest, ASpoolOfAnotherExperimentIsRefused) {
  open_controller();
  identity_ = "another";
  Controller::Setting setting;
  setting.store = &*lab_;
  setting.experiment = id_;
  setting.machines = plan_;
  setting.identity = identity_;
  setting.version = "1";
  setting.clock = &clock_;
  setting.spool = &*spool_;
  setting.engine = &machines_;
  const auto other = Controller::open(setting);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kBusy);
}

TEST_F(MachinesTest, AHostThatFailsTwiceGetsNoFurtherSlot) {
  plan_.hosts = {"a", "b", "spare"};
  open_controller();
  machines_.refuse_to_start = true;
  for (int i = 0; i < 12; ++i) round();
  EXPECT_NE(controller_->stalled().find("no route to"), std::string::npos) << controller_->stalled();
  EXPECT_EQ(lab_->slot_epochs(id_)->size(), 6u);  // each host twice
}

// Random interleavings: 200, or as many as STAB_INTERLEAVINGS says; the slow test has a thousand. Faults cease after some
// steps, so that each comes to its end.
TEST_F(MachinesTest, EveryPlaceIsRecordedOnceWhateverFails) {
  const char* asked = ::getenv("STAB_INTERLEAVINGS");
  const int all = asked != nullptr ? std::atoi(asked) : 200;
  int losses = 0, zombies = 0, superseded = 0, torn = 0, doubled = 0, deaths = 0;
  for (int seed = 0; seed < all; ++seed) {
    SCOPED_TRACE("interleaving " + std::to_string(seed));
    Rng rng = Rng::stream(99, "interleaving", static_cast<uint64_t>(seed));
    const auto chance = [&](double p) { return rng.uniform() < p; };
    fresh(3 + static_cast<int>(rng.below(3)));
    begun_ = 0;
    plan_.count = 1 + static_cast<int>(rng.below(3));
    open_controller();
    bool over = false;
    std::set<size_t> dead;  // workers whose process is gone
    for (int turn = 0; turn < 4000 && !over; ++turn) {
      const bool faulty = turn < 60;
      const auto send = [&](const OnItsWay& file) {
        const bool is_part = file.name.find(".part-") != std::string::npos;
        if (faulty && is_part && chance(0.15)) {  // shown before it is whole
          ++torn;
          deliver({file.name, file.bytes.substr(0, rng.below(file.bytes.size()))});
        }
        if (faulty && chance(0.2)) {
          ++doubled;
          on_their_way_.push_back(file);
        }
        on_their_way_.push_back(file);
      };
      switch (rng.below(4)) {
        case 0:
          over = fenced_round();
          begin_workers();
          break;
        case 1:
          if (!workers_.empty()) {
            const size_t i = rng.below(workers_.size());
            Worker& worker = workers_[i];
            if (dead.contains(i)) break;
            if (faulty && chance(0.08)) {  // the node vanishes, with what it had not sent
              ++losses;
              dead.insert(i);
              machines_.living.erase({worker.slot, worker.epoch});
              std::erase_if(on_their_way_, [&](const OnItsWay& file) {
                return chance(0.5) && file.name.starts_with(slot_file(worker.slot, worker.epoch, ""));
              });
            } else if (faulty && chance(0.08)) {  // taken for dead, and goes on
              ++zombies;
              machines_.living.erase({worker.slot, worker.epoch});
            } else {
              step(worker, send);
            }
          }
          break;
        case 2:
          if (!on_their_way_.empty()) {  // in any order
            const size_t i = rng.below(on_their_way_.size());
            const OnItsWay file = on_their_way_[i];
            on_their_way_.erase(on_their_way_.begin() + static_cast<ptrdiff_t>(i));
            deliver(file);
          }
          break;
        default:
          if (faulty && chance(0.1)) {  // the controller dies, and another goes on
            ++deaths;
            controller_.reset();
            lab_.reset();
            lab_.emplace(open());
            open_controller();
          }
          clock_.advance(std::chrono::milliseconds(300));
      }
    }
    ASSERT_TRUE(over) << controller_->stalled() << "\n" << notes_;
    // What still comes changes nothing.
    for (const OnItsWay& file : on_their_way_) deliver(file);
    EXPECT_TRUE(fenced_round());
    const auto parts = *lab_->parts(id_);
    for (const store::PartRow& part : parts) superseded += part.fate == store::PartFate::kSuperseded;
    expect_each_once();
    if (seed % 20 == 0) expect_sound(*lab_);
    if (HasFailure()) FAIL() << notes_;
  }
  std::printf(
      "%d interleavings: %d nodes lost, %d zombies, %d parts superseded, %d torn, %d files doubled, %d controllers dead\n", all,
      losses, zombies, superseded, torn, doubled, deaths);
  EXPECT_TRUE(all < 100 || (losses > 0 && zombies > 0 && superseded > 0 && torn > 0 && deaths > 0));
}

// The controller dies before each of its writes, syncs, renames and removals in turn, those of SQLite among them, while facts are
// judged and parts are taken in. Whoever follows it finds each block recorded once, and no epoch is lost for it.
TEST_F(MachinesTest, ADeathBeforeAnyWriteOfAnImportTakesAllOrNothing) {
  fresh(3);
  open_controller();
  EXPECT_FALSE(round());
  begin_workers();
  for (Worker& worker : workers_) {
    deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts_of(worker)))});
    while (worker.done < worker.blocks.size()) deliver(run_block(worker));
    deliver({slot_file(worker.slot, worker.epoch, "end"), sealed("done")});
  }
  controller_.reset();
  lab_.reset();
  const std::string whole = directory_ + ".whole";
  std::filesystem::remove_all(whole);
  std::filesystem::copy(directory_, whole, std::filesystem::copy_options::recursive);
  long points = 0;
  for (bool reached_the_end = false; !reached_the_end; ++points) {
    SCOPED_TRACE("call " + std::to_string(points + 1));
    spool_.reset();
    std::filesystem::remove_all(directory_);
    std::filesystem::copy(whole, directory_, std::filesystem::copy_options::recursive);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      lab_.emplace(open());
      open_controller();
      die_before_call(points + 1);
      const auto over = controller_->round();
      ::_exit(over.ok() && *over ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kDiedStatus)) << status;
    reached_the_end = WEXITSTATUS(status) == 0;
    lab_.emplace(open());
    open_controller();
    EXPECT_TRUE(round()) << controller_->stalled();
    expect_each_once();
    EXPECT_EQ(lab_->slot_epochs(id_)->size(), 2u);
    const auto names = *spool_->names();
    for (const std::string& name : names) EXPECT_EQ(name.find(".part-"), std::string::npos) << name;
    if (points % 10 == 0) expect_sound(*lab_);
    controller_.reset();
    lab_.reset();
    if (HasFailure()) break;
  }
  std::filesystem::remove_all(whole);
  std::printf("%ld points of death\n", points);
  EXPECT_GE(points, 30);
}

// Looks are of the first blocks, whatever machine ran them and however fast the others are.
TEST_F(MachinesTest, NoBlockBehindALookIsGrantedBeforeItIsDecided) {
  points_ = {2, 4};
  needed_ = {{4, 4}};
  open_controller();
  const auto granted = [&] {
    std::set<uint32_t> blocks;
    for (const Worker& worker : workers_) blocks.insert(worker.blocks.begin(), worker.blocks.end());
    return blocks;
  };
  round();
  begin_workers();
  EXPECT_EQ(granted(), (std::set<uint32_t>{0, 1}));
  run_all();
  EXPECT_EQ(granted(), (std::set<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(decided_, (std::vector<int>{2, 4}));
  EXPECT_EQ(controller_->needed_blocks(), 4);
  EXPECT_EQ(lab_->progress(id_)->count(store::TrialState::kRecorded), kPlaces * 4);
  EXPECT_EQ(lab_->progress(id_)->count(store::TrialState::kCancelled), kPlaces * 2);
  // A worker that has brought what it was granted is lost by no decision.
  const auto epochs = *lab_->slot_epochs(id_);
  for (const store::SlotEpochRow& row : epochs) EXPECT_EQ(row.state, store::SlotState::kDone) << row.why;
  // Another controller asks nothing again, and has nothing to do.
  controller_.reset();
  open_controller();
  EXPECT_TRUE(round());
  EXPECT_EQ(decided_.size(), 2u);
  expect_sound(*lab_);
}

TEST_F(MachinesTest, ASequenceWaitsForNobodyAndStopsWhatIsNeededNoMore) {
  points_ = {2, 3, 4, 5};
  looks_wait_ = false;
  needed_ = {{3, 3}};
  open_controller();
  round();
  begin_workers();
  EXPECT_EQ(workers_[0].blocks.size() + workers_[1].blocks.size(), 6u);
  run_all();
  EXPECT_EQ(decided_, (std::vector<int>{2, 3}));
  EXPECT_EQ(controller_->needed_blocks(), 3);
  EXPECT_EQ(machines_.stopped.size(), 2u);
  const auto epochs = *lab_->slot_epochs(id_);
  for (const store::SlotEpochRow& row : epochs) EXPECT_EQ(row.state, store::SlotState::kDone);
  EXPECT_GE(lab_->progress(id_)->count(store::TrialState::kRecorded), kPlaces * 3);
  expect_sound(*lab_);
}

TEST_F(MachinesTest, WhatOneGrantDoesNotHoldHasTheNext) {
  plan_.hosts = {"a", "b"};
  most_granted_ = 1;
  open_controller();
  run_all();
  expect_each_once();
  const auto epochs = *lab_->slot_epochs(id_);
  EXPECT_EQ(epochs.size(), 6u);
  for (const store::SlotEpochRow& row : epochs) EXPECT_EQ(row.state, store::SlotState::kDone) << row.why;
  for (const Worker& worker : workers_) EXPECT_EQ(worker.blocks.size(), 1u);
  expect_sound(*lab_);
}

// What its controller has granted is in the spool, and so is whether the worker was done.
TEST_F(MachinesTest, AnotherControllerKnowsWhatWasGranted) {
  plan_.count = 1;
  most_granted_ = 2;
  open_controller();
  round();
  begin_workers();
  Worker& worker = workers_[0];
  deliver({slot_file(0, 1, "facts"), sealed(facts_text(facts_of(worker)))});
  round();
  while (worker.done < worker.blocks.size()) deliver(run_block(worker));
  deliver({slot_file(0, 1, "end"), sealed("done")});
  machines_.living.clear();
  clock_.advance(seconds(1000));
  open_controller();
  round();
  const auto epochs = *lab_->slot_epochs(id_);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].state, store::SlotState::kDone) << epochs[0].why;
  EXPECT_EQ(epochs[1].state, store::SlotState::kGranted);
}

// A note that is longer than any reader reads would be as if it were not there, and its slot would wait for ever.
TEST_F(MachinesTest, AGrantOfManyBlocksIsANote) {
  plan_.count = 1;
  blocks_ = 400'000;
  open_controller();
  round();
  begin_workers();
  ASSERT_EQ(workers_.size(), 1u);
  ASSERT_EQ(workers_[0].blocks.size(), kMostGrantedBlocks);
  EXPECT_EQ(workers_[0].blocks.back(), kMostGrantedBlocks - 1);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  const std::string all_recorded =
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT " + std::to_string(kMostGrantedBlocks) +
      ") INSERT INTO parts SELECT " + std::to_string(id_) + ", i, 0, 1, i, i, 'recorded', '', 4, 1 FROM n";
  ASSERT_EQ(sqlite3_exec(handle, all_recorded.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
  open_controller();
  round();
  begin_workers();
  ASSERT_EQ(workers_.size(), 2u);
  EXPECT_EQ(workers_[1].epoch, 2);
  EXPECT_EQ(workers_[1].blocks.size(), kMostGrantedBlocks);
  EXPECT_EQ(workers_[1].blocks.front(), kMostGrantedBlocks);
  EXPECT_EQ(lab_->slot_epochs(id_)->front().state, store::SlotState::kDone);
}

// A user could fill a daemon's disk with what does not count.
TEST_F(MachinesTest, WhatDoesNotCountIsKeptOnlyInASpoolOfItsOwner) {
  for (const bool keeps : {true, false}) {
    fresh(6);
    begun_ = 0;
    keeps_aside_ = keeps;
    open_controller();
    round();
    begin_workers();
    const Worker worker = workers_[0], other = workers_[1];
    const std::string none = "no part";
    for (const uint32_t block : {worker.blocks[0], other.blocks[0]})
      deliver({slot_file(worker.slot, worker.epoch, part_file({0, block, worker::sha256(none)})), none});
    round();
    EXPECT_NE(notes_.find("it is no SQLite file"), std::string::npos) << notes_;
    EXPECT_NE(notes_.find("its block is not of its slot"), std::string::npos) << notes_;
    const auto aside = std::filesystem::directory_iterator(directory_ + "/spool/aside");
    EXPECT_EQ(std::distance(begin(aside), end(aside)), keeps ? 2 : 0);
    const std::vector<std::string> names = *spool_->names();
    EXPECT_EQ(std::count_if(names.begin(), names.end(), [](const auto& name) { return name.find("part") != std::string::npos; }),
              0);
  }
}

// What is there waits for room, of the epoch that it was made in.
TEST_F(MachinesTest, APartIsTakenInWhenThereIsRoom) {
  open_controller();
  round();
  begin_workers();
  Worker& worker = workers_[0];
  deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts_of(worker)))});
  round();
  room_ = 1000;
  while (worker.done < worker.blocks.size()) deliver(run_block(worker));
  deliver({slot_file(worker.slot, worker.epoch, "end"), sealed("done")});
  machines_.living.clear();
  clock_.advance(seconds(1000));
  const size_t started = machines_.started.size();
  EXPECT_FALSE(round());
  EXPECT_TRUE(controller_->has_no_room());
  EXPECT_TRUE(controller_->stalled().starts_with("no room for ")) << controller_->stalled();
  EXPECT_EQ(controller_->recorded_blocks(), 0);
  EXPECT_EQ(machines_.started.size(), started);
  room_ = 1 << 30;
  open_controller();
  round();
  EXPECT_EQ(controller_->recorded_blocks(), static_cast<int64_t>(worker.blocks.size()));
  EXPECT_FALSE(controller_->has_no_room());
}

// What is taken in by a database that nobody can open by its name any more would be nowhere.
TEST_F(MachinesTest, APartStaysInTheSpoolWhereTheDatabaseWasMoved) {
  open_controller();
  round();
  begin_workers();
  Worker& worker = workers_[0];
  deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts_of(worker)))});
  deliver(run_block(worker));
  round();
  ASSERT_EQ(controller_->recorded_blocks(), 1);
  const OnItsWay next = run_block(worker);
  deliver(next);
  std::filesystem::rename(path_, path_ + ".moved");
  const auto over = controller_->round();
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(over.error().message.find("was removed, moved or replaced while it was open"), std::string::npos);
  EXPECT_TRUE(spool_->has(next.name));
  std::filesystem::rename(path_ + ".moved", path_);
  open_controller();
  round();
  EXPECT_EQ(controller_->recorded_blocks(), 2);
  expect_sound(*lab_);
}

// What is torn is hashed when it has changed, and not at each look: a round costs the same however large it is.
TEST_F(MachinesTest, ATornPartIsHashedAgainWhenItHasChanged) {
  open_controller();
  round();
  begin_workers();
  Worker& worker = workers_[0];
  deliver({slot_file(worker.slot, worker.epoch, "facts"), sealed(facts_text(facts_of(worker)))});
  const OnItsWay part = run_block(worker);
  deliver({part.name, part.bytes.substr(0, part.bytes.size() / 2)});
  for (int i = 0; i < 5; ++i) round();
  EXPECT_NE(notes_.find("is not whole"), std::string::npos);
  EXPECT_EQ(controller_->hashed_parts(), 1);
  deliver({part.name, part.bytes.substr(0, part.bytes.size() / 3)});
  for (int i = 0; i < 5; ++i) round();
  EXPECT_EQ(controller_->hashed_parts(), 2);
  // Where a file's times say nothing, it is looked at again after a while.
  clock_.advance(seconds(31));
  round();
  EXPECT_EQ(controller_->hashed_parts(), 3);
  deliver(part);
  round();
  EXPECT_EQ(controller_->recorded_blocks(), 1);
  EXPECT_EQ(controller_->hashed_parts(), 4);
}

}  // namespace
}  // namespace stab::engine
