#include "stabctl/compare/baseline_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/named_input.h"
#include "base/shell_word.h"
#include "base/unique_fd.h"
#include "base/wording.h"
#include "stabctl/records/logbook_of.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/machine/facts.h"

namespace stab::ctl {
namespace {

Result<std::vector<commands::StoredTiming>> sessions_in(const std::string& path) {
  constexpr size_t kMostBytes = 4 << 20;  // some 20,000 sessions
  const Result<std::string> text = read_named_input(path, kMostBytes);
  if (!text) return bad_input(text.error().message + "; name a stored baseline");
  if (text->size() > kMostBytes) return bad_input(in_quotes(path) + " is larger than sessions make it; name a stored baseline");
  return commands::read_baseline(*text, path);
}

}  // namespace

Result<BaselineFiles> baseline_files(const std::string& store, const std::string& against, bool has_margin,
                                     commands::StoredTiming now) {
  BaselineFiles out{.store = store, .against = against, .stored = {}, .now = std::move(now)};
  if (has_margin && against.empty()) return bad_input("--margin is of a comparison; add --against FILE");
  if (!against.empty()) {
    std::error_code error;
    if (!std::filesystem::exists(against, error))
      return bad_input("there is no stored baseline " + in_quotes(against) +
                       "; make it where the old program runs: stabctl time --store " + shell_word(against) + " PROGRAM");
    STAB_TRY(out.stored, sessions_in(against));
    STAB_CHECK_OK(commands::check_comparable(out.stored, out.now, against));
  }
  std::error_code error;
  if (store.empty()) return out;
  if (std::filesystem::exists(store, error)) {
    STAB_TRY(const std::vector<commands::StoredTiming> before, sessions_in(store));
    STAB_CHECK_OK(commands::check_comparable(before, out.now, store));
  }
  STAB_CHECK_OK(check_writable(store));
  return out;
}

Result<commands::StoredTiming> timing_of_now(const std::vector<std::string>& words, const std::string& input, bool randomized,
                                             const Clock& clock) {
  STAB_TRY(const store::LogbookSession session, this_session(clock));
  commands::StoredTiming out{.day = session.day, .boot = session.boot, .cpu = {}, .arguments = {}, .randomized = randomized};
  const auto facts = engine::host_facts({});
  if (const auto model = facts.find("cpu.model"); model != facts.end()) out.cpu = model->second;
  for (size_t i = 1; i < words.size(); ++i) out.arguments += (i > 1 ? " " : "") + shell_word(words[i]);
  if (!input.empty()) out.arguments += (out.arguments.empty() ? "< " : " < ") + shell_word(input);
  return out;
}

Status take_runs(BaselineFiles& files, const commands::TimedRuns& cpu) {
  double sum = 0;
  for (const double seconds : cpu.times) {
    if (!(seconds > 0)) return bad_input("a run took no CPU time that the kernel counts, so there is none to store or compare");
    sum += std::log(seconds);
  }
  files.now.runs = cpu.times.size();
  files.now.log_cpu_s = sum / static_cast<double>(cpu.times.size());
  return {};
}

Status append_session(const BaselineFiles& files) {
  const std::string line = commands::baseline_line(files.now);
  const UniqueFd file(::open(files.store.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  const off_t before = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  const ssize_t put = file ? ::write(file.get(), line.data(), line.size()) : -1;
  if (put == static_cast<ssize_t>(line.size())) return {};
  const int failed = put < 0 ? errno : ENOSPC;
  // A part of a line would spoil the file for whoever reads it. Who else has written meanwhile keeps theirs.
  if (put > 0 && ::lseek(file.get(), 0, SEEK_END) == before + put)
    [[maybe_unused]] const int cut = ::ftruncate(file.get(), before);
  return Error{ErrorCode::kSystem, in_quotes(files.store) + " can't be written: " + std::strerror(failed), {}};
}

}  // namespace stab::ctl
