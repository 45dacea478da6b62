#include "stabd/engine/results/load_series.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "plan/parse.h"
#include "plan/placeholder.h"
#include "stabd/engine/build/git_source.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/results/local_time.h"

namespace stab::engine {
namespace {

// What may declare a series, by number: the newest plans that the asker may see, as many as the limit allows.
struct Plans {
  std::vector<store::ExperimentRow> rows;
  bool cut = false;  // there are older ones
};

// Those that have this word anywhere.
Result<Plans> plans_with(store::Store& store, const std::string& word, const Asker& asker, size_t most_bytes) {
  STAB_TRY(const std::vector<store::ExperimentSummary> all,
           store.summaries(asker.sees_all ? std::optional<int64_t>() : std::optional<int64_t>(asker.uid)));
  Plans out;
  size_t bytes = 0;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    Result<store::ExperimentRow> row = store.experiment(one->id);
    if (!row && row.error().code == ErrorCode::kNotFound) continue;  // deleted since
    if (!row) return row.error();
    bytes += row->plan_text.size();
    if (bytes > most_bytes) {
      out.cut = true;
      break;
    }
    if (row->plan_text.find(word) != std::string::npos) out.rows.push_back(*std::move(row));
  }
  std::reverse(out.rows.begin(), out.rows.end());
  return out;
}

std::string series_of(const store::ExperimentRow& row) {
  const plan::Parsed parsed = plan::parse_plan(row.plan_text, row.plan_path);
  return parsed.plan ? parsed.plan->experiment.series : std::string();
}

// What each boot's machine is called, by what was recorded of it.
Result<std::map<std::string, std::string>> machines_by_boot(store::Store& store, store::Id experiment) {
  std::map<std::string, std::string> out;
  const auto add = [&](const std::map<std::string, std::string>& facts) {
    const auto boot = facts.find("boot_id"), host = facts.find("host.name");
    if (host != facts.end()) out[boot == facts.end() ? "" : boot->second] = host->second;
  };
  STAB_TRY(const std::vector<store::EnvironmentRow> environments, store.environments(experiment));
  for (const store::EnvironmentRow& row : environments) add(row.facts);
  STAB_TRY(const std::vector<store::SlotEpochRow> slots, store.slot_epochs(experiment));
  for (const store::SlotEpochRow& row : slots) add(row.facts);
  return out;
}

// The boots and days in which its trials ran, in the order of these.
Result<std::vector<report::TrendSession>> sessions_of(store::Store& store, store::Id experiment) {
  STAB_TRY(auto machines, machines_by_boot(store, experiment));
  STAB_TRY(const std::vector<store::TrialFacts> trials, store.trial_facts(experiment, {}, [](const std::string&) {}));
  std::map<std::pair<std::string, std::string>, int64_t> first;  // by day and boot
  for (const store::TrialFacts& trial : trials) {
    if (trial.claimed_at_ns == 0) continue;
    const auto [at, fresh] = first.try_emplace({utc_day(trial.claimed_at_ns), trial.boot_id}, trial.claimed_at_ns);
    if (!fresh) at->second = std::min(at->second, trial.claimed_at_ns);
  }
  std::vector<std::pair<int64_t, report::TrendSession>> ordered;
  for (const auto& [session, at] : first)
    ordered.push_back({at, {session.first, machines[session.second], session.second}});
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<report::TrendSession> out;
  for (auto& [at, session] : ordered) out.push_back(std::move(session));
  return out;
}

// The one factor that a source's revision is made of.
std::optional<std::string> factor_of(const std::vector<plan::Piece>& revision) {
  std::optional<std::string> out;
  for (const plan::Piece& piece : revision) {
    if (!piece.is_placeholder) continue;
    if (out && *out != piece.text) return {};
    out = piece.text;
  }
  return out;
}

// Nothing: no program is built out of a repository at a factor's level, or several are and don't agree.
std::optional<report::TrendRevisions> revisions_of(const plan::Plan& plan, const std::string& directory) {
  std::optional<report::TrendRevisions> out;
  for (const plan::Program& program : plan.programs) {
    if (program.source.git.empty()) continue;
    const auto pieces = plan::split_placeholders(program.source.revision);
    const auto named = pieces ? factor_of(*pieces) : std::optional<std::string>();
    const auto factor = std::find_if(plan.factors.begin(), plan.factors.end(),
                                     [&](const plan::Factor& one) { return named && one.name == *named; });
    if (factor == plan.factors.end()) continue;
    report::TrendRevisions found{factor->name, program.source.git, {}};
    if (!is_git_address(found.repository)) {
      const auto path = (std::filesystem::path(directory) / found.repository).lexically_normal();
      found.repository = path.has_filename() ? path.string() : path.parent_path().string();
    }
    for (const plan::Level& level : factor->levels)
      for (const plan::Piece& piece : *pieces) found.of_level[level.name] += piece.is_placeholder ? level.value : piece.text;
    if (out && (out->factor != found.factor || out->repository != found.repository || out->of_level != found.of_level)) return {};
    out = std::move(found);
  }
  return out;
}

}  // namespace

