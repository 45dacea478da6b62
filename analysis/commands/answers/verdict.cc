#include "analysis/commands/answers/verdict.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {
namespace {

struct Judgement {
  report::Worse answer = report::Worse::kUnsure;
  std::vector<const report::Contrast*> shown;  // the overall one first
};

Judgement judge(const report::Report& report, const std::string& factor) {
  Judgement result;
  const report::Response& primary = report.responses[0];
  const bool several = report.workloads.size() > 1;
  bool worse = false, not_worse = false;
  for (const report::Contrast& contrast : report.contrasts) {
    if (contrast.response != primary.name || contrast.factor != factor) continue;
    if (contrast.population == report::Population::kLikeThese) continue;
    const bool overall = contrast.workload.empty() || !several;
    const report::Worse answer = report::worse_by(primary, contrast, report.alpha, overall ? contrast.p_value : contrast.p_holm);
    worse |= answer == report::Worse::kYes;
    if (overall) not_worse = answer == report::Worse::kNo;
    result.shown.insert(overall ? result.shown.begin() : result.shown.end(), &contrast);
  }
  if (worse) result.answer = report::Worse::kYes;
  else if (not_worse) result.answer = report::Worse::kNo;
  return result;
}

CommandOutput say(const report::Report& report, const Judgement& comparison, const VerdictOptions& options,
                  const std::string& reason) {
  const char* words[] = {"not worse", "worse", "unsure"};
  const int codes[] = {0, 1, 3};
  const auto index = static_cast<size_t>(comparison.answer);
  CommandOutput output;
  output.exit_code = codes[index];
  if (options.json) {
    text::JsonWriter json;
    json.begin_object();
    json.value("format", "stab-verdict").value("version", 1).value("answer", words[index]).value("reason", reason);
    json.value("response", report.responses[0].name).value("margin", report.responses[0].margin);
    json.value("alpha", report.alpha).begin_array("contrasts");
    for (const report::Contrast* contrast : comparison.shown) {
      json.begin_object();
      json.value("workload", contrast->workload).value("level", contrast->level).value("baseline", contrast->baseline);
      if (!contrast->refused.empty()) {
        json.value("refused", contrast->refused).end();
        continue;
      }
      json.value("verdict", name(contrast->verdict)).value("estimate", contrast->interval.estimate);
      json.value("conf_low", contrast->interval.low).value("conf_high", contrast->interval.high);
      json.value("upper_bound", contrast->equivalence.high);
      json.value("p_value", contrast->p_value).value("p_holm", contrast->p_holm);
      json.value("settles_n", contrast->settles_n).end();
    }
    json.end().end();
    output.out = json.take();
    return output;
  }
  using Align = text::TextTable::Align;
  const report::Response& primary = report.responses[0];
  text::TextTable table({{report.workload_word, Align::kLeft}, {"B / A", Align::kLeft}, {"difference", Align::kRight},
                   {"interval", Align::kLeft}, {"p", Align::kRight}, {"p (Holm)", Align::kRight}});
  std::string refusals;
  for (const report::Contrast* contrast : comparison.shown) {
    const std::string where = contrast->workload.empty() ? "these " + report.workload_word + "s" : contrast->workload;
    if (!contrast->refused.empty()) {
      table.add({where, contrast->level + " / " + contrast->baseline, "-", "refused"});
      refusals += text::wrap(where + ": " + contrast->refused, options.width, "  ", "    ");
      continue;
    }
    table.add({where, contrast->level + " / " + contrast->baseline,
               report::difference_text(primary, contrast->interval.estimate), report::interval_text(primary, contrast->interval),
               text::p_text(contrast->p_value), text::p_text(contrast->p_holm)});
  }
  output.out = std::string("answer: ") + words[index] + (reason.empty() ? "" : " (" + reason + ")") + "\n" +
               table.text(options.width) + refusals;
  return output;
}

// The same experiment with A as the only baseline and B as the only other level of the factor.
Result<report::Samples> restricted(const report::Samples& samples, const VerdictOptions& options, size_t* factor_index) {
  std::vector<std::string> names;
  for (const report::Factor& factor : samples.factors) names.push_back(factor.name);
  const auto found = std::find(names.begin(), names.end(), options.factor);
  if (found == names.end()) return bad_input("no factor '" + options.factor + "' in this experiment");
  *factor_index = static_cast<size_t>(found - names.begin());
  report::Samples out = samples;
  report::Factor& factor = out.factors[*factor_index];
  const auto level = [&](const std::string& wanted) -> Result<uint16_t> {
    const auto at = std::find(factor.levels.begin(), factor.levels.end(), wanted);
    if (at == factor.levels.end()) return bad_input("factor '" + factor.name + "' has no level '" + wanted + "'");
    return static_cast<uint16_t>(at - factor.levels.begin());
  };
  STAB_TRY(const uint16_t a, level(options.level_a));
  STAB_TRY(const uint16_t b, level(options.level_b));
  if (a == b) return bad_input("comparing '" + options.level_a + "' with itself");
  std::erase_if(out.trials, [&](const report::Trial& trial) {
    return trial.levels[*factor_index] != a && trial.levels[*factor_index] != b;
  });
  for (report::Trial& trial : out.trials) trial.levels[*factor_index] = trial.levels[*factor_index] == b;
  factor.levels = {options.level_a, options.level_b};
  factor.baseline = 0;
  return out;
}

}  // namespace

