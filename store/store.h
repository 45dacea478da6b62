// Store: every experiment, trial and result in one SQLite file. One writer (the engine), any number of readers
// that never wait for it (WAL). Each typed operation is one transaction, durable when it returns
// (synchronous=FULL), unless the caller groups several in a Transaction.
//
//   auto store = Store::open(path, Store::Access::kWrite);
//   auto id = store->add_experiment(...); store->expand(*id, ...);
//   auto trial = store->next_trial(*id); store->claim(trial->id, claim); ... store->finish(outcome, 3);
//
// Not thread-safe: one Store a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/experiment_machine.h"
#include "store/records.h"

namespace stab::store {

// A user's time on the machine counts half a day later: long enough that nights are shared, short enough that nobody pays
// for last month.
inline constexpr int64_t kShareHalfLifeNs = 24LL * 3600 * 1'000'000'000;
// What a planned trial takes in the database, indexes included.
inline constexpr int64_t kTrialBytes = 200;
// Behind the error of a database that can't be made.
inline constexpr char kWritableCure[] = "; give the database a place where you may write, with --db";

class Store;

// Groups operations into one commit. Rolled back unless committed. Transactions don't nest: an operation
// called while one is open becomes part of it.
class Transaction {
 public:
  Transaction(Transaction&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  friend class Store;
  explicit Transaction(Store* store) : store_(store) {}
  Store* store_;
};

// What became of a place in the schedule after its trial did not pass.
struct Replacement {
  std::optional<Id> next_attempt;  // planned in the same place; none: recorded, or attempts are used up
  bool quarantined = false;        // the cell of this subject was quarantined
};

struct Recovery {
  std::vector<Id> lost;             // claimed or started ones found
  std::vector<Id> replacements;     // planned in their places
  int quarantined_cells = 0;
};

class Store {
 public:
  enum class Access { kWrite, kRead };

  // kWrite creates and migrates; kBusy where another process writes to it, kCorrupt where the file isn't ours,
  // kUnavailable where a newer version made it. kRead needs an existing file; of an older version, and of one beside which WAL
  // mode's files can't be made, it reads a copy, as the file was at that moment. `vfs` names a registered SQLite VFS (tests).
  static Result<Store> open(const std::string& path, Access access, const char* vfs = nullptr);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Result<Transaction> begin();

  // --- experiments ---------------------------------------------------------------------------------------
  // One small row: what a submit writes while a trial may be running.
  Result<Id> add_experiment(const NewExperiment& experiment);
  struct Expansion {
    std::vector<FactorRow> factors;
    std::vector<SubjectRow> subjects;
    std::vector<CellRow> cells;
    std::vector<BuildRow> builds;       // id ignored
    std::vector<NewTrial> trials;
    std::vector<NewTrial> preflight;
    uint64_t schedule_fingerprint = 0;
    int schedule_version = 0;
    int64_t replicates = 0;
  };
  // submitted -> ready, with everything that will be run. kBadInput when it is expanded already.
  Status expand(Id experiment, const Expansion& expansion);
  // More blocks, from the first one that it does not have. `replicates` is the new total, `promised` how many trials it
  // makes, of which `trials` are stored now: none, or the first ones. A done experiment becomes ready again.
  Status extend(Id experiment, const std::vector<NewTrial>& trials, int64_t replicates, int64_t promised = 0);
  // A further slice of the schedule, behind what is stored of it.
  Status plan_more(Id experiment, TrialKind kind, const std::vector<NewTrial>& trials);
  // Places of that kind that are stored: the position of the next one.
  Result<int64_t> places(Id experiment, TrialKind kind);
  // As promised: first block and number of blocks.
  Result<std::vector<std::pair<int64_t, int64_t>>> stretches(Id experiment);
  // Planned trials become cancelled, the experiment too. What is done may be: its user was told so while it ran.
  Status cancel(Id experiment, std::string_view why, int64_t at_ns);
  // Some of its planned trials; true: there may be more.
  Result<bool> cancel_some(Id experiment, int64_t rows);
  // Some of its rows, and in the end itself; true: nothing is left.
  Result<bool> delete_some(Id experiment, int64_t rows);
  // What follows from the event, by the table of experiment_machine.h; kInternal, and nothing changes, where it must not occur.
  Result<ExperimentState> advance(Id experiment, ExperimentEvent event, std::string_view failure, int64_t at_ns);
  // To go on with a paused or failed one: kResume, or kResumeUnplanned where it has no schedule yet.
  Result<ExperimentState> resume(Id experiment, int64_t at_ns);
  Status set_priority(Id experiment, int priority);
  Status delete_experiment(Id experiment);
  Result<ExperimentRow> experiment(Id experiment);
  Result<std::vector<ExperimentRow>> experiments();
  // A user's whose plan has these characters anywhere, by number. Those that wait to be deleted are left out.
  Result<std::vector<ExperimentRow>> experiments_whose_plan_has(std::string_view text, int64_t uid);
  // Without their plans, by number; of one user only. Those that wait to be deleted are left out.
  Result<std::vector<ExperimentSummary>> summaries(std::optional<int64_t> uid = {});
  Result<ExperimentSummary> summary(Id experiment);
  // A user's newest of that name.
  Result<std::optional<ExperimentSummary>> newest_named(std::string_view name, int64_t uid);
  // Users that have one of that name.
  Result<std::vector<int64_t>> users_of_name(std::string_view name);

