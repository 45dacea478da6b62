// The first screen of a report: what changed, what didn't, what is unsure and what would settle it, what to worry about, and
// where the rest is, in at most 40 lines of a terminal. All of it is read from the report; docs/how-to/read-a-report.md follows
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report_data/report.h"

namespace stab::report {

// Where the rest is, for the commands that the screen names.
struct Whereabouts {
  int64_t experiment = 0;  // its number; 0: no experiment of a lab, so no commands are named
  std::string options;     // that they need to find it: " --db lab.db"; empty: none
  std::string page;        // path of the report's page; empty: not written
};

// The same answers for another page, in the same words: a suite's benchmarks are left out, of which it says how many changed.
struct ScreenAnswer {
  const Contrast* contrast = nullptr;
  std::string section;        // "What changed": the screen's heading above it
  std::string text;           // "code=shuffle against off: 3 % slower, ..."
  std::string before, after;  // of one workload: what each side measured; else empty
};
struct ScreenAnswers {
  std::vector<ScreenAnswer> answers;      // changes first, then what is the same, unsure, not judged yet and refused
  std::optional<uint64_t> extend_blocks;  // that decide the nearest question; absent: none are known
  std::string extend_note;                // what is said above the command that adds them
  std::vector<std::string> measured;      // what each cell took, where nothing was compared; else empty
};
ScreenAnswers screen_answers(const Report& report);

inline constexpr int kFirstScreenLines = 40;

// Lines of at most `width` columns (40 to 200), and from 60 columns on never more than kFirstScreenLines rows. What has no room
// is counted, and is in the tables; a name is cut, with "…", only where it is longer than a whole line; commands and the
// page's path never are, and may cost rows beyond these.
std::string render_first_screen(const Report& report, const Whereabouts& where, int width = 100, bool colour = false);

}  // namespace stab::report