CommandOutput run_verdict(const report::Samples& samples, const VerdictOptions& options) {
  size_t factor = 0;
  const Result<report::Samples> two = restricted(samples, options, &factor);
  if (!two) return refused(two.error());
  const Result<report::Report> report = report::analyse(*two);
  if (!report) return refused(report.error());
  const Judgement comparison = judge(*report, options.factor);
  std::string reason;
  if (samples.incomplete && !report::may_be_judged(samples)) reason = "the experiment is not finished";
  return say(*report, comparison, options, reason);
}

CommandOutput run_verdict(const report::Samples& a, const report::Samples& b, const VerdictOptions& options) {
  // One experiment with a treatment "experiment"; workloads, factors and responses must be the same.
  const auto same_factors = [&] {
    if (a.factors.size() != b.factors.size()) return false;
    for (size_t f = 0; f < a.factors.size(); ++f)
      if (a.factors[f].name != b.factors[f].name || a.factors[f].levels != b.factors[f].levels) return false;
    return true;
  };
  if (!same_factors() || a.workloads != b.workloads || a.responses.empty() || b.responses.empty() ||
      a.responses[0].name != b.responses[0].name)
    return refused(bad_input("the experiments differ in " + a.workload_word +
                             "s, factors or response, so their cells don't pair up; compare levels within one experiment"));
  if (a.is_sliced != b.is_sliced)
    return refused(bad_input("one of the experiments ran its blocks in slices and the other did not, so a trial costs something "
                             "else in each; compare levels within one experiment"));
  report::Samples both = a;
  both.stopping = {};
  both.responses.resize(1);
  both.factors.push_back({"experiment", {"A: " + a.experiment, "B: " + b.experiment}, false, 0});
  for (report::Trial& trial : both.trials) {
    trial.levels.push_back(0);
    trial.values.resize(1);
  }
  // Numbers of layouts are an experiment's own: its seed draws links and blocks, and the other's third link is another one.
  constexpr uint64_t kOfTheOther = uint64_t{1} << 63;
  for (report::Trial trial : b.trials) {
    trial.levels.push_back(1);
    trial.layout |= kOfTheOther;
    trial.values.resize(1);
    both.trials.push_back(std::move(trial));
  }
  // Of each the blocks that answer it: whose numbers ran alone in one ran in slices in the other.
  std::erase_if(both.trials, [](const report::Trial& trial) { return trial.ran_alone; });
  const Result<report::Report> report = report::analyse(both);
  if (!report) return refused(report.error());
  Judgement comparison = judge(*report, "experiment");
  comparison.answer = report::Worse::kUnsure;
  return say(*report, comparison, options,
             "two experiments differ in the night as well as in the build; interleave both in one plan");
}

}  // namespace stab::commands
