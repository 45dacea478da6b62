// bundle: an experiment as one file (a store of its own) for a colleague or an archive, and such a file taken in.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/terminal/temporary_folder.h"

namespace stab::ctl {
namespace {

// All experiments of the file; a bundle has one. The file and its folder may be a stranger's, so it is read once, for reading
// alone, into a place of ours, as of this version; what is taken in is that copy.
Result<std::vector<store::Id>> take_in(const Arguments& arguments) {
  const std::string& path = arguments.import;
  std::vector<store::Id> taken;
  std::vector<store::ExperimentRow> rows;
  STAB_TRY(const TemporaryFolder folder, TemporaryFolder::make(TemporaryPurpose::kImport));
  const std::string copy = folder.path() + "/bundle";
  {
    STAB_TRY(store::Store bundle, store::Store::open(path, store::Store::Access::kRead));
    STAB_TRY(rows, bundle.experiments());
    STAB_CHECK_OK(bundle.backup(copy));
  }
  if (rows.empty()) return Error{ErrorCode::kNotFound, "there is no experiment in '" + path + "'", {}};
  STAB_TRY(const std::string database, database_path(arguments));
  if (std::error_code absent; std::filesystem::equivalent(path, database, absent))
    return bad_input("'" + path + "' is the database itself, which has its experiments; name a bundle of another");
  // From here on there is something to take in, and a database is made for it.
  STAB_TRY(store::Store store, open_for_writing(arguments));
  for (const store::ExperimentRow& row : rows) {
    STAB_TRY(const store::Id id,
             store.import_experiment(copy, row.id, store::Store::Importer{::geteuid(), ::getegid()}));
    STAB_CHECK_OK(store.log({SystemClock().realtime().count(), id, "imported", "from '" + path + "'"}));
    taken.push_back(id);
  }
  return taken;
}

}  // namespace

int bundle_command(const Arguments& arguments) {
  const bool exports = !arguments.experiment.empty() && !arguments.path.empty();
  if (exports == !arguments.import.empty() || (!exports && !arguments.experiment.empty())) {
    std::fputs("stabctl: 'bundle EXPERIMENT FILE' makes a bundle, 'bundle --import FILE' takes one in\n", stderr);
    return kExitUsage;
  }
  if (exports && !arguments.socket.empty()) return daemon_bundle_command(arguments);
  if (exports) {
    auto stored = open_experiment(arguments, arguments.experiment);
    if (!stored) return complain(stored.error());
    const Status made = stored->store.bundle(stored->row.id, arguments.path);
    return made.ok() ? kExitDone : complain(made.error());
  }
  const auto taken = take_in(arguments);
  if (!taken) return complain(taken.error());
  for (const store::Id id : *taken) std::printf("%lld\n", static_cast<long long>(id));
  return kExitDone;
}

}  // namespace stab::ctl
