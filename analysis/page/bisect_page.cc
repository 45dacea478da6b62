// The answer in a sentence, a row with an interval for each comparison, in the order of the commits, and the same as a table.
#include "analysis/page/bisect_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "analysis/commands/bisect/bisect_rest.h"
#include "analysis/page/scriptless.h"
#include "analysis/text/markup.h"
#include "base/wording.h"

namespace stab::page {
namespace {

using commands::Bisection;
using commands::BisectCommit;
using commands::BisectEnd;
using commands::BisectStep;
using commands::CommitFinding;

// Of the drawing, in pixels of a page that has room.
constexpr double kWide = 1072, kLabels = 430, kRow = 26, kTop = 44, kRight = 24;

std::string text(std::string_view of) { return text::as_markup_line(of); }

std::string hash(const Bisection& search, size_t position) {
  return search.commits[position].hash.substr(0, commands::kShownHash);
}

std::string named(const Bisection& search, size_t position, size_t most) {
  const std::string line = text::as_line(search.commits[position].subject);
  size_t end = std::min(line.size(), most);
  while (end < line.size() && end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // a whole character
  return hash(search, position) + (line.empty() ? "" : " " + line.substr(0, end) + (end < line.size() ? "…" : ""));
}

// The class of its colour and shape.
const char* word_class(const BisectStep& step) {
  switch (step.finding) {
    case CommitFinding::kSlower: return step.faster ? "better" : "worse";
    case CommitFinding::kNotSlower: return "equivalent";
    default: return "unsure";
  }
}

const char* answer_of(const BisectStep& step) {
  switch (step.finding) {
    case CommitFinding::kSlower: return step.faster ? "faster" : "slower";
    case CommitFinding::kNotSlower: return step.faster ? "not faster" : "not slower";
    case CommitFinding::kUnsure: return "unsure";
    case CommitFinding::kNotBuilt: break;
  }
  return "no build";
}

bool names(const Bisection& search, const BisectStep& step) {
  const BisectEnd end = step.part == 0 ? search.end : search.further[step.part - 1].end;
  return end == BisectEnd::kCommit && commands::naming_of(search, step.part) == &step;
}

// By searches, and within one in the order of the commits; what names a commit comes last.
std::vector<const BisectStep*> in_order(const Bisection& search) {
  std::vector<const BisectStep*> out;
  for (const BisectStep& step : search.steps) out.push_back(&step);
  std::stable_sort(out.begin(), out.end(), [&](const BisectStep* a, const BisectStep* b) {
    if (a->part != b->part) return a->part < b->part;
    if (names(search, *a) != names(search, *b)) return names(search, *b);
    return a->position < b->position;
  });
  return out;
}

// What a step has found, upwards where the commit is slower.
struct Found {
  double at = 0, low = 0, high = 0;
};
Found found_by(const BisectStep& step) {
  const double unit = step.is_share ? 100 : 1;
  if (step.faster) return {-unit * step.cost, -unit * step.cost_high, -unit * step.cost_low};
  return {unit * step.cost, unit * step.cost_low, unit * step.cost_high};
}
bool has_numbers(const BisectStep& step) { return step.change != "-" && std::isfinite(step.cost_low + step.cost_high); }

std::string drawing(const Bisection& search, const std::vector<const BisectStep*>& steps) {
  double low = 0, high = 0;
  for (const BisectStep* step : steps)
    if (has_numbers(*step)) {
      low = std::min(low, found_by(*step).low);
      high = std::max(high, found_by(*step).high);
    }
  const double span = high > low ? high - low : 1, from = low - 0.04 * span, to = high + 0.04 * span;
  const auto across = [&](double value) { return kLabels + (kWide - kRight - kLabels) * (value - from) / (to - from); };
  const double height = kTop + kRow * static_cast<double>(steps.size()) + 8;
  const bool is_share = steps.empty() || steps.front()->is_share;
  std::string out = "<svg viewBox=\"0 0 " + svg_number(kWide) + " " + svg_number(height) +
                    "\" width=\"100%\" role=\"img\" aria-label=\"Each comparison with its interval; the table below has the "
                    "numbers\">";
  const char* title = is_share ? "change of the cost in %, slower to the right" : "change, slower to the right";
  out += svg_label(kLabels, 14, title, "axis-title");
  const double tick = tick_step(to - from);
  for (double at = std::ceil(from / tick) * tick; at <= to; at += tick) {
    char words[32];
    std::snprintf(words, sizeof words, "%+g", std::fabs(at) < tick / 2 ? 0.0 : at);
    out += svg_line(across(at), kTop - 12, across(at), height, "grid");
    out += svg_label(across(at), kTop - 16, std::fabs(at) < tick / 2 ? "0" : words, "faint", "middle");
  }
  out += svg_line(across(0), kTop - 12, across(0), height, "zero");
  for (size_t i = 0; i < steps.size(); ++i) {
    const BisectStep& step = *steps[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    const bool is_naming = names(search, step);
    const std::string pair = named(search, step.position, 22) + " against " + hash(search, step.against);
    out += svg_label(0, y + 4, pair, is_naming ? "strong" : "");
    if (!has_numbers(step)) {
      out += svg_label(across(0) + 6, y + 4, answer_of(step), "faint");
      continue;
    }
    const Found found = found_by(step);
    out += std::string("<g class=\"interval ") + word_class(step) + "\">" +
           svg_line(across(found.low), y, across(found.high), y, is_naming ? "thick" : "thin") + "</g>";
    out += "<circle cx=\"" + svg_number(across(found.at)) + "\" cy=\"" + svg_number(y) + "\" r=\"" +
           (is_naming ? "6" : "4.5") + "\" class=\"verdict " + word_class(step) + "\"/>";
  }
  return out + "</svg>";
}

std::string table(const Bisection& search, const std::vector<const BisectStep*>& steps) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"comparisons\"><table><thead><tr>"
                    "<th>commit</th><th>against</th><th class=\"number\">change</th><th>interval</th>"
                    "<th class=\"number\">level</th><th class=\"number\">blocks</th><th>answer</th></tr></thead><tbody>";
  for (const BisectStep* step : steps) {
    char level[32];
    std::snprintf(level, sizeof level, "%g %%", 100 * (1 - step->alpha));
    out += "<tr><td>" + text(named(search, step->position, 200)) + "</td><td class=\"unbroken\">" +
           text(hash(search, step->against)) + "</td><td class=\"number\">" + text(step->change) +
           "</td><td class=\"unbroken\">" + text(step->interval) + "</td><td class=\"number\">" +
           level + "</td><td class=\"number\">" + std::to_string(step->blocks) + "</td><td class=\"word-" +
           word_class(*step) + "\">" + answer_of(*step) + (names(search, *step) ? ", named" : "") +
           (step->why.empty() ? "" : ": " + text(step->why)) +
           "</td></tr>";
  }
  return out + "</tbody></table></div>";
}

}  // namespace

std::string render_bisection(const Bisection& search) {
  const commands::BisectOutput output = commands::bisect_output(search);
  const std::vector<const BisectStep*> steps = in_order(search);
  const std::string subject = search.subject.empty() ? "it" : search.subject;
  const std::string title = "Which commit made " + subject + (search.faster ? " faster?" : " slower?");
  const char* word = search.end == BisectEnd::kCommit ? (search.faster ? "better" : "worse")
                     : search.end == BisectEnd::kNone ? "equivalent"
                     : search.end == BisectEnd::kPlace ? (search.faster ? "better" : "worse")
                                                       : "unsure";
  std::string out = "<p class=\"facts\"><b>" + text(hash(search, 0)) + "</b> to <b>" +
                    text(hash(search, search.commits.size() - 1)) + "</b>, " +
                    plural(search.commits.size() - 1, "commit") + "; " + plural(steps.size(), "comparison") + "</p>\n";
  out += std::string("<section class=\"overview\">\n<h2>Answer</h2>\n<div class=\"answer\"><strong class=\"word-") + word +
         "\">" + text(output.sentence) + "</strong></div>\n<p>" + text(output.next) + "</p>\n<p class=\"note\">" +
         text(output.error) +
         "</p>\n</section>\n";
  if (!output.places.empty()) {
    out += "<section>\n<h2>Places as they are linked</h2>\n";
    for (const std::string& one : output.places) out += "<p>" + text(one) + "</p>\n";
    out += "</section>\n";
  }
  if (!steps.empty())
    out += "<section>\n<h2>What was asked</h2>\n<figure><div class=\"plot wide\" tabindex=\"0\" role=\"region\" "
           "aria-label=\"comparisons, drawn\">" +
           drawing(search, steps) +
           "</div>\n<p class=\"how\"><span class=\"how-word\">How to read it.</span> Each row compares a commit with another "
           "one " + (search.is_of_binaries ? "as they are linked" : "over random layouts") +
           ". The line is the interval of the change. Rows are in the order of the commits, and those of "
           "a further search stand below. A heavy row names its commit: it compares it with the commit before it, in "
           "trials of its own. Where the answer is faster, the table's change is how much slower the other commit is.</p>"
           "</figure>\n" +
           table(search, steps) + "\n";
  for (const std::string& one : output.care) out += "<p class=\"note\">" + text(one) + "</p>\n";
  if (!steps.empty()) out += "</section>\n";
  return scriptless_page(title, out, search.command);
}

}  // namespace stab::page
