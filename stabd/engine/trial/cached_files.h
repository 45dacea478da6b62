// How programs and their libraries come to lie alike in the page cache, before they are compared: a worker looks at them and
// reads them anew.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stabd/engine/separation/worker.h"

namespace stab::engine {

using SeenFiles = std::map<std::string, worker::Look::Answer>;  // by path

// Both end with the first file at which the worker took too long or died: where somebody's file system is slow, or means to be,
// the next file would be, too. A file that can't be looked at or read, but run, is passed over.
void look_at_files(Worker& worker, const std::vector<std::string>& paths, SeenFiles& seen);
// False: it ended early.
bool read_files_anew(Worker& worker, const SeenFiles& files);

}  // namespace stab::engine
