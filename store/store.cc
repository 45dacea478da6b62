// Opening, transactions, care of the file. Experiments are in experiments.cc, trials in trials.cc, what the
// analysis and people read in reading.cc, the schema in schema.cc.
//
// Durability: WAL with synchronous=FULL syncs the log at every commit, so what an operation returned from
// survives power loss. Moving the log into the file (a checkpoint) costs syncs of its own; it happens only in
// operations that the engine calls between trials, never in a submit, which may come while one is measured.
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "store/database_files.h"
#include "store/schema.h"
#include "store/store_state.h"
#include "store/unwritable_place.h"
#include "store/writer.h"

namespace stab::store {
namespace {

// 4 MiB of 4 KiB pages, SQLite's own default: large enough to be rare, small enough to read past quickly.
constexpr int kCheckpointPages = 1000;

std::string writer_lock_of(const std::string& path) { return path + ".writer"; }

struct WriterLock {
  UniqueFd fd;
  bool is_new = false;  // there was no such file before
};

// One writer a database. flock: released by the kernel however the writer ends, not inherited by exec.
Result<WriterLock> lock_for_writing(const std::string& path) {
  const std::string lock_path = writer_lock_of(path);
  WriterLock lock{UniqueFd(open_carefully(lock_path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0640)), true};
  if (!lock.fd && errno == EEXIST) lock = {UniqueFd(open_carefully(lock_path.c_str(), O_RDWR | O_CREAT, 0640)), false};
  if (!lock.fd) {
    const int why = errno;
    if (const std::string refusal = take_refusal(); !refusal.empty()) return Error{ErrorCode::kDenied, refusal, {}};
    Error error = system_error("open '" + lock_path + "'", why);
    if (error.code == ErrorCode::kDenied || why == EROFS)
      error.message += kWritableCure;
    return error;
  }
  if (::flock(lock.fd.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return system_error("lock '" + lock_path + "'", errno);
  return Error{ErrorCode::kBusy,
               "another engine writes to '" + path + "'; wait for it, or give this one another database", {}};
}

// Nothing of it is another program's, or of another owner.
Status check_is_ours(Database& database) {
  STAB_CHECK_OK(check_owner(database));
  return check_kinds(database);
}

Status set_up(Database& database, bool writer) {
  STAB_CHECK_OK(database.execute("PRAGMA foreign_keys = ON"));
  if (!writer) return {};
  STAB_CHECK_OK(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  return {};
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path, Access access, const char* vfs) {
  const bool writer = access == Access::kWrite;
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (!writer && !is_there) return system_error("open database '" + path + "'", errno);
  if (is_there && !S_ISREG(status.st_mode)) return bad_input("'" + path + "' is no regular file; name a database");
  WriterLock lock;
  if (writer) {
    STAB_TRY(lock, lock_for_writing(path));
  }
  bool is_copy = !writer && needs_unwritable_files(path);
  STAB_TRY(Database database, is_copy ? copy_of_unwritable(path, vfs)
                                      : Database::open(path, writer ? Database::Mode::kCreate : Database::Mode::kReadOnly, vfs));
  // The owner is checked before anything is written: WAL mode alone changes the file's header.
  const Status is_ours = check_is_ours(database);
  if (!is_ours && lock.is_new) ::unlink(writer_lock_of(path).c_str());  // whatever it is, nothing is left beside it
  STAB_CHECK_OK(is_ours);
  STAB_CHECK_OK(set_up(database, writer));
  if (writer) {
    STAB_CHECK_OK(migrate(database));
  } else {
    STAB_TRY(const bool current, is_current(database));
    if (!current) {
      STAB_TRY(database, migrated_copy(database));
      is_copy = true;
    }
    // What is written to it would be lost, and must fail as in a file that is open for reading.
    if (is_copy) STAB_CHECK_OK(database.execute("PRAGMA query_only = ON"));
  }
  return Store(std::make_unique<State>(State{std::move(database), std::move(lock.fd), path, is_copy}));
}

bool has_writer(const std::string& path) {
  const UniqueFd fd(open_carefully(writer_lock_of(path).c_str(), O_RDONLY, 0));
  if (!fd) return errno != ENOENT;
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

// --- transactions ----------------------------------------------------------------------------------------

Status Store::State::atomically(const std::function<Status()>& body) { return database.atomically(body); }

Status Store::State::checkpoint_if_large() {
  if (database.in_transaction() || database.wal_pages() < kCheckpointPages) return {};
  return database.checkpoint();
}

Result<Transaction> Store::begin() {
  if (state_->database.in_transaction())
    return Error{ErrorCode::kInternal, "a transaction is open already; they don't nest", {}};
  STAB_CHECK_OK(state_->database.execute("BEGIN IMMEDIATE"));
  return Transaction(this);
}

Transaction::~Transaction() {
  if (store_ && store_->state_->database.in_transaction()) (void)store_->state_->database.execute("ROLLBACK");
}

Status Transaction::commit() {
  Store* store = std::exchange(store_, nullptr);
  if (!store) return Error{ErrorCode::kInternal, "this transaction is over", {}};
  Status done = store->state_->database.execute("COMMIT");
  if (!done && store->state_->database.in_transaction()) (void)store->state_->database.execute("ROLLBACK");
  return done;
}

// --- care ------------------------------------------------------------------------------------------------

Result<std::vector<std::string>> Store::check() {
  std::vector<std::string> problems;
  // Each query lists what must not exist; the first column is shown.
  const std::pair<const char*, const char*> checks[] = {
      {"PRAGMA integrity_check", ""},
      {"SELECT \"table\" || ' row ' || rowid || ' refers to nothing in ' || parent FROM pragma_foreign_key_check", ""},
      {"SELECT experiment || '/' || kind || '/' || position FROM trials WHERE state = 'recorded' "
       "GROUP BY experiment, kind, position HAVING count(*) > 1",
       "recorded more than once: place "},
      {"SELECT experiment || '/' || kind || '/' || position FROM trials GROUP BY experiment, kind, position "
       "HAVING max(attempt) <> count(*) OR min(attempt) <> 1",
       "attempts don't count from 1 without gaps: place "},
      {"SELECT experiment || '/' || kind || '/' || position FROM trials GROUP BY experiment, kind, position "
       "HAVING sum(superseded = 0) <> 1 OR max(attempt) <> max(CASE WHEN superseded = 0 THEN attempt END)",
       "its latest attempt is not the valid one: place "},
      {"SELECT t.id FROM trials t LEFT JOIN outcomes o ON o.trial = t.id "
       "WHERE (t.state IN ('recorded','failed','timeout','lost')) <> (o.trial IS NOT NULL)",
       "result and state disagree: trial "},
      {"SELECT id FROM trials WHERE superseded = 1 AND state IN ('planned','claimed','started','exited','verified')",
       "superseded but not over: trial "},
      {"SELECT experiment || '/' || kind || '/' || state FROM (SELECT experiment, kind, superseded, state, number AS n FROM "
       "trial_counts "
       "UNION ALL SELECT experiment, kind, superseded, state, -count(*) FROM trials GROUP BY experiment, kind, superseded, "
       "state) "
       "GROUP BY experiment, kind, superseded, state HAVING sum(n) <> 0",
       "counted wrongly: trials of "},
      {"SELECT r.trial FROM responses r JOIN trials t ON t.id = r.trial WHERE t.state = 'planned' GROUP BY r.trial",
       "planned but has responses: trial "},
  };
  for (const auto& [query, prefix] : checks) {
    STAB_TRY(const std::vector<std::string> found, state_->database.select(query, first_text));
    for (const std::string& text : found)
      if (text != "ok") problems.push_back(prefix + text);
  }
  return problems;
}

Status Store::backup(const std::string& path) {
  std::error_code code;
  if (std::filesystem::exists(path, code)) return bad_input("backup '" + path + "' exists already; choose another path");
  // Under its own name only once it is whole: what a full disk or a kill ends is no backup.
  const std::string part = path + ".part-" + std::to_string(::getpid());
  if (std::filesystem::exists(part, code)) return bad_input("'" + part + "' exists already; remove it");
  Status done = state_->database.backup(part);
  if (!done) done = Error{done.error().code, "backup to '" + path + "': " + done.error().message, {}};
  else if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    done = system_error("backup to '" + path + "'", errno);
  for (const char* end : {"", "-wal", "-shm", "-journal"}) ::unlink((part + end).c_str());
  return done;
}

Status Store::vacuum() {
  STAB_CHECK_OK(state_->database.execute("VACUUM"));
  return state_->database.checkpoint();
}

Status Store::check_in_place() {
  if (!state_->database.has_moved()) return {};
  return Error{ErrorCode::kCorrupt,
               "the database '" + state_->path +
                   "' was removed, moved or replaced while it was open, so what is measured from now on "
                   "would be lost: put it back, or start with a new one, and begin anew",
               {}};
}

Status Store::checkpoint() { return state_->database.checkpoint(); }

Error not_found(std::string_view what, Id id) {
  return {ErrorCode::kNotFound, std::string(what) + " " + std::to_string(id) + " does not exist", {}};
}

}  // namespace stab::store
