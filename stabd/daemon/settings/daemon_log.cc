// One entry is one write(2), so that lines of two threads don't mix. Whatever a client or a plan put into a field
// stays on its line and within its field.
#include "stabd/daemon/settings/daemon_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

#include "base/json_line.h"
#include "base/printable.h"
#include "stabd/engine/results/local_time.h"

namespace stab::daemon {
namespace {

bool is_plain(const std::string& value) {
  return !value.empty() && value.find_first_of(" \"=") == std::string::npos;
}

// A value with blanks in quotes, so that it can't look like another field.
std::string quoted_if_needed(const std::string& value) {
  if (is_plain(value)) return value;
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void put_line(std::string line) {
  line += '\n';
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

std::string text_of_entry(const LogEntry& entry, int64_t realtime_ns) {
  std::string line = engine::local_time(realtime_ns) + " " + entry.kind;
  for (const auto& [name, value] : entry.fields) line += " " + name + "=" + quoted_if_needed(one_line(value));
  return line + ": " + one_line(entry.text);  // last, so that nothing in it looks like a field
}

std::string json_of_entry(const LogEntry& entry, int64_t realtime_ns) {
  nlohmann::ordered_json json = {{"at_ns", realtime_ns},
                                 {"priority", static_cast<int>(entry.priority)},
                                 {"kind", entry.kind},
                                 {"text", printable(entry.text)}};
  for (const auto& [name, value] : entry.fields) json[name] = printable(value);
  return json_line(json);
}

std::vector<std::string> journal_fields(const LogEntry& entry) {
  std::vector<std::string> fields = {"MESSAGE=" + entry.kind + ": " + printable(entry.text),
                                     "PRIORITY=" + std::to_string(static_cast<int>(entry.priority)),
                                     "SYSLOG_IDENTIFIER=stabd", "STAB_KIND=" + entry.kind};
  for (const auto& [name, value] : entry.fields) {
    std::string field = "STAB_";
    for (char c : name) field += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    fields.push_back(field + "=" + printable(value));
  }
  return fields;
}

bool stderr_is_journal() {
  const char* stream = ::getenv("JOURNAL_STREAM");
  unsigned long long device = 0, inode = 0;
  struct stat info;
  return stream != nullptr && std::sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
         ::fstat(STDERR_FILENO, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

LogSink make_log(LogFormat format, std::function<int64_t()> realtime_ns,
                 std::function<void(const std::vector<std::string>&)> to_journal) {
  if (format == LogFormat::kAuto) format = stderr_is_journal() ? LogFormat::kJournal : LogFormat::kText;
  return [format, realtime_ns = std::move(realtime_ns), to_journal = std::move(to_journal)](const LogEntry& entry) {
    if (format == LogFormat::kJournal) return to_journal(journal_fields(entry));
    put_line(format == LogFormat::kJson ? json_of_entry(entry, realtime_ns()) : text_of_entry(entry, realtime_ns()));
  };
}

}  // namespace stab::daemon
