// A transaction is begun as IMMEDIATE, so that two gates of one stream that end at the same moment are judged one after the
// other: the second one sees what the first has called.
#include "store/logbook.h"

#include <cmath>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/wording.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace stab::store {
namespace {

constexpr char kTables[] = R"sql(
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY,
  boot TEXT NOT NULL,
  day TEXT NOT NULL,
  machine TEXT NOT NULL,
  UNIQUE(boot, day)
) STRICT;
CREATE TABLE controls(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions,
  commit_id TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  workload TEXT NOT NULL,
  response TEXT NOT NULL,
  difference REAL NOT NULL,
  standard_error REAL NOT NULL CHECK(standard_error > 0),
  df REAL NOT NULL CHECK(df > 0),
  blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE streams(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  rate REAL NOT NULL,
  tests INTEGER NOT NULL
) STRICT;
CREATE TABLE hypotheses(
  stream INTEGER NOT NULL REFERENCES streams,
  number INTEGER NOT NULL CHECK(number > 0),
  base TEXT NOT NULL,
  head TEXT NOT NULL,
  log_e REAL NOT NULL,
  called_at_ns INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(stream, number),
  UNIQUE(stream, base, head)
) STRICT, WITHOUT ROWID;
CREATE TABLE gates(
  id INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,
  number INTEGER NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions,
  at_ns INTEGER NOT NULL,
  workload TEXT NOT NULL,
  response TEXT NOT NULL,
  difference REAL NOT NULL,
  standard_error REAL NOT NULL CHECK(standard_error > 0),
  df REAL NOT NULL CHECK(df > 0),
  blocks INTEGER NOT NULL,
  FOREIGN KEY(stream, number) REFERENCES hypotheses
) STRICT;
CREATE INDEX gates_of_a_pair ON gates(stream, number);
)sql";

Result<LogbookFinding> finding(const Statement& row) {
  LogbookFinding out;
  Columns columns(row);
  columns.into(out.session, out.workload, out.response, out.difference, out.standard_error, out.df, out.blocks);
  return columns.made(out);
}

// Numbers that no control or gate has: another program has written them, or a disk has changed them.
Status check_numbers(const std::vector<LogbookFinding>& findings, const std::string& path) {
  constexpr double kLeastError = 1e-100;  // weights are one over its square
  for (const LogbookFinding& one : findings) {
    const bool is_good = std::isfinite(one.difference) && std::isfinite(one.standard_error) &&
                         one.standard_error >= kLeastError &&
                         std::isfinite(one.df) && one.df > 2;
    if (!is_good)
      return Error{ErrorCode::kCorrupt,
                   "the logbook '" + path + "' is damaged: what session " + std::to_string(one.session) + " says of " +
                       in_quotes(one.workload) + " (" + one_line(one.response) + ") is no finite difference with an error; " +
                       "move the file away, or take the one of a backup",
                   {}};
  }
  return {};
}

constexpr char kControls[] =
    "SELECT session, workload, response, difference, standard_error, df, blocks FROM controls ORDER BY session, id";

Status make_tables(Database& database) {
  STAB_CHECK_OK(database.execute(kTables));
  STAB_CHECK_OK(database.execute(("PRAGMA application_id = " + std::to_string(kLogbookApplicationId)).c_str()));
  return database.execute(("PRAGMA user_version = " + std::to_string(kLogbookVersion)).c_str());
}

}  // namespace

struct Logbook::State {
  Database database;
  std::string path;

  Result<int64_t> session_number(const LogbookSession& session) {
    STAB_TRY(Statement * add,
             database.prepare("INSERT INTO sessions(boot, day, machine) VALUES(?, ?, ?) ON CONFLICT DO NOTHING"));
    STAB_CHECK_OK(add->run(session.boot, session.day, session.machine));
    return database.integer("SELECT id FROM sessions WHERE boot = ? AND day = ?", session.boot, session.day);
  }

