// The parts of the report for people, each with its heading. A part is empty where the report has nothing of the kind.
// render_text.cc puts them in their order.
#pragma once

#include <string>

#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {

// render_contrasts.cc
std::string verdicts_section(const Pen& pen, const Report& report);
// declared: of the responses that the plan declares, else of the others
std::string workload_contrasts_section(const Pen& pen, const Report& report, bool declared);
std::string benchmarks_section(const Pen& pen, const Report& report);

// render_tables.cc
// Of a sliced experiment: what both kinds of blocks say of each question, in the primary response.
std::string slicing_section(const Pen& pen, const Report& report);
std::string anovas_section(const Pen& pen, const Report& report);
// What treatments do in plain cells and in randomized ones.
std::string halves_section(const Pen& pen, const Report& report);
std::string cells_section(const Pen& pen, const Report& report);
std::string components_section(const Pen& pen, const Report& report);
// Both questions over machines, and whether they differ; the primary response.
std::string machines_section(const Pen& pen, const Report& report);

// render_conditions.cc
std::string diagnostics_section(const Pen& pen, const Report& report);
// Cells with several modes, and where the run changes.
std::string shapes_section(const Pen& pen, const Report& report);
// What differed in the machine between trials; one line where nothing did.
std::string environment_section(const Pen& pen, const Report& report);
std::string doses_section(const Pen& pen, const Report& report);
std::string validity_section(const Pen& pen, const Report& report);

}  // namespace stab::report
