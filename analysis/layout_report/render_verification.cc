// What layout files do, for people and for programs: a sentence for each file, then the numbers.
#include <cmath>

#include "analysis/layout_report/layout_verification.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"

namespace stab::layout_report {
namespace {

using Align = text::TextTable::Align;

std::string ratio_of(const BuildRatio& of) {
  if (!of.refused.empty()) return "-";
  const auto value = [](double ratio) { return text::significant(100 * (ratio - 1), 3); };
  const std::string estimate = (of.ratio.estimate >= 1 ? "+" : "") + value(of.ratio.estimate) + " %";
  return of.is_exact ? estimate : estimate + " [" + value(of.ratio.low) + ", " + value(of.ratio.high) + "]";
}

std::string spread_ratio_of(const LinkSpread& spread) {
  if (!spread.refused.empty()) return "-";
  return text::significant(spread.ratio.estimate, 2) + " [" + text::significant(spread.ratio.low, 2) + ", " +
         text::significant(spread.ratio.high, 2) + "]";
}

std::string_view vanishes_word(Vanishes vanishes) {
  switch (vanishes) {
    case Vanishes::kYes: return "vanishes";
    case Vanishes::kNo: return "remains";
    case Vanishes::kUnsure: break;
  }
  return "unsure";
}

std::string_view vanishes_json(Vanishes vanishes) {
  switch (vanishes) {
    case Vanishes::kYes: return "yes";
    case Vanishes::kNo: return "no";
    case Vanishes::kUnsure: break;
  }
  return "unsure";
}

std::string gain_sentence(const VerifiedFile& file) {
  switch (file.verdict) {
    case report::Verdict::kChanged:
      return file.links.ratio.estimate < 1 ? "makes the program faster" : "makes the program slower";
    case report::Verdict::kEquivalent: return "makes no difference that matters";
    case report::Verdict::kUnsure: return "makes no difference that these links show";
    case report::Verdict::kWithheld: break;
  }
  return file.links.refused.empty() ? "has no verdict before all trials are there" : "can't be judged: " + file.links.refused;
}

std::string sentence(const VerifiedFile& file, const LayoutVerificationReport& report) {
  std::string out = "'" + file.name + "' " + gain_sentence(file);
  if (file.links.refused.empty())
    out += ": " + ratio_of(file.links) + " over " + plural(file.links.file_count, "random link") + " against " +
           std::to_string(file.links.plain_count) + " of the plain build";
  if (file.spread.refused.empty())
    out += "; links differ by an sd of " + text::percent(file.spread.file_sd, 2) + " instead of " +
           text::percent(file.spread.plain_sd, 2) + ", a ratio of " + spread_ratio_of(file.spread);
  else out += "; " + file.spread.refused;
  if (!file.moving.refused.empty()) return out;
  out += ". With code = '" + report.moving_code + "' " + ratio_of(file.moving) + " is left";
  if (file.vanishes == Vanishes::kNo) return out + ": the builds differ by more than places";
  if (file.verdict != report::Verdict::kChanged) return out;
  return out +
         (file.vanishes == Vanishes::kYes ? ": it is the places that make it" : ": too few trials to say whether it vanishes");
}

void write_ratio(text::JsonWriter& json, const char* key, const BuildRatio& of) {
  json.begin_object(key);
  if (!of.refused.empty()) {
    json.value("refused", of.refused).end();
    return;
  }
  json.value("estimate", of.ratio.estimate).value("low", of.ratio.low).value("high", of.ratio.high).value("exact", of.is_exact);
  json.value("p_value", of.p_value).value("p_equivalence", of.p_equivalence);
  json.value("plain", of.plain_count).value("file", of.file_count).end();
}

void write_spread(text::JsonWriter& json, const LinkSpread& spread) {
  json.begin_object("spread").value("plain_sd", spread.plain_sd).value("file_sd", spread.file_sd);
  json.value("plain_noise", spread.plain_noise).value("file_noise", spread.file_noise);
  if (spread.refused.empty())
    json.begin_object("ratio")
        .value("estimate", spread.ratio.estimate)
        .value("low", spread.ratio.low)
        .value("high", spread.ratio.high)
        .end();
  else json.value("refused", spread.refused);
  json.end();
}

}  // namespace

std::string render_verification_text(const LayoutVerificationReport& report, int width) {
  std::string out =
      text::wrap("layout files of " + report.workload + ", verified by '" + report.experiment + "': " + report.response +
                     " of a build with the file to that of the plain one; intervals of " + text::percent(1 - report.alpha) +
                     ", margin " + text::percent(report.margin) + (report.simulated ? "; simulated cost, no time" : ""),
                 width, "", "  ");
  for (const VerifiedFile& file : report.files) out += "\n" + text::wrap(sentence(file, report), width, "", "  ");
  text::TextTable table({{"file", Align::kLeft, true},
                         {"random links", Align::kRight, true},
                         {"sd of links, plain", Align::kRight},
                         {"with it", Align::kRight},
                         {"ratio", Align::kRight, true},
                         {"as linked", Align::kRight},
                         {"code " + report.moving_code, Align::kRight},
                         {"gain there", Align::kLeft, true}});
  for (const VerifiedFile& file : report.files)
    table.add({file.name, ratio_of(file.links), text::percent(file.spread.plain_sd, 2), text::percent(file.spread.file_sd, 2),
               spread_ratio_of(file.spread), ratio_of(file.as_linked), ratio_of(file.moving),
               std::string(vanishes_word(file.vanishes))});
  return out + "\n" + table.text(width);
}

std::string render_verification_json(const LayoutVerificationReport& report) {
  text::JsonWriter json;
  json.begin_object().value("format", "stab-layout-verification").value("version", 1);
  json.value("experiment", report.experiment).value("workload", report.workload).value("response", report.response);
  json.value("alpha", report.alpha).value("margin", report.margin).value("simulated", report.simulated);
  json.value("incomplete", report.incomplete).value("moving_code", report.moving_code);
  json.begin_array("files");
  for (const VerifiedFile& file : report.files) {
    json.begin_object().value("name", file.name).value("verdict", name(file.verdict));
    json.value("p_holm", file.p_holm).value("p_equivalence_holm", file.p_equivalence_holm);
    write_ratio(json, "links", file.links);
    write_ratio(json, "as_linked", file.as_linked);
    write_ratio(json, "moving", file.moving);
    json.value("vanishes", vanishes_json(file.vanishes));
    write_spread(json, file.spread);
    json.end();
  }
  json.end();
  return json.end().take();
}

}  // namespace stab::layout_report