  // 0: it has not begun.
  Result<int64_t> begun_stream(const StreamName& stream) {
    struct Row {
      int64_t id = 0, tests = 0;
      double rate = 0;
    };
    const auto read = [](const Statement& row) -> Result<Row> {
      Row out;
      return Columns(row).into(out.id, out.tests, out.rate).made(out);
    };
    STAB_TRY(const auto row, database.select_one("SELECT id, tests, rate FROM streams WHERE name = ?", read, stream.name));
    if (!row) return 0;
    constexpr double kSame = 1e-12;
    if (row->tests == stream.tests && std::fabs(row->rate - stream.rate) < kSame) return row->id;
    return bad_input("the stream '" + stream.name + "' of '" + path + "' began with fdr = " + number_text(row->rate) +
                     " and tests = " + std::to_string(row->tests) +
                     ", on which its verdicts rest; write those, or give the stream another name");
  }

  Result<int64_t> stream_number(const StreamName& stream) {
    STAB_TRY(Statement * add, database.prepare("INSERT INTO streams(name, rate, tests) VALUES(?, ?, ?) ON CONFLICT DO NOTHING"));
    STAB_CHECK_OK(add->run(stream.name, stream.rate, stream.tests));
    return begun_stream(stream);
  }
};

Logbook::Logbook(std::unique_ptr<State> state) : state_(std::move(state)) {}
Logbook::Logbook(Logbook&&) noexcept = default;
Logbook& Logbook::operator=(Logbook&&) noexcept = default;
Logbook::~Logbook() = default;

