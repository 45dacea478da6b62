// Sessions are named even where they are one and the same: a change between two boots or machines may be theirs. Differences are
// taken within blocks of one session, so that is seldom so, but whoever looks for a commit wants to know it.
#include "analysis/commands/bisect/change_place.h"

#include <algorithm>

#include "analysis/text/text_table.h"
#include "base/printable.h"
#include "base/shell_word.h"

namespace stab::commands {
namespace {

using report::TrendSession;

bool is_number_of_commit(const std::string& level) {
  constexpr size_t kShortest = 7, kLongest = 40;  // git's own shortest; SHA-1
  return level.size() >= kShortest && level.size() <= kLongest &&
         level.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_address(const std::string& repository) { return repository.find("://") != std::string::npos; }

// What git reads as the level's commit; empty: it is none.
std::string revision_of(const report::TrendPoint& point) {
  if (!point.revision.empty()) return point.revision;
  return is_number_of_commit(point.level) ? point.level : std::string();
}

std::string session_text(const TrendSession& session) {
  constexpr size_t kShownBoot = 8;
  std::string out = session.day.empty() ? "a day that was not recorded" : session.day;
  if (!session.machine.empty()) out += " on " + one_line(session.machine);
  if (!session.boot.empty()) out += " (boot " + one_line(session.boot.substr(0, kShownBoot)) + ")";
  return out;
}

// What the two sides have not in common, beside the level; empty: nothing, or nobody knows.
std::string what_else_changed(const ChangePlace& place) {
  if (place.before->sessions.empty() || place.at->sessions.empty()) return "";
  const TrendSession &last = place.before->sessions.back(), &first = place.at->sessions.front();
  if (!last.machine.empty() && !first.machine.empty() && last.machine != first.machine) return "; the machine is another one";
  if (!last.boot.empty() && !first.boot.empty() && last.boot != first.boot) return "; the machine was booted in between";
  return "";
}

void write_sessions(text::JsonWriter& json, const char* key, const std::vector<TrendSession>& sessions) {
  json.begin_array(key);
  for (const TrendSession& one : sessions)
    json.begin_object().value("day", one.day).value("machine", one.machine).value("boot", one.boot).end();
  json.end();
}

void text_or_null(text::JsonWriter& json, const char* key, const std::string& text) {
  if (text.empty()) json.value(key, std::optional<std::string>());
  else json.value(key, text);
}

}  // namespace

ChangePlace place_of(const report::Trend& trend, const report::TrendLine& line, const report::TrendChange& change) {
  ChangePlace out;
  out.before = &line.points[change.before];
  out.at = &line.points[change.point];
  const bool is_up = change.shift > (trend.response.scale == report::Scale::kLog ? 1 : 0);
  out.is_worse = is_up != trend.response.higher_is_better;
  const std::string from = revision_of(*out.before), to = revision_of(*out.at);
  if (from.empty() || to.empty()) {
    const std::string& level = from.empty() ? out.before->level : out.at->level;
    out.unknown = "'" + one_line(level) + "' is no commit that is known: no source of its plan has git and revision = \"{" +
                  one_line(trend.factor) + "}\"";
    return out;
  }
  if (out.before->repository != out.at->repository) {
    out.unknown = "the plans of '" + one_line(out.before->level) + "' and '" + one_line(out.at->level) +
                  "' build commits of different repositories";
    return out;
  }
  out.range = from + ".." + to;
  out.repository = out.at->repository;
  if (!out.repository.empty() && !is_address(out.repository)) out.command = "cd " + shell_word(out.repository) + " && ";
  out.command += "stabctl bisect " + shell_word(out.range) + (out.is_worse ? "" : " --faster");
  return out;
}

std::string sessions_text(const std::vector<TrendSession>& sessions) {
  if (sessions.empty()) return "a session that was not recorded";
  std::string out;
  for (const TrendSession& one : sessions) out += (out.empty() ? "" : ", ") + session_text(one);
  return out;
}

std::string place_text(const ChangePlace& place, int width, const std::string& indent) {
  const auto line = [&](const std::string& text) { return text::wrap(text, width, indent, indent + "  "); };
  const auto first = [](const report::TrendPoint& point) {
    return one_line(point.level) + " in " + sessions_text(point.sessions);
  };
  std::string out = line("first measured: " + first(*place.before) + "; " + first(*place.at) + what_else_changed(place));
  if (place.range.empty()) return out + line("its commits are not known: " + place.unknown);
  out += line("commits " + one_line(place.range) + (place.repository.empty() ? "" : " of " + one_line(place.repository)) +
              "; which of them:");
  return out + indent + "  " + one_line(place.command) + "\n";
}

void write_place(text::JsonWriter& json, const ChangePlace& place) {
  json.value("before", place.before->level).value("direction", place.is_worse ? "worse" : "better");
  write_sessions(json, "sessions_before", place.before->sessions);
  write_sessions(json, "sessions", place.at->sessions);
  text_or_null(json, "range", place.range);
  text_or_null(json, "repository", place.repository);
  text_or_null(json, "command", place.command);
  json.value("unknown", place.unknown);
}

}  // namespace stab::commands
