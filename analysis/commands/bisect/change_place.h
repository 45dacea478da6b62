// Where a lasting change of a trend lies: between which two levels, in which sessions each of them was measured first, and
// between which commits, so that `stabctl bisect` can look for the one that did it.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {

struct ChangePlace {
  const report::TrendPoint* before = nullptr;  // the last level that lies where those before do
  const report::TrendPoint* at = nullptr;      // the first that lies elsewhere
  bool is_worse = false;                       // slower, more, or a lower score
  std::string range;       // "v5..v6", as git reads it; empty: not known
  std::string repository;  // of the range, as the plans have it; empty: whatever repository knows both commits
  std::string command;     // that looks for the commit; empty: the range is not known
  std::string unknown;     // why it is not
};

// A level is a commit if the plan builds it as a revision of a git repository, or if it reads like a commit's number: 7 to 40
// hexadecimal digits.
ChangePlace place_of(const report::Trend& trend, const report::TrendLine& line, const report::TrendChange& change);

// "2026-11-20 on vm (boot 7c9e6679)", several joined; "a session that was not recorded".
std::string sessions_text(const std::vector<report::TrendSession>& sessions);

// For people, in lines that begin with `indent`: sessions, commits, and the command alone on its line.
std::string place_text(const ChangePlace& place, int width, const std::string& indent);
// Members of the change's object.
void write_place(text::JsonWriter& json, const ChangePlace& place);

}  // namespace stab::commands
