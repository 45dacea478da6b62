// The statements that follow from a list of columns.
#include "store/table.h"

namespace stab::store {

std::string names_of(const std::vector<Column>& columns, std::string_view prefix) {
  std::string names;
  for (const Column& column : columns) {
    if (!names.empty()) names += ", ";
    names.append(prefix).append(column.name);
  }
  return names;
}

std::string insert_sql(std::string_view table, const std::vector<Column>& columns) {
  std::string places;
  for (size_t i = 0; i < columns.size(); ++i) places += i == 0 ? "?" : ", ?";
  return "INSERT INTO " + std::string(table) + "(" + names_of(columns) + ") VALUES(" + places + ")";
}

}  // namespace stab::store
