#include "analysis/commands/time/stored_baseline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

constexpr double kAlpha = 0.05;
constexpr size_t kFewestToCompare = 2;
// One program with one input differs by less between sessions, on whatever machines.
constexpr double kMostTimes = 10;
// Further away a session is of other work, and the ratio of the widest interval, which is of two sessions that differ tenfold, is
// still a number.
constexpr double kMostTimesAway = 1e9;

Result<StoredTiming> timing_of(const std::string& line) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
  const auto has = [&](const char* key, const nlohmann::json& value) { return row.contains(key) && row[key] == value; };
  if (!row.is_object() || !has("format", "stab-baseline")) return bad_input("it is no line of a stored baseline");
  if (!has("version", 1)) return bad_input("it is of another version of Stab");
  StoredTiming out;
  try {
    out = {.day = row.at("day"),
           .boot = row.at("boot"),
           .cpu = row.at("cpu"),
           .arguments = row.at("arguments"),
           .randomized = row.at("randomized"),
           .log_cpu_s = row.at("log_cpu_s"),
           .runs = row.at("runs").is_number_unsigned() ? row["runs"].get<uint64_t>() : 0};
  } catch (const nlohmann::json::exception&) {
    return bad_input("a field is missing, or is of another type");
  }
  if (out.runs == 0) return bad_input("'runs' has to be a whole number above 0");
  if (!std::isfinite(std::exp(out.log_cpu_s)) || std::exp(out.log_cpu_s) <= 0)
    return bad_input("'log_cpu_s' is the logarithm of no time");
  return out;
}

std::string time_of_logarithm(double log_s) { return report::value_text({.name = "time", .unit = "s"}, std::exp(log_s)); }

// Times of one program, as far as anybody can see.
Status check_alike(const std::vector<double>& means, double mean, double now) {
  const auto [fastest, slowest] = std::minmax_element(means.begin(), means.end());
  const std::string cure = "; they are of other work: compare with a file that has sessions of this program alone";
  if (*slowest - *fastest > std::log(kMostTimes))
    return bad_input("the stored sessions have from " + time_of_logarithm(*fastest) + " to " + time_of_logarithm(*slowest) +
                     cure);
  if (std::fabs(now - mean) > std::log(kMostTimesAway))
    return bad_input("the stored sessions have " + time_of_logarithm(mean) + ", and this one has " + time_of_logarithm(now) +
                     cure);
  return {};
}

std::string shown_arguments(const std::string& arguments) {
  return arguments.empty() ? "none" : in_quotes(arguments);
}

}  // namespace

std::string baseline_line(const StoredTiming& timing) {
  nlohmann::ordered_json line{{"format", "stab-baseline"}, {"version", 1}, {"day", timing.day}, {"boot", timing.boot}};
  line.update({{"cpu", timing.cpu}, {"arguments", timing.arguments}, {"randomized", timing.randomized}});
  line.update({{"log_cpu_s", timing.log_cpu_s}, {"runs", timing.runs}});
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<std::vector<StoredTiming>> read_baseline(std::string_view text, const std::string& path) {
  std::vector<StoredTiming> out;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    auto timing = end == std::string_view::npos ? Result<StoredTiming>(bad_input("it is cut short"))
                                                : timing_of(std::string(text.substr(0, end)));
    if (!timing) return bad_input(path + ":" + std::to_string(number) + ": " + timing.error().message + "; remove that line");
    out.push_back(*std::move(timing));
    text.remove_prefix(end + 1);
  }
  return out;
}

Status check_comparable(const std::vector<StoredTiming>& stored, const StoredTiming& now, const std::string& path) {
  for (const StoredTiming& one : stored) {
    if (one.arguments != now.arguments)
      return bad_input(path + ": the stored program had the arguments " + shown_arguments(one.arguments) + ", and this one has " +
                       shown_arguments(now.arguments) + "; give it the same, or another file");
    if (one.randomized != now.randomized)
      return bad_input(path + ": the stored program was " + (one.randomized ? "built by szc" : "not built by szc") +
                       ", and this one is" + (now.randomized ? "" : " not") + "; build it alike, or name another file");
  }
  return {};
}

