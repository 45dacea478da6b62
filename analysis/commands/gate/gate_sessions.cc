#include "analysis/commands/gate/gate_sessions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::commands {
namespace {

using statistics::SessionDifference;

// A value for each session: several findings of one are its mean.
std::vector<SessionDifference> by_session(const std::vector<SessionFinding>& findings, const std::string& workload,
                                          const std::string& response, const std::map<int64_t, bool>& without = {}) {
  std::map<int64_t, std::vector<SessionDifference>> sessions;
  for (const SessionFinding& one : findings)
    if (one.workload == workload && one.response == response && !without.contains(one.session))
      sessions[one.session].push_back(one.found);
  std::vector<SessionDifference> out;
  for (const auto& [session, found] : sessions) out.push_back(statistics::pooled(found));
  return out;
}

// The error of a contrast that had so many times its blocks.
statistics::WidenedError error_with(const report::Contrast& contrast, const std::vector<SessionDifference>& controls,
                                    double times) {
  return statistics::widened_error(controls, contrast.standard_error / std::sqrt(times), times * contrast.df);
}

double one_sided_p(const report::LookLevels& levels, double statistic, double df) {
  const double nominal = statistics::t_upper(statistic, df);
  return nominal >= 0.5 ? nominal : levels.p(2 * nominal) / 2;
}

// The contrast with this error instead of its own. Each end of the interval keeps the level of its tail, which a look has set.
report::Contrast with_error(const report::Contrast& contrast, const statistics::WidenedError& error,
                            const report::LookLevels& levels) {
  report::Contrast out = contrast;
  const double estimate = std::log(contrast.interval.estimate), se = contrast.standard_error;
  const auto reach = [&](double own) {
    const double tail = statistics::t_upper(own / se, contrast.df);
    // So far out that its tail is no number: there the own end stands, scaled.
    const double wide = tail > 0 ? statistics::t_quantile_upper(tail, error.df) * error.scale : own / se * error.scale;
    return std::max(own, wide);
  };
  out.interval.low = std::exp(estimate - reach(estimate - std::log(contrast.interval.low)));
  out.interval.high = std::exp(estimate + reach(std::log(contrast.interval.high) - estimate));
  out.p_value = std::max(contrast.p_value, levels.p(statistics::t_two_sided(estimate / error.scale, error.df)));
  out.p_not_above =
      std::max(contrast.p_not_above, one_sided_p(levels, (contrast.margin - estimate) / error.scale, error.df));
  out.p_not_below =
      std::max(contrast.p_not_below, one_sided_p(levels, (contrast.margin + estimate) / error.scale, error.df));
  return out;
}

// Blocks that would answer it, did the estimate stay: what lies between sessions stays, too. Absent: no number of them.
std::optional<uint64_t> settling_blocks(const report::Response& response, const report::Contrast& contrast,
                                        const std::vector<SessionDifference>& controls, const report::LookLevels& levels,
                                        double alpha) {
  constexpr int kMost = 32;  // steps of 1.25: a thousand times the blocks
  constexpr double kStep = 1.25;
  const auto is_answered = [&](int steps) {
    const double times = std::pow(kStep, steps);
    report::Contrast more = contrast;
    more.standard_error /= std::sqrt(times);
    more.df *= times;
    const auto shrunk = [&](double end) {
      return contrast.interval.estimate * std::pow(end / contrast.interval.estimate, 1 / std::sqrt(times));
    };
    more.interval.low = shrunk(contrast.interval.low);
    more.interval.high = shrunk(contrast.interval.high);
    more.p_value = more.p_not_above = more.p_not_below = 0;  // those of the blocks shrink with them
    const report::Contrast wide = with_error(more, error_with(contrast, controls, times), levels);
    return report::worse_by(response, wide, alpha, wide.p_value) != report::Worse::kUnsure;
  };
  if (!is_answered(kMost)) return {};
  int low = 0, high = kMost;
  while (high - low > 1) (is_answered((low + high) / 2) ? high : low) = (low + high) / 2;
  return static_cast<uint64_t>(std::ceil(std::pow(kStep, high) * static_cast<double>(contrast.n)));
}

// Holm, or Benjamini and Yekutieli, over the questions of one kind. An adjusted p does not become smaller than it was.
void adjust(report::Report& report) {
  std::map<std::pair<bool, report::ErrorRate>, std::vector<report::Contrast*>> families;
  for (report::Contrast& contrast : report.contrasts) {
    if (!is_gate_question(report, contrast) || !contrast.refused.empty()) continue;
    const report::Response& response = report::response_of(report, contrast.response);
    families[{response.declared, response.error_rate}].push_back(&contrast);
  }
  for (auto& [kind, family] : families) {
    std::vector<double> p;
    for (const report::Contrast* contrast : family) p.push_back(contrast->p_value);
    const std::vector<double> adjusted =
        kind.second == report::ErrorRate::kFalseDiscovery ? statistics::benjamini_yekutieli(p) : statistics::holm(p);
    for (size_t i = 0; i < family.size(); ++i) family[i]->p_holm = std::max(family[i]->p_holm, adjusted[i]);
  }
}

}  // namespace

