#include "stabctl/records/recorded_trial.h"

#include <utility>

#include "base/architecture.h"
#include "stabctl/records/database.h"
#include "stabd/host/installation.h"

namespace stab::ctl {

Result<RecordedTrial> recorded_trial(const Arguments& arguments) {
  STAB_CHECK_OK(check_layouts());
  STAB_TRY(store::Store store, open_for_reading(arguments));
  STAB_TRY(const std::string database, database_path(arguments));
  STAB_TRY(const host::Installation installation, host::find_installation());
  STAB_TRY(const store::TrialRow trial, store.trial(arguments.trial));
  STAB_TRY(const store::ExperimentRow experiment, store.experiment(trial.experiment));
  return RecordedTrial{std::move(store), engine::layout_tool(installation, experiment),
                       engine::Archive(engine::archive_beside(database))};
}

}  // namespace stab::ctl
