// A record's columns, declared once. A struct that stands for rows of a table says so beside its members:
//
//   struct ResponseRow {
//     std::string name;
//     std::optional<double> value;
//     static constexpr std::string_view kTable = "responses";
//     static constexpr std::array<std::string_view, 1> kLeading = {"trial"};
//     template <class Self, class Coder>
//     static void columns(Self& self, Coder& coder) {
//       coder.column("name", self.name);
//       coder.column("value", self.value);
//     }
//   };
//
// kLeading are columns of the table that the record has no member for: whoever inserts a row gives their values. INSERT, SELECT,
// reading a row, and what import.cc and parts.cc copy follow from this (tables.h). The table itself is made by schema.cc, whose
// steps are frozen; a test compares the two. Internal to store/.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/sqlite.h"

namespace stab::store {

struct Column {
  std::string name;
  std::string_view type;  // INTEGER, REAL, TEXT or BLOB
  bool may_be_null = false;
};

// "o.name, o.value", where "o." is the prefix.
std::string names_of(const std::vector<Column>& columns, std::string_view prefix = "");

// The type of a column that holds a member of this type.
template <class Member>
constexpr std::string_view kColumnType = std::is_integral_v<Member> ? "INTEGER" : "TEXT";
template <>
inline constexpr std::string_view kColumnType<double> = "REAL";
template <class Member>
constexpr std::string_view kColumnType<std::optional<Member>> = kColumnType<Member>;
template <class Member>
constexpr bool kIsOptional = false;
template <class Member>
constexpr bool kIsOptional<std::optional<Member>> = true;

// Lists the columns of a record.
class ColumnLister {
 public:
  template <class Member>
  void column(std::string_view name, const Member&) {
    columns_.push_back({std::string(name), kColumnType<Member>, kIsOptional<Member>});
  }
  template <class Enum, class Parse>
  void word(std::string_view name, const Enum&, Parse) { columns_.push_back({std::string(name), "TEXT", false}); }
  void index_or_null(std::string_view name, int) { columns_.push_back({std::string(name), "INTEGER", true}); }
  std::vector<Column> take() { return std::move(columns_); }

 private:
  std::vector<Column> columns_;
};

// Binds the members of a record, in the order of its columns.
class ColumnBinder {
 public:
  explicit ColumnBinder(Statement& statement) : statement_(statement) {}
  template <class Member>
  void column(std::string_view, const Member& value) { statement_.bind(value); }
  template <class Enum, class Parse>
  void word(std::string_view, const Enum& value, Parse) { statement_.bind(name(value)); }
  void index_or_null(std::string_view, int value) { statement_.bind(value >= 0 ? std::optional(value) : std::nullopt); }

 private:
  Statement& statement_;
};

template <class Record>
const std::vector<Column>& columns_of() {
  static const std::vector<Column> kColumns = [] {
    ColumnLister lister;
    const Record record{};
    Record::columns(record, lister);
    return lister.take();
  }();
  return kColumns;
}

template <class Record>
std::string column_names(std::string_view prefix = "") { return names_of(columns_of<Record>(), prefix); }

// Of a query of column_names<Record>().
template <class Record>
Result<Record> read_record(const Statement& row) {
  Record record;
  Columns columns(row);
  columns.record(record);
  return columns.made(std::move(record));
}
// The same of a query that has the row's number in front: "SELECT id, " + column_names<Record>().
template <class Record>
Result<Record> read_numbered(const Statement& row) {
  Record record;
  Columns columns(row);
  columns.into(record.id).record(record);
  return columns.made(std::move(record));
}

// All columns that insert_row() writes: the leading ones, then the record's. pre: the leading ones are numbers
template <class Record>
std::vector<Column> inserted_columns() {
  std::vector<Column> all;
  for (const std::string_view name : Record::kLeading) all.push_back({std::string(name), "INTEGER", false});
  all.insert(all.end(), columns_of<Record>().begin(), columns_of<Record>().end());
  return all;
}

std::string insert_sql(std::string_view table, const std::vector<Column>& columns);

template <class Record>
Result<Statement*> prepare_insert(Database& database) {
  static const std::string kSql = insert_sql(Record::kTable, inserted_columns<Record>());
  return database.prepare(kSql);
}

// Runs what prepare_insert<Record>() has prepared, with these values of the leading columns.
template <class Record, class... Leading>
Status insert_row(Statement& insert, const Record& record, const Leading&... leading) {
  static_assert(sizeof...(leading) == std::tuple_size_v<decltype(Record::kLeading)>, "one value for each leading column");
  (insert.bind(leading), ...);
  ColumnBinder binder(insert);
  Record::columns(record, binder);
  return insert.run();
}

}  // namespace stab::store
