// Trend: the levels of one factor over a series of experiments. Each compares a few of them, as a night compares tonight's
// revision, last night's and an anchor; levels that no experiment has compared are compared through those between them. Times of
// different nights are never put side by side: only what was measured within blocks of one night enters.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/looks/between_sessions.h"
#include "base/result.h"

namespace stab::report {

// One boot of one machine on one day (UTC). What is not known is empty.
struct TrendSession {
  std::string day, machine, boot;
  bool operator==(const TrendSession&) const = default;
};

// What the levels of a factor mean as revisions, where a part's plan builds them out of one repository.
struct TrendRevisions {
  std::string factor;
  std::string repository;                       // an absolute path, or an address
  std::map<std::string, std::string> of_level;  // as the plan's source names them
};

struct SeriesPart {
  std::string name;  // for people: "12, 2026-11-20"
  Samples samples;
  std::vector<TrendSession> sessions{};  // in which it ran, the first one first
  std::optional<TrendRevisions> revisions{};
};

// An A/A control: what one session found of two equal programs (analysis/commands/gate/gate_sessions.h).
struct TrendControl {
  int64_t session = 0;
  std::string workload, response;
  statistics::SessionDifference found;
};

struct TrendRequest {
  std::string factor;  // empty: the one treatment of the newest part
  std::string anchor;  // the level that the others are held against; empty: the one that most parts have, the earliest of them
  std::vector<TrendControl> controls{};  // of a logbook
  bool blocks_alone = false;  // nothing that lies between sessions enters: for tables and tests that say what that does
};

struct TrendPoint {
  std::string level;
  std::string since;                       // the part that had it first
  std::vector<TrendSession> sessions;      // of that part
  std::string revision, repository;        // as that part's plan has them; empty: the level is no revision of a repository
  size_t parts = 0;                        // that compare it with something
  std::optional<Interval> against_anchor;  // at 1 - alpha; absent: no chain of parts leads there, or it is the anchor
  double standard_error = 0;               // of that, on the response's scale: of the t distribution that it is the interval of
  double df = 0;
  double within_error = 0, within_df = 0;  // the same of the blocks alone
  // Against the level before it, where there is one: the family whose errors Holm controls.
  std::string before;
  std::optional<Interval> step;
  std::optional<Interval> step_within;  // of the blocks alone
  double p_value = 1, p_holm = 1;
  double p_equivalence = 1, p_equivalence_holm = 1;
  Verdict verdict = Verdict::kWithheld;  // of the step
  std::string refused;                   // why there is no step or no difference to the anchor
};

// From this level on the line lies elsewhere than before (trend_changes.h).
struct TrendChange {
  size_t point = 0;   // place in the line's points
  size_t before = 0;  // the last place before it: what has changed lies behind that level, and at this one or before
  size_t levels_before = 0, levels_after = 0;  // of the segments on both sides
  double shift = 0;  // of their means, after against before; no interval: it was picked for being large
  double statistic = 0, p_value = 1;
};

// Levels between two changes.
struct TrendSegment {
  size_t first = 0, last = 0;  // places in the line's points
  double mean = 0;             // against the anchor
};

struct TrendChanges {
  bool asked = false;
  std::string refused;              // why it was not
  double alpha = 0;                 // of this line: all lines share the trend's
  std::vector<TrendChange> found;   // in the order of the levels
  std::vector<TrendSegment> segments;
  std::optional<double> p_of_next;  // of the split that was no change; absent: none was possible
};

// What lies between the sessions of a line (trend_sessions.h).
struct TrendSessions {
  enum class Source { kNone, kRepeats, kSteps };  // kNone: it is not in the intervals
  Source source = Source::kNone;
  size_t repeats = 0;   // comparisons that sessions repeat, less what it takes to know the levels
  size_t controls = 0;  // sessions with an A/A control
  size_t steps = 0;     // looked at where those are too few
  // On the response's scale, of the difference of two equal levels in one session, with its 95 % interval.
  double sd = 0, low = 0, high = 0;
  std::optional<double> p_value;  // of there being nothing between sessions
};

struct TrendLine {
  std::string workload;            // empty: over all of them, as given
  double margin = 0;               // on the response's scale
  std::vector<TrendPoint> points;  // in the order in which the levels came
  // How far the parts contradict each other: Cochran's Q (arm_network.h), its degrees of freedom and those of the covariances.
  // q_df 0: none could, or a part has too few blocks to tell.
  double q = 0, q_df2 = 0;
  size_t q_df = 0;
  double q_p = 1;
  TrendSessions sessions;
  TrendChanges changes;
};

struct Trend {
  Response response;
  std::string factor, anchor;
  double alpha = 0.05;
  std::vector<TrendLine> lines;       // over all workloads first, where there are several
  std::vector<std::string> left_out;  // "12, 2026-11-20: why": parts, or levels of them, that say nothing here
};

// Of the primary response, which is the newest part's. pre: parts in the order of time.
// kBadInput: no part, no treatment or several, an anchor that no part has, or nothing that could be compared.
Result<Trend> trend_of(const std::vector<SeriesPart>& parts, const TrendRequest& request);

}  // namespace stab::report
