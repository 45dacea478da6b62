// Names come to reports, pages and terminals, so what is no plain text is refused here, where its place is known.
#include "plan/metrics/collected.h"

#include <cmath>
#include <map>
#include <utility>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/wording.h"

namespace stab::metrics {
namespace {

constexpr size_t kMostReasonBytes = 200;

std::string plain(std::string_view text) { return one_line(text.substr(0, kMostReasonBytes)); }

}  // namespace

Result<Collected::Item*> Collected::item(std::string_view name) {
  if (name.empty()) return bad_input("a benchmark has no name");
  if (name.size() > kMostNameBytes)
    return bad_input("the name '" + plain(name.substr(0, 40)) + "...' has " + std::to_string(name.size()) + " bytes, at most " +
                     std::to_string(kMostNameBytes));
  if (has_control(name)) return bad_input("the name '" + plain(name) + "' has control characters");
  const auto [at, fresh] = at_.try_emplace(std::string(name), items_.size());
  if (!fresh) return &items_[at->second];
  if (items_.size() == kMostBenchmarks)
    return bad_input("more than " + std::to_string(kMostBenchmarks) + " benchmarks; let the program run fewer of them");
  items_.push_back({std::string(name), 0, 0, {}});
  return &items_.back();
}

Status Collected::add(std::string_view name, double seconds) {
  STAB_TRY(Item * found, item(name));
  if (!std::isfinite(seconds) || seconds < 0)
    return bad_input("'" + std::string(name) + "' took " + number_text(seconds) + " s, which is no time");
  found->sum += seconds;
  ++found->count;
  return {};
}

Status Collected::add_failed(std::string_view name, std::string_view reason) {
  STAB_TRY(Item * found, item(name));
  found->reason = reason.empty() ? "the benchmark says that it failed" : plain(reason);
  return {};
}

std::vector<Metric> Collected::take() const {
  std::vector<Metric> out;
  for (const Item& item : items_) {
    Metric metric{item.name, {}, item.reason};
    const double mean = item.count > 0 ? item.sum / static_cast<double>(item.count) : 0;
    if (metric.reason.empty() && mean > 0 && std::isfinite(mean)) metric.seconds = mean;
    else if (metric.reason.empty()) metric.reason = "its time is 0, which has no logarithm";
    out.push_back(std::move(metric));
  }
  return out;
}

BenchmarkName with_parameters(std::string plain, std::vector<Parameter> parameters) {
  std::string full = plain;
  for (const Parameter& one : parameters) full += ":" + one.name + "=" + one.value;
  return {std::move(full), std::move(plain), std::move(parameters)};
}

Status ProcessList::add(const BenchmarkName& name, double seconds, size_t process, bool is_count) {
  STAB_CHECK_OK(names_.add(name.full, seconds));
  for (const Parameter& one : name.parameters)
    if (has_control(one.name) || has_control(one.value))
      return bad_input("a parameter of '" + name.full + "' has control characters");
  if (times_.size() == kMostProcesses) return bad_input("more than " + std::to_string(kMostProcesses) + " processes");
  if (!(seconds > 0)) return bad_input("'" + name.full + "' took 0 s in one process, which has no logarithm");
  times_.push_back({name.full, process, seconds, name.parameters.empty() ? "" : name.plain, name.parameters, is_count});
  return {};
}

Status ProcessList::add_failed(const BenchmarkName& name, std::string_view reason) {
  STAB_CHECK_OK(names_.add_failed(name.full, reason));
  if (times_.size() == kMostProcesses) return bad_input("more than " + std::to_string(kMostProcesses) + " processes");
  times_.push_back({name.full, times_.size(), 0, name.parameters.empty() ? "" : name.plain, name.parameters});
  times_.back().failure = plain(reason);
  return {};
}

Status check_apart(const std::vector<std::string>& names, const std::string& cure) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [at, fresh] = places.try_emplace(names[i], i + 1);
    if (!fresh)
      return bad_input("results " + std::to_string(at->second) + " and " + std::to_string(i + 1) + " are both " +
                       in_quotes(names[i], kMostNameBytes) + ", so nothing tells them apart; " + cure);
  }
  return {};
}

std::optional<double> seconds_of_unit(std::string_view unit) {
  // The micro sign is the one of Latin-1 or the Greek letter. "hr" and "day" are JMH's.
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6}, {"ms", 1e-3},
      {"s", 1},      {"min", 60},  {"hr", 3600}, {"day", 86400},
      {"msec", 1e-3}, {"second", 1}, {"seconds", 1}, {"nanoseconds", 1e-9}};
  for (const auto& [name, seconds] : kUnits)
    if (name == unit) return seconds;
  return {};
}

}  // namespace stab::metrics
