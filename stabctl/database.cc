// Commands that name no database mean the user's own (stabd/places.h).
#include "stabctl/database.h"

#include "stabd/places.h"

namespace stab::ctl {
namespace {

Result<std::string> path_of(const Arguments& arguments) {
  return arguments.database.empty() ? engine::default_database() : Result<std::string>(arguments.database);
}

}  // namespace

Result<store::Store> open_for_reading(const Arguments& arguments) {
  STAB_TRY(const std::string path, path_of(arguments));
  return store::Store::open(path, store::Store::Access::kRead);
}

Result<store::Store> open_for_writing(const Arguments& arguments) {
  STAB_TRY(const std::string path, path_of(arguments));
  return store::Store::open(path, store::Store::Access::kWrite);
}

Result<store::ExperimentRow> chosen_experiment(store::Store& store, const std::string& name_or_id) {
  if (!name_or_id.empty()) return store.find_experiment(name_or_id);
  STAB_TRY(const auto all, store.experiments());
  if (all.empty()) return Error{ErrorCode::kNotFound, "no experiment yet; 'stabctl run PLAN' makes one", {}};
  const store::ExperimentRow* newest = &all.front();
  for (const store::ExperimentRow& row : all)
    if (row.id > newest->id) newest = &row;
  return *newest;
}

}  // namespace stab::ctl
