-- A store as version 1 made it. Never edited.
PRAGMA application_id = 1398030658; PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO "builds" VALUES(1,1,0,'lua','lua',0,'planned','','','','','',0);
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
INSERT INTO "causal_runs" VALUES(1,'cpu-time',1,1000000,2000000000,1900000000,5,6,0,0,7,1900,1800,3,0,0,20,19,'kernel-not-sampled');
CREATE TABLE cell_levels(
  experiment INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  factor TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY(experiment, cell, factor),
  FOREIGN KEY(experiment, cell) REFERENCES cells ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "cell_levels" VALUES(1,0,'code','off');
INSERT INTO "cell_levels" VALUES(1,1,'code','shuffle');
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
INSERT INTO "cells" VALUES(1,0,'code=off','off','off','off',500000000,0);
INSERT INTO "cells" VALUES(1,1,'code=shuffle','shuffle','off','off',500000000,4096);
CREATE TABLE environment_facts(
  experiment INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(experiment, number, name),
  FOREIGN KEY(experiment, number) REFERENCES environments ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "environment_facts" VALUES(1,1,'kernel','6.1');
CREATE TABLE environments(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  number INTEGER NOT NULL CHECK(number > 0),
  since_ns INTEGER NOT NULL,
  PRIMARY KEY(experiment, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "environments" VALUES(1,1,0);
CREATE TABLE epochs(
  trial INTEGER PRIMARY KEY REFERENCES trials ON DELETE CASCADE,
  series BLOB NOT NULL
) STRICT;
CREATE TABLE events(
  id INTEGER PRIMARY KEY,
  at_ns INTEGER NOT NULL,
  experiment INTEGER REFERENCES experiments ON DELETE CASCADE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,5,1,'note','made by version 1');
CREATE TABLE exclusions(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  rule TEXT NOT NULL,
  PRIMARY KEY(trial, rule)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "experiments" VALUES(1,'first','ready','','[experiment]
name = "exp"
','exp.toml','/plans',-1,1000,1001,0,77,0,-81985529216486896,1,2);
CREATE TABLE host_facts(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(experiment, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "host_facts" VALUES(1,'kernel','6.1');
CREATE TABLE ledger(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  key TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY(trial, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "ledger" VALUES(1,'migrations',0.0);
INSERT INTO "ledger" VALUES(1,'steal_ns',12.0);
INSERT INTO "ledger" VALUES(13,'migrations',0.0);
INSERT INTO "ledger" VALUES(13,'steal_ns',12.0);
CREATE TABLE levels(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  factor_position INTEGER NOT NULL,
  position INTEGER NOT NULL,
  factor TEXT NOT NULL,
  level TEXT NOT NULL,
  PRIMARY KEY(experiment, factor_position, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "levels" VALUES(1,0,0,'code','off');
INSERT INTO "levels" VALUES(1,0,1,'code','shuffle');
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
INSERT INTO "outcomes" VALUES(1,500000000,0,NULL,400000000,NULL,NULL,NULL,NULL,NULL,NULL,'ab','',NULL,NULL,'','',1,'',NULL,40,NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES(2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','',NULL,NULL,'','',-1,'',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "outcomes" VALUES(13,500000000,0,NULL,400000000,NULL,NULL,NULL,NULL,NULL,NULL,'ab','',NULL,NULL,'','',1,'',NULL,40,NULL,NULL,NULL);
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
CREATE TABLE progress_points(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL,
  PRIMARY KEY(experiment, number),
  UNIQUE(experiment, name, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "progress_points" VALUES(1,0,'round',1);
CREATE TABLE quarantines(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  reason TEXT NOT NULL,
  PRIMARY KEY(experiment, subject, cell)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "regions" VALUES(1,0,1,1,'/src/a.c',12,'spin',345);
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
INSERT INTO "responses" VALUES(1,'cycles',NULL,NULL,NULL,NULL,'no PMU');
INSERT INTO "responses" VALUES(1,'task-clock',1.5,15,20,20,'');
INSERT INTO "responses" VALUES(13,'cycles',NULL,NULL,NULL,NULL,'no PMU');
INSERT INTO "responses" VALUES(13,'task-clock',1.5,15,20,20,'');
CREATE TABLE samples(
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  region INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  cpu_ns INTEGER NOT NULL,
  PRIMARY KEY(trial, region)
) STRICT, WITHOUT ROWID;
INSERT INTO "samples" VALUES(1,1,800,800000000);
CREATE TABLE shares(
  uid INTEGER PRIMARY KEY,
  used_ns REAL NOT NULL,
  at_ns INTEGER NOT NULL
) STRICT;
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
CREATE TABLE stretches(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  first_block INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  PRIMARY KEY(experiment, first_block)
) STRICT, WITHOUT ROWID;
INSERT INTO "stretches" VALUES(1,0,2);
CREATE TABLE subjects(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  workload TEXT NOT NULL,
  PRIMARY KEY(experiment, subject)
) STRICT, WITHOUT ROWID;
INSERT INTO "subjects" VALUES(1,0,'lua/fib','lua','fib');
INSERT INTO "subjects" VALUES(1,1,'bzip2','bzip2','bzip2');
CREATE TABLE trial_counts(
  experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
  kind TEXT NOT NULL,
  superseded INTEGER NOT NULL,
  state TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY(experiment, kind, superseded, state)
) STRICT, WITHOUT ROWID;
INSERT INTO "trial_counts" VALUES(1,'main',0,'claimed',1);
INSERT INTO "trial_counts" VALUES(1,'main',0,'planned',5);
INSERT INTO "trial_counts" VALUES(1,'main',0,'recorded',2);
INSERT INTO "trial_counts" VALUES(1,'main',1,'failed',1);
INSERT INTO "trial_counts" VALUES(1,'preflight',0,'planned',4);
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
  failure TEXT NOT NULL DEFAULT '', layout INTEGER NOT NULL DEFAULT 0,
  UNIQUE(experiment, kind, position, attempt),
  FOREIGN KEY(experiment, subject) REFERENCES subjects,
  FOREIGN KEY(experiment, cell) REFERENCES cells
) STRICT;
INSERT INTO "trials" VALUES(1,1,'main',0,1,0,'recorded',0,0,0,0,0,0,1,-1152921504606846976,'boot-1',500,1000,2000,'',1);
INSERT INTO "trials" VALUES(2,1,'main',1,1,1,'failed',0,1,0,0,0,0,0,-1152921504606846975,'boot-1',500,600,0,'exit status 1, expected 0',4294967297);
INSERT INTO "trials" VALUES(3,1,'main',2,1,0,'claimed',1,0,0,0,0,0,1,-1152921504606846974,'boot-1',500,0,0,'',1);
INSERT INTO "trials" VALUES(4,1,'main',3,1,0,'planned',1,1,0,0,0,0,0,-1152921504606846973,'',0,0,0,'',4294967297);
INSERT INTO "trials" VALUES(5,1,'main',4,1,0,'planned',0,0,0,1,0,0,1,-1152921504606846972,'',0,0,0,'',1);
INSERT INTO "trials" VALUES(6,1,'main',5,1,0,'planned',0,1,0,1,0,0,0,-1152921504606846971,'',0,0,0,'',4294967298);
INSERT INTO "trials" VALUES(7,1,'main',6,1,0,'planned',1,0,0,1,0,0,1,-1152921504606846970,'',0,0,0,'',1);
INSERT INTO "trials" VALUES(8,1,'main',7,1,0,'planned',1,1,0,1,0,0,0,-1152921504606846969,'',0,0,0,'',4294967298);
INSERT INTO "trials" VALUES(9,1,'preflight',0,1,0,'planned',0,0,0,0,0,0,1,-1152921504606846976,'',0,0,0,'',1);
INSERT INTO "trials" VALUES(10,1,'preflight',1,1,0,'planned',0,1,0,0,0,0,0,-1152921504606846975,'',0,0,0,'',4294967297);
INSERT INTO "trials" VALUES(11,1,'preflight',2,1,0,'planned',1,0,0,0,0,0,1,-1152921504606846974,'',0,0,0,'',1);
INSERT INTO "trials" VALUES(12,1,'preflight',3,1,0,'planned',1,1,0,0,0,0,0,-1152921504606846973,'',0,0,0,'',4294967297);
INSERT INTO "trials" VALUES(13,1,'main',1,2,0,'recorded',0,1,0,0,0,0,0,-1152921504606846975,'boot-1',500,1000,2000,'',4294967297);
CREATE TABLE usage(
  experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
  uid INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  machine_ns INTEGER NOT NULL
) STRICT;
INSERT INTO "usage" VALUES(1,1000,8,1626,0);
CREATE TABLE window_counts(
  trial INTEGER NOT NULL,
  window INTEGER NOT NULL,
  point INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  inside_ns INTEGER NOT NULL,
  PRIMARY KEY(trial, window, point),
  FOREIGN KEY(trial, window) REFERENCES windows ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "window_counts" VALUES(1,0,0,70,0);
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
INSERT INTO "windows" VALUES(1,0,4,0,1,1,250,0,10,250000000,240000000,230000000,5,5,0,0,0,240,100,100000000,2,2,3,1);
CREATE TABLE wishes(
  experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
  wish TEXT NOT NULL CHECK(wish IN ('cancel','pause','delete')),
  at_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX trials_by_state ON trials(experiment, kind, superseded, state, position);
CREATE UNIQUE INDEX trials_recorded_once ON trials(experiment, kind, position) WHERE state = 'recorded';
CREATE INDEX events_by_experiment ON events(experiment, id);
CREATE INDEX usage_by_uid ON usage(uid);
CREATE INDEX experiments_shown ON experiments(submitter_uid, name, id, state, failure, priority, submitted_at_ns,
                                              finished_at_ns, schedule_version, replicates);
CREATE VIEW progress AS
SELECT e.name AS experiment, e.id AS experiment_id, e.state, t.state AS trials, count(*) AS number
FROM experiments e JOIN trials t ON t.experiment = e.id
WHERE t.kind = 'main' AND t.superseded = 0
GROUP BY e.id, t.state;
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
CREATE UNIQUE INDEX parts_recorded_once ON parts(experiment, block) WHERE fate = 'recorded';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('experiments',1);
INSERT INTO "sqlite_sequence" VALUES('trials',13);
COMMIT;
