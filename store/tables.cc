// Every table but those of the logbook, which is a file of its own (logbook.cc). tests/unit/store/tables_test.cc compares this
// with what schema.cc makes.
#include "store/tables.h"

#include <algorithm>
#include <initializer_list>

#include "store/records.h"

namespace stab::store {
namespace {

Column integer(const char* name) { return {name, "INTEGER", false}; }
Column real(const char* name) { return {name, "REAL", false}; }
Column text(const char* name) { return {name, "TEXT", false}; }
Column blob(const char* name) { return {name, "BLOB", false}; }

template <class... Lists>
std::vector<Column> joined(std::vector<Column> all, const Lists&... lists) {
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

template <class Record>
Table table_of() { return {Record::kTable, inserted_columns<Record>()}; }

// Of records that the table numbers.
template <class Record>
Table numbered() { return {Record::kTable, joined({integer("id")}, inserted_columns<Record>())}; }

std::vector<Table> make_tables() {
  return {
      numbered<ExperimentRow>(),
      {"levels", {integer("experiment"), integer("factor_position"), integer("position"), text("factor"), text("level")}},
      table_of<SubjectRow>(),
      table_of<CellRow>(),
      {"cell_levels", {integer("experiment"), integer("cell"), text("factor"), text("level")}},
      numbered<BuildRow>(),
      {"trials",
       joined({integer("id"), integer("experiment"), text("kind")}, columns_of<NewTrial>(), attempt_columns())},
      table_of<Outcome>(),
      table_of<ResponseRow>(),
      {"epochs", {integer("trial"), blob("series")}},
      table_of<RegionRow>(),
      {"progress_points", {integer("experiment"), integer("number"), text("name"), integer("kind")}},
      table_of<CausalRun>(),
      table_of<WindowRow>(),
      {"window_counts",
       {integer("trial"), integer("window"), integer("point"), integer("visits"), integer("inside_ns")}},
      table_of<RegionSamples>(),
      {"ledger", {integer("trial"), text("key"), real("value")}},
      {"exclusions", {integer("trial"), text("rule")}},
      {"usage",
       {integer("experiment"), integer("uid"), integer("trials"), integer("stored_bytes"), integer("machine_ns")}},
      {"stretches", {integer("experiment"), integer("first_block"), integer("blocks")}},
      {"quarantines", {integer("experiment"), integer("subject"), integer("cell"), integer("trial"), text("reason")}},
      table_of<SlotEpochRow>(),
      {"slot_facts", {integer("experiment"), integer("slot"), integer("epoch"), text("name"), text("value")}},
      table_of<PartRow>(),
      {"host_facts", {integer("experiment"), text("name"), text("value")}},
      {"environments", {integer("experiment"), integer("number"), integer("since_ns")}},
      {"environment_facts", {integer("experiment"), integer("number"), text("name"), text("value")}},
      {"events", {integer("id"), integer("at_ns"), {"experiment", "INTEGER", true}, text("kind"), text("text")}},
  };
}

}  // namespace

bool Table::has(std::string_view column) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.name == column; });
}

std::string Table::names_without(std::string_view column) const {
  std::vector<Column> rest = columns;
  std::erase_if(rest, [&](const Column& one) { return one.name == column; });
  return names_of(rest);
}

IdOf id_in(const Table& table, std::string_view column) {
  if (column == "experiment" || (column == "id" && table.name == "experiments")) return IdOf::kExperiment;
  if (column == "trial" || (column == "id" && table.name == "trials")) return IdOf::kTrial;
  return column == "id" ? IdOf::kRow : IdOf::kNothing;
}

const std::vector<Table>& tables_of_experiment() {
  static const std::vector<Table> kTables = make_tables();
  return kTables;
}

const Table& table_of_experiment(std::string_view name) {
  const std::vector<Table>& tables = tables_of_experiment();
  return *std::find_if(tables.begin(), tables.end(), [&](const Table& table) { return table.name == name; });
}

const std::vector<Column>& attempt_columns() {
  static const std::vector<Column> kColumns = {integer("attempt"),       integer("superseded"),    text("state"),
                                               text("boot_id"),          integer("claimed_at_ns"), integer("started_at_ns"),
                                               integer("finished_at_ns"), text("failure")};
  return kColumns;
}

}  // namespace stab::store
