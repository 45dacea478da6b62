// The part of SQLite we use, as two owners: Database and Statement. Internal to store/; sqlite3.h itself is
// only included by .cc files.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stab::store {

// One prepared statement. Parameters are bound in order by bind(), columns read by index from 0 while step()
// says there is a row. Text of columns is copied.
class Statement {
 public:
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(int64_t value);
  Statement& bind(int value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(uint32_t value) { return bind(static_cast<int64_t>(value)); }
  // Stored as the signed number with the same bits.
  Statement& bind(uint64_t value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind(const char* value) { return bind(std::string_view(value)); }
  Statement& bind_bytes(std::string_view value);
  Statement& bind(std::nullopt_t);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // True: a row is there. False: done, and the statement is ready to be bound again.
  Result<bool> step();
  // For statements without rows, with these as the parameters that aren't bound yet; ready to be bound again after.
  template <typename... Values>
  Status run(const Values&... values) {
    (bind(values), ...);
    return run_bound();
  }
  void reset();

  int64_t integer(int column) const;
  std::optional<int64_t> maybe_integer(int column) const;
  std::optional<double> maybe_number(int column) const;
  std::string text(int column) const;
  std::string bytes(int column) const;
  std::string name(int column) const;  // of the column, as the query has it

 private:
  Status run_bound();

  sqlite3* database_;
  sqlite3_stmt* statement_;
  int next_parameter_ = 1;
  int bind_error_ = 0;
};

// What to say of a column that holds a word, or a number, which no version of ours writes.
std::string unknown_word(std::string_view column, std::string_view word);
std::string unknown_number(std::string_view column, int64_t number);

// Reads the columns of a row one after another: whoever names the columns of a query and its fields in the same order needs no
// numbers. Words that stand for enums are checked, and so is that a number fits its field: a store of ours keeps to both, but a
// file of somebody else's need not.
class Columns {
 public:
  explicit Columns(const Statement& row, int first = 0) : row_(row), next_(first) {}

  template <typename... Fields>
  Columns& into(Fields&... fields) {
    (read(fields), ...);
    return *this;
  }
  // For what is stored as a word, to which `parse` gives a value or none. None makes the row unreadable.
  template <typename Value, typename Parse>
  Columns& word(std::string_view name, Value& field, Parse parse) {
    const std::string stored = text();
    if (const std::optional<Value> value = parse(stored)) {
      field = *value;
    } else if (fault_.empty()) {
      fault_ = unknown_word(name, stored);
    }
    return *this;
  }
  // All columns of a record (table.h), in their order.
  template <class Record>
  Columns& record(Record& record) {
    Record::columns(record, *this);
    return *this;
  }
  template <class Field>
  void column(std::string_view, Field& field) { read(field); }
  void index_or_null(std::string_view, int& field) {
    std::optional<int> index;
    read(index);
    field = index.value_or(-1);
  }
  std::string text() { return row_.text(next_++); }
  // kCorrupt where the row is unreadable.
  Status read_well() const { return fault_.empty() ? Status() : corrupt(fault_); }
  // What was made of the row, or kCorrupt where it is unreadable.
  template <typename Row>
  Result<Row> made(Row row) const {
    STAB_CHECK_OK(read_well());
    return row;
  }

 private:
  template <typename Number>
  requires std::is_integral_v<Number>
  void read(Number& field) { field = fitting<Number>(row_.integer(next_)); }
  void read(bool& field) { field = row_.integer(next_++) != 0; }
  void read(std::string& field) { field = text(); }
  void read(std::optional<int64_t>& field) { field = row_.maybe_integer(next_++); }
  void read(std::optional<int>& field) {
    const std::optional<int64_t> value = row_.maybe_integer(next_);
    field = value ? std::optional<int>(fitting<int>(*value)) : std::nullopt;
    if (!value) ++next_;
  }
  void read(std::optional<double>& field) { field = row_.maybe_number(next_++); }
  void read(double& field) { field = row_.maybe_number(next_++).value_or(0); }

  // What the next column holds, which is done with. Of 64 bits all are taken: seeds are unsigned.
  template <typename Number>
  Number fitting(int64_t value) {
    if (sizeof(Number) < sizeof value && !std::in_range<Number>(value) && fault_.empty())
      fault_ = unknown_number(row_.name(next_), value);
    ++next_;
    return static_cast<Number>(value);
  }

  const Statement& row_;
  int next_;
  std::string fault_;
};

// For queries of one column, or of two.
inline int64_t first_integer(const Statement& row) { return row.integer(0); }
inline std::string first_text(const Statement& row) { return row.text(0); }
template <typename First, typename Second>
Result<std::pair<First, Second>> read_pair(const Statement& row) {
  std::pair<First, Second> out;
  return Columns(row).into(out.first, out.second).made(out);
}

// What `make` makes of each row of a query whose parameters are bound, in the query's order. `make` takes the
// statement and gives a T or a Result<T>; its first error ends the reading, and what the query holds of the database.
template <typename Make>
auto read_rows(Statement& query, Make make) {
  using Made = std::invoke_result_t<Make, const Statement&>;
  if constexpr (requires(Made made) { made.error(); }) {
    using Row = std::remove_cvref_t<decltype(std::declval<Made&>().value())>;
    const auto read = [&]() -> Result<std::vector<Row>> {
      std::vector<Row> rows;
      while (true) {
        STAB_TRY(const bool row, query.step());
        if (!row) return rows;
        STAB_TRY(Row made, make(query));
        rows.push_back(std::move(made));
      }
    };
    Result<std::vector<Row>> rows = read();
    if (!rows) query.reset();
    return rows;
  } else {
    return read_rows(query, [&](const Statement& row) -> Result<Made> { return make(row); });
  }
}

template <typename Make>
using RowsMade = decltype(read_rows(std::declval<Statement&>(), std::declval<Make>()));
template <typename Make>
using RowMade = typename std::remove_cvref_t<decltype(std::declval<RowsMade<Make>&>().value())>::value_type;

class Database {
 public:
  // kImmutable: read without looking at a -wal or at locks. pre: nobody writes to it
  enum class Mode { kCreate, kReadOnly, kImmutable };
  // The path of a database that nobody else sees and that is gone when it is closed; large ones spill to a file without a name.
  static constexpr char kTemporary[] = "";
  static Result<Database> open(const std::string& path, Mode mode, const char* vfs);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  // Another file as the schema "other" (attached.h). kNew: it is made here, or is in memory. kReadOnly: also while it changes; a
  // journal beside it is an error and nothing is done for it. kImmutable: what lies beside it is not looked at. pre: as for Mode
  enum class Attach { kNew, kReadOnly, kImmutable };
  Status attach(const std::string& path, Attach how);
  // One or more statements without parameters or rows of interest.
  Status execute(const char* sql);
  // Cached by text, reset, ready to be bound. Valid until the database closes.
  Result<Statement*> prepare(std::string_view sql);
  // All rows of a query with these parameters, each as `make` reads it (read_rows).
  template <typename Make, typename... Values>
  RowsMade<Make> select(std::string_view sql, Make make, const Values&... values) {
    STAB_TRY(Statement * query, prepare(sql));
    (query->bind(values), ...);
    return read_rows(*query, std::move(make));
  }
  // The same of a query that gives one row at most; nothing: it gave none.
  template <typename Make, typename... Values>
  Result<std::optional<RowMade<Make>>> select_one(std::string_view sql, Make make, const Values&... values) {
    STAB_TRY(auto rows, select(sql, std::move(make), values...));
    if (rows.empty()) return std::optional<RowMade<Make>>();
    return std::optional(std::move(rows.front()));
  }
  // The number that such a query of one column gives; 0: it gave no row.
  template <typename... Values>
  Result<int64_t> integer(std::string_view sql, const Values&... values) {
    STAB_TRY(const std::optional<int64_t> number, select_one(sql, first_integer, values...));
    return number.value_or(0);
  }
  // Whether triggers of ours run. Foreign keys are kept in any case.
  void let_triggers_run(bool run);
  // Finalizes the cached statements; those handed out are gone.
  void forget_statements() { statements_.clear(); }
  int64_t last_id() const;
  int64_t changes() const;
  bool in_transaction() const;
  // `body` and all that it writes, or nothing of it; within a transaction it is a part of that one.
  Status atomically(const std::function<Status()>& body);
  // Pages in the WAL after the last commit.
  int wal_pages() const { return *wal_pages_; }
  // Whether its name stands for another file by now, or for none.
  bool has_moved() const;
  Status checkpoint();
  Status backup(const std::string& path);
  // Copies the whole database, as of one moment, over what the target holds.
  Status copy_to(Database& target);
  Error error(std::string_view what) const;

 private:
  friend class Bounded;
  explicit Database(sqlite3* handle);
  void close();
  sqlite3* handle_ = nullptr;
  std::unique_ptr<int> wal_pages_;  // its address is given to SQLite
  std::map<std::string, std::unique_ptr<Statement>, std::less<>> statements_;
};

// No trigger runs as long as it lives: what they keep is kept by whoever makes one.
class WithoutTriggers {
 public:
  explicit WithoutTriggers(Database& database) : database_(&database) { database_->let_triggers_run(false); }
  WithoutTriggers(const WithoutTriggers&) = delete;
  WithoutTriggers& operator=(const WithoutTriggers&) = delete;
  ~WithoutTriggers() { database_->let_triggers_run(true); }

 private:
  Database* database_;
};

// What somebody else's file may cost: CPU time of this thread from now on, and bytes of one value.
class WorkLimit {
 public:
  WorkLimit(std::chrono::nanoseconds cpu_time, int value_bytes);
  bool was_met() const { return was_met_; }

 private:
  friend class Bounded;
  std::chrono::nanoseconds until_;
  int value_bytes_;
  bool was_met_ = false;
};

// As long as it lives, statements that would take more fail. `limit` outlives it.
class Bounded {
 public:
  Bounded(Database& database, WorkLimit& limit);
  Bounded(const Bounded&) = delete;
  Bounded& operator=(const Bounded&) = delete;
  ~Bounded();

 private:
  Database* database_;
  int value_bytes_before_;
};

}  // namespace stab::store
