// What a causal experiment leaves behind: its regions, and of each trial what happened in its windows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stab::store {

// A line or a function of one subject, by its number: candidates from 1 on, behind them the others that windows may draw.
struct RegionRow {
  int subject = 0;
  uint32_t number = 0;
  bool candidate = true;
  std::string file;
  uint32_t line = 0;  // 0: a function
  std::string function;
  int64_t pilot_samples = 0;

  static constexpr std::string_view kTable = "regions";
  static constexpr std::array<std::string_view, 2> kLeading = {"experiment", "subject"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("number", self.number);
    coder.column("candidate", self.candidate);
    coder.column("file", self.file);
    coder.column("line", self.line);
    coder.column("function", self.function);
    coder.column("pilot_samples", self.pilot_samples);
  }
};

// Kinds are those of runtime/progress/board.h. Do not renumber: on disk.
struct ProgressPointRow {
  std::string name;
  uint32_t kind = 0;
  bool operator==(const ProgressPointRow&) const = default;
};

// At one point, by its place in CausalRun::points.
struct WindowCount {
  uint32_t point = 0;
  int64_t visits = 0;
  int64_t inside_ns = 0;  // of a latency's end: the integral of how many were inside, over effective time
};

// A window, or one that was due and skipped. Times are differences in ns; runtime/causal/causal_abi.h says what each is.
struct WindowRow {
  int64_t position = 0;   // in the list that plan/causal.h makes for this subject and cell
  int64_t block = 0;      // of that list
  uint32_t kind = 0;      // plan::CausalArmKind
  uint32_t region = 0;    // 0: none
  uint32_t permille = 0;
  uint32_t flags = 0;     // causal::kWindow...
  int64_t start_ns = 0;   // since the trial's first process
  int64_t wall_ns = 0, cpu_ns = 0, effective_ns = 0, growth_ns = 0, credited_ns = 0, spun_wall_ns = 0, spun_counted_ns = 0,
          world_ns = 0;
  int64_t samples = 0, region_samples = 0, region_ns = 0, waits = 0, waits_classified = 0, foreign_ns = 0;
  int64_t layout = 0;
  std::vector<WindowCount> counts;

  static constexpr std::string_view kTable = "windows";
  static constexpr std::array<std::string_view, 2> kLeading = {"trial", "number"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("position", self.position);
    coder.column("block", self.block);
    coder.column("kind", self.kind);
    coder.column("region", self.region);
    coder.column("permille", self.permille);
    coder.column("flags", self.flags);
    coder.column("start_ns", self.start_ns);
    coder.column("wall_ns", self.wall_ns);
    coder.column("cpu_ns", self.cpu_ns);
    coder.column("effective_ns", self.effective_ns);
    coder.column("growth_ns", self.growth_ns);
    coder.column("credited_ns", self.credited_ns);
    coder.column("spun_wall_ns", self.spun_wall_ns);
    coder.column("spun_counted_ns", self.spun_counted_ns);
    coder.column("world_ns", self.world_ns);
    coder.column("samples", self.samples);
    coder.column("region_samples", self.region_samples);
    coder.column("region_ns", self.region_ns);
    coder.column("waits", self.waits);
    coder.column("waits_classified", self.waits_classified);
    coder.column("foreign_ns", self.foreign_ns);
    coder.column("layout", self.layout);
  }
};

// Of a region in a whole run: its samples, and the CPU time that they stand for.
struct RegionSamples {
  uint32_t region = 0;
  int64_t samples = 0;
  int64_t cpu_ns = 0;

  static constexpr std::string_view kTable = "samples";
  static constexpr std::array<std::string_view, 1> kLeading = {"trial"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("region", self.region);
    coder.column("samples", self.samples);
    coder.column("cpu_ns", self.cpu_ns);
  }
};

// One trial of a causal experiment, its windows included.
struct CausalRun {
  std::string pauses;        // the word of causal::kPausesWords that came of the plan's
  uint32_t cpus = 0;         // that it might run on
  int64_t period_ns = 0;     // of its samples
  int64_t run_ns = 0, cpu_ns = 0, growth_ns = 0, start_ns = 0, spun_wall_ns = 0, spun_counted_ns = 0, world_ns = 0;
  int64_t samples = 0, samples_in_regions = 0, samples_unattributed = 0, samples_late = 0, samples_lost = 0;
  int64_t waits = 0, waits_classified = 0;
  std::string degradations;  // words of causal::kDegradedWords, by blanks
  std::vector<ProgressPointRow> points;
  std::vector<WindowRow> windows;
  std::vector<RegionSamples> region_samples;  // those that had some

  static constexpr std::string_view kTable = "causal_runs";
  static constexpr std::array<std::string_view, 1> kLeading = {"trial"};
  template <class Self, class Coder>
  static void columns(Self& self, Coder& coder) {
    coder.column("pauses", self.pauses);
    coder.column("cpus", self.cpus);
    coder.column("period_ns", self.period_ns);
    coder.column("run_ns", self.run_ns);
    coder.column("cpu_ns", self.cpu_ns);
    coder.column("growth_ns", self.growth_ns);
    coder.column("start_ns", self.start_ns);
    coder.column("spun_wall_ns", self.spun_wall_ns);
    coder.column("spun_counted_ns", self.spun_counted_ns);
    coder.column("world_ns", self.world_ns);
    coder.column("samples", self.samples);
    coder.column("samples_in_regions", self.samples_in_regions);
    coder.column("samples_unattributed", self.samples_unattributed);
    coder.column("samples_late", self.samples_late);
    coder.column("samples_lost", self.samples_lost);
    coder.column("waits", self.waits);
    coder.column("waits_classified", self.waits_classified);
    coder.column("degradations", self.degradations);
  }
};

// The same as stored: with what is known of the trial.
struct CausalTrialRow {
  int64_t trial = 0;
  int subject = 0, cell = 0;
  uint32_t block = 0;
  int64_t layout = 0;  // trials of one subject ran in the same layout of the code where this is equal, unless it changed in them
  bool excluded = false;  // by a declared rule
  std::string excluded_by;
  std::optional<double> system_share;  // of the CPU time that the whole trial had, by the kernel's tick
  CausalRun run;
};

}  // namespace stab::store