Result<LoadedSeries> load_series(store::Store& store, const std::string& name, const Asker& asker, const SeriesLimits& limits) {
  if (name.empty()) return bad_input("the name of a series is empty; write it as the plans' [experiment] declares it");
  STAB_TRY(Plans mention, plans_with(store, name, asker, limits.plan_bytes));
  std::vector<store::ExperimentRow> rows;
  for (store::ExperimentRow& row : mention.rows)
    if (series_of(row) == name) rows.push_back(std::move(row));
  if (rows.empty())
    return Error{ErrorCode::kNotFound,
                 "no experiment declares the series '" + name + "': its plans say series = \"" + name + "\" in [experiment]",
                 {}};
  const auto is_of = [](int64_t user) { return [user](const store::ExperimentRow& row) { return row.submitter_uid == user; }; };
  int64_t uid = asker.uid;
  if (std::none_of(rows.begin(), rows.end(), is_of(uid))) {
    uid = rows.back().submitter_uid;
    if (!std::all_of(rows.begin(), rows.end(), is_of(uid)))
      return bad_input("several users have a series '" + name + "', and none of them is you; look at it as one of them");
  }
  std::erase_if(rows, std::not_fn(is_of(uid)));
  LoadedSeries out;
  int64_t trials = 0;
  // The newest first, so that it is the oldest that are too many.
  size_t older = 0;
  for (size_t i = rows.size(); i-- > 0;) {
    const store::ExperimentRow& row = rows[i];
    const std::string called = std::to_string(row.id) + ", " + local_time(row.submitted_at_ns, "%Y-%m-%d");
    if (row.state != store::ExperimentState::kDone) {
      out.left_out.push_back(called + ": " + std::string(store::name(row.state)));
      continue;
    }
    STAB_TRY(const store::Progress progress, store.progress(row.id));
    trials += progress.planned_total;
    if (trials > limits.trials && !out.parts.empty()) {
      older = i + 1;
      break;
    }
    STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
    STAB_TRY(report::Samples samples, load_samples(store, row, expanded));
    if (samples.incomplete) {
      out.left_out.push_back(called + ": trials are missing");
      continue;
    }
    STAB_TRY(std::vector<report::TrendSession> sessions, sessions_of(store, row.id));
    out.parts.push_back({called, std::move(samples), std::move(sessions), revisions_of(expanded.plan, row.plan_directory)});
  }
  std::reverse(out.parts.begin(), out.parts.end());
  std::reverse(out.left_out.begin(), out.left_out.end());
  if (older > 0 || mention.cut)
    out.left_out.insert(out.left_out.begin(), (older > 0 ? std::to_string(older) + " older ones" : std::string("older ones")) +
                                                  ": more than a daemon looks at; 'stabctl trend --db' has all of a database");
  return out;
}

Result<SeriesNames> series_names(store::Store& store, const Asker& asker, const SeriesLimits& limits) {
  STAB_TRY(const Plans mention, plans_with(store, "series", asker, limits.plan_bytes));
  SeriesNames out;
  out.cut = mention.cut;
  for (auto row = mention.rows.rbegin(); row != mention.rows.rend(); ++row) {
    const std::string name = series_of(*row);
    if (name.empty()) continue;
    const auto known = std::find_if(out.names.begin(), out.names.end(), [&](const SeriesName& one) {
      return one.name == name && one.uid == row->submitter_uid;
    });
    if (known != out.names.end()) ++known->experiments;
    else out.names.push_back({name, row->submitter_uid, 1, row->id});
  }
  return out;
}

}  // namespace stab::engine
