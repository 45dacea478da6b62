// The tables of the schema, each with all its columns: what import.cc and parts.cc copy. Tables whose rows are a struct take the
// struct's columns (table.h). Tables without one are listed in tables.cc. Internal to store/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/table.h"

namespace stab::store {

struct Table {
  std::string_view name;
  std::vector<Column> columns;

  bool has(std::string_view column) const;
  std::string names() const { return names_of(columns); }
  std::string names_without(std::string_view column) const;
};

// What a column's number is the id of. Such numbers differ between two stores that have the same experiment.
enum class IdOf { kNothing, kExperiment, kTrial, kRow };  // kRow: a row of this table, which nothing refers to
IdOf id_in(const Table& table, std::string_view column);

// All tables that hold something of an experiment and go where it goes; a table stands behind those that it refers to.
const std::vector<Table>& tables_of_experiment();
// pre: it is one of them
const Table& table_of_experiment(std::string_view name);

// Columns of trials that say what became of an attempt; the others say its place.
const std::vector<Column>& attempt_columns();

}  // namespace stab::store
