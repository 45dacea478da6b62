// DaemonLog: what the daemon tells its administrator, each entry with a kind and fields that machines can filter by.
//
//   text     2026-11-20 13:05:01 submit experiment=3 uid=1000: lua-layout
//   json     {"at_ns":...,"priority":6,"kind":"submit","text":"lua-layout","experiment":"3","uid":"1000"}
//   journal  MESSAGE=submit: lua-layout, PRIORITY=6, STAB_KIND=submit, STAB_EXPERIMENT=3, STAB_UID=1000
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stab::daemon {

// In the order of the words of [log] format. kAuto: the journal if our stderr goes there, else text.
enum class LogFormat { kAuto, kText, kJson, kJournal };

// Numbers as syslog has them.
enum class LogPriority { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

struct LogEntry {
  LogPriority priority = LogPriority::kInfo;
  std::string kind;  // one word: "submit", "end"
  std::string text;
  std::vector<std::pair<std::string, std::string>> fields;  // names: small letters and _
};
// From any thread.
using LogSink = std::function<void(const LogEntry&)>;

// Each is one line without its end, or one "NAME=value" a field. Control characters of strangers are gone.
std::string text_of_entry(const LogEntry& entry, int64_t realtime_ns);
std::string json_of_entry(const LogEntry& entry, int64_t realtime_ns);
std::vector<std::string> journal_fields(const LogEntry& entry);

// A sink for stderr and a function that takes the journal's fields.
LogSink make_log(LogFormat format, std::function<int64_t()> realtime_ns,
                 std::function<void(const std::vector<std::string>&)> to_journal);
// What kAuto means for this process: the device and inode that $JOURNAL_STREAM names are our stderr's.
bool stderr_is_journal();

}  // namespace stab::daemon
