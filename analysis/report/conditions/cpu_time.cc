#include "analysis/report/conditions/cpu_time.h"

#include "analysis/report/report_data/report_pen.h"

namespace stab::report {

std::vector<const Contrast*> cpu_times_beside(const Report& report) {
  std::vector<const Contrast*> out;
  for (const Contrast& contrast : report.contrasts)
    if (contrast.response == "cpu_time" && contrast.refused.empty() && !response_of(report, contrast.response).declared)
      out.push_back(&contrast);
  return out;
}

}  // namespace stab::report
