// The database a command works on, and the experiment in it that the user means.
#pragma once

#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// --db, or the user's own.
Result<std::string> database_path(const Arguments& arguments);
// Whether the folder that --db names is there. None is made: a path that was mistyped would become a database of its own.
Status check_database_folder(const Arguments& arguments);
// " --db FILE" as a shell reads it, for commands that a person is told to type next; empty where --db isn't given.
std::string database_option(const Arguments& arguments);
Result<store::Store> open_for_reading(const Arguments& arguments);
Result<store::Store> open_for_writing(const Arguments& arguments);
// For what works on experiments that are there already: where the file isn't there none is made.
Status must_have_database(const Arguments& arguments);
Result<store::Store> open_for_changes(const Arguments& arguments);
// What a database without any experiment is answered with.
Error no_experiment_yet();
// By number, name or "user/name" (stabd/engine/build/naming.h); the newest where the word is empty.
Result<store::ExperimentRow> chosen_experiment(store::Store& store, const std::string& word);

// The same for commands that only read: the database and the experiment.
struct StoredExperiment {
  store::Store store;
  store::ExperimentRow row;
};
Result<StoredExperiment> open_experiment(const Arguments& arguments, const std::string& word);

}  // namespace stab::ctl
