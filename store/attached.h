// Attached: another file on our connection, as the schema "other". Internal to store/.
#pragma once

#include <string>
#include <utility>

#include "store/sqlite.h"

namespace stab::store {

// Attached for as long as it lives.
class Attached {
 public:
  static Result<Attached> open(Database& database, const std::string& path) {
    // Ours alone says ":memory:".
    const std::string name = path.starts_with("file:") ? file_name(path) : path;
    STAB_TRY(Statement * attach, database.prepare("ATTACH DATABASE ? AS other"));
    STAB_CHECK_OK(attach->bind(name).run());
    return Attached(&database);
  }
  Attached(Attached&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Attached& operator=(Attached&&) = delete;
  ~Attached() {
    if (!database_) return;
    database_->forget_statements();  // a cached statement keeps the file attached
    (void)database_->execute("DETACH DATABASE other");
  }

 private:
  explicit Attached(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace stab::store
