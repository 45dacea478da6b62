// A part's differences are its report's contrasts, taken with each level as the baseline once: so they are within blocks where
// there are blocks, and refused where its report refuses them. The three differences of each triple of levels give their
// covariances, cov(b - a, c - a) = (var(b - a) + var(c - a) - var(c - b)) / 2, whatever route the errors came by.
#include "analysis/report/contrasts/trend.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/contrasts/control_blocks.h"
#include "analysis/report/contrasts/judged_contrast.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/contrasts/trend_changes.h"
#include "analysis/report/contrasts/trend_sessions.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/models/arm_network.h"

namespace stab::report {
namespace {

// One level against another, on the response's scale.
struct Difference {
  double estimate = 0, variance = 0, df = 0, draws = 0;
};

// What one part found of one line, by level and baseline. A pair that is refused has its reason instead.
struct Found {
  std::map<std::pair<size_t, size_t>, Difference> of;
  std::map<std::pair<size_t, size_t>, std::string> refused;
  double margin = 0;
};

// The part with its primary response alone.
Samples primary_of(const Samples& samples) {
  Samples out = samples;
  out.responses.resize(1);
  for (Trial& trial : out.trials) trial.values.resize(1);
  return out;
}

// By workload; "" for all of them. pre: factor is one of the samples'
Result<std::map<std::string, Found>> found_in(Samples samples, size_t factor) {
  UnitsByResponse units(1);
  for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[0].push_back(units_of(samples, w, 0));
  STAB_TRY(const LookLevels levels, levels_of(samples));
  StoppedAt stopped{levels};
  stopped.settles = false;
  std::map<std::string, Found> out;
  Factor& asked = samples.factors[factor];
  for (uint32_t baseline = 0; baseline < asked.levels.size(); ++baseline) {
    asked.baseline = baseline;
    std::vector<Contrast> contrasts = contrasts_of(samples, units, stopped);
    if (samples.is_sliced) STAB_CHECK_OK(answer_from_alone(samples, slicing_of(samples, units), contrasts));
    for (const Contrast& contrast : contrasts) {
      if (contrast.factor != asked.name || contrast.population == Population::kLikeThese) continue;
      Found& found = out[contrast.workload];
      const auto level =
          static_cast<size_t>(std::find(asked.levels.begin(), asked.levels.end(), contrast.level) - asked.levels.begin());
      const std::pair pair(level, size_t{baseline});
      const double variance = contrast.standard_error * contrast.standard_error;
      if (!contrast.refused.empty()) {
        found.refused[pair] = contrast.refused;
      } else if (!(variance > 0)) {
        found.refused[pair] = "its blocks don't vary";
      } else {
        const double estimate = on_scale(contrast.scale, contrast.interval.estimate);
        found.of[pair] = {estimate, variance, contrast.df, static_cast<double>(contrast.n)};
        found.margin = std::max(found.margin, contrast.margin);
      }
    }
  }
  return out;
}

// The largest set of levels, beginning with the first that has a difference, in which each pair has one.
std::vector<size_t> comparable(const Found& found, size_t levels) {
  std::vector<size_t> out;
  for (size_t level = 0; level < levels; ++level)
    if (std::all_of(out.begin(), out.end(), [&](size_t other) { return found.of.count({level, other}) > 0; }))
      out.push_back(level);
  return out;
}

statistics::ArmContrasts contrasts_between(const Found& found, const std::vector<size_t>& levels,
                                           const std::vector<size_t>& arms) {
  statistics::ArmContrasts out;
  const size_t k = levels.size() - 1;
  out.covariance.resize(k * k);
  const auto between = [&](size_t i, size_t j) { return found.of.at({levels[i], levels[j]}); };
  for (const size_t level : levels) out.arms.push_back(arms[level]);
  for (size_t i = 0; i < k; ++i) {
    const Difference one = between(i + 1, 0);
    out.differences.push_back(one.estimate);
    out.df = i == 0 ? one.df : std::min(out.df, one.df);
    out.draws = i == 0 ? one.draws : std::min(out.draws, one.draws);
    for (size_t j = 0; j < k; ++j)
      out.covariance[i * k + j] =
          i == j ? one.variance : (one.variance + between(j + 1, 0).variance - between(i + 1, j + 1).variance) / 2;
  }
  return out;
}

// Levels by name, in the order in which they came.
struct Levels {
  std::vector<std::string> names;
  std::vector<const SeriesPart*> since;  // the part that had it first
  std::map<std::string, size_t> at;
  std::vector<size_t> parts;  // that have it

