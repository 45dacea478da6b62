// What the records say of their tables is what the schema has. A column that only one of them has would not be copied, stored or
// read.
#include "store/tables.h"

#include <set>

#include "store/schema.h"
#include "store_fixture.h"

namespace stab::store {
namespace {

class TablesTest : public StoreTest {
 protected:
  Database database() {
    Result<Database> made = Database::open(path_, Database::Mode::kCreate, nullptr);
    EXPECT_TRUE(made.ok());
    EXPECT_TRUE(migrate(*made).ok());
    return *std::move(made);
  }
  static std::set<std::string> texts(Database& database, const std::string& sql) {
    const auto rows = database.select(sql, first_text);
    EXPECT_TRUE(rows.ok()) << sql;
    return {rows->begin(), rows->end()};
  }
  static std::string declared(const Column& column) {
    return column.name + " " + std::string(column.type) + (column.may_be_null ? "" : " NOT NULL");
  }
};

TEST_F(TablesTest, AreThoseOfTheSchema) {
  Database file = database();
  // What stays in its store: counted anew in each, a user's request to this store's daemon, and what users had of this machine.
  std::set<std::string> described = {"trial_counts", "wishes", "shares"};
  for (const Table& table : tables_of_experiment()) described.emplace(table.name);
  EXPECT_EQ(described, texts(file, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"));
}

TEST_F(TablesTest, HaveTheColumnsOfTheSchema) {
  Database file = database();
  for (const Table& table : tables_of_experiment()) {
    std::set<std::string> described;
    for (const Column& column : table.columns) described.insert(declared(column));
    EXPECT_EQ(described.size(), table.columns.size()) << table.name << " has a column twice";
    // A key is never NULL, which SQLite does not say of a row's number.
    EXPECT_EQ(described, texts(file, "SELECT name || ' ' || type || CASE WHEN \"notnull\" OR pk > 0 THEN ' NOT NULL' ELSE '' END "
                                     "FROM pragma_table_info('" +
                                         std::string(table.name) + "')"))
        << table.name;
  }
}

// An import replaces ids of experiments and trials; one that it took for another number would lead to a row of someone else's.
TEST_F(TablesTest, KnowEachIdThatTheSchemaRefersTo) {
  Database file = database();
  int references = 0;
  for (const Table& table : tables_of_experiment())
    for (const auto& [target, id] : {std::pair("experiments", IdOf::kExperiment), std::pair("trials", IdOf::kTrial)})
      for (const std::string& column : texts(file, "SELECT \"from\" FROM pragma_foreign_key_list('" + std::string(table.name) +
                                                       "') WHERE \"table\" = '" + target + "'")) {
        EXPECT_EQ(id_in(table, column), id) << table.name << "." << column;
        ++references;
      }
  EXPECT_GT(references, 20);
}

// One statement copies a table, and a row must not come before the one that it refers to.
TEST_F(TablesTest, StandBehindThoseThatTheyReferTo) {
  Database file = database();
  std::set<std::string> before;
  for (const Table& table : tables_of_experiment()) {
    for (const std::string& target :
         texts(file, "SELECT \"table\" FROM pragma_foreign_key_list('" + std::string(table.name) + "')"))
      EXPECT_TRUE(before.contains(target)) << table.name << " is copied before " << target;
    before.emplace(table.name);
  }
}

}  // namespace
}  // namespace stab::store
