// The trial's excess is one number, measured once: what of it its layout explains is what the comparison says, and what lies
// outside of that comparison's interval is no layout's. Whether the layout differs at all is the contrast's own verdict, so "this
// layout is slow" is said as rarely in vain as any "changed" of a report. What was found extreme among many trials is measured
// anew: the trial itself is in neither cell.
#include "analysis/report/report_data/replayed_trial.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"

namespace stab::report {
namespace {

constexpr std::string_view kCauses[] = {"layout", "both", "moment", "neither", "unsure", "withheld"};

std::string without_sign(std::string size) {
  if (size.starts_with("+") || size.starts_with("-")) size.erase(0, 1);
  return size;
}

// "8.2 % slower"
std::string size_text(const Response& response, double difference) {
  return without_sign(difference_text(response, difference)) + " " + change_word(response, difference);
}

std::string p_words(double p) { return p < 0.0001 ? "p < 0.0001" : "p = " + plain(p); }

// Whether it is as far from no difference as would matter.
bool matters(const Contrast& contrast, double difference) {
  const double size = std::fabs(on_scale(contrast.scale, difference));
  const double margin = contrast.scale == Scale::kLog ? std::log1p(contrast.margin) : contrast.margin;
  return size > margin;
}

Cause cause_of(const Contrast& contrast, const std::optional<double>& excess) {
  if (!contrast.refused.empty() || contrast.verdict == Verdict::kWithheld) return Cause::kWithheld;
  const bool is_outside = excess && (*excess < contrast.interval.low || *excess > contrast.interval.high);
  const bool is_odd = excess && matters(contrast, *excess);
  if (contrast.verdict == Verdict::kChanged) {
    const double none = contrast.scale == Scale::kLog ? 1 : 0;
    const bool up = contrast.interval.estimate > none;
    if (!is_outside) return Cause::kLayout;
    if ((*excess > none) != up) return is_odd ? Cause::kMoment : Cause::kLayout;
    return up == (*excess > contrast.interval.high) ? Cause::kBoth : Cause::kLayout;
  }
  if (is_outside && is_odd) return Cause::kMoment;
  return contrast.verdict == Verdict::kEquivalent && excess && !is_odd ? Cause::kNeither : Cause::kUnsure;
}

// What the comparison says of the layout, whatever the trial was.
std::string of_layout(const Report& report, const Response& response, const Contrast& contrast, const ReplayAnswer& answer) {
  const auto level = [](double alpha) { return plain(100 * (1 - alpha)) + " % interval "; };
  const std::string fresh = contrast.by_link ? "the recorded links of its cell" : "fresh layouts of its cell";
  const std::string counts = "; " + plural(answer.runs, "run") + " of it and " + std::to_string(answer.fresh) +
                             (contrast.by_link ? " in those links" : " in fresh layouts");
  switch (contrast.verdict) {
    case Verdict::kChanged:
      return (answer.cause == Cause::kMoment ? "its layout is " : "") + size_text(response, contrast.interval.estimate) +
             " than " + fresh + ", " + level(report.alpha) + interval_text(response, contrast.interval) + ", " +
             p_words(contrast.p_value) + counts;
    case Verdict::kEquivalent:
      return "its layout is as " + fresh + " are, within the margin, " + level(2 * report.alpha) +
             interval_text(response, contrast.equivalence) + counts;
    default:
      return "its layout differs by " + difference_text(response, contrast.interval.estimate) + " from " + fresh + ", " +
             level(report.alpha) + interval_text(response, contrast.interval) + ", " + p_words(contrast.p_value) +
             ", which may be nothing" + counts;
  }
}

std::string head(Cause cause, const std::string& word) {
  switch (cause) {
    case Cause::kLayout: return "This layout is " + word;
    case Cause::kBoth: return "This layout is " + word + ", and its moment was, too";
    case Cause::kMoment: return "It was the moment, not the layout";
    case Cause::kNeither: return "Neither its layout nor its moment stands out";
    case Cause::kUnsure: return "Unsure whether it was the layout or the moment";
    case Cause::kWithheld: return "Not judged yet";
  }
  return {};
}

// "slow" of "slower", as people say it of one thing.
std::string one_word(const std::string& comparative) {
  for (const auto& [from, to] : {std::pair{"slower", "slow"}, {"faster", "fast"}, {"higher", "high"}, {"lower", "low"}})
    if (comparative == from) return to;
  return comparative;
}

std::string of_trial(const Response& response, const ReplayAnswer& answer) {
  const std::string trial = "Trial " + std::to_string(answer.trial) + " of " + answer.experiment;
  if (!answer.excess) return trial + " was the only one of its cell, so what it differed by is not known";
  std::string out = trial + " was " + size_text(response, *answer.excess) + " than the others of its cell";
  switch (answer.cause) {
    case Cause::kLayout: return out + ": no more than its layout explains";
    case Cause::kBoth: return out + ": more than its layout explains, and the rest was what that one run met";
    case Cause::kMoment: return out + ": that is not its layout's, but what that one run met";
    case Cause::kNeither: return out + ": less than what matters";
    default: return out;
  }
}

}  // namespace

std::string_view name(Cause cause) { return kCauses[static_cast<size_t>(cause)]; }

std::string replay_title(const ReplayAnswer& answer) {
  return "Trial " + std::to_string(answer.trial) + ": a bad layout or a bad moment?";
}

std::optional<ReplayAnswer> replay_answer(const Samples& samples, const std::vector<WorkloadUnits>& units, const Report& report) {
  if (!samples.replayed) return {};
  const ReplayedTrial& replayed = *samples.replayed;
  const Factor& factor = samples.factors[replayed.factor];
  const Response& response = samples.responses[0];
  ReplayAnswer answer;
  answer.trial = replayed.trial;
  answer.experiment = replayed.experiment;
  answer.factor = factor.name;
  answer.level = factor.levels.back();
  if (replayed.excess) {
    const double excess = to_people(response.scale, *replayed.excess);
    if (std::isfinite(excess)) answer.excess = excess;  // a page or a plan may say any logarithm
  }
  const auto contrast = std::find_if(report.contrasts.begin(), report.contrasts.end(), [&](const Contrast& one) {
    return one.response == response.name && one.factor == factor.name && one.population == Population::kOneWorkload;
  });
  if (contrast == report.contrasts.end() || units.empty()) {
    answer.sentences = {head(answer.cause, "") + ": there are no trials of both sides"};
    return answer;
  }
  const CellUnits *own = nullptr, *fresh = nullptr;
  for (const CellUnits& cell : units[0].cells) (cell.levels[replayed.factor] == factor.baseline ? fresh : own) = &cell;
  if (own != nullptr) answer.runs = own->values.size();
  if (fresh != nullptr) answer.fresh = fresh->values.size();
  if (own != nullptr && fresh != nullptr)
    answer.below = static_cast<uint64_t>(
        std::count_if(fresh->values.begin(), fresh->values.end(), [&](double value) { return value < own->moments.mean; }));
  answer.cause = cause_of(*contrast, answer.excess);
  if (answer.cause == Cause::kWithheld) {
    answer.sentences = {head(answer.cause, "") + ": " +
                        (contrast->refused.empty() ? "trials are still to come" : contrast->refused)};
    return answer;
  }
  const std::string word = one_word(change_word(response, contrast->interval.estimate));
  std::string first = head(answer.cause, word) + ": " + of_layout(report, response, *contrast, answer);
  // More of the links that there are would not be more of them.
  if (answer.cause == Cause::kUnsure && contrast->settles_n && !contrast->by_link)
    first += "; " + settling_text(report, *contrast, "runs of each");
  answer.sentences = {std::move(first), of_trial(response, answer)};
  if (answer.fresh > 0)
    answer.sentences.push_back("The mean of its runs lies above " + std::to_string(answer.below) + " of " +
                               std::to_string(answer.fresh) +
                               (contrast->by_link ? " links' means" : " single runs in fresh layouts"));
  return answer;
}

}  // namespace stab::report
