// JudgedSide: one side of `stabctl compare` against the first one, with its verdict, and the sentences that are about it alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/gate/compare_answer.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/worse.h"

namespace stab::commands {

struct JudgedSide {
  const ComparedSide* side = nullptr;
  const report::Contrast* contrast = nullptr;
  const report::Response* response = nullptr;
  double before = 0, after = 0;  // geometric means: of the first side, and of this one
  report::Worse worse = report::Worse::kUnsure;
  std::string word;  // "slower"

  bool is_known() const { return contrast->refused.empty(); }
  bool is_open() const { return word.starts_with("unsure"); }
  bool is_change() const { return word.starts_with("slower") || word == "faster"; }
};

// Of the others, in their order; what copies may have made of a difference is allowed for. kBadInput: the report compares other
// programs than these, or none.
Result<std::vector<JudgedSide>> judged_sides(const report::Report& report, const CompareFacts& facts);

// Whether one of them is shown to be slower, or else one is unsure.
report::Worse worst_of(const std::vector<JudgedSide>& sides);

// The same difference by CPU time, where wall time is compared: nobody asked for it, and it decides nothing.
struct CpuTime {
  double before = 0, after = 0;  // geometric means, in seconds
  report::Interval ratio;
};
std::optional<CpuTime> cpu_time_of(const report::Report& report, const JudgedSide& side);

// "1 %"
std::string margin_text(const report::Report& report);
// "+2.43 % [+2.10, +2.80]"; "-" where it is not known.
std::string difference(const JudgedSide& side);
// Why there is no difference to tell. Of a side without a value: it passed when it was tried, and not once in a block.
std::string refusal_of(const JudgedSide& side, const CompareFacts& facts);
// Empty: wall time is not what is compared, or there is none.
std::string cpu_time_text(const report::Report& report, const JudgedSide& side);
// The verdict that the margin is kept asks of one side at a time, so its interval is narrower than the one that is shown. Empty:
// the shown one lies within the margin, too, and nobody wonders.
std::string margin_kept_text(const report::Report& report, const JudgedSide& side);

// What an unsure answer takes, and the command that gives it.
struct Cure {
  std::string text, command;
};
Cure cure_of(const report::Report& report, const JudgedSide& side, const CompareFacts& facts);

// "12min" of seconds, rounded up to a round figure: what --at-most takes.
std::string time_option(double seconds);

}  // namespace stab::commands
