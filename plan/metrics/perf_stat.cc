// 'perf stat -x,': perf-stat(1), "CSV FORMAT": value, unit, event, then, with -r, the deviation, and what the counter was on.
//
// The separator is the user's, and perf quotes nothing: it is what stands between the first number and the unit. The decimal sign
// is the locale's: a comma within a number that another separator ends is one, and commas at both places can't be told apart.
// Lines that begin with an interval's time or with a CPU are parts of a measurement, and adding them up is not ours to guess.
#include <algorithm>
#include <set>

#include "base/split.h"
#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

struct PerfEvent {
  std::string name;
  size_t process = 0;           // --append adds the next one's lines behind a comment of its own
  std::optional<double> value;  // seconds, or a count; nothing: not counted
  bool is_time = false;
  std::string reason;
};

bool is_not_counted(std::string_view field) {
  return field == "<not counted>" || field == "<not supported>";
}

constexpr std::string_view kDigits = "0123456789";

// "1000,50;msec;..." begins with a number that has a decimal comma.
bool begins_with_decimal_comma(std::string_view row) {
  const size_t comma = row.find_first_not_of(kDigits);
  if (comma == 0 || comma == std::string_view::npos || row[comma] != ',') return false;
  const size_t end = row.find_first_not_of(kDigits, comma + 1);
  return end != std::string_view::npos && end > comma + 1 && std::string_view(";\t:| ").find(row[end]) != std::string_view::npos;
}

// Behind the first number, or behind "<not counted>"; 0: none.
char separator_of(std::string_view row) {
  size_t end = row.starts_with('<') ? row.find('>') + 1 : row.find_first_not_of("0123456789.");
  if (begins_with_decimal_comma(row)) end = row.find_first_not_of(kDigits, end + 1);
  return end == 0 || end >= row.size() ? '\0' : row[end];
}

// The first field, whose decimal sign may be a comma unless commas separate.
std::optional<double> value_of(std::string_view field, char separator) {
  std::string text(field);
  if (separator != ',' && std::count(text.begin(), text.end(), ',') == 1) std::replace(text.begin(), text.end(), ',', '.');
  return number(text);
}

Result<PerfEvent> event_of(const std::vector<std::string_view>& fields, char separator, const std::string& where) {
  constexpr size_t kFewest = 3;
  if (fields.size() < kFewest) return bad_input(where + ": expected value, unit and event, as 'perf stat -x,' writes");
  PerfEvent event;
  const auto value = value_of(fields[0], separator);
  if (!value && !is_not_counted(fields[0]))
    return bad_input(where + ": '" + std::string(fields[0].substr(0, 40)) +
                     "' is not a number; leave -A and the other ways to "
                     "count by CPU out");
  if (value_of(fields[1], separator) || is_not_counted(fields[1]))
    return bad_input(where + ": it begins with the time of an interval, or its numbers have decimal commas; leave -I out, and "
                             "write with -x ';' where commas are decimal signs");
  event.name = std::string(fields[2]);
  if (!value) {
    event.reason = std::string(fields[0].substr(1, fields[0].size() - 2));
    return event;
  }
  const auto unit = seconds_of_unit(fields[1]);
  event.is_time = unit.has_value();
  if (!unit && !fields[1].empty()) event.name += " (" + std::string(fields[1]) + ")";  // Joules
  event.value = *value * unit.value_or(1);
  return event;
}

Result<std::vector<PerfEvent>> events_of(std::string_view text) {
  std::vector<PerfEvent> events;
  std::set<std::string> names;  // of this process
  size_t process = 0;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (row.starts_with('#') && !names.empty()) {
      names.clear();
      ++process;
    }
    if (trimmed(row).empty() || row.starts_with('#')) continue;
    const std::string where = "line " + std::to_string(line);
    if (row.starts_with('{'))
      return bad_input(where + ": it is JSON, as 'perf stat -j' writes; leave -j out, and write with -x,");
    const char found = separator_of(row), separator = found == '\0' ? ',' : found;
    // A line with empty fields has another metric of the event before.
    if (found == '\0' && split(row, ',').front().empty()) continue;
    STAB_TRY(PerfEvent event, event_of(split(row, separator), separator, where));
    if (!names.insert(event.name).second)
      return bad_input(where + ": event '" + event.name.substr(0, 40) + "' is there twice; write a file for each run of perf");
    event.process = process;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

// The times of a process; its counts are the [counters] of a plan.
Result<std::vector<Metric>> read_perf_stat(std::string_view text) {
  STAB_TRY(const std::vector<PerfEvent> events, events_of(text));
  Collected out;
  for (const PerfEvent& event : events) {
    if (event.is_time)
      STAB_CHECK_OK(out.add(event.name, *event.value));
    else if (!event.value && (event.name.ends_with("_time") || event.name.ends_with("-clock")))
      STAB_CHECK_OK(out.add_failed(event.name, event.reason));
  }
  if (out.empty())
    return bad_input("it has no time; add '-e duration_time,task-clock', and count events by [counters] of the plan");
  return out.take();
}

// Times and counts; an event that is 0 or was not counted has no ratio to another.
Result<std::vector<ProcessTime>> read_perf_stat_events(std::string_view text) {
  STAB_TRY(const std::vector<PerfEvent> events, events_of(text));
  ProcessList out;
  for (const PerfEvent& event : events)
    if (event.value && *event.value != 0)
      STAB_CHECK_OK(out.add({event.name, event.name, {}}, *event.value, event.process, !event.is_time));
  std::vector<ProcessTime> counted = out.take();
  const auto lost = std::find_if(events.begin(), events.end(), [](const PerfEvent& one) { return !one.value; });
  if (counted.empty() && lost != events.end())
    return bad_input("'" + lost->name.substr(0, 40) + "' was " + lost->reason +
                     ", and nothing else was counted; 'perf list' says what this machine counts");
  return counted;
}

}  // namespace stab::metrics
