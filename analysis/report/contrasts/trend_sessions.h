// What lies between the sessions of a trend: the error that no night's blocks show.
//
// Within a session (machine, boot, day) each level errs by a part of its own, so that two levels differ by u ~ N(0, sd^2) beyond
// what their blocks say, as in a gate (analysis/statistics/looks/between_sessions.h). sd is known from whatever has the truth 0:
//
// 1. What nights repeat. Two levels that two sessions compare have the same difference in both, however much it is, so what the
//    nights contradict each other by is u and the blocks' error alone (ArmNetwork::repeats()). No change of a program counts.
// 2. A/A controls of a logbook, where the user names it. They count beside those.
// 3. Where both are fewer than three, as in a chain of nights: the steps themselves, of which one in ten may be a change.
//
// An interval then has the error of its blocks with sd averaged over all that these leave possible.
#pragma once

#include <optional>
#include <span>

#include "analysis/report/contrasts/trend.h"
#include "analysis/statistics/looks/between_sessions.h"
#include "analysis/statistics/models/arm_network.h"

namespace stab::report {

struct LineSessions {
  TrendSessions known;
  std::optional<statistics::SessionSpread> spread;  // absent: nothing of it is in the line's intervals
};
// controls: of the line's workload and response, one for each session
LineSessions sessions_of(const statistics::ArmNetwork& network, std::span<const statistics::SessionDifference> controls);

// The sessions of parts as numbers: parts that share one have the same. Of a part whose day isn't known: its own.
std::vector<size_t> session_numbers(const std::vector<SeriesPart>& parts);

// One arm against another with all that is known of its error: a t distribution for its blocks, and one that has what lies
// between sessions. pre: connected(a, b), a != b
class TrendDifference {
 public:
  TrendDifference(const statistics::ArmNetwork& network, const LineSessions& sessions, size_t a, size_t b);
  double estimate() const { return within_.estimate; }
  // Two-sided, of the blocks alone.
  statistics::TTest within(double conf) const;
  // The wider of the two intervals, and the larger p.
  statistics::TTest test(double mu, statistics::Alternative alternative, double conf) const;

 private:
  statistics::TTest within_;
  std::optional<statistics::WidenedError> widened_;
};

}  // namespace stab::report
