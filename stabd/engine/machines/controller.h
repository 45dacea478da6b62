// Controller: an experiment on several machines, until every block is recorded. It owns the one database; workers own nothing
// but the right to an epoch of a slot. What it knows is in the store and the spool, so that a controller that dies is followed
// by one that opens them: nothing here has to be remembered.
//
// A slot's epoch goes  granted -> running -> done, or lost, or refused;  it is done when the blocks that it was granted are
// recorded. A slot that has blocks which aren't recorded by then gets a new epoch with them, or with as many as one grant may
// have. From that moment what an older epoch still brings is superseded.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "plan/plan.h"
#include "stabd/engine/build/store_gate.h"
#include "stabd/engine/machines/machine_engine.h"
#include "stabd/engine/machines/spool.h"
#include "store/store.h"

namespace stab::engine {

// What an experiment's parts and spool are known by: its plan, schedule and binaries.
std::string identity_of(const store::ExperimentRow& row, const std::vector<store::BuildRow>& builds);

// What differs of the facts that the plan wants equal, in words; empty: nothing.
std::string difference_of(const std::vector<std::string>& same, const std::map<std::string, std::string>& first,
                          const std::map<std::string, std::string>& other);

// A machine's facts as a note, one line each, and back.
std::string facts_text(const std::map<std::string, std::string>& facts);
std::map<std::string, std::string> parse_facts(const std::string& text);

// Blocks of one grant, at most: with ten digits each they are half of what a note may have, and a worker drops its other blocks
// by one statement of SQLite, which may have 1,000,000 bytes.
inline constexpr size_t kMostGrantedBlocks = 50'000;

class Controller {
 public:
  struct Setting {
    store::Store* store = nullptr;
    // Of the store, taken for each step on it and never while the spool or the engine is waited for. Null: it is our caller's.
    Gate* gate = nullptr;
    store::Id experiment = 0;
    plan::Machines machines;
    uint64_t seed = 0;
    int blocks = 0;
    // After so many blocks, ascending, it is decided how many are needed in all. Where looks have to wait, no block behind the
    // next point is granted: what is decided must not depend on how fast machines are. `decide` is called without the gate, and
    // again with the same blocks after a crash.
    std::vector<int> points;
    bool looks_wait = true;
    std::function<Result<int>(int blocks)> decide;
    int64_t block_places = 0;  // of one block in the schedule
    size_t most_granted = kMostGrantedBlocks;
    std::string identity;
    std::string version;  // of Stab: workers of another are refused
    const Clock* clock = nullptr;
    Spool* spool = nullptr;
    MachineEngine* engine = nullptr;
    // What doesn't count is kept aside for whoever wants to know why. Not where somebody else fills the spool, who has it, too.
    bool keeps_aside = true;
    // Before a part of so many bytes is taken in: why none is any more; empty, or no function: it is.
    std::function<std::string(int64_t bytes)> why_no_room;
    std::function<void(const std::string&)> note;  // told of what a user should know, one line each
    std::function<void()> changes;                 // called before each write to the store
  };
  // kBusy where the spool is another experiment's.
  static Result<Controller> open(Setting setting);

  // Takes in what has come, settles who has ended, starts who is needed (unless it is to stop). True: every block is recorded.
  Result<bool> round(bool starts = true);
  // Why nothing can go on, though blocks are left; empty: it can.
  const std::string& stalled() const { return stalled_; }
  // That is why: parts have come that are not taken in.
  bool has_no_room() const { return !no_room_.empty(); }
  int64_t recorded_blocks() const { return static_cast<int64_t>(recorded_.size()); }
  int needed_blocks() const { return total_; }  // as far as it is decided
  // By slot: when something of its newest epoch was new, by the wall clock in ns, since this controller began.
  const std::map<int, int64_t>& signs_of_life() const { return sign_at_ns_; }
  int64_t hashed_parts() const { return hashed_; }  // how often a part's content was read
  void stop_all();
  bool any_alive() const;  // a worker of an epoch that isn't over, which the engine believes to live

 private:
  explicit Controller(Setting setting) : set_(std::move(setting)) {}
  Status load();
  Status collect();
  Status take_part(const SlotFile& file, const PartFile& part, const std::string& name);
  Status hear(const SlotFile& file, const std::string& name);
  Status take_preflight(store::SlotEpochRow& row, const std::string& name);
  Status take_log(const store::SlotEpochRow& row, const std::string& name);
  Status judge_facts(store::SlotEpochRow& row, const std::string& text);
  Status settle(int slot);
  Status start(int slot);
  Status end(store::SlotEpochRow& row, store::SlotState state, const std::string& reason);
  Status say(const char* kind, const std::string& text);
  Status log(const std::string& kind, const std::string& text);
  Status read_heartbeat(int slot, int64_t epoch);
  void is_alive(int slot);
  void note_recorded(uint32_t block);
  bool still_torn(const std::string& name);
  Status put_away(const std::string& name);  // a part that doesn't count
  std::optional<std::string> free_host() const;
  Status pass_points();
  bool has_open(int slot, uint32_t end) const;
  // Of the slot's blocks in front of `end`, those that aren't recorded.
  std::vector<uint32_t> open_blocks(int slot, uint32_t end) const;
  uint32_t end_of_grants() const { return static_cast<uint32_t>(limit_); }  // of those that may be granted
  uint32_t end_of_grant(int slot) const;  // of those that the slot's newest epoch was granted and that are needed
  store::SlotEpochRow* newest(int slot);
  // What `work` does to the store, with the gate.
  template <class Work>
  auto look(Work work) {
    if (set_.gate == nullptr) return work(*set_.store);
    const std::lock_guard<Gate> held(*set_.gate);
    return work(*set_.store);
  }
  template <class Work>
  auto write(Work work) {
    if (set_.changes) set_.changes();
    return look(std::move(work));
  }

  // A file whose content was not what its name says, as it was then.
  struct Torn {
    FileSign sign;
    std::chrono::nanoseconds at{0};
  };

  Setting set_;
  std::vector<int> slot_of_;                   // by block
  std::vector<std::set<uint32_t>> open_;       // by slot: its blocks that aren't recorded
  std::map<int, store::SlotEpochRow> epochs_;  // by slot: the newest
  std::map<int, uint32_t> last_granted_;       // by slot: of that one's grant; none: it has none, as its controller died before
  std::optional<std::map<std::string, std::string>> first_facts_;
  std::set<uint32_t> recorded_;                     // blocks
  uint32_t prefix_ = 0;                             // all before it are recorded
  int total_ = 0, limit_ = 0;                       // blocks in all; those that may be granted, limit_ <= total_
  size_t next_point_ = 0;
  std::unordered_set<std::string> there_;           // what the spool showed in this round
  std::map<int, std::string> signs_;                // by slot: its newest heartbeat
  std::map<int, std::chrono::nanoseconds> seen_;    // by slot: when something of it was new
  std::map<int, std::chrono::nanoseconds> heard_;   // by slot: when its heartbeat was read
  std::map<int, int64_t> sign_at_ns_;
  std::map<int, FileSign> log_signs_;               // by slot: of its log as it was taken in
  std::map<int, size_t> log_lines_;                 // by slot: of its workers, since this controller began
  size_t all_log_lines_ = 0;                        // in the store: who began the controller again got no more of them
  std::set<std::string> logged_;                    // kind and text of all events
  std::map<std::string, int> failures_;  // by host, since this controller began
  std::map<int, int> slot_failures_;
  std::map<std::string, Torn> torn_;
  int64_t hashed_ = 0;
  std::string stalled_, no_room_;
};

}  // namespace stab::engine
