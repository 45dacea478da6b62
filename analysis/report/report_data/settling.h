// Settling: how many replicates would turn "unsure" into a verdict, were the estimate right, and what they would cost.
//
// Two verdicts can come: "changed", where the difference is shown, and "equivalent", where both one-sided tests against the
// margin succeed. Each has an exact power, by the noncentral t distribution and by Owen's integral (power.h), at the standard
// error and the degrees of freedom that more draws would have. What is told is the smaller of the two numbers that have 80 %.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report_data/report.h"
#include "analysis/statistics/planning/power.h"

namespace stab::report {

inline constexpr double kSettlingPower = 0.8;

// What is known of a contrast's error, from n draws: it shrinks with their root.
// invariant: standard_error > 0, df > 0, n > 0
struct KnownError {
  double standard_error = 1;
  double df = 1;
  uint64_t n = 1;
  bool df_grows = true;  // false: a first stage's spread is all that intervals may rest on (Stein)

  double standard_error_at(double draws) const;
  // A table of k cells takes k from their draws and leaves (n - 1) k, so that degrees of freedom go with n - 1.
  double df_at(double draws) const;
  statistics::Estimated at(double difference, uint64_t draws) const;
};

// At which a verdict is given.
struct SettlingLevels {
  double change = 0.05;       // two-sided, of the test against no difference, after Holm
  double interval = 0.05;     // two-sided, of the interval that must not lie inside the margin
  double equivalence = 0.05;  // of each of the two one-sided tests against the margin, after Holm
};

// Draws, more than there are, at which a verdict has kSettlingPower. Absent: more than kMostSettling.
inline constexpr uint64_t kMostSettling = 1'000'000'000;
std::optional<uint64_t> settling_replicates(double estimate, const KnownError& error, double margin,
                                            const std::function<SettlingLevels(uint64_t)>& levels_at);
std::optional<uint64_t> settling_replicates(double estimate, const KnownError& error, double margin,
                                            const SettlingLevels& levels);

// The same for the question of a gate: whether it is shown to be worse, or not worse by the margin. `estimate`: above 0 is worse.
std::optional<uint64_t> settling_worse(double estimate, const KnownError& error, double margin,
                                       const std::function<SettlingLevels(uint64_t)>& levels_at);

// Whether so many are worth a command: ten times what there is, or a hundred, and a day of the machine's time. What a pilot says
// of more than that rests on digits that it doesn't have.
bool is_worth_running(const Contrast& contrast);

// "43 replicates of each cell are needed to decide (now 10), 12 min more of machine time".
// For an unsure contrast. `of_each`: what else to
// call what a cell has more of, "runs of each".
std::string settling_text(const Report& report, const Contrast& contrast, std::string_view of_each = {});

}  // namespace stab::report
