// Who writes to a database.
#pragma once

#include <string>

namespace stab::store {

// Whether a process has the database open for writing: this one, or another. One whose lock can't be looked at is taken to have
// a writer.
bool has_writer(const std::string& path);

}  // namespace stab::store
