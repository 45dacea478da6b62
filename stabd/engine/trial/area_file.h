// AreaFile: the file in memory that a causal trial shares with the lab (runtime/causal/causal_abi.h): the script that the lab
// writes
// into it before, and what it finds there afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/causal/causal_abi.h"

namespace stab::engine {

struct ScriptModule {
  std::string path;      // "MAIN": the executable
  std::string build_id;  // hex; empty: not known
};

// What a trial does. No arms: it is sampled, and nothing else.
struct CausalScript {
  uint64_t flags = 0;  // causal::kScript...
  uint64_t period_ns = 1'000'000, window_ns = 250'000'000, cooloff_ns = 5'000'000;
  uint64_t least_visits = 0, most_prolonged = 1, skip_look_ns = 0;
  causal::Pauses pauses = causal::Pauses::kAuto;
  std::vector<ScriptModule> modules;
  std::vector<causal::Range> ranges;  // sorted by module and start, disjoint
  uint32_t region_count = 1;          // highest number + 1
  std::vector<causal::Arm> arms;
  int64_t first_position = 0;         // of its arms, in the list that they are from
  int64_t arms_in_block = 1;
  uint32_t load_permille = 0;         // of the arrival rate; 0: no load is asked for
};

struct SampledPlace {
  uint32_t module = 0;  // index into CausalRecord::modules; kMaxModules: in none of them
  uint64_t address = 0;
  uint64_t samples = 0;
};

struct SampledModule {
  std::string path;
  std::string build_id;  // hex; empty: none
  bool seen = false;
};

// What was found in the area, bounded: it was the program's to write.
struct CausalRecord {
  uint32_t finished = causal::kRunning;
  uint32_t attached = 0;  // processes
  causal::Pauses pauses = causal::Pauses::kAuto;
  causal::State state{};  // numbers at most 2^62
  std::vector<std::string> degradations;
  std::vector<SampledModule> modules;
  std::vector<SampledPlace> histogram;
  struct Point {
    uint32_t number = 0;  // on the board
    std::string name;
    uint32_t kind = 0;    // progress::Kind
  };
  std::vector<Point> points;
  std::vector<causal::WindowRecord> windows;  // without the end-to-end record
};

class AreaFile {
 public:
  // Made, sealed at its size, with the script in it.
  static Result<AreaFile> create(const CausalScript& script);
  int fd() const { return fd_.get(); }
  // pre: everybody who writes to it has ended. kCorrupt where it says what can't be.
  Result<CausalRecord> read(const CausalScript& script) const;

 private:
  explicit AreaFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace stab::engine
