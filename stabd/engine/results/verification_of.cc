// A verification is an experiment as any other; only its plan is written here, and its numbers are read by their own analysis.
#include "stabd/engine/results/verification_of.h"

#include <algorithm>
#include <optional>

#include "analysis/layout_report/layout_verification.h"
#include "base/printable.h"
#include "plan/verification_plan.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {
namespace {

Result<layout_report::LayoutVerificationReport> report_of(store::Store& store, store::Id experiment) {
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const report::Samples samples, load_samples(store, row));
  return layout_report::verify_layouts(samples, plan::kArmFactor);
}

}  // namespace

Result<std::string> verification_plan(const plan::Plan& plan, const std::string& name, const VerificationRequest& request) {
  if (plan.layout.verification || plan.layout.confirms)
    return bad_input("experiment '" + name + "' is itself written by the engine; verify by the plan that it came from");
  const std::vector<plan::Subject> subjects = plan::subjects(plan);
  plan::LayoutVerification verification;
  verification.of = name;
  verification.links = request.links;
  verification.runs = request.runs;
  verification.draw = request.draw;
  verification.simulate = request.simulate;
  const advice::LayoutFile& first = request.files.front().second;
  verification.workload = first.workload;
  if (verification.workload.empty() && subjects.size() == 1) verification.workload = subjects[0].name;
  if (verification.workload.empty())
    return bad_input("the layout file names no workload, and the plan has several; write 'workload NAME' into it");
  for (const auto& [arm, file] : request.files) {
    if (file.workload != first.workload || file.program != first.program)
      return bad_input("'" + arm + "' is of " + file.program + ", workload '" + file.workload + "', and the first file of " +
                       first.program + ", workload '" + first.workload + "': verify them one by one");
    verification.arms.push_back({arm, advice::text_of(file)});
  }
  return plan::verification_text(plan, name, verification);
}

Result<store::ExperimentRow> experiment_of(store::Store& store, const advice::LayoutFile& file, const std::string& path,
                                           int64_t asker) {
  if (file.experiment.empty())
    return bad_input("'" + path +
                     "' names no experiment, so it is unknown how its program is built; write 'experiment NAME' into it");
  STAB_TRY(std::vector<int64_t> users, store.users_of_name(file.experiment));
  if (std::find(users.begin(), users.end(), asker) != users.end()) users = {asker};
  if (users.size() > 1)
    return bad_input("'" + path + "' comes from experiment '" + file.experiment + "', and those of several users are " +
                     "called so; name its plan by --plan");
  if (users.size() == 1) {
    STAB_TRY(const auto newest, store.newest_named(file.experiment, users[0]));
    if (newest) return store.experiment(newest->id);
  }
  return Error{ErrorCode::kNotFound,
               "'" + path + "' comes from experiment '" + file.experiment + "', which is not in this database; name one by --db",
               {}};
}

Result<std::string> verified_text(store::Store& store, store::Id experiment, int width) {
  STAB_TRY(const layout_report::LayoutVerificationReport report, report_of(store, experiment));
  return printable(layout_report::render_verification_text(report, width));
}

Result<std::string> verified_json(store::Store& store, store::Id experiment) {
  STAB_TRY(const layout_report::LayoutVerificationReport report, report_of(store, experiment));
  return layout_report::render_verification_json(report);
}

bool is_verification(const store::ExperimentRow& row) {
  const auto expanded = expand_stored(row);
  return expanded && expanded->plan.layout.verification;
}

}  // namespace stab::engine
