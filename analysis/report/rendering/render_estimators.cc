#include "analysis/report/rendering/render_estimators.h"

#include <map>
#include <vector>

#include "analysis/report/rendering/json_parts.h"

namespace stab::report {
namespace {

using Align = text::TextTable::Align;

std::string subject_of(const Report& report, const EstimatorContrast& contrast) {
  return contrast.population == Population::kLikeThese ? report.program_word + "s like these" : contrast.workload;
}

std::string verdict_of(const Response& response, const EstimatorContrast& contrast) {
  if (contrast.verdict == Verdict::kChanged) return change_word(response, contrast.interval.estimate);
  return std::string(name(contrast.verdict));
}

// "hodges-lehmann, lua: why", each reason once with the questions that it stops.
std::string refusals(const Pen& pen, const std::map<std::string, std::vector<std::string>>& refused) {
  std::string out;
  for (const auto& [why, names] : refused)
    out += pen.note("refused: " + names[0] + (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "") +
                    ": " + why);
  return out;
}

// "mixed model of wall_time: variance of program 0.0012 (6 levels), residual 0.0004 (240 rows)", once for a response.
std::string mixed_text(const Pen& pen, const Report& report) {
  std::string out, last;
  for (const EstimatorContrast& contrast : report.estimators) {
    if (contrast.components.empty() || contrast.response == last) continue;
    last = contrast.response;
    std::string line = "mixed model of " + contrast.response + ", Kenward-Roger: variance of ";
    for (const MixedComponent& part : contrast.components)
      line += (&part == contrast.components.data() ? "" : ", ") + part.term + " " + plain(part.variance) + " (" +
              std::to_string(part.levels) + (&part == &contrast.components.back() ? " trials)" : " levels)");
    out += pen.note(line);
  }
  return out;
}

std::string contrasts_text(const Pen& pen, const Report& report) {
  if (report.estimators.empty()) return {};
  std::vector<text::TextTable::ColumnStyle> columns;
  bool several_responses = false;
  for (const EstimatorContrast& contrast : report.estimators)
    several_responses |= contrast.response != report.estimators[0].response;
  if (several_responses) columns.push_back({"response", Align::kLeft});
  for (const char* title : {"estimator", "of", "level / baseline"}) columns.push_back({title, Align::kLeft, true});
  columns.push_back({"n", Align::kRight});
  columns.push_back({"difference", Align::kRight});
  columns.push_back({plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true});
  columns.push_back({"p", Align::kRight});
  columns.push_back({"p (Holm)", Align::kRight});
  columns.push_back({"verdict", Align::kLeft});
  text::TextTable table(columns);
  std::map<std::string, std::vector<std::string>> refused;
  for (const EstimatorContrast& contrast : report.estimators) {
    const Response& response = response_of(report, contrast.response);
    const std::string of = subject_of(report, contrast);
    if (!contrast.refused.empty()) {
      refused[contrast.refused].push_back(contrast.estimator + " of " + contrast.response + ", " + of);
      continue;
    }
    std::vector<std::string> row;
    if (several_responses) row.push_back(contrast.response);
    row.insert(row.end(), {contrast.estimator, of, contrast.factor + ": " + contrast.level + " / " + contrast.baseline,
                           std::to_string(contrast.n), difference_text(response, contrast.interval.estimate),
                           interval_text(response, contrast.interval), text::p_text(contrast.p_value),
                           text::p_text(contrast.p_holm), verdict_of(response, contrast)});
    table.add(std::move(row));
  }
  std::string out = pen.heading("Declared estimators besides the mean");
  if (!table.empty()) out += pen.table(table);
  return out + mixed_text(pen, report) + refusals(pen, refused);
}

std::string shifts_text(const Pen& pen, const Report& report) {
  if (report.shift_functions.empty()) return {};
  text::TextTable table({{"response", Align::kLeft},
                         {"of", Align::kLeft, true},
                         {"level / baseline", Align::kLeft, true},
                         {"quantile", Align::kRight},
                         {"difference", Align::kRight},
                         {"alone", Align::kLeft, true},
                         {"band, all at once", Align::kLeft, true}});
  std::map<std::string, std::vector<std::string>> refused;
  for (const ShiftFunction& shift : report.shift_functions) {
    const Response& response = response_of(report, shift.response);
    if (!shift.refused.empty()) refused[shift.refused].push_back(shift.response + ", " + shift.workload);
    for (const ShiftFunction::Point& point : shift.points)
      table.add({shift.response, shift.workload, shift.factor + ": " + shift.level + " / " + shift.baseline,
                 plain(point.probability), difference_text(response, point.interval.estimate),
                 interval_text(response, point.interval), interval_text(response, point.band)});
  }
  std::string out = pen.heading("Shift function: differences of quantiles, " + plain(100 * (1 - report.alpha)) + " %");
  if (!table.empty()) out += pen.table(table);
  return out + refusals(pen, refused);
}

template <typename Question>
void question_json(text::JsonWriter& json, const Question& question) {
  json.value("response", question.response).value("workload", question.workload).value("factor", question.factor);
  json.value("level", question.level).value("baseline", question.baseline).value("scale", scale_name(question.scale));
}

}  // namespace

std::string estimators_text(const Pen& pen, const Report& report) {
  return contrasts_text(pen, report) + shifts_text(pen, report);
}

void estimators_json(text::JsonWriter& json, const Report& report) {
  if (!report.estimators.empty()) {
    json.begin_array("estimator_contrasts");
    for (const EstimatorContrast& contrast : report.estimators) {
      json.begin_object().value("estimator", contrast.estimator);
      question_json(json, contrast);
      json.value("population", name(contrast.population)).value("verdict", name(contrast.verdict));
      if (!contrast.refused.empty()) {
        json.value("refused", contrast.refused).end();
        continue;
      }
      write_interval(json, "interval", contrast.interval);
      write_interval(json, "equivalence_interval", contrast.equivalence);
      json.value("distribution_free", contrast.distribution_free).value("n", contrast.n).value("margin", contrast.margin);
      if (!contrast.components.empty()) {
        json.value("standard_error", contrast.standard_error).value("df", contrast.df).begin_array("components");
        for (const MixedComponent& part : contrast.components)
          json.begin_object().value("term", part.term).value("levels", part.levels).value("variance", part.variance).end();
        json.end();
      }
      json.value("p_value", contrast.p_value).value("p_holm", contrast.p_holm);
      json.value("p_equivalence", contrast.p_equivalence).value("p_equivalence_holm", contrast.p_equivalence_holm).end();
    }
    json.end();
  }
  if (report.shift_functions.empty()) return;
  json.begin_array("shift_functions");
  for (const ShiftFunction& shift : report.shift_functions) {
    json.begin_object();
    question_json(json, shift);
    if (!shift.refused.empty()) {
      json.value("refused", shift.refused).end();
      continue;
    }
    json.value("n", shift.n).begin_array("points");
    for (const ShiftFunction::Point& point : shift.points) {
      json.begin_object().value("probability", point.probability);
      write_interval(json, "interval", point.interval);
      write_interval(json, "band", point.band);
      json.end();
    }
    json.end().end();
  }
  json.end();
}

}  // namespace stab::report
