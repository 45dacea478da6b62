// The correction for many questions, in words: why one is unsure whose own interval says otherwise.
#pragma once

#include <string>

#include "analysis/report/report_data/report.h"

namespace stab::report {

// "p = 0.0241 for this question alone, but 0.119 with all questions counted (Holm)". Empty: it is not the correction that
// leaves the contrast unsure, or it isn't unsure.
std::string correction_text(const Report& report, const Contrast& contrast);

// What an unsure answer lacks: that, if anything, and what would decide it (settling.h).
std::string unsure_text(const Report& report, const Contrast& contrast);

}  // namespace stab::report