  size_t add(const std::string& name, const SeriesPart& part) {
    const auto [place, fresh] = at.try_emplace(name, names.size());
    if (fresh) {
      names.push_back(name);
      since.push_back(&part);
      parts.push_back(0);
    }
    ++parts[place->second];
    return place->second;
  }
};

Result<std::string> factor_asked(const Samples& newest, const std::string& wanted) {
  std::vector<std::string> treatments;
  for (const Factor& factor : newest.factors)
    if (!factor.layout && factor.levels.size() > 1) treatments.push_back(factor.name);
  std::string names;
  for (const std::string& name : treatments) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!wanted.empty() && std::count(treatments.begin(), treatments.end(), wanted) == 0)
    return bad_input("the newest experiment of the series has no treatment '" + wanted + "'" +
                     (names.empty() ? "" : "; it has " + names));
  if (!wanted.empty()) return wanted;
  if (treatments.size() == 1) return treatments[0];
  return bad_input(treatments.empty() ? "the newest experiment of the series has no treatment with several levels to follow"
                                      : "the series has several treatments, " + names + ": name one with --factor");
}

// One line before its numbers are known.
struct Material {
  std::vector<statistics::ArmContrasts> contrasts;
  std::vector<bool> has;  // by level
  double margin = 0;      // of the newest part that has one
};

struct Step {
  TrendPoint* point;
  double low = 0, high = 0, margin = 0;
};

void add_steps(const FittedLine& fitted, const Levels& levels, size_t anchor, const Trend& trend, std::vector<Step>& steps) {
  const statistics::ArmNetwork& network = *fitted.network;
  TrendLine& line = *fitted.line;
  constexpr auto kTwoSided = statistics::Alternative::kTwoSided;
  std::optional<size_t> before;
  for (TrendPoint& point : line.points) {
    const size_t level = levels.at.at(point.level);
    if (level != anchor) {
      if (!network.connected(anchor, level)) {
        point.refused = "no chain of experiments leads from '" + trend.anchor + "' to it";
      } else {
        const TrendDifference difference(network, fitted.sessions, anchor, level);
        const statistics::TTest test = difference.test(0, kTwoSided, 1 - trend.alpha);
        const statistics::TTest within = difference.within(1 - trend.alpha);
        point.against_anchor = to_people(trend.response.scale, test);
        point.standard_error = test.standard_error;
        point.df = test.df;
        point.within_error = within.standard_error;
        point.within_df = within.df;
      }
    }
    const std::optional<size_t> from = std::exchange(before, level);
    if (!from || !network.connected(*from, level)) continue;
    const TrendDifference difference(network, fitted.sessions, *from, level);
    const statistics::TTest test = difference.test(0, kTwoSided, 1 - trend.alpha);
    point.before = levels.names[*from];
    point.step = to_people(trend.response.scale, test);
    point.step_within = to_people(trend.response.scale, difference.within(1 - trend.alpha));
    point.p_value = test.p_value;
    const auto p_against = [&](double mu, statistics::Alternative alternative) {
      return difference.test(mu, alternative, 1 - trend.alpha).p_value;
    };
    if (line.margin > 0)
      point.p_equivalence = std::max(p_against(-line.margin, statistics::Alternative::kGreater),
                                     p_against(line.margin, statistics::Alternative::kLess));
    steps.push_back({&point, *test.conf_low, *test.conf_high, line.margin});
  }
}

void judge(std::vector<Step>& steps, double alpha) {
  std::vector<double> changes, equivalences;
  for (const Step& step : steps) {
    changes.push_back(step.point->p_value);
    equivalences.push_back(step.point->p_equivalence);
  }
  changes = statistics::holm(changes);
  equivalences = statistics::holm(equivalences);
  for (size_t i = 0; i < steps.size(); ++i) {
    TrendPoint& point = *steps[i].point;
    point.p_holm = changes[i];
    point.p_equivalence_holm = equivalences[i];
    point.verdict = verdict_of(steps[i].low, steps[i].high, steps[i].margin, equivalences[i] <= alpha, changes[i] <= alpha);
  }
}

// A level, with what is known of the part that had it first.
TrendPoint point_of(const std::string& level, const SeriesPart& since, const std::string& factor) {
  TrendPoint point;
  point.level = level;
  point.since = since.name;
  point.sessions = since.sessions;
  if (!since.revisions || since.revisions->factor != factor) return point;
  const auto revision = since.revisions->of_level.find(level);
  if (revision == since.revisions->of_level.end()) return point;
  point.revision = revision->second;
  point.repository = since.revisions->repository;
  return point;
}

// What the parts of a series say of the levels of one factor.
struct Gathered {
  Levels levels;
  std::map<std::string, Material> lines;  // by workload; "": over all
  std::vector<std::string> workloads;     // in the order of the newest part, then of the others
};

// Which factor of a part the trend follows. kBadInput: why the part is left out.
Result<size_t> followed_factor(const Samples& samples, const Trend& trend) {
  const auto at = std::find_if(samples.factors.begin(), samples.factors.end(),
                               [&](const Factor& factor) { return factor.name == trend.factor; });
  if (at == samples.factors.end() || at->layout || at->levels.size() < 2)
    return bad_input("it does not compare levels of '" + trend.factor + "'");
  if (samples.responses[0].name != trend.response.name || samples.responses[0].scale != trend.response.scale)
    return bad_input("its first response is '" + samples.responses[0].name + "'");
  return static_cast<size_t>(at - samples.factors.begin());
}

Status gather(const SeriesPart& part, size_t session, Trend& trend, Gathered& out) {
  const auto leave_out = [&](const std::string& why) { trend.left_out.push_back(part.name + ": " + why); };
  const Result<size_t> factor = followed_factor(part.samples, trend);
  if (!factor) {
    leave_out(factor.error().message);
    return {};
  }
  const Samples primary = primary_of(part.samples);
  if (const Status sound = check_samples(primary); !sound) {
    leave_out(sound.error().message);
    return {};
  }
  const std::vector<std::string>& levels = part.samples.factors[*factor].levels;
  std::vector<size_t> arms;
  for (const std::string& level : levels) arms.push_back(out.levels.add(level, part));
  STAB_TRY(const auto found, found_in(primary, *factor));
  for (const auto& [workload, of] : found) {
    const std::vector<size_t> kept = comparable(of, levels.size());
    const std::string about = workload.empty() ? std::string() : workload + ", ";
    if (kept.size() < levels.size())
      leave_out(about + (of.refused.empty() ? "some levels can't be compared" : of.refused.begin()->second));
    if (kept.size() < 2) continue;
    Material& material = out.lines[workload];
    material.contrasts.push_back(contrasts_between(of, kept, arms));
    material.contrasts.back().session = session;
    material.has.resize(out.levels.names.size());
    for (const size_t level : kept) material.has[arms[level]] = true;
    material.margin = of.margin;
  }
  for (const std::string& workload : part.samples.workloads)
    if (std::find(out.workloads.begin(), out.workloads.end(), workload) == out.workloads.end()) out.workloads.push_back(workload);
  return {};
}

// The level that all others are told against: the one asked for, or the one that most parts have.
Result<size_t> anchor_of(const Levels& levels, const TrendRequest& request, const std::string& factor) {
  if (request.anchor.empty())
    return static_cast<size_t>(std::max_element(levels.parts.begin(), levels.parts.end()) - levels.parts.begin());
  const auto named = levels.at.find(request.anchor);
  if (named == levels.at.end()) return bad_input("no experiment of the series has '" + factor + " = " + request.anchor + "'");
  return named->second;
}

TrendLine line_of(const std::string& workload, const Material& material, const statistics::ArmNetwork& network,
                  const Levels& levels, const std::string& factor) {
  TrendLine line;
  line.workload = workload;
  line.margin = material.margin;
  line.q = network.q();
  line.q_df = network.q_df();
  line.q_df2 = network.q_df2();
  line.q_p = 1;
  if (line.q_df > 0)
    line.q_p = statistics::f_upper(line.q / static_cast<double>(line.q_df), static_cast<double>(line.q_df), network.q_df2());
  for (size_t level = 0; level < levels.names.size(); ++level) {
    if (!material.has[level]) continue;
    TrendPoint point = point_of(levels.names[level], *levels.since[level], factor);
    point.parts = static_cast<size_t>(std::count_if(
        material.contrasts.begin(), material.contrasts.end(),
        [&](const statistics::ArmContrasts& one) { return std::count(one.arms.begin(), one.arms.end(), level) > 0; }));
    line.points.push_back(std::move(point));
  }
  return line;
}

// A value for each session that has controls of it. They are ratios.
std::vector<statistics::SessionDifference> controls_of(const std::vector<TrendControl>& controls, const std::string& workload,
                                                       const Response& response) {
  std::map<int64_t, std::vector<statistics::SessionDifference>> sessions;
  if (response.scale == Scale::kLog)
    for (const TrendControl& one : controls)
      if (one.workload == workload && one.response == response.name) sessions[one.session].push_back(one.found);
  std::vector<statistics::SessionDifference> out;
  for (const auto& [session, found] : sessions) out.push_back(statistics::pooled(found));
  return out;
}

}  // namespace