  // --- wishes: answered, on disk, and yet to be done ------------------------------------------------------
  Status wish(Id experiment, Wish wish, int64_t at_ns);
  Result<std::vector<std::pair<Id, Wish>>> wishes();

  // --- what is taken -------------------------------------------------------------------------------------
  Result<Usage> usage(Id experiment);
  Result<UserUsage> usage_of(int64_t uid);
  Result<int64_t> stored_bytes_of(int64_t uid);  // of all its experiments, without reading their rows
  // Time that each user had on the machine, each nanosecond halved every kShareHalfLife since.
  Result<std::map<int64_t, double>> shares(int64_t now_ns);
  Result<std::vector<FactorRow>> factors(Id experiment);
  Result<std::vector<SubjectRow>> subjects(Id experiment);
  Result<std::vector<CellRow>> cells(Id experiment);
  // Of all its cells: what the preflight of a plan without epochs of its own suggests.
  Status set_epoch(Id experiment, int64_t epoch_ns);

  // --- builds --------------------------------------------------------------------------------------------
  Result<std::vector<BuildRow>> builds(Id experiment);
  Status update_build(const BuildRow& build);  // by id

  // --- trials --------------------------------------------------------------------------------------------
  // Trials added beside the schedule (warm-up, replay); their `order` is set to follow the last one of that kind.
  // Returns ids in the same order.
  Result<std::vector<Id>> add_trials(Id experiment, TrialKind kind, const std::vector<NewTrial>& trials);
  // The planned one with the lowest order; a replacement thus comes before the rest of its block.
  Result<std::optional<TrialRow>> next_trial(Id experiment, TrialKind kind = TrialKind::kMain);
  Result<TrialRow> trial(Id trial);
  // Of the planned main trials those that a sliced block runs at once with this one, itself included, by order: of its
  // workload, block, run and counter pass.
  Result<std::vector<TrialRow>> planned_beside(const TrialRow& trial);
  Status claim(Id trial, const Claim& claim);
  Status claim(const std::vector<Id>& trials, const Claim& claim);  // all or none
  // Stores outcome and state at once. Of a trial that is under way only: a second record of the
  // same trial is an error (kInternal) and changes nothing. Unless recorded, plans the next attempt in the same
  // place, or, when attempt max_attempts was the last, quarantines the cell of that subject: its planned trials
  // will not run. Preflight, warm-up and replay trials are only repeated when lost, and quarantine nothing.
  Result<Replacement> finish(const Outcome& outcome, int max_attempts);
  // The same of trials that ran together, all or none, and the claim of what runs next, in one commit: one fsync a block. What
  // was lost may be tried more often. One replacement each, in their order.
  struct Attempts {
    int most = 1, most_when_lost = 1;
  };
  Result<std::vector<Replacement>> finish_and_claim(const std::vector<Outcome>& outcomes, const Attempts& attempts,
                                                    const std::vector<Id>& next, const Claim& claim);
  // At start-up: claimed, started, exited and verified trials of every experiment become lost and are replaced; what was
  // wished before is done.
  Result<Recovery> recover(int64_t now_ns, int max_attempts);
  // Planned main trials of the blocks from first_block on become cancelled (cancel, or a stopping rule). Returns
  // how many.
  Result<int64_t> cancel_planned(Id experiment, uint32_t first_block = 0);
  // A planned attempt again for a place whose latest attempt failed, timed out, was lost or quarantined.
  Result<Id> rerun(Id trial);

  // --- reading -------------------------------------------------------------------------------------------
  Result<Progress> progress(Id experiment);
  // The same and more of all experiments from that number on, of one user only: as many statements as for one of them. Those of
  // which there is nothing to be said are absent.
  Result<std::map<Id, Listed>> listed(std::optional<int64_t> uid, Id from);
  struct TrialFilter {
    std::optional<TrialKind> kind;
    std::optional<TrialState> state;
    std::optional<uint32_t> block;
    int64_t limit = -1;
  };
  Result<std::vector<TrialRow>> trials(Id experiment, const TrialFilter& filter);
  Result<Outcome> outcome(Id trial);  // what finish() stored, but for its epochs
  Result<std::string> epochs(Id trial);  // as stored; empty: none were kept
  // Names of the responses that recorded trials of this experiment have, in the order first stored.
  Result<std::vector<std::string>> response_names(Id experiment);
  // One row for each recorded main trial that measured the response, by order: "wall_time", "user_time",
  // "system_time", "region_time" (seconds), "max_rss" (KiB; these five in the first counter pass only) or a counter's
  // name.
  Result<std::vector<SampleRow>> samples(Id experiment, std::string_view response);
  // What its recorded main trials printed and how they ended, by subject and cell.
  Result<std::vector<DoneRow>> done(Id experiment);
  // Of each recorded main trial, by order, with these entries of its ledger. `take_dose` gets each one's dose report in
  // the same order: texts that are megabytes together and needn't be kept. pre: keys are words, as kLedgerKeys
  Result<std::vector<TrialFacts>> trial_facts(Id experiment, std::span<const std::string_view> ledger_keys,
                                              const std::function<void(const std::string&)>& take_dose);
  // Why values of a response are missing: reason -> number of trials.
  Result<std::map<std::string, int64_t>> missing_reasons(Id experiment, std::string_view response);

