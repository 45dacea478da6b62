#include "stabctl/records/layout_maps.h"

#include "base/architecture.h"
#include "stabctl/records/database.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"
#include "stabd/host/installation.h"

namespace stab::ctl {

Result<engine::MappedExperiment> mapped_by(store::Store& store, store::Id experiment, const Arguments& arguments) {
  STAB_CHECK_OK(check_layouts());
  STAB_TRY(const std::string database, database_path(arguments));
  STAB_TRY(const host::Installation installation, host::find_installation());
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  return engine::map_of(store, experiment, engine::layout_tool(installation, row),
                        engine::Archive(engine::archive_beside(database)));
}

std::vector<std::string> layout_maps_of(store::Store& store, const store::ExperimentRow& experiment, const Arguments& arguments) {
  const auto expanded = engine::expand_stored(experiment);
  if (!expanded || (!expanded->plan.layout.map && !expanded->plan.layout.confirms)) return {};
  const auto mapped = mapped_by(store, experiment.id, arguments);
  return mapped ? engine::json_of_each(*mapped) : std::vector<std::string>();
}

}  // namespace stab::ctl
