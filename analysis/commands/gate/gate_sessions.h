// What a gate knows of other sessions: A/A controls that say how far equal programs differ from one session to the next, and the
// stream of pull requests that its verdict is one of. docs/explanation/sessions.md has the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/looks/online_discoveries.h"
#include "base/result.h"

namespace stab::commands {

// Of fewer nothing is put into an interval. With three it is two and a half times as wide where nothing lies between sessions at
// all, with five one and a half times (tests/bench/session_table.cc).
inline constexpr size_t kFewestSessions = 5;

// What one session has found of one question: the logarithm of head / base, above 0 where head is worse, whichever direction that
// is.
struct SessionFinding {
  int64_t session = 0;
  std::string workload, response;
  statistics::SessionDifference found;
  uint64_t blocks = 0;
};

struct GateSessions {
  std::vector<SessionFinding> controls;
  std::string command;  // makes one more; empty: nobody has looked for a logbook, and nothing is said of sessions
};

// A stream and what it knows of this pair of commits.
struct GateStream {
  std::string name;
  statistics::Stream rule;
  uint64_t number = 1, called_before = 0;
  bool called = false;  // by an earlier session
  int64_t session = 0;  // the number of the one that is now
  std::vector<SessionFinding> earlier;
};

// A contrast that a gate asks about.
bool is_gate_question(const report::Report& report, const report::Contrast& contrast);
// Of each question with an answer as a ratio, as a logbook keeps it.
std::vector<SessionFinding> session_findings(const report::Report& report);

// What other sessions say of one contrast.
struct AcrossSessions {
  size_t sessions = 0;  // known
  std::optional<statistics::BetweenSessions> between;  // of 2 sessions and more
  bool in_interval = false;
  report::Interval within;  // of this session's blocks alone, and their p
  double p_within = 1;
};
struct WidenedReport {
  report::Report report;               // its questions have intervals and p that allow for what lies between sessions
  std::vector<AcrossSessions> across;  // of each of its contrasts
};
// Of questions with kFewestSessions controls. Nothing becomes narrower, and no p smaller.
Result<WidenedReport> widened(const report::Report& report, const report::Samples& samples, const GateSessions& sessions);

// What a stream makes of a gate.
struct StreamAnswer {
  double log_e = 0, log_needed = 0;  // mean evidence of the declared questions
  bool called = false;               // worse, now or by an earlier session
  size_t sessions = 0;               // in which this pair was gated, this one included
  std::optional<uint64_t>
      settles_sessions;              // so many more, did they find what these have found; absent: none would, or it is called
  std::string strongest;             // "workload/response" of the question with the most evidence
};
// is_shown_fine: this session excludes the margin. Such a pair is not called, whatever its evidence of a smaller slowdown: a gate
// alone lets it pass, too. To call less often than e-LOND would keeps its rate.
StreamAnswer answer_of_stream(const std::vector<SessionFinding>& found, const GateSessions& sessions, const GateStream& stream,
                              double margin, bool is_shown_fine);

}  // namespace stab::commands
