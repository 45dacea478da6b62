// What the arrivals of a program under amplified load say about the amplification itself.
//
// Amplifying makes everything but the arrivals slower. Arrivals that wait for nothing come as often in real time at every load.
// Where fewer come at a higher load they wait for something of the program: for an answer (a closed loop), for room in a queue,
// or for the CPU of a thread that makes them. Then the load was not what it says, and what more clients would bring is not known.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "analysis/causal_report/saturation.h"
#include "analysis/report/report_data/report.h"

namespace stab::causal_report {

// Fewer than this share of the arrivals at the smallest load are fewer; and a load says nothing with fewer than so many.
inline constexpr double kFewestOfArrivals = 0.95;
inline constexpr uint64_t kFewestArrivals = 100;

enum class ArrivalsVerdict {
  kOpen,     // "open": at every load as many come as at the smallest
  kClosed,   // "closed": shown to be fewer at some load
  kUnsure,   // "unsure": the interval holds both
  kUnknown,  // "unknown": no arrival point, or too few trials
};
std::string_view name(ArrivalsVerdict verdict);

struct ArrivalsCheck {
  ArrivalsVerdict verdict = ArrivalsVerdict::kUnknown;
  double load = 1;                 // where the share is smallest
  std::optional<report::Interval> share;   // of arrivals in real time there, against the smallest load
};

// Welch's t on logarithms, with the spread within loads taken together.
ArrivalsCheck check_arrivals(std::span<const LoadedTrial> trials, double alpha);

}  // namespace stab::causal_report