Result<Logbook> Logbook::open(const std::string& path, Access access, const char* vfs) {
  const bool writer = access == Access::kWrite;
  STAB_TRY(Database database, Database::open(path, writer ? Database::Mode::kCreate : Database::Mode::kReadOnly, vfs));
  State state{std::move(database), path};
  STAB_CHECK_OK(state.database.execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL"));
  const auto check = [&]() -> Status {
    STAB_TRY(const int64_t application, state.database.integer("PRAGMA application_id"));
    STAB_TRY(const int64_t objects, state.database.integer("SELECT count(*) FROM sqlite_schema"));
    if (application == 0 && objects == 0 && writer) return make_tables(state.database);  // a new file
    if (application != kLogbookApplicationId)
      return Error{ErrorCode::kCorrupt, "'" + path + "' is no logbook; choose another path", {}};
    STAB_TRY(const int64_t version, state.database.integer("PRAGMA user_version"));
    if (version == kLogbookVersion) return {};
    return Error{ErrorCode::kUnavailable,
                 "the logbook '" + path + "' has version " + std::to_string(version) + ", this program knows " +
                     std::to_string(kLogbookVersion) + "; use the newer version of Stab that made it",
                 {}};
  };
  STAB_CHECK_OK(writer ? state.database.atomically(check) : check());
  return Logbook(std::make_unique<State>(std::move(state)));
}

Status Logbook::add_control(const LogbookSession& session, const std::string& commit, int64_t at_ns,
                            const std::vector<LogbookFinding>& findings) {
  return state_->database.atomically([&]() -> Status {
    STAB_TRY(const int64_t number, state_->session_number(session));
    STAB_TRY(Statement * add,
             state_->database.prepare(
                 "INSERT INTO controls(session, commit_id, at_ns, workload, response, difference, standard_error, df, "
                 "blocks) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const LogbookFinding& one : findings)
      STAB_CHECK_OK(
          add->run(number, commit, at_ns, one.workload, one.response, one.difference, one.standard_error, one.df, one.blocks));
    return {};
  });
}

Result<std::vector<LogbookFinding>> Logbook::controls() {
  STAB_TRY(std::vector<LogbookFinding> out, state_->database.select(kControls, finding));
  STAB_CHECK_OK(check_numbers(out, state_->path));
  return out;
}

Result<std::vector<LoggedGate>> Logbook::gates() {
  const auto read = [](const Statement& row) -> Result<LoggedGate> {
    LoggedGate out;
    Columns columns(row);
    columns.into(out.stream, out.base, out.head, out.log_e, out.called, out.found.session, out.found.workload, out.found.response,
                 out.found.difference, out.found.standard_error, out.found.df, out.found.blocks);
    return columns.made(out);
  };
  STAB_TRY(std::vector<LoggedGate> out,
           state_->database.select(
               "SELECT name, base, head, log_e, called_at_ns > 0, session, workload, response, difference, standard_error, df, "
               "blocks FROM gates JOIN hypotheses USING(stream, number) JOIN streams ON streams.id = stream ORDER BY gates.id",
               read));
  std::vector<LogbookFinding> found;
  for (const LoggedGate& one : out) found.push_back(one.found);
  STAB_CHECK_OK(check_numbers(found, state_->path));
  return out;
}

Result<std::map<int64_t, LogbookSession>> Logbook::sessions() {
  using Numbered = std::pair<int64_t, LogbookSession>;
  const auto read = [](const Statement& row) -> Result<Numbered> {
    Numbered out;
    return Columns(row).into(out.first, out.second.boot, out.second.day, out.second.machine).made(out);
  };
  STAB_TRY(const std::vector<Numbered> rows, state_->database.select("SELECT id, boot, day, machine FROM sessions", read));
  return std::map<int64_t, LogbookSession>(rows.begin(), rows.end());
}

Status Logbook::check_stream(const StreamName& stream) {
  STAB_TRY([[maybe_unused]] const int64_t number, state_->begun_stream(stream));
  return {};
}

Status Logbook::judge(const StreamName& name, const CommitPair& pair, const LogbookSession& session, int64_t at_ns,
                      const std::function<Result<StreamVerdict>(const StreamState&)>& judge) {
  Database& database = state_->database;
  return state_->database.atomically([&]() -> Status {
    STAB_TRY(const int64_t stream, state_->stream_number(name));
    StreamState seen;
    STAB_TRY(seen.session, state_->session_number(session));
    STAB_TRY(const int64_t own, database.integer("SELECT number FROM hypotheses WHERE stream = ? AND base = ? AND head = ?",
                                                 stream, pair.base, pair.head));
    STAB_TRY(const int64_t last, database.integer("SELECT max(number) FROM hypotheses WHERE stream = ?", stream));
    seen.number = own > 0 ? own : last + 1;
    STAB_TRY(seen.called_before,
             database.integer("SELECT count(*) FROM hypotheses WHERE stream = ? AND called_at_ns > 0 AND number <> ?", stream,
                              seen.number));
    STAB_TRY(const int64_t called_at,
             database.integer("SELECT called_at_ns FROM hypotheses WHERE stream = ? AND number = ?", stream, seen.number));
    seen.called = called_at > 0;
    STAB_TRY(seen.earlier,
             database.select("SELECT session, workload, response, difference, standard_error, df, blocks FROM gates "
                             "WHERE stream = ? AND number = ? ORDER BY id",
                             finding, stream, seen.number));
    STAB_CHECK_OK(check_numbers(seen.earlier, state_->path));
    STAB_TRY(seen.controls, controls());
    STAB_TRY(const StreamVerdict verdict, judge(seen));
    if (verdict.findings.empty()) return {};
    STAB_TRY(Statement * put,
             database.prepare("INSERT INTO hypotheses(stream, number, base, head, log_e, called_at_ns) VALUES(?, ?, ?, "
                              "?, ?, ?) ON CONFLICT(stream, number) DO UPDATE SET log_e = excluded.log_e, "
                              "called_at_ns = max(called_at_ns, excluded.called_at_ns)"));
    STAB_CHECK_OK(put->run(stream, seen.number, pair.base, pair.head, verdict.log_e,
                           seen.called ? called_at : verdict.called ? at_ns : int64_t{0}));
    STAB_TRY(Statement * add,
             database.prepare("INSERT INTO gates(stream, number, session, at_ns, workload, response, difference, "
                              "standard_error, df, blocks) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const LogbookFinding& one : verdict.findings)
      STAB_CHECK_OK(add->run(stream, seen.number, seen.session, at_ns, one.workload, one.response, one.difference,
                             one.standard_error, one.df, one.blocks));
    return {};
  });
}

}  // namespace stab::store
