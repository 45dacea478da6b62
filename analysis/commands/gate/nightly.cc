#include "analysis/commands/gate/nightly.h"

#include <cmath>
#include <map>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/finding.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

constexpr double kConf = 0.95;

std::string change_of(double log_ratio) {
  const double share = 100 * std::expm1(log_ratio);
  return (share < 0 ? "-" : "") + text::significant(std::fabs(share), 2) + " %";
}

struct Line {
  const SessionFinding* today = nullptr;
  std::vector<statistics::SessionDifference> sessions;
  std::optional<statistics::BetweenSessions> between;
  double half = 0, widened = 0;  // of an interval with today's error; widened 0: unknown
};

std::vector<statistics::SessionDifference> sessions_of(const NightlyFacts& facts, const SessionFinding& question) {
  std::map<int64_t, std::vector<statistics::SessionDifference>> found;
  for (const SessionFinding& one : facts.controls)
    if (one.workload == question.workload && one.response == question.response) found[one.session].push_back(one.found);
  std::vector<statistics::SessionDifference> out;
  for (const auto& [session, of_one] : found) out.push_back(statistics::pooled(of_one));
  return out;
}

Result<Line> line_of(const NightlyFacts& facts, const SessionFinding& today) {
  constexpr size_t kTwo = 2;
  Line out{&today, sessions_of(facts, today), {}};
  STAB_CHECK_OK(statistics::check_sessions(out.sessions));
  out.half = statistics::t_quantile(0.5 + kConf / 2, today.found.df) * today.found.standard_error;
  if (out.sessions.size() < kTwo) return out;
  STAB_TRY(out.between, statistics::between_sessions(out.sessions, kConf));
  if (out.sessions.size() < kFewestSessions) return out;
  const statistics::WidenedError error = statistics::widened_error(out.sessions, today.found.standard_error, today.found.df);
  out.widened = std::max(out.half, statistics::t_quantile(0.5 + kConf / 2, error.df) * error.scale);
  return out;
}

std::string json_of(const NightlyFacts& facts, const std::vector<Line>& lines) {
  std::vector<text::Finding> rows;
  for (const Line& line : lines) {
    text::Finding row;
    row.add("workload", line.today->workload).add("response", line.today->response).add_count("blocks", line.today->blocks);
    row.add("log_difference", line.today->found.difference).add("standard_error", line.today->found.standard_error);
    row.add("df", line.today->found.df).add_count("sessions", line.sessions.size());
    const auto of = [&](double statistics::BetweenSessions::*member) {
      return line.between ? std::optional((*line.between).*member) : std::nullopt;
    };
    row.add("sd", of(&statistics::BetweenSessions::sd)).add("sd_low", of(&statistics::BetweenSessions::low));
    row.add("sd_high", of(&statistics::BetweenSessions::high)).add("q", of(&statistics::BetweenSessions::q));
    row.add("p_value", of(&statistics::BetweenSessions::p_value)).add("half_width", line.half);
    row.add("widened_half_width", line.widened > 0 ? std::optional(line.widened) : std::nullopt);
    rows.push_back(std::move(row));
  }
  text::Finding out;
  out.add("format", "stab-nightly").add_count("version", 1).add("day", facts.day).add("machine", facts.machine);
  out.add("logbook", facts.logbook).add_count("sessions_needed", kFewestSessions).add("questions", std::move(rows));
  return out.json();
}

}  // namespace

CommandOutput run_nightly(const NightlyFacts& facts) {
  std::vector<Line> lines;
  size_t fewest = SIZE_MAX;
  for (const SessionFinding& one : facts.today) {
    Result<Line> line = line_of(facts, one);
    if (!line) return refused(line.error());
    fewest = std::min(fewest, line->sessions.size());
    lines.push_back(*std::move(line));
  }
  CommandOutput out;
  if (facts.json) {
    out.out = json_of(facts, lines);
    return out;
  }
  using Align = text::TextTable::Align;
  text::TextTable table({{"equal builds of"}, {"differ today by", Align::kRight}, {"sessions", Align::kRight},
                         {"between them (sd)", Align::kRight}, {"95 % interval"}, {"a gate's interval"}});
  for (const Line& line : lines) {
    const std::string sd = line.between ? change_of(line.between->sd) : "unknown";
    const std::string ends = line.between ? change_of(line.between->low) + " to " + change_of(line.between->high) : "";
    const std::string wide = "+-" + change_of(line.half) + (line.widened > 0 ? " becomes +-" + change_of(line.widened) : "");
    table.add({line.today->workload + " (" + line.today->response + ")", change_of(line.today->found.difference),
               std::to_string(line.sessions.size()), sd, ends, wide});
  }
  constexpr int kWidth = 120;
  out.out = "A/A control of " + facts.day + " on " + facts.machine + ", kept in " + facts.logbook + "\n" + table.text(kWidth);
  if (fewest < kFewestSessions)
    out.out += "what changes between sessions (boot, day) is put into gates' intervals from " + std::to_string(kFewestSessions) +
               " sessions on; " + std::to_string(kFewestSessions - fewest) + " more " +
               (kFewestSessions - fewest == 1 ? "is" : "are") + " needed: run this again another day, or after a boot\n";
  return out;
}

}  // namespace stab::commands
