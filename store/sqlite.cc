// SQLite's C interface turned into Results. Error codes are mapped once, here: callers decide by ErrorCode.
#include "store/sqlite.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <time.h>

#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/printable.h"
#include "store/database_files.h"

namespace stab::store {
namespace {

// Readers never wait in WAL mode; a writer waits only for somebody who writes by hand with sqlite3.
constexpr int kBusyMs = 2000;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kCorrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return ErrorCode::kDenied;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE: return ErrorCode::kInternal;
    default: return ErrorCode::kSystem;
  }
}

// Instructions of SQLite's machine between two looks at the clock: some 100 us.
constexpr int kBetweenLooks = 10000;

// What a write or an allocation that failed may have met: how large files may grow for whom started this. Empty: as they like.
std::string size_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return "; files may grow to " + std::to_string(limit.rlim_cur / 1024) +
         " KiB here, which it may have met: 'ulimit -f' shows that limit; raise it";
}

Error make_error(int code, std::string message) {
  const std::string limit = code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE ? size_limit() : std::string();
  message += limit;
  // Of a file beside the database that could not be made as large as it must be.
  if (code == SQLITE_IOERR_SHMSIZE && limit.empty()) message += "; its file system may be full: free space on it";
  if ((code & 0xff) == SQLITE_FULL) message += "; free space on the database's file system";
  if ((code & 0xff) == SQLITE_CORRUPT)
    message += "; it is damaged: 'sqlite3 COPY .recover | sqlite3 NEW' saves what a copy of it still holds";
  if ((code & 0xff) == SQLITE_NOTADB) message += "; move it away, or name another file";
  // What could not be opened may be a journal, which then counts as one to be rolled back.
  const bool is_unfinished = code == SQLITE_READONLY_ROLLBACK;
  const std::string refusal = (code & 0xff) == SQLITE_CANTOPEN || is_unfinished ? take_refusal() : std::string();
  if (!refusal.empty()) {
    message += "; " + refusal;
  } else if (is_unfinished) {
    // Of a new database of ours alone: SQLite makes its first change before it writes ahead
    // (https://www.sqlite.org/rescode.html). A stranger's is not to be opened for writing, which does what the journal says.
    message +=
        "; a journal next to it shows that the program that made it was killed before it was complete: if it is yours, 'stabctl "
        "resume' or the next 'stabctl run' repairs it, otherwise ask its owner for a file that 'stabctl bundle EXPERIMENT FILE' "
        "makes";
  }
  if (code_of(code) == ErrorCode::kBusy) message += "; another program writes to it, close it";
  return {code_of(code), std::move(message), {}};
}

// The path as SQLite takes it for a file's: "file:x" would be an address and ":memory:" nothing on a disk.
std::string as_path(const std::string& path) { return path.starts_with("file:") || path.starts_with(':') ? "./" + path : path; }

// https://www.sqlite.org/uri.html
std::string uri_of(const std::string& path, const char* options) {
  std::string uri = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    constexpr char kHex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#') uri.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    else uri += c;
  }
  return uri + "?" + options;
}

// "database 'lab.db'"; one in memory has no name.
std::string called(sqlite3* database) {
  const char* path = sqlite3_db_filename(database, "main");
  return path != nullptr && *path != 0 ? "database '" + std::string(path) + "'" : "database";
}

}  // namespace

std::string unknown_word(std::string_view column, std::string_view word) {
  constexpr size_t kShown = 40;
  return "the database has '" + one_line(word.substr(0, kShown)) + "' in a column '" + std::string(column) +
         "', which is none of its words; another program has changed it";
}

std::string unknown_number(std::string_view column, int64_t number) {
  return "the database has " + std::to_string(number) + " in a column '" + std::string(column) +
         "', which is none of its numbers; another program has changed it";
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_, next_parameter_++, value)) bind_error_ = code;
  return *this;
}

Statement& Statement::bind(double value) {
  if (const int code = sqlite3_bind_double(statement_, next_parameter_++, value)) bind_error_ = code;
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  const char* data = value.data() ? value.data() : "";  // a null pointer would bind NULL
  if (const int code = sqlite3_bind_text64(statement_, next_parameter_++, data, value.size(), SQLITE_TRANSIENT,
                                           SQLITE_UTF8))
    bind_error_ = code;
  return *this;
}

Statement& Statement::bind_bytes(std::string_view value) {
  const char* data = value.data() ? value.data() : "";
  if (const int code = sqlite3_bind_blob64(statement_, next_parameter_++, data, value.size(), SQLITE_TRANSIENT))
    bind_error_ = code;
  return *this;
}

Statement& Statement::bind(std::nullopt_t) {
  if (const int code = sqlite3_bind_null(statement_, next_parameter_++)) bind_error_ = code;
  return *this;
}

Result<bool> Statement::step() {
  const int code = bind_error_ ? bind_error_ : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = make_error(code, called(database_) + ": " + sqlite3_errmsg(database_));
  reset();
  return error;
}

Status Statement::run_bound() {
  while (true) {
    STAB_TRY(const bool row, step());
    if (!row) return {};
  }
}

