#include "analysis/page/page.h"

#include "analysis/causal_report/causal.h"
#include "analysis/page/causal_windows.h"
#include "analysis/page/computed_parts.h"
#include "analysis/page/evidence_json.h"
#include "analysis/page/figure_data.h"
#include "analysis/page/page_parts.h"
#include "analysis/page/sample_columns.h"
#include "analysis/report/rendering/export.h"
#include "analysis/report/report_data/report.h"
#include "analysis/text/markup.h"
#include "analysis/text/valid_text.h"

namespace stab::page {

namespace {

// Texts as the page will hold them: what is computed from the page again then meets the same ones.
report::Samples with_valid_text(report::Samples samples) {
  const auto clean = [](std::string& text) { text = text::valid_text(text); };
  const auto clean_all = [&](std::vector<std::string>& texts) {
    for (std::string& text : texts) clean(text);
  };
  clean(samples.experiment), clean(samples.workload_word), clean(samples.program_word);
  clean_all(samples.workloads), clean_all(samples.programs);
  clean_all(samples.early_looks), clean_all(samples.layout_outputs), clean_all(samples.repeated_cells);
  for (report::Factor& factor : samples.factors) clean(factor.name), clean_all(factor.levels);
  for (report::Response& response : samples.responses) clean(response.name), clean(response.unit);
  clean_all(samples.machines), clean_all(samples.machine_differences), clean_all(samples.lost_machines);
  clean_all(samples.simulated);
  clean_all(samples.environment_facts);
  for (report::Environment& environment : samples.environments) clean_all(environment.values);
  for (report::Unavailable& missing : samples.unavailable) clean(missing.what), clean(missing.cure);
  for (report::Trial& trial : samples.trials) {
    clean(trial.excluded);
    if (trial.dose) clean_all(trial.dose->degradations);
  }
  return samples;
}

void clean_texts(causal_report::CausalData& data) {
  const auto clean = [](std::string& text) { text = text::valid_text(text); };
  clean(data.experiment), clean(data.program);
  for (std::string& factor : data.factors) clean(factor);
  for (causal_report::CausalPoint& point : data.points) clean(point.name);
  for (causal_report::CausalLine& line : data.lines) clean(line.name), clean(line.file), clean(line.function);
  for (causal_report::CausalCell& cell : data.cells)
    for (std::string& level : cell.levels) clean(level);
  for (causal_report::CausalTrial& trial : data.trials) clean(trial.excluded);
}

}  // namespace

Result<ComputedParts> computed_parts(const report::Samples& samples, const report::Evidence& evidence,
                                     std::span<const causal_report::CausalData> profiles) {
  STAB_TRY(const report::Report report, report::analyse(samples));
  report::UnitsByResponse units(samples.responses.size());
  for (size_t r = 0; r < samples.responses.size(); ++r)
    for (uint32_t w = 0; w < samples.workloads.size(); ++w) units[r].push_back(report::units_of(samples, w, r));
  STAB_TRY(std::string causal, causal_json(profiles));
  ComputedParts parts{
      report::to_json(report), figures_json(samples, units, report), report::render_terminal(report), report::export_r(report),
      std::move(causal),       columns_of(samples, units, evidence)};
  for (const causal_report::CausalData& profile : profiles) {
    STAB_TRY(const causal_report::CausalReport found, causal_report::analyse_causal(profile, 0));
    parts.plain += "\n" + causal_report::render_causal_text(found, 100, false);
  }
  return parts;
}

Result<std::string> render_page(const report::Samples& as_given, const report::Evidence& evidence,
                                std::span<const causal_report::CausalData> profiles_as_given) {
  const report::Samples samples = with_valid_text(as_given);
  std::vector<causal_report::CausalData> profiles(profiles_as_given.begin(), profiles_as_given.end());
  for (causal_report::CausalData& profile : profiles) clean_texts(profile);
  STAB_TRY(const ComputedParts computed, computed_parts(samples, evidence, profiles));
  PageParts parts;
  parts.title = text::as_markup(samples.experiment);
  parts.plain = text::as_markup(computed.plain);
  parts.report = json_for_page(computed.report);
  parts.figures = json_for_page(computed.figures);
  parts.samples = json_for_page(samples_json(samples, computed.columns));
  parts.evidence = json_for_page(text::valid_text(evidence_json(evidence, computed.r_script)));
  parts.causal = json_for_page(computed.causal);
  parts.trials = computed.columns.packed();
  return assemble(parts);
}

}  // namespace stab::page
