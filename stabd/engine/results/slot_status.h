// How far the slots of an experiment on machines are: for logs, status, watch and the lab's page.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

struct SlotStatus {
  int slot = 0;
  int64_t epoch = 0;  // the newest; 0: it has not been started
  store::SlotState state = store::SlotState::kGranted;
  std::string host, machine, why;  // of that epoch
  int64_t blocks = 0, done = 0;    // of the slot
  int64_t losses = 0;              // epochs that were lost or refused; each costs a block at most
  int64_t preflight_passed = 0, preflight_failed = 0;  // cells of workloads, in that epoch
  std::optional<int64_t> sign_at_ns;  // the newest sign of life that is known
};

struct MachinesStatus {
  std::vector<SlotStatus> slots;
  // Until the slowest slot has run its blocks, were they like those before. It counts blocks, which have all cells in them, and
  // so says nothing of any cell. Nothing before the first block.
  std::optional<int64_t> left_ns;
};

// How the blocks of experiments are dealt to their slots, which their plans say. A plan takes a while to read, and who asks how
// far an experiment is asks often, so it is kept. From any thread; of one database.
class DealtBlocks {
 public:
  struct Dealt {
    int slots = 0;                 // 0: no [machines]
    std::map<int, int64_t> share;  // of the blocks, by slot
  };
  Result<std::shared_ptr<const Dealt>> of(store::Store& store, store::Id experiment, int64_t replicates);

 private:
  std::mutex mutex_;
  std::map<std::pair<store::Id, int64_t>, std::shared_ptr<const Dealt>> known_;
};

// None: its plan has no [machines]. `signs`: what a controller that lives knows, by slot.
Result<std::optional<MachinesStatus>> machines_status(store::Store& store, DealtBlocks& dealt, store::Id experiment,
                                                      const std::map<int, int64_t>& signs, int64_t now_ns);

// Lines for people: each epoch of each slot with its machine, state and blocks. Empty: the experiment has no slots.
Result<std::vector<std::string>> slots_text(store::Store& store, store::Id experiment);

}  // namespace stab::engine