void Statement::reset() {
  sqlite3_reset(statement_);  // repeats the error of the last step, already reported
  sqlite3_clear_bindings(statement_);
  next_parameter_ = 1;
  bind_error_ = 0;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<int64_t> Statement::maybe_integer(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::optional<double> Statement::maybe_number(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

std::string Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data ? std::string(data, static_cast<size_t>(sqlite3_column_bytes(statement_, column))) : std::string();
}

std::string Statement::name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name ? name : "";  // null: no memory
}

std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_text(statement_, column);
  if (!data) return {};
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Database::Database(sqlite3* handle) : handle_(handle), wal_pages_(std::make_unique<int>(0)) {
  sqlite3_busy_timeout(handle_, kBusyMs);
  sqlite3_extended_result_codes(handle_, 1);
  // What a file's schema says is text of whoever made the file.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Replaces SQLite's own checkpoint at 1000 pages: we choose the moment (see Store::checkpoint).
  sqlite3_wal_hook(
      handle_,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      wal_pages_.get());
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      wal_pages_(std::move(other.wal_pages_)),
      statements_(std::move(other.statements_)) {}

Database& Database::operator=(Database&& other) noexcept {
  close();
  handle_ = std::exchange(other.handle_, nullptr);
  wal_pages_ = std::move(other.wal_pages_);
  statements_ = std::move(other.statements_);
  return *this;
}

Database::~Database() { close(); }

void Database::close() {
  statements_.clear();
  if (handle_) sqlite3_close_v2(handle_);
  handle_ = nullptr;
}

Result<Database> Database::open(const std::string& path, Mode mode, const char* vfs) {
  sqlite3* handle = nullptr;
  const int flags = (mode == Mode::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const std::string name = mode == Mode::kImmutable ? uri_of(path, "immutable=1") : as_path(path);
  (void)take_refusal();
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, vfs != nullptr ? vfs : careful_vfs());
  if (code != SQLITE_OK) {
    const int errno_value = handle ? sqlite3_system_errno(handle) : 0;
    std::string why = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    sqlite3_close_v2(handle);
    if (const std::string refusal = take_refusal(); !refusal.empty())
      return Error{ErrorCode::kDenied, "open database '" + path + "': " + refusal, {}};
    if (errno_value != 0) return system_error("open database '" + path + "'", errno_value);
    return make_error(code, "open database '" + path + "': " + why);
  }
  return Database(handle);
}

Status Database::attach(const std::string& path, Attach how) {
  const bool in_memory = path == ":memory:";  // only we say so
  const std::string name = how == Attach::kNew        ? (in_memory ? path : as_path(path))
                           : how == Attach::kReadOnly ? uri_of(path, "mode=ro")
                                                      : uri_of(path, "immutable=1");
  STAB_TRY(Statement * attach, prepare("ATTACH DATABASE ? AS other"));
  return attach->bind(name).run();
}

Error Database::error(std::string_view what) const {
  return make_error(sqlite3_extended_errcode(handle_), std::string(what) + ": " + sqlite3_errmsg(handle_));
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error(called(handle_));
}

Result<Statement*> Database::prepare(std::string_view sql) {
  if (const auto at = statements_.find(sql); at != statements_.end()) {
    at->second->reset();
    return at->second.get();
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK)
    return error(called(handle_));
  auto& slot = statements_[std::string(sql)];
  slot = std::make_unique<Statement>(handle_, statement);
  return slot.get();
}

void Database::let_triggers_run(bool run) { sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, run ? 1 : 0, nullptr); }

int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }
int64_t Database::changes() const { return sqlite3_changes64(handle_); }
bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Status Database::atomically(const std::function<Status()>& body) {
  const bool nested = in_transaction();
  STAB_CHECK_OK(execute(nested ? "SAVEPOINT operation" : "BEGIN IMMEDIATE"));
  Status done = body();
  if (done) done = execute(nested ? "RELEASE operation" : "COMMIT");
  if (done || !in_transaction()) return done;  // SQLite rolls back by itself on some errors
  (void)execute(nested ? "ROLLBACK TO operation; RELEASE operation" : "ROLLBACK");
  return done;
}

bool Database::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

Status Database::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return error("checkpoint");
  *wal_pages_ = 0;  // the next commit counts anew
  return {};
}

Status Database::backup(const std::string& path) {
  STAB_TRY(Database target, open(path, Mode::kCreate, nullptr));
  return copy_to(target);
}

Status Database::copy_to(Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (!backup) return target.error("copy");
  const int step = sqlite3_backup_step(backup, -1);
  const int finish = sqlite3_backup_finish(backup);
  if (step != SQLITE_DONE || finish != SQLITE_OK) return target.error("copy");
  return {};
}

WorkLimit::WorkLimit(std::chrono::nanoseconds cpu_time, int value_bytes)
    : until_(thread_cpu_time() + cpu_time), value_bytes_(value_bytes) {}

Bounded::Bounded(Database& database, WorkLimit& limit)
    : database_(&database), value_bytes_before_(sqlite3_limit(database.handle_, SQLITE_LIMIT_LENGTH, limit.value_bytes_)) {
  sqlite3_progress_handler(
      database.handle_, kBetweenLooks,
      [](void* of) {
        auto& work = *static_cast<WorkLimit*>(of);
        work.was_met_ = work.was_met_ || thread_cpu_time() > work.until_;
        return work.was_met_ ? 1 : 0;
      },
      &limit);
}

Bounded::~Bounded() {
  sqlite3_progress_handler(database_->handle_, 0, nullptr, nullptr);
  sqlite3_limit(database_->handle_, SQLITE_LIMIT_LENGTH, value_bytes_before_);
}

}  // namespace stab::store
