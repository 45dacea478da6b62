// The looks of the report for people. Nothing here decides what is said.
#include "analysis/report/report_data/report_pen.h"

#include <cmath>
#include <cstdio>

#include "analysis/text/markup.h"

namespace stab::report {

std::string Pen::paint(std::string_view code, std::string_view text) const {
  if (!colour) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string Pen::heading(std::string_view text) const {
  if (markdown) return "\n## " + text::as_markdown(text) + "\n\n";
  return "\n" + paint("1", text) + "\n";
}

std::string Pen::table(const text::TextTable& table) const { return markdown ? table.markdown() : table.text(width); }

std::string Pen::note(std::string_view text) const {
  if (markdown) return "\n" + text::as_markdown(text) + "\n";
  return text::wrap(text, width, "  ", "    ");
}

std::string Pen::before_table(std::string_view text) const {
  if (markdown) return text::as_markdown(text) + "\n\n";
  return text::wrap(text, width, "  ", "  ");
}

std::string Pen::item(std::string_view text) const {
  if (markdown) return "- " + text::as_markdown(text) + "\n";
  return text::wrap("- " + std::string(text), width, "  ", "    ");
}

std::string plain(double value) {
  char text[32];
  const double size = std::fabs(value);
  std::snprintf(text, sizeof text, size >= 9999.5 && size < 1e6 ? "%.0f" : "%.4g", value);
  return text;
}

std::string alias_string(const std::string& effect, const std::vector<std::string>& aliases, size_t most) {
  std::string out = effect;
  for (size_t i = 0; i < std::min(aliases.size(), most); ++i) out += " = " + aliases[i];
  if (aliases.size() > most) out += " = " + std::to_string(aliases.size() - most) + " more";
  return out;
}

std::string replicates_word(const Report& report) {
  if (report.slicing) return "sliced blocks";
  return report.trial_word == "trial" ? "replicates" : report.trial_word + "s";
}

uint64_t blocks_for(const Slicing& slicing, uint64_t sliced) {
  const uint64_t all = slicing.sliced_blocks + slicing.alone_blocks;
  if (slicing.sliced_blocks == 0) return sliced;
  return (sliced * all + slicing.sliced_blocks - 1) / slicing.sliced_blocks;
}

std::string slicing_text(const Report& report) {
  const Slicing& slicing = *report.slicing;
  std::string out =
      "slicing: " + plural(slicing.sliced_blocks, "block") + " sliced, " + std::to_string(slicing.alone_blocks) + " alone; ";
  if (!slicing.refused.empty()) return out + slicing.refused;
  const SlicingBias* largest = nullptr;
  std::string refusal;
  size_t questions = 0;
  const auto size = [](const SlicingBias& bias) {
    return std::fabs(on_scale(bias.scale, bias.bias.estimate));
  };
  for (const SlicingBias& bias : slicing.biases) {
    if (bias.response != report.responses[0].name) continue;
    if (!bias.refused.empty()) {
      refusal = bias.refused;
      continue;
    }
    ++questions;
    if (!largest || size(bias) > size(*largest)) largest = &bias;
  }
  if (!largest) return out + (refusal.empty() ? "nothing was compared" : "no difference between the two kinds: " + refusal);
  const Response& response = response_of(report, largest->response);
  const std::string which = questions == 1
                                ? " for this question "
                                : ", the largest of " + std::to_string(questions) + " (" +
                                      (largest->workload.empty() ? std::string(name(largest->population)) : largest->workload) +
                                      ", " + largest->factor + "=" + largest->level + "): ";
  return out + "difference between the two kinds" + which + difference_text(response, largest->bias.estimate) + " " +
         interval_text(response, largest->bias);
}

std::string value_text(const Response& response, double value, int digits) {
  if (response.unit == "ns" || response.unit == "s") {
    const double seconds = response.unit == "ns" ? value * 1e-9 : value;
    const double size = std::fabs(seconds);
    if (size >= 1) return text::significant(seconds, digits) + " s";
    if (size >= 1e-3) return text::significant(seconds * 1e3, digits) + " ms";
    if (size >= 1e-6) return text::significant(seconds * 1e6, digits) + " us";
    return text::significant(seconds * 1e9, digits) + " ns";
  }
  return text::significant(value, digits) + (response.unit.empty() ? "" : " " + response.unit);
}

std::string margin_text(const Response& response) {
  if (response.margin == 0) return {};
  return response.scale == Scale::kLog || response.margin_is_share ? plain(100 * response.margin) + " %"
                                                                   : value_text(response, response.margin, 3);
}

std::string difference_text(const Response& response, double value) {
  if (response.scale == Scale::kLog) return text::ratio_text(value);
  return (value >= 0 ? "+" : "") + value_text(response, value, 3);
}

namespace {

// Of ends of which ratio_text() writes one as a share and the other as a ratio: both as the estimate is written.
std::string of_one_form(const Interval& ratio) {
  constexpr double kMostAsShare = 10;  // "+900.00 %"
  if (ratio.high < kMostAsShare && !text::ratio_text(ratio.estimate).starts_with("x "))
    return "[" + text::signed_per_cent(ratio.low) + ", " + text::signed_per_cent(ratio.high) + "] %";
  const auto times = [](double of) { return "x " + text::significant(of, 4); };  // 1.004 is not 1
  return "[" + times(ratio.low) + ", " + times(ratio.high) + "]";
}

}  // namespace

std::string between(const std::string& low, const std::string& high) {
  const size_t low_unit = low.find(' '), high_unit = high.find(' ');
  const bool is_ratio = low.starts_with("x ") || high.starts_with("x ");  // what stands behind its blank is the number
  if (is_ratio || low_unit == std::string::npos || high_unit == std::string::npos ||
      low.substr(low_unit) != high.substr(high_unit))
    return "[" + low + ", " + high + "]";
  return "[" + low.substr(0, low_unit) + ", " + high.substr(0, high_unit) + "]" + high.substr(high_unit);
}

std::string interval_text(const Response& response, const Interval& interval) {
  const std::string low = text::ratio_text(interval.low), high = text::ratio_text(interval.high);
  if (response.scale == Scale::kLog && low.starts_with("x ") != high.starts_with("x ")) return of_one_form(interval);
  return between(difference_text(response, interval.low), difference_text(response, interval.high));
}

std::string ratio_interval_text(const Interval& ratio) {
  const auto value = [](double of) { return text::significant(100 * (of - 1), 3); };
  return (ratio.estimate >= 1 ? "+" : "") + value(ratio.estimate) + " % [" + value(ratio.low) + ", " + value(ratio.high) + "]";
}

std::string change_and_interval(const Interval& ratio) {
  constexpr double kLargeRatio = 100;
  const auto range = [&](const auto& number) { return " [" + number(ratio.low) + ", " + number(ratio.high) + "]"; };
  const auto times = [](double of) { return text::significant(of, 3); };
  if (ratio.low >= 2 || ratio.high <= 0.5) return "x " + times(ratio.estimate) + range(times);
  if (ratio.high < kLargeRatio) return text::signed_per_cent(ratio.estimate) + " %" + range(text::signed_per_cent);
  return text::ratio_text(ratio.estimate) + " " + between(text::ratio_text(ratio.low), text::ratio_text(ratio.high));
}

std::string machine_time_text(double seconds) {
  const double minutes = seconds / 60, hours = minutes / 60;
  char text[40];
  if (minutes < 2) std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
  else if (hours < 2) std::snprintf(text, sizeof text, "%.0f min", std::ceil(minutes));
  else if (hours < 48) std::snprintf(text, sizeof text, "%.1f h", hours);
  else std::snprintf(text, sizeof text, "%.3g days", hours / 24);
  return text;
}

const Response& response_of(const Report& report, const std::string& name) {
  for (const Response& response : report.responses)
    if (response.name == name) return response;
  return report.responses[0];
}

std::string change_word(const Response& response, double estimate) {
  const bool time = response.unit == "s" || response.unit == "ms" || response.unit == "ns";
  const bool up = estimate > (response.scale == Scale::kLog ? 1 : 0);
  return time ? (up ? "slower" : "faster") : (up ? "higher" : "lower");
}

std::string change_text(const Response& response, double estimate) {
  std::string size = difference_text(response, estimate);
  const std::string word = change_word(response, estimate);
  if (size.starts_with("x ")) return size + " (" + word + ")";
  if (size.starts_with("+") || size.starts_with("-")) size.erase(0, 1);
  return size + " " + word;
}

std::string verdict_word(const Response& response, const Contrast& contrast) {
  return contrast.verdict == Verdict::kChanged ? change_word(response, contrast.interval.estimate)
                                               : std::string(name(contrast.verdict));
}

}  // namespace stab::report
