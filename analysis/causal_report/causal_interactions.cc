// Cells are compared by Welch's t with the degrees of freedom that Satterthwaite gives it.
//
// Layouts are compared by what the arm does in each of them: the difference of its windows from the baseline windows of the same
// trial in the same layout, a part. Where several trials ran in one layout, as those of one binary do, layouts are held against
// the parts of one layout: trials differ, too. Where each layout is of one trial, all that is left to hold them against is the
// spread of windows of one arm in one part.
#include "analysis/causal_report/causal_interactions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/causal_report/causal_fit.h"
#include "analysis/statistics/distributions/distributions.h"

namespace stab::causal_report {
namespace {

constexpr size_t kFewestLayouts = 3;
constexpr double kFewestFreedom = 3;  // of what layouts are held against

struct Welch {
  double difference = 0, error = 0, df = 0;
  double p_value() const { return statistics::t_two_sided(difference / error, df); }
};

Welch welch_of(const Tangent& first, const Tangent& here) {
  double a = 0, b = 0;  // variances
  for (const double score : first.scores) a += score * score;
  for (const double score : here.scores) b += score * score;
  return {here.value - first.value, std::sqrt(a + b), (a + b) * (a + b) / (a * a / first.df + b * b / here.df)};
}

// Windows of one trial in one layout: of the baseline [0] and of the arm [1].
struct Part {
  double weight[2] = {0, 0}, sum[2] = {0, 0}, squares = 0;
  uint64_t count[2] = {0, 0};

  bool has_both() const { return count[0] > 0 && count[1] > 0; }
  double difference() const { return sum[1] / weight[1] - sum[0] / weight[0]; }
  double difference_weight() const { return 1 / (1 / weight[0] + 1 / weight[1]); }
  double rest() const { return squares - sum[0] * sum[0] / weight[0] - sum[1] * sum[1] / weight[1]; }
  double rest_df() const { return static_cast<double>(count[0] + count[1]) - 2; }
};

// Weighted squares about a mean.
struct Squares {
  double weight = 0, sum = 0, squares = 0;
  void add(double each, double value) { weight += each, sum += each * value, squares += each * value * value; }
  double mean() const { return sum / weight; }
  double about_mean() const { return std::max(0.0, squares - sum * sum / weight); }
};

}  // namespace

void compare_cells(const ArmInCell& first, const ArmInCell& here, double alpha, CausalInteraction& out) {
  const Welch found = welch_of(first.effect, here.effect);
  const double half = statistics::t_quantile_upper(alpha / 2, found.df) * found.error;
  out.difference = found.difference;
  out.low = found.difference - half;
  out.high = found.difference + half;
  out.df = found.df;
  out.p_value = found.p_value();
  out.p_beyond_null = out.p_holm = 1;
  if (!first.beyond_null || !here.beyond_null) return;
  const Welch beyond = welch_of(*first.beyond_null, *here.beyond_null);
  out.p_beyond_null = beyond.p_value();
  if ((beyond.difference > 0) == (found.difference > 0)) out.p_holm = std::max(out.p_value, out.p_beyond_null);
}

std::optional<LayoutInteraction> layout_interaction(const CausalData& data, std::span<const size_t> windows,
                                                    const CausalCurve& curve, double speedup) {
  std::map<std::pair<uint64_t, uint32_t>, Part> parts;  // by layout and trial
  for (const size_t w : windows) {
    const CausalWindow& window = data.windows[w];
    if (window.layout == 0 || window.visits[curve.point] == 0) continue;
    if (!(effective_ns(window, data.trials[window.trial].clock) > 0)) continue;
    const bool is_arm = window.kind == ArmKind::kSpeedup && window.line == curve.line && window.speedup == speedup;
    if (!is_arm && window.kind != ArmKind::kBaseline) continue;
    Part& part = parts[{window.layout, window.trial}];
    const auto weight = static_cast<double>(window.visits[curve.point]);
    const double y = log_throughput(data, window, curve.point);
    part.weight[is_arm] += weight, part.sum[is_arm] += weight * y, part.squares += weight * y * y, ++part.count[is_arm];
  }
  std::map<uint64_t, Squares> layouts;
  Squares all;
  double count = 0, rest = 0, rest_df = 0;
  for (const auto& [key, part] : parts) {
    if (!part.has_both()) continue;
    layouts[key.first].add(part.difference_weight(), part.difference());
    all.add(part.difference_weight(), part.difference());
    rest += part.rest(), rest_df += part.rest_df(), ++count;
  }
  if (layouts.size() < kFewestLayouts) return std::nullopt;
  LayoutInteraction out{curve.cell, curve.point, curve.line, speedup};
  out.layouts = layouts.size();
  out.against_trials = count > static_cast<double>(layouts.size());
  out.exploratory = curve.exploratory;
  if (out.against_trials) {
    rest = 0, rest_df = count - static_cast<double>(layouts.size());
    for (const auto& [layout, squares] : layouts) rest += squares.about_mean();
  }
  if (rest_df < kFewestFreedom || !(rest > 0)) return std::nullopt;
  Squares between;
  for (const auto& [layout, squares] : layouts) between.add(squares.weight, squares.mean());
  out.df1 = static_cast<double>(layouts.size() - 1), out.df2 = rest_df;
  out.f = between.about_mean() / out.df1 / (rest / rest_df);
  out.p_value = statistics::f_upper(out.f, out.df1, out.df2);
  return out;
}

}  // namespace stab::causal_report
