// The version of the schema is how many steps lead to it. A released step is never edited: a change is a new step at the end,
// and tests/unit/store keeps a database of each version to migrate from.
//
// Seeds and fingerprints are unsigned 64-bit numbers stored with the same bits in a signed column. Times of day
// are nanoseconds since 1970 UTC, durations are nanoseconds; both say so in their names.
#include "store/schema.h"

#include <iterator>
#include <string>

#include "store/store.h"

namespace stab::store {
namespace {

constexpr const char* kSteps[] = {R"sql(
CREATE TABLE experiments(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK(state IN ('submitted','ready','running','paused','done','cancelled','failed')),
  failure TEXT NOT NULL DEFAULT '',
  plan_text TEXT NOT NULL,
  plan_path TEXT NOT NULL,
  plan_directory TEXT NOT NULL,
  seed INTEGER NOT NULL,
  submitter_uid INTEGER NOT NULL,
  submitter_gid INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  submitted_at_ns INTEGER NOT NULL,
  finished_at_ns INTEGER NOT NULL DEFAULT 0,
  schedule_fingerprint INTEGER NOT NULL DEFAULT 0,
  schedule_version INTEGER NOT NULL DEFAULT 0,
  replicates INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE levels(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  factor_position INTEGER NOT NULL,
  position INTEGER NOT NULL,
  factor TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY(experiment, factor_position, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE subjects(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  workload TEXT NOT NULL,
  PRIMARY KEY(experiment, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE cells(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  cell INTEGER NOT NULL,
  name TEXT NOT NULL,
  code TEXT NOT NULL,
  stack TEXT NOT NULL,
  heap TEXT NOT NULL,
  epoch_ns INTEGER NOT NULL,
  env_size_bytes INTEGER NOT NULL,
  PRIMARY KEY(experiment, cell)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell_levels(
  experiment INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  factor TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY(experiment, cell, factor),
  FOREIGN KEY(experiment, cell) REFERENCES cells ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE builds(
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  build INTEGER NOT NULL,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  link INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('planned','building','done','failed')),
  command TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  binary_path TEXT NOT NULL,
  binary_sha256 TEXT NOT NULL,
  log TEXT NOT NULL,
  duration_ns INTEGER NOT NULL,
  UNIQUE(experiment, build)
) STRICT;

-- One row is one attempt. The place in the schedule is (experiment, kind, position); superseded is 1 where a
-- later attempt took the place.
CREATE TABLE trials(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK(kind IN ('main','preflight','warmup','replay')),
  position INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1 CHECK(attempt >= 1),
  superseded INTEGER NOT NULL DEFAULT 0 CHECK(superseded IN (0, 1)),
  state TEXT NOT NULL DEFAULT 'planned'
    CHECK(state IN ('planned','claimed','started','exited','verified','recorded','failed','timeout','lost',
                    'quarantined','cancelled')),
  subject INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  build INTEGER,
  block INTEGER NOT NULL,
  run INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  link INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  boot_id TEXT NOT NULL DEFAULT '',
  claimed_at_ns INTEGER NOT NULL DEFAULT 0,
  started_at_ns INTEGER NOT NULL DEFAULT 0,
  finished_at_ns INTEGER NOT NULL DEFAULT 0,
  failure TEXT NOT NULL DEFAULT '',
  -- Trials of one subject run in the same layout of the code exactly where this is equal (plan/design.h: layout_id).
  layout INTEGER NOT NULL,
  UNIQUE(experiment, kind, position, attempt),
  FOREIGN KEY(experiment, subject) REFERENCES subjects,
  FOREIGN KEY(experiment, cell) REFERENCES cells
) STRICT;
CREATE INDEX trials_by_state ON trials(experiment, kind, superseded, state, position);
-- A place in the schedule is recorded at most once, whatever a program does.
CREATE UNIQUE INDEX trials_recorded_once ON trials(experiment, kind, position) WHERE state = 'recorded';

CREATE TABLE outcomes(
  trial INTEGER PRIMARY KEY REFERENCES trials ON DELETE CASCADE,
  wall_ns INTEGER,
  exit_status INTEGER,
  signal INTEGER,
  user_ns INTEGER,
  system_ns INTEGER,
  max_rss_kib INTEGER,
  minor_faults INTEGER,
  major_faults INTEGER,
  voluntary_switches INTEGER,
  involuntary_switches INTEGER,
  stdout_sha256 TEXT NOT NULL,
  stderr_sha256 TEXT NOT NULL,
  stdout_bytes INTEGER,
  stderr_bytes INTEGER,
  stdout_head TEXT NOT NULL,
  stderr_head TEXT NOT NULL,
  cpu INTEGER NOT NULL,
  dose_json TEXT NOT NULL,
  layouts_built INTEGER,
  layouts_executed INTEGER,
  functions_moved INTEGER,
  functions_kept INTEGER,
  helper_cpu_ns INTEGER
) STRICT;

-- value is NULL exactly where there is a reason.
CREATE TABLE responses(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL,
  raw INTEGER,
  enabled_ns INTEGER,
  running_ns INTEGER,
  reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(trial, name),
  CHECK((value IS NULL) = (reason <> ''))
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  key TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY(trial, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE exclusions(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  rule TEXT NOT NULL,
  PRIMARY KEY(trial, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE quarantines(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  reason TEXT NOT NULL,
  PRIMARY KEY(experiment, subject, cell)
) STRICT, WITHOUT ROWID;

CREATE TABLE host_facts(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(experiment, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE events(
  id INTEGER PRIMARY KEY,
  at_ns INTEGER NOT NULL,
  experiment INTEGER REFERENCES experiments ON DELETE CASCADE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_experiment ON events(experiment, id);

-- What a user was told is done and the engine has yet to do: it stops what runs, or finds time between trials.
CREATE TABLE wishes(
  experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
  wish TEXT NOT NULL CHECK(wish IN ('cancel','pause','delete')),
  at_ns INTEGER NOT NULL
) STRICT;

-- What an experiment takes, for quotas: a row of its own, since one of experiments holds a plan's text.
CREATE TABLE usage(
  experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
  uid INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  machine_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_uid ON usage(uid);

-- Time that a user had on the machine, halved every day: who has had least goes next.
CREATE TABLE shares(
  uid INTEGER PRIMARY KEY,
  used_ns REAL NOT NULL,
  at_ns INTEGER NOT NULL
) STRICT;

-- A schedule is made of stretches of blocks, one for the plan and one for each extension; it is stored in slices.
CREATE TABLE stretches(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  first_block INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  PRIMARY KEY(experiment, first_block)
) STRICT, WITHOUT ROWID;

-- Attempts by state: counting them takes as long as there are trials, and everybody asks. Whoever adds trials adds to it,
-- once for all of them; other changes are counted by triggers.
CREATE TABLE trial_counts(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  kind TEXT NOT NULL,
  superseded INTEGER NOT NULL,
  state TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY(experiment, kind, superseded, state)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER trials_changed AFTER UPDATE OF superseded, state ON trials BEGIN
  UPDATE trial_counts SET number = number - 1
    WHERE experiment = old.experiment AND kind = old.kind AND superseded = old.superseded AND state = old.state;
  INSERT INTO trial_counts VALUES(new.experiment, new.kind, new.superseded, new.state, 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER trials_removed AFTER DELETE ON trials BEGIN
  UPDATE trial_counts SET number = number - 1
    WHERE experiment = old.experiment AND kind = old.kind AND superseded = old.superseded AND state = old.state;
END;

-- All that lists show, so that none of them reads the plans.
CREATE INDEX experiments_shown ON experiments(submitter_uid, name, id, state, failure, priority, submitted_at_ns,
                                              finished_at_ns, schedule_version, replicates);

-- Each start of a slot, a share of an experiment's blocks that one machine at a time runs. The epoch is a fencing token: parts
-- of an older one are superseded.
CREATE TABLE slot_epochs(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  host TEXT NOT NULL,
  machine TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK(state IN ('granted','running','done','lost','refused')),
  why TEXT NOT NULL DEFAULT '',
  granted_at_ns INTEGER NOT NULL,
  ended_at_ns INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(experiment, slot, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot_facts(
  experiment INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(experiment, slot, epoch, name),
  FOREIGN KEY(experiment, slot, epoch) REFERENCES slot_epochs ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Each part that came, one block of one slot, and what became of it.
CREATE TABLE parts(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  slot INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  number INTEGER NOT NULL,
  block INTEGER NOT NULL,
  fate TEXT NOT NULL CHECK(fate IN ('recorded','superseded','refused')),
  why TEXT NOT NULL DEFAULT '',
  trials INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  PRIMARY KEY(experiment, sha256)
) STRICT, WITHOUT ROWID;
-- A block is of one machine, whatever a program does.
CREATE UNIQUE INDEX parts_recorded_once ON parts(experiment, block) WHERE fate = 'recorded';

-- What each epoch of an attempt was, where the plan asks for it; stabd/engine/trial/epoch_series.h says how it is written.
CREATE TABLE epochs(
  trial INTEGER PRIMARY KEY REFERENCES trials ON DELETE CASCADE,
  series BLOB NOT NULL
) STRICT;

-- What the machine was like while trials ran: one row for each time when it was found otherwise than before. Which of them a
-- trial is of, its boot and the moment of its claim say.
CREATE TABLE environments(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  number INTEGER NOT NULL CHECK(number > 0),
  since_ns INTEGER NOT NULL,
  PRIMARY KEY(experiment, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE environment_facts(
  experiment INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(experiment, number, name),
  FOREIGN KEY(experiment, number) REFERENCES environments ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Causal experiments: lines of the program that are sped up virtually, and windows in which that happens.
CREATE TABLE regions(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  number INTEGER NOT NULL CHECK(number > 0),
  candidate INTEGER NOT NULL CHECK(candidate IN (0, 1)),
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  function TEXT NOT NULL,
  pilot_samples INTEGER NOT NULL,
  PRIMARY KEY(experiment, subject, number)
) STRICT, WITHOUT ROWID;

-- Places in programs whose visits are counted, numbered as they were first seen; the kind as runtime/progress/board.h has it.
CREATE TABLE progress_points(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,
  PRIMARY KEY(experiment, number),
  UNIQUE(experiment, name, kind)
) STRICT, WITHOUT ROWID;

-- What a trial with windows was as a whole.
CREATE TABLE causal_runs(
  trial INTEGER PRIMARY KEY REFERENCES trials ON DELETE CASCADE,
  pauses TEXT NOT NULL,
  cpus INTEGER NOT NULL,
  period_ns INTEGER NOT NULL,
  run_ns INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,
  growth_ns INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  spun_wall_ns INTEGER NOT NULL,
  spun_counted_ns INTEGER NOT NULL,
  world_ns INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  samples_in_regions INTEGER NOT NULL,
  samples_unattributed INTEGER NOT NULL,
  samples_late INTEGER NOT NULL,
  samples_lost INTEGER NOT NULL,
  waits INTEGER NOT NULL,
  waits_classified INTEGER NOT NULL,
  degradations TEXT NOT NULL
) STRICT;

-- position: in the list of windows of this subject and cell, which goes on from trial to trial (plan/causal.h); block: of that
-- list. kind: 0 baseline, 1 speedup, 2 null, 3 slowdown. flags as runtime/causal/causal_abi.h has them.
CREATE TABLE windows(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL,
  block INTEGER NOT NULL,
  kind INTEGER NOT NULL CHECK(kind BETWEEN 0 AND 3),
  region INTEGER NOT NULL,
  permille INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,
  effective_ns INTEGER NOT NULL,
  growth_ns INTEGER NOT NULL,
  credited_ns INTEGER NOT NULL,
  spun_wall_ns INTEGER NOT NULL,
  spun_counted_ns INTEGER NOT NULL,
  world_ns INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  region_samples INTEGER NOT NULL,
  region_ns INTEGER NOT NULL,
  waits INTEGER NOT NULL,
  waits_classified INTEGER NOT NULL,
  foreign_ns INTEGER NOT NULL,
  layout INTEGER NOT NULL,
  PRIMARY KEY(trial, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE window_counts(
  trial INTEGER NOT NULL,
  window INTEGER NOT NULL,
  point INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  inside_ns INTEGER NOT NULL,
  PRIMARY KEY(trial, window, point),
  FOREIGN KEY(trial, window) REFERENCES windows ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Of each region that had some, over the whole trial.
CREATE TABLE samples(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  region INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,
  PRIMARY KEY(trial, region)
) STRICT, WITHOUT ROWID;

-- For people: one wide row for each attempt. A layout reads CELL.LINK or CELL.BLOCK.
CREATE VIEW results AS
SELECT e.name AS experiment, e.id AS experiment_id, t.id AS trial, t.kind, t.position, t.attempt, t.state,
       t.superseded, s.name AS subject, c.name AS cell, c.code, c.stack, c.heap, c.epoch_ns / 1e6 AS epoch_ms,
       t.block, t.run, t.pass, t.link, printf('%016x', t.seed) AS seed,
       printf('%d.%d', t.layout >> 32, t.layout & 0xffffffff) AS layout,
       o.wall_ns / 1e9 AS wall_s, o.user_ns / 1e9 AS user_s, o.system_ns / 1e9 AS system_s, o.max_rss_kib,
       (SELECT json_group_object(r.name, r.value) FROM responses r WHERE r.trial = t.id) AS counters,
       o.layouts_built, o.layouts_executed, o.functions_moved, o.helper_cpu_ns / 1e9 AS helper_cpu_s,
       (SELECT group_concat(x.rule, '; ') FROM exclusions x WHERE x.trial = t.id) AS excluded_by,
       o.exit_status, o.signal, t.failure,
       datetime(t.started_at_ns / 1000000000, 'unixepoch') AS started_utc
FROM trials t
JOIN experiments e ON e.id = t.experiment
JOIN subjects s ON s.experiment = t.experiment AND s.subject = t.subject
JOIN cells c ON c.experiment = t.experiment AND c.cell = t.cell
LEFT JOIN outcomes o ON o.trial = t.id;

-- For people: how far each experiment is.
CREATE VIEW progress AS
SELECT e.name AS experiment, e.id AS experiment_id, e.state, t.state AS trials, count(*) AS number
FROM experiments e JOIN trials t ON t.experiment = e.id
WHERE t.kind = 'main' AND t.superseded = 0
GROUP BY e.id, t.state;
)sql"};

Error newer(int64_t version) {
  return {ErrorCode::kUnavailable,
          "the database has schema version " + std::to_string(version) + ", this program knows " +
              std::to_string(kSchemaVersion) + "; use the newer version of Stab that made it, or another database",
          {}};
}

// Databases had another number in their header, and seven versions, before the first release began to count anew. What the last of
// them holds is what version 1 holds.
constexpr int64_t kBeforeRelease = 0x53746162;
constexpr int64_t kLastBeforeRelease = 7;

Error before_release(int64_t version) {
  std::string message = "the database was made before Stab's first release, with schema version " + std::to_string(version) + " of then; ";
  if (version == kLastBeforeRelease)
    message += "it holds what version 1 holds: stop what uses it, then run \"sqlite3 FILE 'PRAGMA application_id = " +
               std::to_string(kApplicationId) + "; PRAGMA user_version = 1'\", which carries it over";
  else
    message += "nothing carries it over: read it with the Stab that made it, and measure anew";
  return {ErrorCode::kUnavailable, message, {}};
}

}  // namespace

constinit const int kSchemaVersion = static_cast<int>(std::size(kSteps));

Status check_owner(Database& database, const std::string& schema) {
  STAB_TRY(const int64_t application, database.integer(("PRAGMA " + schema + ".application_id").c_str()));
  if (application == kApplicationId) return {};
  if (application == kBeforeRelease) {
    STAB_TRY(const int64_t version, database.integer(("PRAGMA " + schema + ".user_version").c_str()));
    return before_release(version);
  }
  STAB_TRY(const int64_t objects, database.integer(("SELECT count(*) FROM " + schema + ".sqlite_schema").c_str()));
  if (application == 0 && objects == 0) return {};  // a new file
  return Error{ErrorCode::kCorrupt, "this database belongs to another program; choose another path", {}};
}

Status check_kinds(Database& database) {
  STAB_TRY(const auto strange,
           database.select_one("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'table' AND NOT (type = 'view' "
                               "AND name IN ('results', 'progress')) LIMIT 1", first_text));
  if (!strange) return {};
  return Error{ErrorCode::kCorrupt, "the database has '" + *strange + "', which is not a table of Stab's; another program has changed it", {}};
}

Status migrate(Database& database) {
  STAB_TRY(const int64_t version, database.integer("PRAGMA user_version"));
  if (version > kSchemaVersion) return newer(version);
  if (version == kSchemaVersion) return {};
  return database.atomically([&]() -> Status {
    for (int64_t step = version; step < kSchemaVersion; ++step) STAB_CHECK_OK(database.execute(kSteps[step]));
    STAB_CHECK_OK(database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
    return database.execute(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
  });
}

Result<bool> is_current(Database& database) {
  STAB_TRY(const int64_t version, database.integer("PRAGMA user_version"));
  if (version > kSchemaVersion) return newer(version);
  return version == kSchemaVersion;
}

Result<Database> migrated_copy(Database& database) {
  STAB_TRY(Database copy, Database::open(Database::kTemporary, Database::Mode::kCreate, nullptr));
  STAB_CHECK_OK(copy.execute("PRAGMA foreign_keys = ON"));
  STAB_CHECK_OK(database.copy_to(copy));
  STAB_CHECK_OK(migrate(copy));
  return copy;
}

}  // namespace stab::store
