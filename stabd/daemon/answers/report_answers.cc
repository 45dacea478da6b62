#include "stabd/daemon/answers/report_answers.h"

#include <nlohmann/json.hpp>

#include <vector>

#include "analysis/commands/answers/render.h"
#include "analysis/commands/selftest/causal_report.h"
#include "analysis/page/page.h"
#include "base/json_line.h"
#include "base/printable.h"
#include "stabd/daemon/answers/series_answers.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/evidence.h"
#include "stabd/engine/results/load_causal.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::daemon {
namespace {

std::string printed(const std::string& out, const std::string& err, int exit_code) {
  using Json = nlohmann::json;
  const Json json = {{"out", out}, {"err", err}, {"exit_code", exit_code}};
  return json_line(json);
}

}  // namespace

Result<std::string> report_answer(store::Store& store, const store::ExperimentRow& row, const RpcRequest& request) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
  STAB_TRY(const report::Samples samples, engine::load_samples(store, row, expanded));
  commands::ReportOptions options;
  options.format = request.number("json").value_or(0) != 0   ? commands::ReportFormat::kJson
                   : request.number("full").value_or(0) != 0 ? commands::ReportFormat::kTerminal
                                                             : commands::ReportFormat::kFirstScreen;
  // How the reader came here, for the commands that the first screen names.
  options.where = {row.id, printable(request.text("options")), printable(request.text("page"))};
  options.width = width_asked(request);
  std::vector<std::string> without;
  STAB_TRY(const std::vector<causal_report::CausalData> profiles, engine::load_causal(store, row, expanded, &without));
  commands::CommandOutput output = profiles.empty() ? commands::run_report(samples, options)
                                                    : commands::run_causal_report(profiles, options);
  // Its trials as any others are behind --full: windows have changed their times.
  if (!profiles.empty() && output.exit_code == 0 && options.format == commands::ReportFormat::kTerminal) {
    const commands::CommandOutput trials = commands::run_report(samples, options);
    output.out += "\n" + trials.out;
    output.err += trials.err;
    output.exit_code = trials.exit_code;
  }
  if (!without.empty()) output.err += printable(engine::words_without_windows(row, without)) + "\n";
  return printed(output.out, output.err, output.exit_code);
}

Result<std::string> page_answer(store::Store& store, const store::ExperimentRow& row) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
  STAB_TRY(const report::Samples samples, engine::load_samples(store, row, expanded));
  STAB_TRY(const report::Evidence evidence, engine::load_evidence(store, row, expanded, samples));
  STAB_TRY(const std::vector<causal_report::CausalData> profiles, engine::load_causal(store, row, expanded));
  STAB_TRY(const std::string page, page::render_page(samples, evidence, profiles));
  return printed(page, "", 0);
}

}  // namespace stab::daemon
