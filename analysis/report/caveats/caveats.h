// Caveats: what a reader must know before believing a report. A closed list; each has words and a hint.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// The gravest first. pre: everything else in the report is filled in.
std::vector<Caveat> caveats_of(const Samples& samples, const Report& report);

// Whether it can turn an answer about two sides. These are what compare, explain and bisect show; others are in the report.
bool turns_an_answer(CaveatCode code);
std::vector<Caveat> caveats_that_turn(const std::vector<Caveat>& caveats);

// Whether the plan asks about builds as they are linked, and so has no use for other links.
bool asks_about_binaries(const Report& report);

// As a line of such an answer: "MESSAGE; HINT".
std::string care_text(const Caveat& caveat);

// "steal": how a disturbance is called in reports. pre: one bit
std::string_view disturbance_word(uint32_t bit_index);

}  // namespace stab::report
