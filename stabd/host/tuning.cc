// Every change of the host is undone by replaying the journal backwards, whether we end, fail or are killed:
// the destructor, the next engine and `stabctl machine restore` all do the same thing. Restoring twice does no
// harm. What can't be restored stays in the journal, and is said: after a destructor, by restore_ours().
#include "stabd/host/tuning.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/path_lock.h"
#include "base/unique_fd.h"
#include "base/wording.h"
#include "stabd/host/process_stat.h"
#include "stabd/host/process_tree.h"

namespace stab::host {
namespace {

// Journals of version 1 have no lines but those of files, those of version 2 none that are struck out, and those of version 3 are
// not locked: all are read.
constexpr char kMagic[] = "stab-knobs ";
constexpr int kVersion = 4, kLockedSince = 4;

// A change of the host, as a line of the journal has it.
struct Change {
  enum class Kind { kSetting, kDirectory, kController, kMembers };
  Kind kind = Kind::kSetting;
  std::string path;
  std::string before;  // what the file said, the controller's name, or the group that the members were in; a directory has none
  bool operator==(const Change&) const = default;
};
constexpr std::pair<std::string_view, Change::Kind> kWords[] = {
    {"directory", Change::Kind::kDirectory}, {"controller", Change::Kind::kController}, {"members", Change::Kind::kMembers}};
constexpr std::string_view kStruckOut = "undone";

struct Journal {
  int version = 0;
  std::string boot_id;
  long long pid = 0, start = 0;
  std::vector<Change> changes;
};

// The text before the first tab, and what is behind it.
std::pair<std::string_view, std::string_view> at_tab(std::string_view text) {
  const size_t tab = text.find('\t');
  if (tab == std::string_view::npos) return {text, {}};
  return {text.substr(0, tab), text.substr(tab + 1)};
}

std::optional<Change> change_of(std::string_view line) {
  if (line.find('\t') == std::string_view::npos) return {};
  const auto [first, rest] = at_tab(line);
  for (const auto& [word, kind] : kWords) {
    if (first != word) continue;
    const auto [path, before] = at_tab(rest);
    return Change{kind, std::string(path), std::string(before)};
  }
  return Change{Change::Kind::kSetting, std::string(first), std::string(rest)};
}

std::string line_of(const Change& change) {
  std::string line;
  for (const auto& [word, kind] : kWords)
    if (kind == change.kind) line = std::string(word) + "\t";
  line += change.path;
  return change.kind == Change::Kind::kDirectory ? line : line + "\t" + change.before;
}

long long start_of(const Roots& roots, long long pid) { return read_process_stat(roots, pid).value_or(ProcessStat()).start; }

std::optional<Journal> read_journal(const std::string& path) {
  // Not by read_small_file(), which leaves the end of the last line out.
  std::ifstream lines(path);
  if (!lines) return {};
  Journal journal;
  std::string line;
  if (std::getline(lines, line) && line.rfind(kMagic, 0) == 0) {
    std::istringstream words(line.substr(sizeof kMagic - 1));
    words >> journal.version >> journal.boot_id >> journal.pid >> journal.start;
  }
  // A line that was cut off has no end, and its file was not written: half a value must not be.
  while (std::getline(lines, line) && !lines.eof()) {
    const auto [first, rest] = at_tab(line);
    const bool is_struck_out = first == kStruckOut;
    const std::optional<Change> change = change_of(is_struck_out ? rest : line);
    if (!change) continue;
    if (!is_struck_out) {
      journal.changes.push_back(*change);
      continue;
    }
    const auto last = std::find(journal.changes.rbegin(), journal.changes.rend(), *change);
    if (last != journal.changes.rend()) journal.changes.erase(std::next(last).base());
  }
  return journal;
}

// In a directory of ours. The kernel makes such files with the directory; where it doesn't, nobody reads them.
bool write_new_file(const std::string& path, const std::string& text) {
  const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  return made && write_small_file(path, text);
}

// `fd` is the journal, at its end.
Status write_durably(int fd, const std::string& path, const std::string& text) {
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("write journal '" + path + "'", errno);
  if (::fsync(fd) != 0) return system_error("fsync journal '" + path + "'", errno);
  return {};
}

Status sync_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const UniqueFd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return system_error("fsync '" + parent + "'", errno);
  return {};
}

// One write for each; who is gone by then, or may not be moved (a thread of the kernel), stays. How many could be moved.
int move_members(const std::string& from, const std::string& to) {
  int moved = 0;
  std::istringstream pids(read_small_file(from).value_or(""));
  for (std::string pid; pids >> pid;) moved += write_small_file(to, pid);
  return moved;
}

// A cgroup of ours: empty but for what a dead engine's trials have left.
bool remove_group(const std::string& path) {
  remove_dead_trees(path);
  move_members(path + "/cgroup.procs", std::filesystem::path(path).parent_path().string() + "/cgroup.procs");
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

enum class Undone { kAlready, kNow, kGone, kNot };

// Files of /proc and /sys go with what they set: an interrupt that is freed, a device that is pulled out.
Undone gone_or_not() { return errno == ENOENT || errno == ENODEV || errno == ENXIO ? Undone::kGone : Undone::kNot; }

Undone undo_setting(const std::string& path, const std::string& before) {
  const auto now = read_small_file(path);
  if (!now && gone_or_not() == Undone::kGone) return Undone::kGone;
  if (now && written_form(*now) == before) return Undone::kAlready;
  if (!write_small_file(path, before)) return gone_or_not();
  return written_form(read_small_file(path).value_or("")) == before ? Undone::kNow : Undone::kNot;
}

Undone undo(const Change& change) {
  switch (change.kind) {
    case Change::Kind::kDirectory:
      if (::access(change.path.c_str(), F_OK) != 0) return Undone::kAlready;
      return remove_group(change.path) ? Undone::kNow : Undone::kNot;
    case Change::Kind::kMembers:
      // Who can't be moved is seen when the group is removed: one with members can't be.
      move_members(change.path, change.before);
      return Undone::kNow;
    case Change::Kind::kController:
      return write_small_file(change.path, "-" + change.before) ? Undone::kNow : gone_or_not();
    case Change::Kind::kSetting:
      break;
  }
  return undo_setting(change.path, change.before);
}

// What undo() does, for a person.
std::string by_hand(const Change& change) {
  if (change.kind == Change::Kind::kDirectory) return "remove the cgroup " + in_quotes(change.path);
  const std::string sign = change.kind == Change::Kind::kController ? "-" : "";
  return "write " + in_quotes(sign + change.before) + " to " + in_quotes(change.path);
}

// Of files that say something else than was written to them: one may say so until another is written, and the kernel may take
// the question for an answer (knob watchdogs). So all are written before any is read. Those that still say something else.
std::vector<Change> write_all_again(const std::vector<Change>& changes) {
  const auto is_setting = [](const Change& change) { return change.kind == Change::Kind::kSetting; };
  for (const Change& change : changes)
    if (is_setting(change)) write_small_file(change.path, change.before);
  std::vector<Change> left;
  for (const Change& change : changes)
    if (!is_setting(change) || written_form(read_small_file(change.path).value_or("")) != change.before) left.push_back(change);
  return left;
}

// The journal goes only when everything it names is as it was.
Result<Restored> replay(const Journal& journal, const std::string& path) {
  std::vector<Change> left;
  Restored restored;
  for (auto change = journal.changes.rbegin(); change != journal.changes.rend(); ++change) {
    const Undone undone = undo(*change);
    restored.settings += undone == Undone::kNow;
    if (undone == Undone::kGone) restored.gone.push_back(change->path);
    if (undone == Undone::kNot) left.push_back(*change);
  }
  const size_t before = left.size();
  left = write_all_again(left);
  restored.settings += static_cast<int>(before - left.size());
  std::string failed;
  for (const Change& change : left) failed += (failed.empty() ? "" : ", ") + by_hand(change);
  if (!failed.empty())
    return Error{ErrorCode::kSystem,
                 "could not restore the machine: " + failed + "; as root try 'stabctl machine restore', do it by hand, or "
                     "remove the journal '" + path + "' if it is no longer true",
                 {}};
  if (::unlink(path.c_str()) != 0) return system_error("remove journal '" + path + "'", errno);
  STAB_CHECK_OK(sync_directory(path));
  return restored;
}

bool is_ours(const Roots& roots, const Journal& journal) {
  return journal.pid == ::getpid() && journal.start == start_of(roots, journal.pid);
}

// Of a journal that nobody has locked. Its process may be one that this namespace does not number, but those lock theirs.
bool owner_lives(const Roots& roots, const Journal& journal) {
  return journal.version < kLockedSince && journal.pid > 0 && journal.start >= 0 && start_of(roots, journal.pid) == journal.start;
}

Error busy(long long pid) {
  const std::string who = pid > 0 ? "process " + std::to_string(pid) + " (as its PID namespace numbers it)" : "another engine";
  return {ErrorCode::kBusy, who + " has tuned this machine and still runs", {}};
}

// A journal, if there is one, and its lock, without which it may not be acted upon. kBusy: its owner lives, or another engine is
// replaying it.
struct HeldJournal {
  UniqueFd held;
  std::optional<Journal> journal;
};
Result<HeldJournal> hold_journal(const std::string& path) {
  HeldJournal out;
  out.held.reset(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  // Who may not look at it can't turn anything back either.
  if (!out.held && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return out;
  if (!out.held) return system_error("open journal '" + path + "'", errno);
  if (!lock_path(out.held.get(), path)) {
    if (errno == ENOENT) return HeldJournal();
    if (errno != EWOULDBLOCK) return system_error("lock journal '" + path + "'", errno);
    return busy(read_journal(path).value_or(Journal()).pid);
  }
  out.journal = read_journal(path);
  return out;
}

Result<Restored> replay_or_forget(const Journal& journal, const std::string& path, const std::string& boot_id) {
  if (journal.boot_id == boot_id || journal.boot_id.empty()) return replay(journal, path);
  if (::unlink(path.c_str()) != 0) return system_error("remove journal '" + path + "'", errno);
  return Restored();
}

}  // namespace

std::string default_state() { return "/var/lib/stab-broker"; }

std::string default_journal() { return default_state() + "/knobs.journal"; }

std::string gone_text(const Restored& restored) {
  if (restored.gone.empty()) return {};
  std::string text;
  for (const std::string& path : restored.gone) text += (text.empty() ? "" : ", ") + in_quotes(path);
  const size_t count = restored.gone.size();
  return "; " + std::to_string(count) + (count == 1 ? " is" : " are") + " gone with what was set there: " + text;
}

std::string left_text(const Restored& restored) {
  if (restored.settings == 0 && restored.gone.empty()) return {};
  return std::to_string(restored.settings) + " settings of the host that a dead engine had left" + gone_text(restored);
}

Result<Restored> Tuning::recover(const Roots& roots, const std::string& journal, const std::string& boot_id) {
  STAB_TRY(const HeldJournal found, hold_journal(journal));
  if (!found.journal) return Restored();
  if (found.journal->boot_id == boot_id && owner_lives(roots, *found.journal) && !is_ours(roots, *found.journal))
    return busy(found.journal->pid);
  return replay_or_forget(*found.journal, journal, boot_id);
}

Result<Restored> Tuning::restore(const Roots&, const std::string& journal, const std::string& boot_id) {
  const auto found = read_journal(journal);
  return found ? replay_or_forget(*found, journal, boot_id) : Restored();
}

Result<Restored> Tuning::restore_ours(const Roots& roots, const std::string& journal, const std::string& boot_id) {
  const Result<HeldJournal> found = hold_journal(journal);
  if (!found && found.error().code == ErrorCode::kBusy) return Restored();
  if (!found) return found.error();
  if (!found->journal || found->journal->boot_id != boot_id || !is_ours(roots, *found->journal)) return Restored();
  return replay(*found->journal, journal);
}

Result<Tuning> Tuning::begin(const Roots& roots, const std::string& journal, const std::string& boot_id) {
  STAB_TRY(const Restored left, recover(roots, journal, boot_id));
  (void)left;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(journal).parent_path(), error);
  // Who can't read it can't lock it either.
  UniqueFd held(::open(journal.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!held) return system_error("open journal '" + journal + "'", errno);
  // Whoever looked at it in this moment took it for a dead engine's, which has turned nothing, and removes it.
  if (!lock_path(held.get(), journal))
    return errno == ENOENT || errno == EWOULDBLOCK ? busy(0) : system_error("lock journal '" + journal + "'", errno);
  const std::string head = kMagic + std::to_string(kVersion) + " " + boot_id + " " + std::to_string(::getpid()) + " " +
                           std::to_string(start_of(roots, ::getpid())) + "\n";
  STAB_CHECK_OK(write_durably(held.get(), journal, head));
  STAB_CHECK_OK(sync_directory(journal));
  return Tuning(roots, journal, std::move(held));
}

Tuning::Tuning(Tuning&& other) noexcept
    : roots_(std::move(other.roots_)),
      journal_(std::move(other.journal_)),
      held_(std::move(other.held_)),
      active_(std::exchange(other.active_, false)) {}

// A person may have restored all meanwhile, and another engine have begun: its journal has the same name.
Tuning::~Tuning() {
  if (!active_ || !lock_path(held_.get(), journal_)) return;
  if (const auto journal = read_journal(journal_)) (void)replay(*journal, journal_);
}

// Durable before the change it undoes.
Status Tuning::note(const std::string& line) const {
  if (!lock_path(held_.get(), journal_)) return system_error("write journal '" + journal_ + "'", errno);
  const UniqueFd fd(::open(journal_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd) return system_error("open journal '" + journal_ + "'", errno);
  return write_durably(fd.get(), journal_, line + "\n");
}

Result<KnobOutcome> Tuning::apply(const KnobWrite& write) const {
  KnobOutcome outcome{write, "", "", "", ""};
  const auto note_first = [&](Change::Kind kind, const std::string& before) {
    outcome.noted = line_of({kind, write.path, before});
    return note(outcome.noted);
  };
  const auto refuse_unless = [&](bool done) {
    if (!done) outcome.refused = std::strerror(errno);
  };
  switch (write.kind) {
    case KnobWrite::Kind::kDirectory:
      if (::access(write.path.c_str(), F_OK) == 0) {  // whoever made it may need it
        outcome.refused = "exists already";
        return outcome;
      }
      STAB_CHECK_OK(note_first(Change::Kind::kDirectory, ""));
      refuse_unless(::mkdir(write.path.c_str(), 0755) == 0);
      return outcome;
    case KnobWrite::Kind::kController:
      STAB_CHECK_OK(note_first(Change::Kind::kController, write.wanted));
      refuse_unless(write_small_file(write.path, "+" + write.wanted));
      return outcome;
    case KnobWrite::Kind::kMembers:
      STAB_CHECK_OK(note_first(Change::Kind::kMembers, write.wanted));
      // Some may fork meanwhile: their children are seen the second time.
      refuse_unless(move_members(write.wanted, write.path) + move_members(write.wanted, write.path) > 0);
      return outcome;
    case KnobWrite::Kind::kKept:
      if (const auto before = read_small_file(write.path)) {
        outcome.before = outcome.after = written_form(*before);
        STAB_CHECK_OK(note_first(Change::Kind::kSetting, outcome.before));
      }
      return outcome;
    case KnobWrite::Kind::kInside: refuse_unless(write_new_file(write.path, write.wanted)); break;
    case KnobWrite::Kind::kText: {
      const auto before = read_small_file(write.path);
      if (!before) {
        outcome.refused = "can't be read: " + std::string(std::strerror(errno));
        return outcome;
      }
      outcome.before = written_form(*before);
      if (outcome.before == write.wanted) break;
      STAB_CHECK_OK(note_first(Change::Kind::kSetting, outcome.before));
      refuse_unless(write_small_file(write.path, write.wanted));
    }
  }
  outcome.after = written_form(read_small_file(write.path).value_or(""));
  if (outcome.refused.empty() && outcome.after != write.wanted) outcome.refused = "it says '" + outcome.after + "' afterwards";
  return outcome;
}

// A knob of several groups is turned whole or not at all: without its CPUs nobody may be moved into one.
Result<std::vector<KnobOutcome>> Tuning::apply(const std::vector<KnobWrite>& writes) {
  std::vector<KnobOutcome> outcomes;
  std::string given_up;
  for (const KnobWrite& write : writes) {
    if (write.kind != KnobWrite::Kind::kText && write.knob == given_up) continue;
    STAB_TRY(KnobOutcome outcome, apply(write));
    // A group's write that was refused has done nothing; a setting may say something else afterwards.
    const bool text = write.kind == KnobWrite::Kind::kText;
    if (!outcome.refused.empty() && (!text || outcome.after == outcome.before)) STAB_CHECK_OK(strike_out(outcome));
    if (!outcome.refused.empty() && !text) {
      given_up = write.knob;
      STAB_CHECK_OK(take_back(outcomes, write.knob));
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

// From here on somebody else may make the like, which is not ours to undo.
Status Tuning::strike_out(KnobOutcome& outcome) const {
  if (outcome.noted.empty()) return {};
  return note(std::string(kStruckOut) + "\t" + std::exchange(outcome.noted, {}));
}

// What can't be undone now keeps its line.
Status Tuning::take_back(std::vector<KnobOutcome>& outcomes, const std::string& knob) const {
  for (auto outcome = outcomes.rbegin(); outcome != outcomes.rend(); ++outcome) {
    if (outcome->write.knob != knob || outcome->write.kind == KnobWrite::Kind::kText) continue;
    const std::optional<Change> change = change_of(outcome->noted);
    if (change && undo(*change) != Undone::kNot) STAB_CHECK_OK(strike_out(*outcome));
  }
  return {};
}

}  // namespace stab::host