bool is_gate_question(const report::Report& report, const report::Contrast& contrast) {
  if (contrast.factor != kGateFactor || contrast.population != report::Population::kOneWorkload) return false;
  const report::Response& of = report::response_of(report, contrast.response);
  if (of.is_benchmark()) return true;
  return of.declared && !report::is_time_of_suite(report, contrast);
}

std::vector<SessionFinding> session_findings(const report::Report& report) {
  std::vector<SessionFinding> out;
  constexpr double kFewestDf = 2;
  for (const report::Contrast& contrast : report.contrasts) {
    if (!is_gate_question(report, contrast) || !contrast.refused.empty() || contrast.scale != report::Scale::kLog) continue;
    if (!(contrast.standard_error > 0) || !(contrast.df > kFewestDf)) continue;
    const bool falls = report::response_of(report, contrast.response).higher_is_better;
    const double difference = std::log(contrast.interval.estimate);
    out.push_back({0,
                   contrast.workload,
                   contrast.response,
                   {falls ? -difference : difference, contrast.standard_error, contrast.df},
                   contrast.n});
  }
  return out;
}

Result<WidenedReport> widened(const report::Report& report, const report::Samples& samples, const GateSessions& sessions) {
  constexpr double kConf = 0.95;
  constexpr size_t kTwo = 2;
  WidenedReport out{report, std::vector<AcrossSessions>(report.contrasts.size())};
  STAB_TRY(const report::LookLevels levels, report::levels_of(samples));
  bool any = false;
  for (size_t i = 0; i < report.contrasts.size(); ++i) {
    const report::Contrast& contrast = report.contrasts[i];
    AcrossSessions& across = out.across[i];
    across.within = contrast.interval;
    across.p_within = contrast.p_value;
    if (!is_gate_question(report, contrast)) continue;
    const std::vector<SessionDifference> controls = by_session(sessions.controls, contrast.workload, contrast.response);
    across.sessions = controls.size();
    if (controls.size() >= kTwo) {
      STAB_TRY(across.between, statistics::between_sessions(controls, kConf));
    }
    const bool may_widen = contrast.refused.empty() && contrast.scale == report::Scale::kLog && contrast.standard_error > 0 &&
                           contrast.df > 2 && controls.size() >= kFewestSessions;
    if (!may_widen) continue;
    across.in_interval = any = true;
    const report::Response& response = report::response_of(report, contrast.response);
    report::Contrast wide = with_error(contrast, error_with(contrast, controls, 1), levels);
    if (report::worse_by(response, wide, report.alpha, wide.p_value) == report::Worse::kUnsure) {
      const auto more = settling_blocks(response, contrast, controls, levels, report.alpha);
      wide.settles_worse_n = more ? std::optional(std::max(*more, contrast.settles_worse_n.value_or(0))) : std::nullopt;
    }
    out.report.contrasts[i] = std::move(wide);
  }
  if (any) adjust(out.report);
  return out;
}

StreamAnswer answer_of_stream(const std::vector<SessionFinding>& found, const GateSessions& sessions, const GateStream& stream,
                              double margin, bool is_shown_fine) {
  StreamAnswer out;
  std::vector<SessionFinding> gates = stream.earlier;
  for (SessionFinding one : found) {
    one.session = stream.session;
    gates.push_back(std::move(one));
  }
  std::map<int64_t, bool> of_gates;
  for (const SessionFinding& one : gates) of_gates[one.session] = true;
  out.sessions = std::max<size_t>(of_gates.size(), 1);
  std::vector<double> logs;
  double most = -HUGE_VAL;
  for (const SessionFinding& one : found) {
    const auto own = by_session(gates, one.workload, one.response);
    // A control of a session in which the pair was gated may share its error.
    const auto controls = by_session(sessions.controls, one.workload, one.response, of_gates);
    logs.push_back(statistics::log_e_value(own, controls, margin));
    if (logs.back() <= most) continue;
    most = logs.back();
    out.strongest = one.workload + "/" + one.response;
  }
  out.log_e = logs.empty() ? 0 : statistics::log_mean_e_value(logs);
  out.log_needed = statistics::log_e_needed(stream.rule, stream.number, stream.called_before);
  out.called = stream.called || (!is_shown_fine && !logs.empty() && out.log_e >= out.log_needed);
  constexpr double kMostSessions = 100;
  const double each = out.log_e / static_cast<double>(out.sessions);
  if (!out.called && each > 0 && out.log_e < out.log_needed && (out.log_needed - out.log_e) / each <= kMostSessions)
    out.settles_sessions = static_cast<uint64_t>(std::ceil((out.log_needed - out.log_e) / each));
  return out;
}

}  // namespace stab::commands
