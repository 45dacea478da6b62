// The schema and how older files become newer ones. docs/reference/schema.md says what the columns mean.
#pragma once

#include "base/result.h"
#include "store/sqlite.h"

namespace stab::store {

// In the file's header, so that `file` and we can tell our databases from others: "STAB".
inline constexpr int64_t kApplicationId = 0x53544142;

// How many steps schema.cc has.
extern const int kSchemaVersion;

// kCorrupt where the file belongs to another program, kUnavailable where it is older than the first release. Reads only.
// `schema`: of the file within the connection, "main" or an attached one's name.
Status check_owner(Database& database, const std::string& schema = "main");
// kCorrupt where the name of a table is one of something that would run what the file says (a view, a virtual table). Reads only.
Status check_kinds(Database& database);
// Brings a new or older database to kSchemaVersion, all steps in one transaction. kUnavailable where a
// newer version of ours made it.
Status migrate(Database& database);
// For readers: whether the version is the current one. kUnavailable where a newer version of ours made it.
Result<bool> is_current(Database& database);
// An older database as the current version has it, in a copy of its own that is gone when it is closed: a reader changes
// nothing, and an older program may go on writing.
Result<Database> migrated_copy(Database& database);

}  // namespace stab::store
