// Commands that name no database mean the user's own (stabd/engine/separation/places.h).
#include "stabctl/records/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/shell_word.h"
#include "base/wording.h"
#include "stabd/engine/build/naming.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {

Result<std::string> database_path(const Arguments& arguments) {
  return arguments.database.empty() ? engine::default_database() : Result<std::string>(arguments.database);
}

Status check_database_folder(const Arguments& arguments) {
  const std::string folder = std::filesystem::path(arguments.database).parent_path().string();
  struct stat status;
  if (folder.empty() || ::stat(folder.c_str(), &status) == 0 || errno != ENOENT) return {};
  return Error{ErrorCode::kNotFound,
               "--db: there is no folder " + in_quotes(folder) + "; correct the path, or: mkdir -p " + shell_word(folder),
               {}};
}

std::string database_option(const Arguments& arguments) {
  return arguments.database.empty() ? "" : " --db " + shell_word(arguments.database);
}

Result<store::Store> open_for_reading(const Arguments& arguments) {
  STAB_TRY(const std::string path, database_path(arguments));
  Result<store::Store> store = store::Store::open(path, store::Store::Access::kRead);
  if (store || store.error().code != ErrorCode::kNotFound) return store;
  Error error = store.error();
  error.message += "; 'stabctl run PLAN' makes one, or name yours with --db";
  return error;
}

Result<store::Store> open_for_writing(const Arguments& arguments) {
  STAB_TRY(const std::string path, database_path(arguments));
  return store::Store::open(path, store::Store::Access::kWrite);
}

Status must_have_database(const Arguments& arguments) {
  STAB_TRY(const std::string path, database_path(arguments));
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 || errno != ENOENT) return {};
  return Error{ErrorCode::kNotFound, "there is no database '" + path + "'; --db names the one that 'stabctl run' wrote", {}};
}

Result<store::Store> open_for_changes(const Arguments& arguments) {
  STAB_CHECK_OK(must_have_database(arguments));
  return open_for_writing(arguments);
}

Error no_experiment_yet() { return {ErrorCode::kNotFound, "no experiment yet; 'stabctl run PLAN' makes one", {}}; }

// Whoever may read the file may read all of it, so others' experiments are found, too, where nothing of one's own is meant:
// a colleague's bundle has one that is not ours.
Result<store::ExperimentRow> chosen_experiment(store::Store& store, const std::string& word) {
  const auto own = engine::experiment_named(store, word, {static_cast<int64_t>(::geteuid()), true});
  if (own) return store.experiment(own->id);
  if (own.error().code != ErrorCode::kNotFound) return own.error();
  if (word.empty()) {
    STAB_TRY(const auto all, store.summaries());
    if (all.empty()) return no_experiment_yet();
    return store.experiment(all.back().id);
  }
  STAB_TRY(const std::vector<int64_t> users, store.users_of_name(word));
  if (users.empty() || word.find_first_not_of("0123456789") == std::string::npos) {
    Error none = own.error();
    if (none.message.find("did you mean") == std::string::npos) none.message += "; 'stabctl list' shows those that there are";
    return none;
  }
  if (users.size() > 1)
    return bad_input("experiments of several users are called '" + word + "'; write USER/" + word + ", such as " +
                     std::to_string(users[0]) + "/" + word);
  STAB_TRY(const auto found, store.newest_named(word, users[0]));
  if (!found) return own.error();
  return store.experiment(found->id);
}

Result<StoredExperiment> open_experiment(const Arguments& arguments, const std::string& word) {
  STAB_TRY(store::Store store, open_for_reading(arguments));
  STAB_TRY(store::ExperimentRow row, chosen_experiment(store, word));
  return StoredExperiment{std::move(store), std::move(row)};
}

}  // namespace stab::ctl
