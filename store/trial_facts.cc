// What the analysis wants to know of every recorded trial besides its values. One query a table for the whole
// experiment: a query for each of 16,000 trials takes seconds.
#include <algorithm>
#include <unordered_map>

#include "store/store_state.h"

namespace stab::store {
namespace {

constexpr std::string_view kRecorded =
    "t.experiment = ? AND t.kind = 'main' AND t.superseded = 0 AND t.state = 'recorded'";

}  // namespace

Result<std::vector<TrialFacts>> Store::trial_facts(Id experiment, std::span<const std::string_view> ledger_keys,
                                                   const std::function<void(const std::string&)>& take_dose) {
  Database& database = state_->database;
  const std::string recorded(kRecorded);
  std::vector<TrialFacts> facts;
  std::unordered_map<Id, size_t> at;
  STAB_TRY(Statement * trials,
           database.prepare("SELECT t.id, t.subject, t.cell, t.block, t.position, t.link, t.seed, o.dose_json, "
                            "t.started_at_ns, coalesce(t.build, -1), t.layout, t.claimed_at_ns, t.boot_id, o.cpu "
                            "FROM trials t JOIN outcomes o ON o.trial = t.id WHERE " +
                            recorded + " ORDER BY t.position"));
  trials->bind(experiment);
  for (;;) {
    STAB_TRY(const bool row, trials->step());
    if (!row) break;
    TrialFacts& fact = facts.emplace_back();
    Columns columns(*trials);
    columns.into(fact.trial, fact.subject, fact.cell, fact.block, fact.order, fact.link, fact.seed);
    take_dose(columns.text());
    columns.into(fact.started_at_ns, fact.build, fact.layout, fact.claimed_at_ns, fact.boot_id, fact.cpu);
    if (const Status well = columns.read_well(); !well) {
      trials->reset();
      return well.error();
    }
    at.emplace(fact.trial, facts.size() - 1);
  }
  if (facts.empty()) return facts;
  // Both tables are keyed by trial first, and an experiment's trials are neighbours: a scan of their range takes half of
  // the time of a join.
  const auto [first, last] =
      std::minmax_element(facts.begin(), facts.end(), [](const TrialFacts& a, const TrialFacts& b) { return a.trial < b.trial; });
  const auto scan = [&](const std::string& columns, const std::string& rest, const auto& take) -> Status {
    STAB_TRY(Statement * query, database.prepare("SELECT trial, " + columns + " WHERE trial BETWEEN ? AND ?" + rest));
    query->bind(first->trial).bind(last->trial);
    for (;;) {
      STAB_TRY(const bool row, query->step());
      if (!row) return {};
      if (const auto place = at.find(query->integer(0)); place != at.end()) take(facts[place->second], *query);
    }
  };
  std::string wanted;
  for (std::string_view key : ledger_keys) wanted += (wanted.empty() ? "'" : ", '") + std::string(key) + "'";
  STAB_CHECK_OK(scan("key, value FROM ledger", " AND value > 0 AND key IN (" + wanted + ")",
                     [](TrialFacts& fact, const Statement& row) { fact.ledger[row.text(1)] = row.maybe_number(2).value_or(0); }));
  STAB_CHECK_OK(scan("rule FROM exclusions", "", [](TrialFacts& fact, const Statement& row) {
    fact.excluded_by.push_back(row.text(1));
  }));
  return facts;
}

}  // namespace stab::store