  // --- machines: blocks that run elsewhere and come back as parts (store/parts.cc) ------------------------
  // A new epoch of a slot, higher than all before: from here on parts of the others are superseded.
  Result<int64_t> grant_slot(Id experiment, int slot, std::string_view host, int64_t at_ns);
  // Where its newest epoch stands; facts and machine are kept where the row has none. kNotFound: there is no such epoch.
  Status update_slot(Id experiment, const SlotEpochRow& row);
  Result<std::vector<SlotEpochRow>> slot_epochs(Id experiment);  // by slot and epoch
  // Main trials of other blocks become cancelled: what is left is this store's share.
  Status keep_blocks(Id experiment, const std::vector<uint32_t>& blocks);
  // How many of these main places are still to be run.
  Result<int64_t> open_places(Id experiment, int64_t first, int64_t places);
  // All attempts at these places as a file of its own; `path` must not exist. pre: none of them is open
  Status write_part(Id experiment, const PartLabel& label, int64_t first, int64_t places, const std::string& path);
  // Takes a part in, or says why not, in one transaction: a part counts once, whole, and only in its slot's newest epoch. The
  // label and the block's places are what is expected, and must be what the file says. An Error is ours or the disk's.
  Result<PartVerdict> import_part(Id experiment, const PartLabel& label, int64_t first, int64_t places, const std::string& sha256,
                                  const std::string& path, int64_t at_ns);
  Result<std::vector<PartRow>> parts(Id experiment);  // by slot, epoch and number
  Result<std::vector<SlotParts>> recorded_parts(Id experiment);  // by slot

  // --- causal experiments (store/causal.cc) --------------------------------------------------------------
  // Of one subject, once: kBadInput where it has some already.
  Status put_regions(Id experiment, int subject, const std::vector<RegionRow>& regions);
  Result<std::vector<RegionRow>> regions(Id experiment);  // by subject and number
  // Where the list of windows of a subject and cell goes on: behind the last that a recorded trial has used.
  Result<int64_t> next_window(Id experiment, int subject, int cell);
  // Recorded main trials with windows, by order.
  Result<std::vector<CausalTrialRow>> causal_trials(Id experiment);

  // --- host facts and the log ----------------------------------------------------------------------------
  // Of the machine as it is from that moment on: a new environment, unless it is as it was found before.
  Status put_host_facts(Id experiment, const std::map<std::string, std::string>& facts, int64_t at_ns);
  Result<std::vector<EnvironmentRow>> environments(Id experiment);  // by number
  Result<std::map<std::string, std::string>> host_facts(Id experiment);  // as it was found last
  Status log(const EventRow& event);
  Result<bool> has_event(Id experiment, std::string_view kind);
  Result<std::vector<EventRow>> events(Id experiment);

  // --- care ----------------------------------------------------------------------------------------------
  // Problems found, empty: none. SQLite's own integrity and foreign keys, and our invariants (a place has at
  // most one recorded attempt, attempts count from 1 without gaps, results only where the state says so).
  Result<std::vector<std::string>> check();
  // A consistent copy while others read and write; `path` must not exist.
  Status backup(const std::string& path);
  Status vacuum();
  // Copies an experiment with everything of it (plan, builds, attempts, results, facts, log) out of another store's file, in one
  // transaction; ids are new. Trials that were under way there are copied as they are: recover() deals with them. With an
  // importer it becomes theirs, and if it was not over it is paused: a file from a stranger must not decide as whom something
  // runs, nor when; and it takes as many ids as it has trials. kCorrupt where its numbers are none that a store gives out.
  struct Importer {
    int64_t uid = 0, gid = 0;
  };
  Result<Id> import_experiment(const std::string& other_path, Id experiment, std::optional<Importer> importer = {});
  // The experiment as a store of its own, in one file that can be read from anywhere. `path` must not exist.
  Status bundle(Id experiment, const std::string& path);
  // kCorrupt where the file that is written to is no longer the one of this name: whatever is stored would be lost.
  Status check_in_place();
  Status checkpoint();  // moves the WAL into the file; between trials only

 private:
  friend class Transaction;
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stab::store