const char* BaselineAnswer::word() const {
  return worse == report::Worse::kNo ? "not slower" : worse == report::Worse::kYes ? "slower" : "unsure";
}

Result<BaselineAnswer> against_baseline(const std::vector<StoredTiming>& stored, const StoredTiming& now, double margin) {
  BaselineAnswer out{.margin = margin, .now_s = std::exp(now.log_cpu_s)};
  std::map<std::string, std::vector<double>> sessions;
  for (const StoredTiming& one : stored) {
    if (one.cpu == now.cpu)
      sessions[one.day + " " + one.boot].push_back(one.log_cpu_s);
    else
      ++out.left_out;
  }
  out.sessions = sessions.size();
  const auto k = static_cast<double>(out.sessions);
  double sum = 0, squares = 0;
  std::vector<double> means;
  for (const auto& [session, logs] : sessions) {
    double of_one = 0;
    for (const double log : logs) of_one += log / static_cast<double>(logs.size());
    means.push_back(of_one);
    sum += of_one;
  }
  if (out.sessions == 0) return out;
  const double mean = sum / k;
  out.before_s = std::exp(mean);
  if (out.sessions < kFewestToCompare) return out;
  for (const double one : means) squares += (one - mean) * (one - mean);
  const double sd = std::sqrt(squares / (k - 1));
  if (!(sd > 0)) return bad_input("the stored sessions have one and the same time, which no two measured ones have");
  STAB_CHECK_OK(check_alike(means, mean, now.log_cpu_s));
  const double difference = now.log_cpu_s - mean, scale = sd * std::sqrt(1 + 1 / k);
  const double half = statistics::t_quantile(1 - kAlpha / 2, k - 1) * scale;
  const double upper = difference + statistics::t_quantile(1 - kAlpha, k - 1) * scale;
  out.ratio = std::exp(difference);
  out.low = std::exp(difference - half);
  out.high = std::exp(difference + half);
  out.between_sd = sd;
  if (upper < std::log1p(margin))
    out.worse = report::Worse::kNo;
  else if (difference - half > 0)
    out.worse = report::Worse::kYes;
  return out;
}

std::string baseline_text(const BaselineAnswer& answer, const std::string& path, int width) {
  const auto seconds = [](double value) { return report::value_text({.name = "time", .unit = "s"}, value); };
  const std::string others = answer.left_out > 0
                                 ? "; " + plural(answer.left_out, "measurement") + " on other CPU models left out"
                                 : std::string();
  std::string line = "against " + plural(answer.sessions, "stored session") + " of " + one_line(path) + others + ": ";
  if (!answer.ratio)
    return text::wrap(
        line +
            (answer.sessions == 0 ? "no answer"
                                  : "CPU " + seconds(answer.before_s) + " -> " + seconds(answer.now_s) + "; unsure") +
            ". How far sessions differ is known from two on, stored on other days or after a boot",
        width, "", "  ");
  char margin[32];
  std::snprintf(margin, sizeof margin, "%g %%", 100 * answer.margin);
  const std::string verdict =
      std::string(answer.word()) + (answer.worse == report::Worse::kNo ? std::string(" by ") + margin : "");
  line += "CPU " + seconds(answer.before_s) + " -> " + seconds(answer.now_s) + "  " +
          report::change_and_interval({*answer.ratio, *answer.low, *answer.high}) + "  " + verdict;
  char spread[32];
  std::snprintf(spread, sizeof spread, "%.2g %%", 100 * std::expm1(*answer.between_sd));
  return text::wrap(line, width, "", "  ") +
         text::wrap(
             std::string("the stored sessions differ by ") + spread +
                 " (sd), and that is in the interval; if the old program can still be run, stabctl compare needs no sessions "
                 "and sees far smaller differences",
             width, "", "  ");
}

}  // namespace stab::commands