Result<Trend> trend_of(const std::vector<SeriesPart>& parts, const TrendRequest& request) {
  if (parts.empty()) return bad_input("the series has no experiment that is over");
  const Samples& newest = parts.back().samples;
  Trend trend;
  STAB_TRY(trend.factor, factor_asked(newest, request.factor));
  trend.response = newest.responses[0];
  trend.alpha = newest.alpha;
  Gathered gathered;
  gathered.workloads = newest.workloads;
  const std::vector<size_t> sessions = session_numbers(parts);
  for (size_t i = 0; i < parts.size(); ++i) STAB_CHECK_OK(gather(parts[i], sessions[i], trend, gathered));
  if (gathered.lines.empty())
    return bad_input("no experiment of the series has anything to compare" +
                     (trend.left_out.empty() ? std::string() : "; " + trend.left_out.front()));
  const Levels& levels = gathered.levels;
  STAB_TRY(const size_t anchor, anchor_of(levels, request, trend.factor));
  trend.anchor = levels.names[anchor];
  gathered.workloads.insert(gathered.workloads.begin(), "");
  std::vector<statistics::ArmNetwork> networks;  // by line
  for (const std::string& workload : gathered.workloads) {
    const auto material = gathered.lines.find(workload);
    if (material == gathered.lines.end()) continue;
    material->second.has.resize(levels.names.size());
    STAB_TRY(statistics::ArmNetwork network, statistics::ArmNetwork::fit(levels.names.size(), material->second.contrasts));
    trend.lines.push_back(line_of(workload, material->second, network, levels, trend.factor));
    networks.push_back(std::move(network));
  }
  std::vector<FittedLine> fitted;
  for (size_t i = 0; i < trend.lines.size(); ++i) {
    fitted.push_back({&trend.lines[i], &networks[i], {}, {}});
    for (const TrendPoint& point : trend.lines[i].points) fitted.back().arms.push_back(levels.at.at(point.level));
    if (request.blocks_alone) continue;
    fitted.back().sessions = sessions_of(networks[i], controls_of(request.controls, trend.lines[i].workload, trend.response));
    trend.lines[i].sessions = fitted.back().sessions.known;
  }
  std::vector<Step> steps;
  for (const FittedLine& one : fitted) add_steps(one, levels, anchor, trend, steps);
  judge(steps, trend.alpha);
  find_changes(std::move(fitted), anchor, trend.alpha, trend.response.scale);
  return trend;
}

}  // namespace stab::report
