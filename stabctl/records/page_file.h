// The report page of one experiment, in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stabctl/command_line/arguments.h"
#include "store/store.h"

namespace stab::ctl {

// Where `run` and `resume` put it unless told: reports/DATABASE/NAME-NUMBER.html beside the database, whose file name is the
// folder's. Makes the folder.
Result<std::string> page_to_write(const Arguments& arguments, const store::ExperimentRow& experiment);
// The same of an experiment of the daemon at that socket, beside the user's own database: reports/SOCKET/NAME-NUMBER.html, with
// the socket's slashes as %2F. `experiment` has the daemon's number.
Result<std::string> daemons_page_to_write(const Arguments& arguments, const std::string& socket,
                                          const store::ExperimentRow& experiment);

// That file, if it is there and no older than the experiment's end; else empty, as for one that goes on.
std::string written_page(const Arguments& arguments, const store::ExperimentRow& experiment);

// "page: PATH" on stderr, for whoever doesn't see it: no screen of the terminal has just said it.
void say_page(const Arguments& arguments, const std::string& path);
// Whether the reader of these arguments' report sees where page and tables are: its first screen is on the terminal.
bool names_the_rest(const Arguments& arguments);

// What commands on a page say of where the experiment is.
struct PageCommands {
  std::string options;               // " --db lab.db", " --socket PATH"; empty: none is needed
  std::optional<int64_t> at_daemon;  // its number there; absent: that of the store
};

// Whole or not at all: written beside `path` and renamed.
// `layout_maps`: JSON of each (stabctl/records/layout_maps.h).
Status write_page(store::Store& store, const store::ExperimentRow& experiment, const std::string& path,
                  const PageCommands& commands, const std::vector<std::string>& layout_maps = {});

}  // namespace stab::ctl
