#include "stabctl/records/logbook_of.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/results/local_time.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {

Result<std::string> logbook_path(const std::string& named, const std::string& root) {
  if (!named.empty()) return named[0] == '/' ? named : root + "/" + named;
  STAB_TRY(const std::string database, engine::default_database());
  return (std::filesystem::path(database).parent_path() / "stab.logbook").string();
}

Result<store::LogbookSession> this_session(const Clock& clock) {
  store::LogbookSession out;
  out.boot = engine::boot_id({});
  if (out.boot.empty())
    return Error{
        ErrorCode::kUnavailable, "/proc/sys/kernel/random/boot_id can't be read, so this session can't be told from others", {}};
  out.day = engine::utc_day(clock.realtime().count());
  if (out.day.empty()) return Error{ErrorCode::kSystem, "the clock shows no day", {}};
  std::array<char, 256> name{};
  out.machine = ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  return out;
}

Result<std::optional<store::Logbook>> known_logbook(const std::string& path) {
  std::error_code gone;
  if (!std::filesystem::exists(path, gone)) return std::optional<store::Logbook>();
  // A disk that was full when it was made leaves an empty file.
  if (std::filesystem::is_regular_file(path, gone) && std::filesystem::file_size(path, gone) == 0)
    return std::optional<store::Logbook>();
  // What was killed while it wrote has left a journal, which only a writer can roll back.
  const bool is_cut_off = std::filesystem::exists(path + "-journal", gone);
  STAB_TRY(store::Logbook logbook,
           store::Logbook::open(path, is_cut_off ? store::Logbook::Access::kWrite : store::Logbook::Access::kRead));
  return std::optional<store::Logbook>(std::move(logbook));
}

Result<std::vector<commands::SessionFinding>> known_controls(const std::string& path) {
  STAB_TRY(std::optional<store::Logbook> logbook, known_logbook(path));
  if (!logbook) return std::vector<commands::SessionFinding>();
  STAB_TRY(const auto rows, logbook->controls());
  return from_logbook(rows);
}

Result<store::Logbook> open_logbook(const std::string& path) {
  constexpr char kOther[] = "name a file: --logbook, or 'logbook' below [gate]";
  STAB_CHECK_OK(engine::check_home_above(path, "the logbook is", kOther));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code made;
  if (std::filesystem::create_directories(folder, made); made)
    return bad_input("the logbook's folder '" + folder.string() + "' can't be made: " + made.message() + "; " + kOther);
  return store::Logbook::open(path, store::Logbook::Access::kWrite);
}

std::vector<commands::SessionFinding> from_logbook(const std::vector<store::LogbookFinding>& rows) {
  std::vector<commands::SessionFinding> out;
  for (const store::LogbookFinding& row : rows)
    out.push_back({row.session, row.workload, row.response, {row.difference, row.standard_error, row.df},
                   static_cast<uint64_t>(row.blocks)});
  return out;
}

std::vector<store::LogbookFinding> for_logbook(const std::vector<commands::SessionFinding>& findings) {
  std::vector<store::LogbookFinding> out;
  for (const commands::SessionFinding& one : findings)
    out.push_back({one.session, one.workload, one.response, one.found.difference, one.found.standard_error, one.found.df,
                   static_cast<int64_t>(one.blocks)});
  return out;
}

}  // namespace stab::ctl
