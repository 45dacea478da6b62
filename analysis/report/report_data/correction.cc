#include "analysis/report/report_data/correction.h"

#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/text/text_table.h"

namespace stab::report {

std::string correction_text(const Report& report, const Contrast& contrast) {
  if (contrast.verdict != Verdict::kUnsure || !contrast.refused.empty()) return {};
  const bool is_discovery = response_of(report, contrast.response).error_rate == ErrorRate::kFalseDiscovery;
  const auto counted = [&](double alone, double with_all) {
    return "p = " + text::significant(alone, 3) + " for this question alone, but " + text::significant(with_all, 3) +
           " with all questions counted (" + (is_discovery ? "Benjamini-Yekutieli" : "Holm") + ")";
  };
  const double low = on_scale(contrast.scale, contrast.interval.low), high = on_scale(contrast.scale, contrast.interval.high);
  const bool is_inside = low > -contrast.margin && high < contrast.margin, excludes_none = low > 0 || high < 0;
  if (is_inside && contrast.p_equivalence_holm >= report.alpha)
    return "that it is smaller than the margin has " + counted(contrast.p_equivalence, contrast.p_equivalence_holm);
  if (excludes_none && !is_inside && contrast.p_holm >= report.alpha) return counted(contrast.p_value, contrast.p_holm);
  return {};
}

std::string unsure_text(const Report& report, const Contrast& contrast) {
  const std::string correction = correction_text(report, contrast);
  return (correction.empty() ? "" : correction + "; ") + settling_text(report, contrast);
}

}  // namespace stab::report
