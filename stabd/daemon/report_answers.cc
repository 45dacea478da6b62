#include "stabd/daemon/report_answers.h"

#include <nlohmann/json.hpp>

#include <vector>

#include "analysis/commands/causal_report.h"
#include "analysis/commands/method_commands.h"
#include "analysis/page/page.h"
#include "base/json_line.h"
#include "stabd/daemon/series_answers.h"
#include "stabd/engine/experiment/expand.h"
#include "stabd/engine/results/evidence.h"
#include "stabd/engine/results/load_causal.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/results/printable.h"

namespace stab::engine {
namespace {

std::string printed(const std::string& out, const std::string& err, int exit_code) {
  using Json = nlohmann::json;
  const Json json = {{"out", out}, {"err", err}, {"exit_code", exit_code}};
  return json_line(json);
}

}  // namespace

Result<std::string> report_answer(store::Store& store, const store::ExperimentRow& row, const RpcRequest& request) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const analysis::Samples samples, load_samples(store, row, expanded));
  analysis::ReportOptions options;
  options.format = request.number("json").value_or(0) != 0   ? analysis::ReportFormat::kJson
                   : request.number("full").value_or(0) != 0 ? analysis::ReportFormat::kTerminal
                                                             : analysis::ReportFormat::kFirstScreen;
  // How the reader came here, for the commands that the first screen names.
  options.where = {row.id, printable(request.text("options")), printable(request.text("page"))};
  options.width = width_asked(request);
  std::vector<std::string> without;
  STAB_TRY(const std::vector<analysis::CausalData> profiles, load_causal(store, row, expanded, &without));
  analysis::CommandOutput output = profiles.empty() ? analysis::run_report(samples, options)
                                                    : analysis::run_causal_report(profiles, options);
  // Its trials as any others are behind --full: windows have changed their times.
  if (!profiles.empty() && output.exit_code == 0 && options.format == analysis::ReportFormat::kTerminal) {
    const analysis::CommandOutput trials = analysis::run_report(samples, options);
    output.out += "\n" + trials.out;
    output.err += trials.err;
    output.exit_code = trials.exit_code;
  }
  if (!without.empty()) output.err += printable(words_without_windows(row, without)) + "\n";
  return printed(output.out, output.err, output.exit_code);
}

Result<std::string> page_answer(store::Store& store, const store::ExperimentRow& row) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const analysis::Samples samples, load_samples(store, row, expanded));
  STAB_TRY(const analysis::Evidence evidence, load_evidence(store, row, expanded, samples));
  STAB_TRY(const std::vector<analysis::CausalData> profiles, load_causal(store, row, expanded));
  STAB_TRY(const std::string page, analysis::render_page(samples, evidence, profiles));
  return printed(page, "", 0);
}

}  // namespace stab::engine
