// A database where nothing can be written beside it: in somebody else's directory, on a disk that is mounted for reading. WAL
// mode needs -wal and -shm there even to read. Internal to store/.
#pragma once

#include <string>

#include "store/sqlite.h"

namespace stab::store {

// Whether SQLite would have to make files beside this one to read it, and can't.
bool needs_unwritable_files(const std::string& path);

// What is in the file, in a copy of its own that is gone when it is closed. kDenied where the newest results are in a -wal that
// can't be read there, kBusy where somebody else writes to it meanwhile.
Result<Database> copy_of_unwritable(const std::string& path, const char* vfs);

// What such a file is answered with where a copy doesn't help.
Error unwritable_place(const std::string& path);

}  // namespace stab::store
